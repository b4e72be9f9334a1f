//! What is in the files: filters, large files, and bytes that git's way of recording loses.

use super::*;

#[test]
fn a_failing_filter_is_found_before_anything_changes() {
    let world = World::new(|repo| {
        repo.write(".gitattributes", "*.sec filter=x\n");
        repo.git(&["config", "filter.x.clean", "cat"]);
        repo.git(&["config", "filter.x.smudge", "cat"]);
        repo.git(&["config", "filter.x.required", "true"]);
        repo.write("a.sec", "1");
    });
    world.save("A");
    world.repo.write("a.sec", "2");
    world.repo.write("f", "2");
    world.repo.git(&["config", "filter.x.smudge", "false"]);

    assert_eq!(world.refused("A"), [BlockerCode::FilterFailed]);

    let outcome = world.restore_with(RestoreRequest { dry_run: true, ..world.request("A") });
    assert_eq!(outcome.blockers[0].code, BlockerCode::FilterFailed);
    assert!(outcome.blockers[0].message.contains("a.sec"));
}

#[test]
fn contents_are_filtered_by_the_attributes_of_the_checkpoint() {
    let world = World::new(|repo| {
        repo.write(".gitattributes", "*.txt text eol=crlf\n");
        repo.write("a.txt", "1\r\n");
    });
    world.save("A");
    world.repo.remove(".gitattributes");
    world.repo.write("a.txt", "2\n");

    world.restore("A");

    assert_eq!(world.repo.read("a.txt"), "1\r\n");
    assert_eq!(world.step(Direction::Undo).status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("a.txt"), "2\n");
}

#[test]
fn a_file_that_changes_while_the_restore_is_at_work_is_not_lost() {
    let world = filtered();
    world.save("A");
    world.repo.write("a.sec", "2");
    world.repo.write("f", "2");
    world.repo.write("z", "2");
    let script = format!("printf edited > '{}'; cat", world.repo.path("z").display());
    world.repo.git(&["config", "filter.x.smudge", &script]);

    let outcome = world.restore("A");

    assert_eq!(outcome.status, RestoreStatus::Refused);
    assert_eq!(outcome.blockers[0].code, BlockerCode::PathBlocked);
    assert!(outcome.blockers[0].message.contains("`z`"), "{}", outcome.blockers[0].message);
    assert_eq!((world.repo.read("z"), world.repo.read("f"), world.repo.read("a.sec")), ("edited".into(), "2".into(), "2".into()));
}

#[test]
fn what_the_checkpoint_did_not_capture_stays() {
    let world = World::new(|repo| repo.write("big", "0123456789"));
    world.repo.git(&["config", "checkpoint.maxFileSize", "5"]);
    let checkpoint = world.save("A");
    assert_eq!(checkpoint.skipped.len(), 1);
    world.repo.write("big", "1");
    world.repo.write("late and large", "0123456789");

    let outcome = world.restore("A");

    assert_eq!(world.repo.read("big"), "1");
    assert_eq!(world.repo.read("late and large"), "0123456789");
    assert_eq!(outcome.kept[0].reason, KeepReason::NotCaptured);
}

#[test]
fn a_large_file_in_the_way_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("big", "small"));
    world.save("A");
    world.repo.git(&["config", "checkpoint.maxFileSize", "5"]);
    world.repo.remove("big");
    world.repo.write("big", "0123456789");

    assert_eq!(world.restore("A").status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("big"), "small");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("big"), "0123456789");
}

#[test]
fn git_reads_no_file_again_after_a_restore() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);

    world.restore("A");

    let unproven = world.repo.git(&["diff-files", "--name-only"]);
    assert_eq!(unproven, "announced\nstaged", "diff-files goes by stat data alone");
}

#[test]
fn undo_brings_back_bytes_that_git_would_not_keep() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.git(&["config", "core.autocrlf", "true"]);
    world.repo.write("f", "unix\nand dos\r\n");
    world.repo.write("new", "unix\n");
    world.repo.write("secret", "s");
    world.repo.chmod("secret", 0o600);
    let before = world.files();

    world.restore("A");
    assert!(!world.repo.exists("new") && !world.repo.exists("secret"));
    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
    world.step(Direction::Redo);
    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
}
