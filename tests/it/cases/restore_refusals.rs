//! Refusals: every reason at once, each with its code, nothing changed.

use crate::support::{Operation, RepoState, TestRepo};

/// A repository with checkpoint `A` and changes made since.
fn changed() -> TestRepo {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("n", "n\n");
    repo
}

#[test]
fn a_held_lock_of_the_index_stops_a_restore_but_no_save_and_is_never_removed() {
    let repo = changed();
    repo.config("checkpoint.lockTimeout", "300ms");
    repo.lock_index();
    let before = RepoState::of(&repo);

    repo.save("B");
    let blockers = repo.blockers(&["restore", "--yes", "A"]);

    assert_eq!(blockers, ["index-locked"]);
    before.assert_same(&RepoState::of(&repo));
    assert!(repo.git_dir().join("index.lock").exists());
}

#[test]
fn conflict_stages_and_the_files_of_an_operation_survive_a_save_and_a_refused_restore() {
    for operation in Operation::ALL {
        let repo = TestRepo::new();
        repo.stop_in(operation);
        let before = RepoState::of(&repo);
        let stages = repo.git(["ls-files", "-u"]).text();

        repo.save("A");
        let refused = repo.blockers(&["restore", "--yes", "A"]);

        assert!(refused.contains(&"operation-in-progress".to_owned()), "{operation:?}: {refused:?}");
        assert_eq!(refused.contains(&"unmerged-index".to_owned()), !stages.is_empty(), "{operation:?}: {refused:?}");
        before.assert_same(&RepoState::of(&repo));
    }
}

#[test]
fn an_unmerged_index_without_an_operation_stops_a_restore() {
    let repo = TestRepo::new();
    repo.diverge();
    repo.save("A");
    repo.try_git(["merge", "side"]).fails();
    std::fs::remove_file(repo.git_dir().join("MERGE_HEAD")).unwrap();
    let before = RepoState::of(&repo);

    assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["unmerged-index"]);

    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn without_a_terminal_a_restore_needs_consent() {
    let repo = changed();
    let before = RepoState::of(&repo);

    let blockers = repo.blockers(&["restore", "A"]);
    let talk = repo.checkpoint(["restore", "A"]).exits(3).talk();

    assert_eq!(blockers, ["confirmation-required"]);
    assert!(talk.contains("--yes"), "{talk}");
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn all_reasons_are_given_at_once_each_with_its_code_hint_and_override() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    repo.config("checkpoint.lockTimeout", "100ms");
    repo.config("checkpoint.restore.mainWorktree", "refuse");
    repo.stop_in(Operation::Merge);
    repo.lock_index();
    let before = RepoState::of(&repo);

    let document = repo.checkpoint(["restore", "--json", "L"]).exits(3).json();

    let blockers = document["blockers"].as_array().unwrap();
    let codes: Vec<_> = blockers.iter().map(|blocker| blocker["code"].as_str().unwrap()).collect();
    for code in
        ["main-worktree", "other-worktree", "index-locked", "operation-in-progress", "unmerged-index", "confirmation-required"]
    {
        assert!(codes.contains(&code), "{code} is missing from {codes:?}");
    }
    for blocker in blockers {
        assert!(["message", "hint"].iter().all(|key| !blocker[key].as_str().unwrap().is_empty()), "{blocker}");
        let expected = match blocker["code"].as_str().unwrap() {
            "confirmation-required" => "yes".into(),
            "other-worktree" => "allow".into(),
            _ => serde_json::Value::Null,
        };
        assert_eq!(blocker["override"], expected, "{blocker}");
    }
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_folder_that_cannot_be_written_stops_a_restore_before_the_first_change() {
    for mode in [0o555, 0o500, 0o444, 0o666, 0o311] {
        let repo = TestRepo::new();
        for path in ["a", "ro/f", "ro/gone", "z"] {
            repo.write(path, "1\n");
        }
        repo.commit("files");
        repo.save("A");
        for path in ["a", "ro/f", "z"] {
            repo.write(path, "2\n");
        }
        repo.remove("ro/gone");
        repo.write("ro/new", "2\n");
        repo.save("B");
        repo.give_away();
        repo.chmod("ro", mode);
        let before = RepoState::of(&repo);

        let output = repo.checkpoint(["restore", "--yes", "--json", "A"]).exits(3);

        // Where files cannot be looked at, what is there cannot be captured.
        let code = output.json()["blockers"][0]["code"].as_str().unwrap().to_owned();
        let codes: &[&str] = if mode & 0o500 == 0o500 { &["path-blocked"] } else { &["path-blocked", "pre-restore-partial"] };
        assert!(codes.contains(&code.as_str()), "{mode:o} {output}");
        assert!(output.text().contains("ro"), "{output}");
        before.assert_same(&RepoState::of(&repo));
        repo.chmod("ro", 0o755);
        assert_eq!(repo.read("ro/f"), "2\n");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_no_hindrance_where_nothing_in_it_changes() {
    let repo = TestRepo::new();
    repo.write("ro/f", "1\n");
    repo.commit("files");
    repo.save("A");
    repo.write("f", "2\n");
    repo.give_away();
    repo.chmod("ro", 0o555);

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
    repo.chmod("ro", 0o755);
}

#[test]
fn a_dry_run_tells_plan_and_blockers_and_changes_nothing() {
    let repo = changed();
    repo.write("gone", "g\n");
    repo.save("B");
    repo.remove("gone");
    repo.write("f", "3\n");
    repo.write("extra", "x\n");
    let before = RepoState::of(&repo);

    let document = repo.checkpoint(["restore", "--dry-run", "--json", "B"]).success().json();

    assert_eq!(document["status"], "dry-run");
    let mut plan: Vec<_> = document["plan"].as_array().unwrap().iter().map(|op| op["path"].as_str().unwrap()).collect();
    plan.sort_unstable();
    assert_eq!(plan, ["extra", "f", "gone"]);
    before.assert_same(&RepoState::of(&repo));
    assert_eq!(repo.checkpoint_refs().len(), 2);
}

#[test]
fn a_checkpoint_of_a_missing_worktree_path_is_no_other_worktree() {
    let repo = changed();
    let moved = repo.env().shelf().join("moved here");
    std::fs::rename(repo.top(), &moved).unwrap();
    let repo = repo.at("moved here");

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
}
