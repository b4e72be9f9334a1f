//! `restore --keep-edits`: what was not recorded stays, the rest goes back.

use serde_json::{Value, json};

use crate::support::{RepoState, TestRepo};

/// Two checkpoints, `A` and `B`, and edits after the second.
fn edited() -> TestRepo {
    let repo = TestRepo::new();
    for (path, content) in [("a", "a1\n"), ("b", "b1\n"), ("c", "c1\n"), ("gone", "g1\n"), ("dir/x", "x1\n")] {
        repo.write(path, content);
    }
    repo.save("A");
    for (path, content) in [("a", "a2\n"), ("b", "b2\n"), ("c", "c2\n"), ("gone", "g2\n"), ("dir/x", "x2\n"), ("new", "n2\n")] {
        repo.write(path, content);
    }
    repo.save("B");
    repo.write("b", "b3, by hand\n");
    repo.remove("gone");
    repo.write("mine", "m3, by hand\n");
    repo
}

fn restore(repo: &TestRepo, selector: &str) -> Value {
    repo.checkpoint(["restore", "--json", "--yes", "--keep-edits", selector]).success().json()
}

fn kept(document: &Value) -> Vec<(&str, &str)> {
    document["kept"].as_array().unwrap().iter().map(|k| (k["path"].as_str().unwrap(), k["reason"].as_str().unwrap())).collect()
}

#[test]
fn only_what_is_as_it_was_recorded_goes_back() {
    let repo = edited();

    let document = restore(&repo, "A");

    assert_eq!((repo.read("a"), repo.read("c"), repo.read("dir/x")), ("a1\n".into(), "c1\n".into(), "x1\n".into()));
    assert_eq!((repo.read("b"), repo.read("mine")), ("b3, by hand\n".into(), "m3, by hand\n".into()));
    assert_eq!((repo.exists("new"), repo.exists("gone")), (false, false));
    assert_eq!(kept(&document), [("b", "edited"), ("gone", "edited"), ("mine", "edited")]);
    assert_eq!(document["code"]["kept"], 3);
}

#[test]
fn undo_brings_the_state_before_back_edits_included() {
    let repo = edited();
    let before = RepoState::of(&repo).without_times();

    restore(&repo, "A");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn what_a_restore_wrote_is_no_edit() {
    let repo = edited();
    restore(&repo, "A");

    let document = restore(&repo, "B");

    assert_eq!((repo.read("a"), repo.read("new")), ("a2\n".into(), "n2\n".into()));
    assert_eq!((repo.read("dir/x"), repo.read("b")), ("x2\n".into(), "b3, by hand\n".into()));
    assert_eq!(kept(&document), [("b", "edited"), ("gone", "edited"), ("mine", "edited")]);
}

#[test]
fn a_file_that_a_restore_kept_as_ignored_and_that_was_removed_since_stays_away() {
    let repo = TestRepo::new();
    repo.write("a", "a1\n");
    repo.save("A");
    repo.write(".gitignore", "x\n");
    repo.write("a", "a2\n");
    repo.save("B");
    repo.remove(".gitignore");
    repo.write("x", "mine\n");
    repo.save("C");
    repo.restore("B");
    assert_eq!(repo.read("x"), "mine\n", "the restore keeps what is ignored there");
    repo.remove("x");

    let document = restore(&repo, "C");

    assert!(!repo.exists("x"), "its removal is an edit: {document}");
    assert_eq!(kept(&document), [("x", "edited")]);
    assert!(!repo.exists(".gitignore"));
}

#[test]
fn what_a_restore_removed_is_no_edit_though_it_is_ignored_elsewhere() {
    let repo = TestRepo::new();
    repo.write("a", "a1\n");
    repo.save("A");
    repo.write("x", "mine\n");
    repo.save("B");
    repo.restore("A");
    assert!(!repo.exists("x"));

    let document = restore(&repo, "B");

    assert_eq!((repo.read("x"), kept(&document)), ("mine\n".into(), vec![]));
}

#[test]
fn what_was_kept_is_kept_the_next_time_too_and_after_an_undo() {
    let repo = edited();
    restore(&repo, "A");
    repo.write("a", "a3, by hand\n");

    restore(&repo, "A");
    assert_eq!((repo.read("a"), repo.read("b")), ("a3, by hand\n".into(), "b3, by hand\n".into()));
    repo.undo();
    restore(&repo, "A");

    assert_eq!((repo.read("b"), repo.exists("gone"), repo.exists("mine")), ("b3, by hand\n".into(), false, true));
}

#[test]
fn an_edited_file_keeps_a_directory_from_taking_its_place_and_the_reverse() {
    let repo = TestRepo::new();
    repo.write("was-dir/file", "1\n");
    repo.write("was-file", "1\n");
    repo.save("A");
    for path in ["was-dir", "was-file"] {
        repo.remove(path);
    }
    repo.write("was-dir", "2\n");
    repo.write("was-file/inner", "2\n");
    repo.save("B");
    repo.write("was-dir", "3, by hand\n");
    repo.write("was-file/inner", "3, by hand\n");

    let document = restore(&repo, "A");

    assert_eq!((repo.read("was-dir"), repo.read("was-file/inner")), ("3, by hand\n".into(), "3, by hand\n".into()));
    assert_eq!(document["code"]["written"], json!(0));
}

#[test]
fn what_is_staged_of_an_edited_file_stays_staged() {
    let repo = edited();
    repo.git(["add", "b"]);
    let staged = repo.git(["ls-files", "-s", "b"]).text();

    restore(&repo, "A");

    assert_eq!(repo.git(["ls-files", "-s", "b"]).text(), staged);
}

#[test]
fn a_dry_run_names_what_would_be_kept() {
    let repo = edited();

    let plan = repo.checkpoint(["restore", "--dry-run", "--keep-edits", "A"]).success().text();

    assert!(plan.contains("keep b (edited)") && plan.contains("replace a"), "{plan}");
    assert_eq!(repo.read("a"), "a2\n");
}

#[test]
fn without_a_checkpoint_of_the_worktree_edits_cannot_be_told() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("A");
    repo.git(["worktree", "add", "-q", "../linked"]);
    let linked = repo.at("linked");

    let error = linked.checkpoint(["restore", "--yes", "--json", "--keep-edits", "--allow", "other-worktree", "A"]).exits(129);

    assert_eq!(error.json()["error"]["code"], "usage");
    assert!(!linked.exists("a"));
}
