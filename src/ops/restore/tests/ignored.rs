//! Ignored files: kept where they are in nobody's way, and brought back by undo where they were.

use super::*;

#[test]
fn ignored_files_stay_under_the_rules_of_either_side() {
    let world = World::new(|repo| repo.write(".gitignore", "then.log\n"));
    world.save("A");
    world.repo.write(".gitignore", "now.log\ndata/\n");
    for name in ["then.log", "now.log", "data/d", "gone"] {
        world.repo.write(name, name);
    }

    let outcome = world.restore("A");

    assert!(["then.log", "now.log", "data/d"].iter().all(|name| world.repo.read(name) == *name));
    assert!(!world.repo.exists("gone"));
    let kept: Vec<_> = outcome.kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("then.log".to_owned(), KeepReason::Ignored)], "the others are in no tree at all");
}

#[test]
fn an_ignored_file_in_the_way_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("conf", "tracked"));
    world.save("A");
    world.repo.write(".gitignore", "conf\n");
    world.repo.remove("conf");
    world.repo.write("conf", "ignored edit");

    world.restore("A");
    assert_eq!(world.repo.read("conf"), "tracked");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("conf"), "ignored edit");
}

#[test]
fn an_ignored_directory_in_the_way_comes_back_with_undo_file_by_file() {
    let world = World::new(|repo| repo.write("build", "a file"));
    world.save("A");
    world.repo.remove("build");
    world.repo.write(".gitignore", "build/\n");
    world.repo.write("build/x/deep", "1");
    world.repo.write("build/y", "2");
    world.repo.symlink("build/ln", "y");
    let before = world.files();

    let outcome = world.restore("A");
    assert_eq!((outcome.status, world.repo.read("build").as_str()), (RestoreStatus::Restored, "a file"));

    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
}

#[test]
fn an_ignored_file_where_a_directory_must_be_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("build/x", "1"));
    world.save("A");
    world.repo.remove("build");
    world.repo.write(".gitignore", "build\n");
    world.repo.write("build", "ignored");

    world.restore("A");
    assert_eq!(world.repo.read("build/x"), "1");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("build"), "ignored");
}

#[test]
fn undo_takes_away_an_ignored_file_that_the_restore_created() {
    let world = World::new(|repo| {
        repo.write(".gitignore", "*.log\n");
        repo.write("forced.log", "1");
        repo.git(&["add", "-f", "."]);
    });
    world.save("A");
    world.repo.git(&["rm", "-q", "-f", "forced.log"]);
    let before = (world.files(), world.status());

    world.restore("A");
    assert_eq!(world.repo.read("forced.log"), "1");
    world.step(Direction::Undo);
    assert_eq!((world.files(), world.status()), before);

    world.step(Direction::Redo);
    world.repo.write("forced.log", "edited since");
    world.step(Direction::Undo);
    assert!(!world.repo.exists("forced.log"));
    world.step(Direction::Redo);
    assert_eq!(world.repo.read("forced.log"), "edited since", "nothing was lost on the way");
}
