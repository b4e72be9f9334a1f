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

/// Absent files, their flags and the index come back, whatever a restore made of them.
fn undo_and_redo_are_exact(repo: &TestRepo, to: &str) {
    let before = (RepoState::of(repo).without_times().without_folders(), repo.git(["ls-files", "-v"]).text());
    repo.restore(to);
    let after = (RepoState::of(repo).without_times().without_folders(), repo.git(["ls-files", "-v"]).text());
    repo.undo();
    before.0.assert_same(&RepoState::of(repo).without_times().without_folders());
    assert_eq!(repo.git(["ls-files", "-v"]).text(), before.1);
    repo.redo();
    after.0.assert_same(&RepoState::of(repo).without_times().without_folders());
    assert_eq!(repo.git(["ls-files", "-v"]).text(), after.1);
    repo.undo();
    before.0.assert_same(&RepoState::of(repo).without_times().without_folders());
    repo.assert_sound();
}

#[test]
fn what_a_restore_puts_outside_goes_again_with_undo() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        repo.write("out/b", "made present\n");
        repo.save("present");
        repo.remove("out/b");
        repo.run(["sparse-checkout", "reapply"]);
        assert_eq!(repo.git(["ls-files", "-t", "out/b"]).text(), "S out/b", "{options:?}");

        undo_and_redo_are_exact(&repo, "present");

        repo.restore("present");
        assert_eq!(repo.read("out/b"), "made present\n", "{options:?}");
    }
}

#[test]
fn a_path_outside_that_the_index_lost_comes_back_to_the_index_alone() {
    for (options, patterns) in FORMS {
        let repo = sparse(options, patterns);
        repo.save("before");
        repo.run(["rm", "--cached", "--sparse", "-q", "out/b", "also-out/d"]);
        repo.write("in/a", "4\n");

        undo_and_redo_are_exact(&repo, "before");

        repo.restore("before");
        assert!(!repo.exists("out/b"), "{options:?}");
        assert_eq!(repo.git(["ls-files", "-t", "out/b", "also-out/d"]).text(), "S also-out/d\nS out/b", "{options:?}");
    }
}

#[test]
fn flags_of_entries_that_a_restore_removes_come_back_with_undo() {
    let repo = TestRepo::new();
    repo.save("before");
    for path in ["s", "u", "both", "gone"] {
        repo.write(path, "1\n");
    }
    repo.write("announced", "#!\n");
    repo.chmod("announced", 0o755);
    repo.run(["add", "s", "u", "both", "gone"]);
    repo.run(["add", "-N", "announced"]);
    repo.run(["update-index", "--skip-worktree", "s", "both", "gone"]);
    repo.run(["update-index", "--assume-unchanged", "u", "both"]);
    repo.write("u", "local\n");
    repo.remove("gone");

    undo_and_redo_are_exact(&repo, "before");
    assert_eq!(repo.git(["ls-files", "-s", "announced"]).text().split(' ').next(), Some("100755"));
}

#[test]
fn what_stands_in_the_place_of_a_flagged_entry_is_captured_instead() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = TestRepo::new();
        repo.write("file", "1\n");
        repo.write("folder/x", "1\n");
        repo.write("folder/deep/y", "1\n");
        repo.write("empty", "1\n");
        repo.commit("flagged");
        repo.save("before");
        repo.run(["update-index", flag, "file", "folder/x", "folder/deep/y", "empty"]);
        for path in ["file", "folder", "empty"] {
            repo.remove(path);
        }
        repo.mkdir("empty");
        for round in ["first", "again"] {
            repo.write("file/c", round);
            repo.write("folder", round);
            repo.save("A");
            repo.assert_tree_is_gits("A");
            repo.assert_sound();
        }

        undo_and_redo_are_exact(&repo, "before");
        repo.remove("file");
        repo.remove("folder");
        repo.save("B");

        repo.assert_tree_is_gits("B");
    }
}

#[test]
fn an_absent_flagged_entry_stands_when_the_rest_of_its_folder_goes() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        for cache in ["true", "false"] {
            let repo = TestRepo::new();
            for path in ["folder/absent", "folder/x", "folder/deep/y"] {
                repo.write(path, "1\n");
            }
            repo.commit("flagged");
            repo.config("checkpoint.statCache", cache);
            repo.run(["update-index", flag, "folder/absent"]);
            repo.remove("folder/absent");
            repo.save("before");

            repo.remove("folder");
            repo.save("after");

            assert!(repo.holds("after", "folder/absent"), "{flag}, cache {cache}");
            repo.assert_tree_is_gits("after");
        }
    }
}

#[test]
fn an_absent_flagged_entry_that_is_only_meant_to_be_added_is_in_no_tree() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = TestRepo::new();
        repo.write("meant", "m\n");
        repo.run(["add", "-N", "meant"]);
        repo.run(["update-index", flag, "meant"]);
        repo.save("there");
        repo.remove("meant");
        repo.save("away");
        repo.assert_tree_is_gits("away");
        repo.write("meant", "back\n");
        repo.save("back");

        assert_eq!(["there", "away", "back"].map(|name| repo.holds(name, "meant")), [true, false, true], "{flag}");
        repo.assert_tree_is_gits("back");
    }
}

#[test]
fn a_flagged_entry_whose_file_goes_stands_as_the_index_has_it() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = TestRepo::new();
        repo.symlink("f", "link");
        repo.write("tool", "1\n");
        repo.chmod("tool", 0o755);
        repo.commit("flagged");
        repo.run(["update-index", flag, "link", "tool"]);
        repo.remove("link");
        repo.write("link", "a file\n");
        repo.chmod("tool", 0o644);
        repo.save("changed");

        for path in ["link", "tool"] {
            repo.remove(path);
        }
        repo.save("away");

        assert_eq!(["link", "tool"].map(|path| repo.mode("changed", path)), ["100644", "100644"], "{flag}");
        assert_eq!(["link", "tool"].map(|path| repo.mode("away", path)), ["120000", "100755"], "{flag}");
        repo.assert_tree_is_gits("away");
    }
}

#[test]
fn an_absent_flagged_entry_stands_in_a_folder_that_took_the_place_of_a_file() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = TestRepo::new();
        repo.write("place", "a file\n");
        repo.run(["add", "place"]);
        repo.save("before");
        repo.remove("place");
        repo.write("place/in/absent", "");
        repo.commit("a folder");
        repo.run(["update-index", flag, "place/in/absent"]);
        repo.remove("place/in");

        repo.save("after");

        repo.assert_tree_is_gits("after");
        assert!(repo.holds("after", "place/in/absent"), "{flag}");
    }
}

#[test]
fn a_flagged_file_that_a_restore_removes_comes_back_with_undo() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = TestRepo::new();
        repo.write("x", "x\n");
        repo.commit("x");
        repo.remove("x");
        repo.save("without");
        repo.run(["checkout", "-q", "x"]);
        repo.run(["update-index", flag, "x"]);

        undo_and_redo_are_exact(&repo, "without");

        assert_eq!(repo.read("x"), "x\n", "{flag}");
    }
}

#[test]
fn absent_files_stay_absent_where_a_restore_put_something_in_their_place() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        for (place, content) in [("d", "d/e"), ("x/in/it", "x")] {
            let repo = TestRepo::new();
            for path in ["d/e", "d/f", "x", "in/i"] {
                repo.write(path, "1\n");
            }
            repo.commit("all");
            repo.remove(if place == "d" { "d" } else { "x" });
            repo.write(place, "in the way\n");
            repo.save("other");
            repo.remove(if place == "d" { "d" } else { "x" });
            repo.run(["checkout", "-q", "."]);
            repo.run(["update-index", flag, "d/e", "d/f", "x"]);
            for path in ["d", "x"] {
                repo.remove(path);
            }

            undo_and_redo_are_exact(&repo, "other");

            assert!(!repo.exists(content), "{flag} {content}");
        }
    }
}
