//! Deleting a session: its checkpoints with their names, and nothing else.

use serde_json::json;

use crate::support::{RepoState, Sleeper, TestRepo};

/// A session `s` with two checkpoints, one of them with two names, between checkpoints of the worktree's own session.
fn with_session() -> TestRepo {
    let repo = TestRepo::new();
    repo.save("before");
    repo.checkpoint(["session", "start", "-q", "s"]).success();
    repo.write("f", "2\n");
    repo.save("one name");
    repo.checkpoint(["name", "-q", "one name", "another"]).success();
    repo.checkpoint(["session", "end", "-q"]).success();
    repo.write("f", "3\n");
    repo.save("after");
    repo
}

/// Every ref of ours.
fn refs(repo: &TestRepo) -> Vec<String> {
    let refs = repo
        .git(["for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/checkpoint-names", "refs/checkpoint-originals"])
        .text();
    refs.lines().map(str::to_owned).collect()
}

fn numbers(repo: &TestRepo) -> String {
    repo.checkpoint(["list", "--reverse", "--format=%(number)"]).success().text()
}

#[test]
fn a_session_goes_with_its_checkpoints_and_their_names_and_nothing_else() {
    for packed in [false, true] {
        let repo = with_session();
        if packed {
            repo.run(["pack-refs", "--all"]);
        }
        let others: Vec<String> = refs(&repo)
            .into_iter()
            .filter(|name| !name.contains("/s/") && !name.contains("one%20name") && !name.contains("another"))
            .collect();
        assert_eq!((refs(&repo).len(), others.len()), (8, 4));
        let before = RepoState::of(&repo);

        let deleted = repo.checkpoint(["session", "delete", "-y", "s"]).success();

        assert_eq!(deleted.text(), "deleted session s with 2 checkpoints and 2 names");
        assert_eq!(refs(&repo), others);
        assert_eq!(numbers(&repo), "1\n4");
        before.assert_same(&RepoState::of(&repo));
        repo.checkpoint(["session", "show", "s"]).exits(4);
        repo.checkpoint(["show", "another"]).exits(4);
        repo.restore("before");
        assert_eq!(repo.read("f"), "1\n");
    }
}

#[test]
fn a_look_deletes_nothing_and_consent_is_needed() {
    let repo = with_session();
    let before = refs(&repo);

    let dry = repo.checkpoint(["session", "delete", "-n", "s"]).success();
    let document = repo.checkpoint(["session", "delete", "-n", "--json", "s"]).success().json();
    let error = repo.checkpoint(["session", "delete", "--json", "s"]).exits(3).json();

    assert_eq!(dry.text(), "would delete session s with 2 checkpoints and 2 names");
    let numbers: Vec<_> = document["checkpoints"].as_array().unwrap().iter().map(|one| one["number"].clone()).collect();
    assert_eq!((&document["status"], numbers), (&json!("dry-run"), vec![json!(3), json!(2)]));
    assert_eq!(error["error"]["code"], "confirmation-required");
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_session_at_work_is_not_deleted() {
    let repo = with_session();
    let process = Sleeper::new();
    repo.session_of("s", &process);
    let before = refs(&repo);

    for options in [&["-y"][..], &["-n"]] {
        let error = repo.checkpoint([&["session", "delete", "--json", "s"], options].concat()).exits(3).json();
        assert_eq!(error["error"]["code"], "session-active");
    }
    assert_eq!(refs(&repo), before);
    drop(process);
    repo.checkpoint(["session", "delete", "-y", "-q", "s"]).success();
}

#[test]
fn what_an_undo_or_a_redo_needs_is_not_deleted() {
    let repo = with_session();
    repo.restore("before");
    repo.checkpoint(["session", "start", "-q", "t"]).success();
    repo.write("f", "4\n");
    repo.undo();
    repo.checkpoint(["session", "end", "-q"]).success();
    let before = refs(&repo);

    // What was left by the undo is in `t`.
    let error = repo.checkpoint(["session", "delete", "-y", "--json", "t"]).exits(3).json();

    assert_eq!(error["error"]["code"], "needed-by-undo");
    let blocker = &error["blockers"][0];
    assert_eq!(blocker["message"], "checkpoint 7 is what an undo or redo leads to or has to know");
    assert!(blocker["hint"].as_str().unwrap().contains("`--allow needed-by-undo`"), "{blocker}");
    assert_eq!(refs(&repo), before);
    repo.redo();
    assert_eq!(repo.read("f"), "4\n");
    repo.checkpoint(["session", "delete", "-y", "-q", "s"]).success();
    repo.undo();
    assert_eq!(repo.read("f"), "3\n");
}

#[test]
fn steps_of_undo_go_with_the_session_if_that_is_allowed() {
    let repo = with_session();
    repo.restore("one name");
    repo.write("f", "4\n");
    repo.restore("before");
    repo.checkpoint(["session", "delete", "-y", "s"]).exits(3).says("needed-by-undo");

    let deleted = repo.checkpoint(["session", "delete", "-y", "--allow", "needed-by-undo", "s"]).success();

    assert_eq!(deleted.text(), "deleted session s with 2 checkpoints and 2 names");
    assert_eq!(repo.checkpoint(["undo", "--list"]).success().text().lines().count(), 1);
    repo.undo();
    assert_eq!(repo.read("f"), "4\n");
    repo.checkpoint(["session", "delete", "-y", "--allow", "filter-failed", "x"]).exits(129);
}

#[test]
fn a_worktree_that_is_gone_needs_nothing() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    linked.checkpoint(["session", "start", "-q", "s"]).success();
    linked.save("L");
    linked.write("f", "2\n");
    linked.restore("L");
    let error = repo.checkpoint(["session", "delete", "-y", "--json", "s"]).exits(3).json();
    assert_eq!(error["error"]["code"], "needed-by-undo");

    repo.run(["worktree", "remove", "--force", linked.top().to_str().unwrap()]);

    repo.checkpoint(["session", "delete", "-y", "-q", "s"]).success();
    assert_eq!(repo.checkpoint_refs(), [""; 0]);
}

#[test]
fn a_restore_of_another_worktree_that_was_interrupted_keeps_what_it_is_about() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    linked.checkpoint(["session", "start", "-q", "s"]).success();
    linked.save("L");
    linked.write("f", "2\n");
    linked.write("g", "2\n");
    linked.interrupt("L", |linked| linked.read("f") == "1\n" || !linked.exists("g"));

    let error = repo.checkpoint(["session", "delete", "-y", "--allow", "needed-by-undo", "--json", "s"]).exits(3).json();

    assert_eq!(error["error"]["code"], "restore-interrupted");
    linked.checkpoint(["restore", "-q", "--continue"]).success();
    assert_eq!(linked.read("f"), "1\n");
}

#[test]
fn a_deletion_that_died_is_ended_by_the_next() {
    let repo = with_session();
    let id = repo.field("2", "id");
    repo.run(["update-ref", "-d", &format!("refs/checkpoints/s/{id}")]);
    repo.run(["update-ref", "-d", "refs/checkpoint-names/another"]);

    repo.checkpoint(["session", "delete", "-y", "-q", "s"]).success();

    assert_eq!(numbers(&repo), "1\n4");
    assert_eq!(refs(&repo).len(), 4);
}

#[test]
fn the_worktrees_own_session_can_be_deleted_and_another_takes_its_place() {
    let repo = TestRepo::new();
    repo.save("A");
    let own = repo.field("A", "session");

    repo.checkpoint(["session", "delete", "-y", "-q", &own]).success();
    repo.save("B");

    assert_eq!(numbers(&repo), "2");
    assert_ne!(repo.field("B", "session"), own);
}

/// Deletes the session with a fault at every point in turn: all of its checkpoints go or none, and the same command again ends it.
fn fail_everywhere(fault: &str) {
    let mut points = 0;
    for point in 1.. {
        let repo = with_session();
        repo.run(["pack-refs", "--all"]);
        let output = repo.with_fault(&format!("{fault}:{point}"), &["session", "delete", "-q", "-y", "s"]);
        let left = numbers(&repo);
        assert!(left == "1\n2\n3\n4" || left == "1\n4", "{fault} at {point}: {left:?}");

        let again = repo.checkpoint(["session", "delete", "-q", "-y", "s"]);
        assert!(again.code() == Some(0) || (again.code() == Some(4) && left == "1\n4"), "{fault} at {point}: {again}");
        repo.checkpoint(["-q", "--allow-empty"]).success();
        assert_eq!(repo.checkpoint_refs().len(), 3, "{fault} at {point}");
        assert_eq!(repo.git(["for-each-ref", "refs/checkpoint-names"]).text().lines().count(), 2, "{fault} at {point}");
        repo.checkpoint(["session", "show", "s"]).exits(4);
        repo.assert_sound();
        if output.code() == Some(0) {
            break;
        }
        points += 1;
    }
    assert!(points >= 3, "only {points} points");
}

#[test]
fn killed_or_with_a_full_disk_at_any_point_all_go_or_none_and_the_next_ends_it() {
    fail_everywhere("kill");
    fail_everywhere("full");
}

#[test]
fn nothing_is_deleted_while_another_worktree_is_being_saved_or_restored() {
    let repo = with_session();
    let linked = repo.linked_worktree("linked");
    linked.checkpoint(["-q"]).success();
    let before = refs(&repo);
    let lock = std::fs::File::open(linked.git_dir().join("checkpoint/lock")).unwrap();
    lock.lock().unwrap();

    repo.config("checkpoint.lockTimeout", "100ms");
    repo.checkpoint(["session", "delete", "-y", "s"]).exits(5);

    assert_eq!(refs(&repo), before);
    drop(lock);
    repo.checkpoint(["session", "delete", "-y", "-q", "s"]).success();
}
