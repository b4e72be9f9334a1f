//! Flags that people set with `git update-index`: what is said of files that need not be there, and what undo makes of flags.

use crate::support::{RepoState, TestRepo};

/// Two files, one of which the index says need not be there.
fn flagged() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("s", "1\n");
    repo.commit("two files");
    repo.run(["update-index", "--skip-worktree", "s"]);
    repo
}

fn flags(repo: &TestRepo) -> String {
    repo.git(["ls-files", "-v"]).text()
}

/// The paths that are said to be kept, with the reason.
fn kept(document: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let kept = document["kept"].as_array().unwrap();
    kept.iter().map(|kept| (text(&kept["path"]), text(&kept["reason"]))).collect()
}

fn restored(repo: &TestRepo, args: &[&str]) -> serde_json::Value {
    repo.checkpoint([&["restore", "--json", "--yes"], args].concat()).success().json()
}

const ABSENT: &str = "skip-worktree";

#[test]
fn a_file_that_need_not_be_there_and_is_gone_is_named_among_what_is_kept() {
    let repo = flagged();
    repo.save("A");
    repo.remove("s");
    repo.write("f", "2\n");

    let document = restored(&repo, &["A"]);

    assert!(!repo.exists("s") && repo.read("f") == "1\n");
    assert_eq!(kept(&document), [("s".to_owned(), ABSENT.to_owned())]);
    assert_eq!(document["code"]["written"], 1);
    let unchanged = restored(&repo, &["A"]);
    assert_eq!((unchanged["status"].as_str(), kept(&unchanged)), (Some("unchanged"), vec![("s".to_owned(), ABSENT.to_owned())]));
    repo.checkpoint(["restore", "--yes", "A"]).success().says("kept: 1 skip-worktree");
    // A state in which it was absent is the one that undo leads to.
    let undone = repo.checkpoint(["undo", "--json", "--yes"]).success().json();
    assert_eq!((kept(&undone), repo.read("f").as_str()), (vec![], "2\n"));
}

#[test]
fn one_that_the_checkpoint_has_with_other_content_is_named_too() {
    let repo = flagged();
    repo.run(["update-index", "--no-skip-worktree", "s"]);
    repo.write("s", "2\n");
    repo.run(["add", "s"]);
    repo.save("A");
    repo.write("s", "3\n");
    repo.run(["add", "s"]);
    repo.run(["update-index", "--skip-worktree", "s"]);
    repo.remove("s");

    let document = restored(&repo, &["A"]);

    assert_eq!(kept(&document), [("s".to_owned(), ABSENT.to_owned())]);
    assert_eq!((document["code"]["written"].as_u64(), repo.exists("s")), (Some(0), false));
    assert_eq!(repo.git(["show", ":s"]).text(), "2");
    assert!(flags(&repo).contains("S s"));
}

#[test]
fn one_with_content_of_its_own_comes_back() {
    let repo = flagged();
    repo.write("s", "of its own\n");
    repo.save("A");
    repo.remove("s");

    let document = restored(&repo, &["A"]);

    assert_eq!((kept(&document), repo.read("s").as_str()), (vec![], "of its own\n"));
}

#[test]
fn flags_that_were_set_since_are_taken_back_by_undo_and_come_again_with_redo() {
    let repo = TestRepo::new();
    for path in ["s", "u", "was"] {
        repo.write(path, "1\n");
    }
    repo.commit("files");
    repo.run(["update-index", "--assume-unchanged", "was"]);
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("u", "edited\n");
    let before = (flags(&repo), repo.status());
    repo.restore("A");
    repo.write("u", "edited\n");
    repo.run(["update-index", "--skip-worktree", "s"]);
    repo.run(["update-index", "--assume-unchanged", "u"]);
    repo.run(["update-index", "--no-assume-unchanged", "was"]);
    let after = (flags(&repo), RepoState::of(&repo).without_times());

    repo.undo();
    assert_eq!((flags(&repo), repo.status()), before);
    repo.redo();
    assert_eq!(flags(&repo), after.0);
    after.1.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn flags_stay_where_nothing_is_known_of_them_and_where_they_did_not_change() {
    let repo = flagged();
    repo.save("A");
    repo.write("f", "2\n");
    repo.run(["update-index", "--assume-unchanged", "s"]);
    let set = flags(&repo);

    repo.restore("A");
    assert_eq!(flags(&repo), set, "a save does not record flags");
    repo.undo();

    assert_eq!(flags(&repo), set);
    repo.checkpoint(["undo", "--yes"]).says("nothing to undo");
}

#[test]
fn flags_of_a_sparse_checkout_are_left_to_it() {
    let repo = TestRepo::new();
    for path in ["in/a", "out/b", "out/deep/c"] {
        repo.write(path, "1\n");
    }
    repo.commit("in and out");
    for options in [&["--cone"][..], &["--cone", "--sparse-index"]] {
        repo.save("A");
        repo.write("in/a", "2\n");
        repo.restore("A");
        repo.run([&["sparse-checkout", "set"], options, &["in"]].concat());
        let set = flags(&repo);
        assert!(set.contains("S out/b"), "{set}");

        repo.undo();

        assert_eq!((flags(&repo), repo.read("in/a").as_str(), repo.exists("out/b")), (set, "2\n", false));
        repo.run(["sparse-checkout", "disable"]);
        repo.run(["checkout", "-q", "--", "in/a"]);
    }
}

#[test]
fn undo_of_a_restore_that_changed_nothing_but_flags_is_done() {
    let repo = flagged();
    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");
    repo.write("f", "2\n");
    repo.run(["update-index", "--no-skip-worktree", "s"]);

    repo.undo();

    assert!(flags(&repo).contains("S s"), "{}", flags(&repo));
}

#[test]
fn a_redo_brings_back_the_flag_of_a_path_that_is_only_announced() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");
    repo.write("announced", "1\n");
    repo.run(["add", "-N", "announced"]);
    repo.run(["update-index", "--assume-unchanged", "announced"]);
    let before = (flags(&repo), repo.git(["diff", "--name-status"]).text());

    repo.undo();
    assert!(!repo.exists("announced"));
    repo.redo();

    assert_eq!((flags(&repo), repo.git(["diff", "--name-status"]).text()), before);
}

#[test]
fn a_file_that_was_not_there_comes_with_the_tree_if_the_index_does_not_come_back() {
    let repo = TestRepo::new();
    repo.write("k", "1\n");
    repo.commit("k");
    repo.save("A");
    repo.write("f", "2\n");
    repo.run(["update-index", "--skip-worktree", "k"]);
    repo.remove("k");
    repo.restore("A");
    let pre_restore = repo.field("pre-restore", "number");
    repo.run(["update-index", "--no-skip-worktree", "k"]);
    repo.run(["checkout", "-q", "k"]);
    repo.run(["commit", "-q", "--allow-empty", "-m", "moved"]);

    let document = restored(&repo, &[&pre_restore]);

    assert_eq!((repo.read("k"), &document["code"]["deleted"]), ("1\n".into(), &0.into()));
    assert_eq!(repo.git(["status", "--short"]).text(), " M f");
}
