//! Files whose bytes and blobs part because rules for converting them change with the restore, and what lies in repositories without a
//! worktree.

use crate::support::{RepoState, TestRepo};

fn plain(repo: &TestRepo) -> RepoState {
    RepoState::of(repo).without_times()
}

/// Undo and redo are exact, however often.
#[track_caller]
fn back_and_forth(repo: &TestRepo, before: &RepoState) {
    let restored = plain(repo);
    for _ in 0..2 {
        repo.undo();
        before.assert_same(&plain(repo));
        repo.redo();
        restored.assert_same(&plain(repo));
    }
    repo.undo();
    before.assert_same(&plain(repo));
}

#[test]
fn a_file_is_what_the_rules_of_the_checkpoint_make_of_its_blob_and_undo_is_exact() {
    for rules in ["*.c text eol=lf\n", "*.c text eol=crlf\n"] {
        let repo = TestRepo::new();
        repo.write("x.c", "a\nb\n");
        repo.write("same.c", "one line\n");
        repo.save("A");
        repo.write(".gitattributes", rules);
        repo.write("x.c", "a\r\nb\r\n");
        let before = plain(&repo);

        repo.restore("A");

        assert_eq!(repo.read("x.c"), "a\nb\n", "{rules}");
        repo.checkpoint(["save", "-q", "--name", "B"]).success();
        assert_eq!(repo.tree("B"), repo.tree("A"), "{rules}");
        back_and_forth(&repo, &before);
    }
}

#[test]
fn a_file_that_a_restore_left_alone_is_left_alone_by_the_undo() {
    let repo = TestRepo::new();
    repo.mkdir("dir");
    repo.write(".gitattributes", "*.c text eol=lf\n");
    repo.write("x", "x\n");
    repo.save("A");
    repo.remove(".gitattributes");
    repo.save("B");
    repo.write(".gitattributes", "*.c text eol=lf\n");
    repo.write("dir/x.c", "l1\r\nl2\r\n");
    let before = RepoState::of(&repo);

    repo.checkpoint(["restore", "-q", "-y", "B", "--", ":(exclude)dir"]).success();
    assert!(!repo.exists(".gitattributes"));
    repo.undo();

    assert_eq!(repo.read("dir/x.c"), "l1\r\nl2\r\n");
    before.with_times_of_what_is_as_in(&RepoState::of(&repo)).without_times().assert_same(&plain(&repo));
}

#[test]
fn what_a_restore_that_keeps_edits_replaces_comes_back_by_the_edited_rules() {
    let table = [("*.c text eol=crlf\n", "a\r\nb\r\n", "a\nb\n"), ("*.c filter=upper\n", "UPPER\n", "upper\n")];
    for (rules, then, now) in table {
        let repo = TestRepo::new();
        repo.config("filter.upper.clean", "tr a-z A-Z");
        repo.config("filter.upper.smudge", "cat");
        repo.write("x.c", then);
        repo.save("A");
        repo.write("x.c", now);
        repo.checkpoint(["save", "-q", "--allow-empty", "--name", "B"]).success();
        repo.write(".gitattributes", rules);
        let before = plain(&repo);

        repo.checkpoint(["restore", "-q", "-y", "--keep-edits", "A"]).success();

        if rules.contains("eol") {
            assert_eq!(repo.read("x.c"), then);
        }
        repo.undo();
        before.assert_same(&plain(&repo));
    }
}

#[test]
fn the_rules_of_what_a_link_leads_to_do_not_count() {
    let repo = TestRepo::new();
    repo.write("dir/y", "a\nb\n");
    repo.save("A");
    repo.remove("dir/y");
    std::fs::remove_dir(repo.path("dir")).unwrap();
    let outside = repo.env().root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join(".gitattributes"), "* text eol=crlf\n").unwrap();
    for target in [outside.to_str().unwrap(), "dir"] {
        repo.symlink(target, "dir");
        let before = plain(&repo);

        repo.checkpoint(["restore", "-q", "-y", "A", "--", "dir"]).success();

        assert_eq!(repo.read("dir/y"), "a\nb\n", "{target}");
        repo.undo();
        before.assert_same(&plain(&repo));
        repo.remove("dir");
    }
}

#[test]
fn a_bare_repository_is_never_taken_apart() {
    let repo = TestRepo::new();
    repo.save("without");
    repo.write("n", "a file\n");
    repo.save("A");
    repo.remove("n");
    repo.run(["init", "-q", "--bare", "n"]);
    repo.run(["push", "-q", "n", "HEAD:refs/heads/main"]);
    let before = plain(&repo);

    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["worktree-overlap"]);
    before.assert_same(&plain(&repo));
    let restored = repo.checkpoint(["restore", "--json", "-y", "without"]).success().json();

    assert_eq!(restored["code"]["deleted"], 0);
    assert_eq!(repo.git(["--git-dir=n", "rev-parse", "main"]).text(), repo.git(["rev-parse", "HEAD"]).text());
}

#[test]
fn a_file_that_the_rules_of_the_checkpoint_cannot_record_is_no_bar_to_the_undo() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE\n");
    // Half a character.
    repo.write("d.txt", "abc");
    repo.checkpoint(["save", "-q", "--name", "A"]).success();
    repo.write(".gitattributes", "");
    repo.write("f", "2\n");
    let before = plain(&repo);

    repo.restore("A");

    assert_eq!((repo.read("d.txt"), repo.read("f")), ("abc".to_owned(), "1\n".to_owned()));
    back_and_forth(&repo, &before);
}
