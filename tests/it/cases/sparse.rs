//! Sparse checkouts and flagged entries: what is not on disk stays as it is; what is on disk is captured as it is.

use crate::support::{RepoState, TestRepo};

/// A sparse checkout of `in`, with `in/a` edited.
fn sparse(options: &[&str], patterns: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for path in ["in/a", "out/b", "out/deep/c", "also-out/d"] {
        repo.write(path, "1\n");
    }
    repo.commit("in and out");
    repo.run([&["sparse-checkout", "set"], options, patterns].concat());
    assert!(!repo.exists("out/b"), "the checkout is not sparse: this test shows nothing");
    repo.write("in/a", "3\n");
    repo
}

/// The ways to make a checkout sparse.
const FORMS: [(&[&str], &[&str]); 3] =
    [(&["--cone"], &["in"]), (&["--cone", "--sparse-index"], &["in"]), (&["--no-cone"], &["/in/", "/f"])];

#[test]
fn entries_outside_stay_in_the_tree_and_off_the_disk() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        let flags = repo.git(["ls-files", "-v"]).text();

        repo.save("A");
        repo.write("in/a", "4\n");
        repo.restore("A");

        for path in ["out/b", "out/deep/c", "also-out/d"] {
            assert!(repo.holds("A", path), "{options:?} {path}");
            assert!(!repo.exists(path), "{options:?} {path}");
        }
        assert_eq!(repo.read("in/a"), "3\n");
        assert_eq!(repo.git(["ls-files", "-v"]).text(), flags, "{options:?}");
    }
}

#[test]
fn a_restore_in_a_sparse_checkout_and_its_undo_bring_back_the_status() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        repo.run(["add", "in/a"]);
        repo.write("in/new", "n\n");
        let saved = RepoState::of(&repo).without_times();
        repo.save("A");
        repo.write("in/a", "5\n");
        repo.remove("in/new");
        let later = RepoState::of(&repo).without_times();

        repo.restore("A");
        saved.assert_same(&RepoState::of(&repo).without_times());
        repo.undo();

        later.assert_same(&RepoState::of(&repo).without_times());
    }
}

#[test]
fn a_file_outside_that_is_on_disk_is_captured_as_it_is_on_disk() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        repo.write("out/b", "made present\n");
        repo.write("out/new", "never seen\n");

        repo.save("A");

        assert_eq!(repo.blob("A", "out/b"), b"made present\n", "{options:?}");
        assert_eq!(repo.blob("A", "out/new"), b"never seen\n", "{options:?}");
        assert!(repo.holds("A", "out/deep/c"), "{options:?}");
    }
}

#[test]
fn a_file_outside_that_is_on_disk_is_never_lost() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        repo.save("before");
        repo.write("out/b", "made present\n");
        repo.write("out/new", "never seen\n");
        let later = RepoState::of(&repo).without_times();

        repo.restore("before");
        repo.undo();

        assert_eq!((repo.read("out/b"), repo.read("out/new")), ("made present\n".into(), "never seen\n".into()));
        later.assert_same(&RepoState::of(&repo).without_times());
    }
}

#[test]
fn local_edits_under_flags_are_captured_and_kept_with_their_flags() {
    let repo = TestRepo::new();
    for path in ["s", "u", "both"] {
        repo.write(path, "1\n");
    }
    repo.commit("flagged");
    repo.run(["update-index", "--skip-worktree", "s", "both"]);
    repo.run(["update-index", "--assume-unchanged", "u", "both"]);
    for path in ["s", "u", "both"] {
        repo.write(path, "local\n");
    }
    let flags = repo.git(["ls-files", "-v"]).text();

    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");

    for path in ["s", "u", "both"] {
        assert_eq!(repo.blob("A", path), b"local\n");
        assert_eq!(repo.read(path), "local\n");
    }
    assert_eq!(repo.git(["ls-files", "-v"]).text(), flags);
}

#[test]
fn local_edits_under_flags_made_later_come_back_with_undo() {
    let repo = TestRepo::new();
    for path in ["s", "u"] {
        repo.write(path, "1\n");
    }
    repo.commit("flagged");
    repo.run(["update-index", "--skip-worktree", "s"]);
    repo.run(["update-index", "--assume-unchanged", "u"]);
    repo.save("A");
    for path in ["s", "u"] {
        repo.write(path, "local\n");
    }

    repo.restore("A");
    repo.undo();

    assert_eq!((repo.read("s"), repo.read("u")), ("local\n".into(), "local\n".into()));
}
