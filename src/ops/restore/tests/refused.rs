//! Reasons to refuse.

use super::*;

#[test]
fn a_special_file_in_the_way_refuses_the_restore() {
    let world = World::new(|repo| repo.write("p", "a file"));
    world.save("A");
    world.repo.remove("p");
    assert!(std::process::Command::new("mkfifo").arg(world.repo.path("p")).status().unwrap().success());

    assert_eq!(world.refused("A"), [BlockerCode::PathBlocked]);
}

#[test]
fn a_nested_repository_in_the_way_refuses_the_restore_and_one_beside_stays() {
    let world = World::new(|repo| repo.write("n/file", "1"));
    world.save("A");
    world.repo.remove("n");
    world.repo.git(&["init", "-q", "n"]);
    world.repo.write("n/work", "mine");

    assert_eq!(world.refused("A"), [BlockerCode::WorktreeOverlap]);

    std::fs::rename(world.repo.path("n"), world.repo.path("beside")).unwrap();
    assert_eq!(world.restore("A").status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("beside/work"), "mine");
}

#[test]
fn every_reason_to_refuse_is_given_at_once() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.git(&["config", "checkpoint.restore.mainWorktree", "refuse"]);
    world.repo.write("f", "2");
    std::fs::write(world.repo.path(".git/MERGE_HEAD"), format!("{}\n", world.repo.id("HEAD"))).unwrap();
    std::fs::write(world.repo.path(".git/index.lock"), "").unwrap();

    let outcome = world.restore_with(RestoreRequest { consent: Consent::Missing, ..world.request("A") });

    let codes: Vec<_> = outcome.blockers.iter().map(|blocker| blocker.code).collect();
    use BlockerCode::{ConfirmationRequired, IndexLocked, MainWorktree, OperationInProgress};
    assert_eq!(codes, [MainWorktree, IndexLocked, OperationInProgress, ConfirmationRequired]);
    assert!(outcome.blockers.iter().all(|blocker| !blocker.hint.is_empty()));
    assert_eq!(world.repo.read("f"), "2");
    assert!(world.repo.exists(".git/index.lock"));
}

#[test]
fn a_lock_that_goes_away_in_time_is_waited_for() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.write("f", "2");
    let lock = world.repo.path(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let impatient = world.restore_with(RestoreRequest { wait: Some(Duration::from_millis(20)), ..world.request("A") });
    assert_eq!((impatient.blockers[0].code, impatient.timed_out), (BlockerCode::IndexLocked, true));

    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            std::fs::remove_file(&lock).unwrap();
        });
        world.restore_with(RestoreRequest { wait: Some(Duration::from_secs(20)), ..world.request("A") })
    });

    assert_eq!(outcome.status, RestoreStatus::Restored);
}

#[test]
fn a_checkpoint_of_another_worktree_needs_to_be_allowed() {
    let world = World::new(|_| {});
    let linked = world.repo.outside("linked");
    world.repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let request = SaveRequest { name: Some("L".into()), allow_empty: true, ..SaveRequest::default() };
    std::fs::write(linked.join("f"), "linked").unwrap();
    save(&mut Context::open(&linked).unwrap(), &request).unwrap();

    assert_eq!(world.refused("L"), [BlockerCode::OtherWorktree]);

    let allow = vec![BlockerCode::OtherWorktree];
    world.restore_with(RestoreRequest { allow, ..world.request("L") });
    assert_eq!(world.repo.read("f"), "linked");
    world.step(Direction::Undo);
    world.repo.git(&["worktree", "remove", "--force", linked.to_str().unwrap()]);
    assert_eq!(world.restore("L").status, RestoreStatus::Restored, "it belongs to no worktree any more");
}

#[test]
fn unmerged_entries_refuse_the_restore() {
    let world = World::new(|_| {});
    world.save("A");
    let id = world.repo.git(&["hash-object", "-w", "f"]);
    let entries = format!("0 {} 0\tf\n100644 {id} 1\tf\n100644 {id} 2\tf\n100644 {id} 3\tf\n", "0".repeat(40));
    std::fs::write(world.repo.outside("entries"), entries).unwrap();
    let script = format!("git update-index --index-info < '{}'", world.repo.outside("entries").display());
    assert!(world.repo.command(&world.repo.top()).args(["-c", &format!("alias.x=!{script}"), "x"]).status().unwrap().success());

    assert_eq!(world.refused("A"), [BlockerCode::UnmergedIndex]);
}
