//! Repositories inside the worktree: never entered, never emptied, never deleted.

use crate::support::{RepoState, TestRepo};

#[test]
fn a_nested_repository_without_a_commit_never_stops_a_save() {
    let repo = TestRepo::new();
    let nested = repo.empty_nested_repository("n0");
    nested.write("x", "x\n");
    repo.write("f", "2\n");
    repo.try_git(["add", "-A"]).fails().says("does not have a commit checked out");
    let before = RepoState::of(&nested);

    repo.save("A");
    repo.write("f", "3\n");
    repo.restore("A");

    assert_eq!(repo.blob("A", "f"), b"2\n");
    assert!(!repo.holds("A", "n0"));
    before.assert_same(&RepoState::of(&nested));
    let document = repo.checkpoint(["show", "--json", "A"]).success().json();
    assert_eq!(document["checkpoint"]["complete"], false);
    assert_eq!(document["checkpoint"]["skipped"][0]["path"], "n0");
    assert_eq!(repo.ls_tree(&repo.tree("A")).len(), 1);
}

#[test]
fn a_nested_repository_made_after_the_checkpoint_is_kept_whole() {
    let repo = TestRepo::new();
    repo.save("before");
    let nested = repo.nested_repository("deep/er/n0");
    nested.write("y", "not committed\n");
    repo.write("deep/later", "x\n");
    let before = RepoState::of(&nested);

    repo.save("A");
    repo.restore("before");

    before.assert_same(&RepoState::of(&nested));
    assert!(!repo.exists("deep/later"));
    repo.restore("A");
    before.assert_same(&RepoState::of(&nested));
    assert_eq!(repo.mode("A", "deep/er/n0"), "160000");
}

#[test]
fn a_nested_repository_that_is_gone_is_not_made_up() {
    let repo = TestRepo::new();
    let _nested = repo.nested_repository("n0");
    repo.save("A");
    repo.remove("n0");
    repo.write("f", "2\n");

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
    assert!(!repo.exists("n0/x"));
}

#[test]
fn a_nested_repository_in_place_of_a_tracked_folder_is_kept() {
    let repo = TestRepo::new();
    repo.write("lib/x", "tracked\n");
    repo.commit("lib");
    repo.save("A");
    repo.remove("lib");
    let nested = repo.nested_repository("lib");
    let before = RepoState::of(&nested);

    let output = repo.try_restore("A");

    if output.code() != Some(0) {
        output.exits(3);
        before.assert_same(&RepoState::of(&nested));
    }
    assert!(nested.path(".git/HEAD").exists());
    assert!(nested.exists("x"));
}

#[test]
fn a_linked_worktree_inside_the_worktree_is_kept() {
    let repo = TestRepo::new();
    repo.save("before");
    repo.run(["worktree", "add", "-q", "-b", "inside", "trees/inside"]);
    let inside = repo.inner("trees/inside");
    inside.write("f", "edited inside\n");
    let state = RepoState::of(&inside);

    repo.save("A");
    repo.restore("before");

    state.assert_same(&RepoState::of(&inside));
    inside.save("of the inner one");
    assert_eq!(inside.blob("of the inner one", "f"), b"edited inside\n");
}

#[test]
fn a_submodule_with_edits_is_named_and_left_alone() {
    let repo = TestRepo::new();
    let sub = repo.submodule("sub");
    repo.save("A");
    sub.write("s", "dirty\n");
    sub.write("u", "untracked\n");
    repo.write("f", "2\n");
    repo.save("B");
    let before = RepoState::of(&sub);

    repo.restore("A");

    before.assert_same(&RepoState::of(&sub));
    assert_eq!(repo.read("f"), "1\n");
    let document = repo.checkpoint(["show", "--json", "B"]).success().json();
    assert_eq!(document["checkpoint"]["skipped"][0]["path"], "sub", "{document}");
}

#[test]
fn a_submodule_that_moved_is_recorded_as_git_add_would_and_never_moved_back() {
    let repo = TestRepo::new();
    let sub = repo.submodule("sub");
    repo.save("A");
    sub.write("s", "2\n");
    sub.commit("second");
    repo.save("B");
    let head = sub.rev("HEAD").unwrap();

    repo.restore("A");

    assert_eq!(repo.ls_tree(&repo.tree("B"))["sub"], format!("160000 commit {head}"));
    assert_ne!(repo.tree("A"), repo.tree("B"));
    assert_eq!(sub.rev("HEAD").unwrap(), head);
}

#[test]
fn a_submodule_that_is_not_checked_out_stays_in_the_tree() {
    let repo = TestRepo::new();
    let _sub = repo.submodule("sub");
    repo.run(["submodule", "-q", "deinit", "-f", "sub"]);
    repo.write("f", "2\n");

    repo.save("A");
    repo.restore("A");

    assert_eq!(repo.mode("A", "sub"), "160000");
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_nested_repository_with_another_hash_leaves_the_checkpoint_whole() {
    for (outer, inner) in [(TestRepo::new(), "sha256"), (TestRepo::sha256(), "sha1")] {
        repo_with_other_hash(&outer, inner);
        outer.write("precious", "1\n");

        outer.save("A");
        outer.remove("precious");
        outer.restore("A");

        assert_eq!(outer.read("precious"), "1\n");
        let document = outer.checkpoint(["show", "--json", "A"]).success().json();
        assert_eq!(document["checkpoint"]["skipped"][0]["path"], "nest");
        assert!(outer.exists("nest/kept"));
        outer.assert_sound();
    }
}

fn repo_with_other_hash(outer: &TestRepo, inner: &str) {
    outer.run(["init", "-q", &format!("--object-format={inner}"), "nest"]);
    outer.run(["-C", "nest", "commit", "-q", "--allow-empty", "-m", "inner"]);
    outer.write("nest/kept", "1\n");
}

#[test]
fn a_nested_repository_whose_git_directory_is_linked_to_is_never_entered() {
    let repo = TestRepo::new();
    repo.save("before");
    let elsewhere = repo.nested_repository("../elsewhere");
    repo.mkdir("n");
    repo.symlink(elsewhere.git_dir(), "n/.git");
    repo.write("n/v", "v\n");

    repo.save("A");
    repo.restore("before");

    assert_eq!((repo.read("n/v"), repo.mode("A", "n")), ("v\n".to_owned(), "160000".to_owned()));
    repo.assert_tree_is_gits("A");
}

#[test]
fn the_empty_folder_of_a_submodule_that_a_restore_makes_goes_with_undo() {
    let repo = TestRepo::new();
    repo.run(["init", "-q", "sm"]);
    repo.run(["-C", "sm", "commit", "-q", "--allow-empty", "-m", "s"]);
    repo.commit("submodule");
    repo.save("A");
    repo.remove("sm");
    repo.save("gone");
    let before = repo.status();

    repo.restore("A");
    assert!(repo.path("sm").is_dir());
    repo.checkpoint(["undo", "--quiet", "--yes"]).success();

    assert!(!repo.exists("sm"));
    assert_eq!(repo.status(), before);
    repo.restore("A");
    repo.restore("gone");
    assert!(!repo.exists("sm"));
}
