//! Files that the capture does not see as they are, or that a restore of some paths must leave alone.

use super::*;

#[test]
fn undo_of_some_paths_leaves_ignored_files_that_were_not_among_them() {
    let world = World::new(|repo| {
        repo.write("secret", "v1");
        repo.write("a", "a");
    });
    world.save("A");
    world.repo.write(".git/info/exclude", "/secret\n");
    world.repo.write("a", "a2");
    world.repo.write("secret", "precious");
    let before = world.files();

    world.restore_with(RestoreRequest { paths: vec!["a".into()], ..world.request("A") });
    world.step(Direction::Undo);

    assert_eq!(world.files(), before);
}

#[test]
fn undo_of_some_paths_takes_away_what_they_created() {
    let world = World::new(|repo| repo.write("d/made", "1"));
    world.save("A");
    std::fs::remove_dir_all(world.repo.path("d")).unwrap();
    let before = world.files();

    world.restore_with(RestoreRequest { paths: vec!["d".into()], ..world.request("A") });
    world.repo.write(".git/info/exclude", "/d/\n");
    assert!(world.repo.exists("d/made"));
    world.step(Direction::Undo);

    assert_eq!(world.files(), before);
}

#[test]
fn a_path_that_is_nowhere_is_an_error() {
    let world = World::new(|_| {});
    world.save("A");

    let request = RestoreRequest { paths: vec!["no-such".into()], ..world.request("A") };
    let error = restore(&mut world.context(), &request).unwrap_err();

    assert!(matches!(error, Error::NoSuchPath(path) if path == "no-such"));
}

#[test]
fn a_tracked_file_that_became_a_fifo_refuses_the_restore() {
    let world = World::new(|_| {});
    world.save("A");
    std::fs::remove_file(world.repo.path("f")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(world.repo.path("f")).status().unwrap().success());

    assert_eq!(world.refused("A"), [BlockerCode::PathBlocked]);
}

#[test]
fn what_was_never_captured_is_named_among_what_is_kept() {
    let world = World::new(|repo| drop(repo.git(&["config", "checkpoint.maxFileSize", "10"])));
    world.save("A");
    world.repo.write("large", "more than ten bytes");
    world.repo.write("new", "x");

    let outcome = world.restore("A");

    assert!(world.repo.exists("large") && !world.repo.exists("new"));
    let kept: Vec<_> = outcome.kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("large".to_owned(), KeepReason::NotCaptured)]);
}

#[test]
fn the_folder_of_a_submodule_comes_back_below_a_directory_that_lost_its_files() {
    let world = World::new(|repo| {
        repo.git(&["init", "-q", "a/b"]);
        repo.write("a/b/inner", "i");
        repo.git(&["-C", "a/b", "add", "-A"]);
        repo.git(&["-C", "a/b", "commit", "-qm", "inner"]);
    });
    world.save("A");
    std::fs::remove_dir_all(world.repo.path("a/b")).unwrap();
    world.repo.write("a/x/f", "f");

    let outcome = world.restore("A");

    assert_eq!(outcome.status, RestoreStatus::Restored);
    assert!(world.repo.path("a/b").is_dir() && !world.repo.exists("a/x"));
}

#[test]
fn nothing_is_written_into_a_git_directory() {
    let world = World::new(|_| {});
    world.save("A");

    assert!(restore_to(&world.context(), &world.request("A"), Path::new(".git/x")).is_err());
    assert!(!world.repo.path(".git/x").exists());
}

#[test]
fn a_file_that_others_remove_while_the_restore_is_at_work_stays_removed() {
    let world = filtered();
    world.save("A");
    world.repo.write("a.sec", "2");
    world.repo.write("z", "2");
    world.repo.git(&["config", "filter.x.smudge", &format!("rm -f '{}'; cat", world.repo.path("z").display())]);

    let outcome = world.restore("A");

    assert_eq!(outcome.status, RestoreStatus::Refused);
    assert!(outcome.blockers[0].message.contains("`z`"), "{}", outcome.blockers[0].message);
    assert!(!world.repo.exists("z"), "{:?}: {}", outcome.blockers, world.repo.read("z"));
    assert_eq!(world.repo.read("a.sec"), "2");
}
