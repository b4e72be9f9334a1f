//! The worktree after a restore.

use crate::support::{Output, RepoState, TestRepo};

#[test]
fn an_untracked_file_of_the_checkpoint_survives_and_a_later_one_goes_until_undo() {
    let repo = TestRepo::new();
    repo.write("out.jsonl", "big\n");
    repo.save("A");
    repo.write("agent.txt", "x\n");
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    assert!(repo.exists("out.jsonl") && !repo.exists("agent.txt"));
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn a_deletion_that_the_checkpoint_recorded_is_done_again() {
    let repo = TestRepo::new();
    repo.write("del", "d\n");
    repo.write("dir/del", "d\n");
    repo.commit("to be deleted");
    repo.remove("del");
    repo.run(["rm", "-q", "dir/del"]);
    let status = repo.status();
    repo.save("A");
    repo.run(["reset", "-q", "--hard"]);

    repo.restore("A");

    assert!(!repo.exists("del") && !repo.exists("dir"));
    assert_eq!(repo.status(), status);
}

#[test]
fn head_the_branch_and_later_commits_stay() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.commit("two");
    repo.run(["checkout", "-q", "-b", "another"]);
    repo.write("f", "3\n");
    repo.commit("three");
    let refs = repo.git(["for-each-ref", "refs/heads"]).text();

    repo.restore("A");

    assert_eq!(repo.git(["symbolic-ref", "HEAD"]).text(), "refs/heads/another");
    assert_eq!(repo.git(["for-each-ref", "refs/heads"]).text(), refs);
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn a_checkpoint_of_a_branch_that_is_gone_or_renamed_is_restored() {
    let repo = TestRepo::new();
    repo.run(["checkout", "-q", "-b", "short-lived"]);
    repo.write("f", "2\n");
    repo.commit("two");
    repo.write("f", "3\n");
    repo.save("A");
    repo.run(["checkout", "-q", "-f", "main"]);
    repo.run(["branch", "-q", "-D", "short-lived"]);
    repo.run(["branch", "-q", "-m", "main", "trunk"]);

    repo.restore("A");

    assert_eq!(repo.read("f"), "3\n");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]).text(), "refs/heads/trunk");
}

#[test]
fn folders_emptied_by_the_restore_go() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("new/deep/x", "x\n");
    repo.write("new/other/y/z", "x\n");

    repo.restore("A");

    assert!(!repo.exists("new"));
}

#[test]
fn files_that_do_not_change_keep_their_times_and_inodes() {
    let repo = TestRepo::new();
    repo.write("keep", "k\n");
    repo.write("dir/keep", "k\n");
    repo.commit("keep");
    repo.write("untracked", "u\n");
    repo.symlink("keep", "link");
    let paths = ["keep", "dir/keep", "untracked", "link"];
    paths.iter().for_each(|path| repo.set_mtime(path, 1_577_836_800_000_000_000));
    repo.save("A");
    repo.write("f", "2\n");
    let inode = |path: &&str| std::os::unix::fs::MetadataExt::ino(&repo.path(path).symlink_metadata().unwrap());
    let inodes = paths.each_ref().map(inode);

    repo.restore("A");

    assert!(paths.iter().all(|path| repo.mtime(path) == 1_577_836_800_000_000_000));
    assert_eq!(paths.each_ref().map(inode), inodes);
}

#[test]
fn a_file_with_another_hard_link_is_replaced_and_not_written_through() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    let outside = repo.env().root().join("outside");
    std::fs::hard_link(repo.path("f"), &outside).unwrap();

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
    assert_eq!(std::fs::read(outside).unwrap(), b"2\n");
}

#[test]
fn the_executable_bit_is_restored_in_both_directions() {
    let repo = TestRepo::new();
    for (path, mode) in [("x", 0o755), ("n", 0o644), ("ux", 0o755), ("un", 0o644)] {
        repo.write(path, path);
        repo.chmod(path, mode);
    }
    repo.run(["add", "x", "n"]);
    repo.save("A");
    for (path, mode) in [("x", 0o644), ("n", 0o755), ("ux", 0o644), ("un", 0o755)] {
        repo.chmod(path, mode);
    }

    repo.restore("A");

    assert_eq!(["x", "n", "ux", "un"].map(|path| repo.is_executable(path)), [true, false, true, false]);
}

#[test]
fn an_empty_worktree_is_a_state_like_any_other() {
    let repo = TestRepo::unborn();
    repo.save("empty");
    repo.write("x", "x\n");
    repo.write("d/y", "y\n");
    repo.run(["add", "x"]);
    let before = RepoState::of(&repo).without_times();

    repo.restore("empty");
    assert_eq!(repo.top().read_dir().unwrap().count(), 1);
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn everything_deleted_is_a_state_like_any_other() {
    let repo = crate::support::scenes::all_deleted();
    let status = repo.status();
    repo.save("A");
    repo.run(["checkout", "-q", "--", "."]);

    repo.restore("A");

    assert_eq!(repo.status(), status);
}

#[test]
fn only_the_paths_asked_for_are_restored_and_undo_covers_them() {
    let repo = TestRepo::new();
    for path in ["a/one", "a/two", "b/one"] {
        repo.write(path, "1\n");
    }
    repo.save("A");
    for path in ["a/one", "a/two", "b/one", "a/new", "b/new"] {
        repo.write(path, "2\n");
    }
    let before = RepoState::of(&repo).without_times();

    Output::of(repo.command("git").args(["checkpoint", "restore", "--quiet", "--yes", "A", "--", "a"])).success();
    assert_eq!(["a/one", "a/two", "b/one"].map(|path| repo.read(path)), ["1\n", "1\n", "2\n"]);
    assert_eq!(["a/new", "b/new"].map(|path| repo.exists(path)), [false, true]);
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn paths_are_read_from_the_current_folder_as_git_reads_them() {
    let repo = TestRepo::new();
    for path in ["a/x", "x"] {
        repo.write(path, "1\n");
    }
    repo.save("A");
    for path in ["a/x", "x"] {
        repo.write(path, "2\n");
    }

    let mut restore = repo.command("git");
    restore.current_dir(repo.path("a")).args(["checkpoint", "restore", "--quiet", "--yes", "A", "--", "x"]);
    Output::of(&mut restore).success();

    assert_eq!((repo.read("a/x"), repo.read("x")), ("1\n".into(), "2\n".into()));
}

#[test]
fn a_checkpoint_is_written_into_another_folder_and_nothing_else_is_touched() {
    let repo = crate::support::scenes::mixed();
    repo.save("A");
    let before = RepoState::of(&repo);
    let target = repo.env().root().join("taken out");

    let to = ["checkpoint", "restore", "--quiet", "--yes", "A", "--to"];
    Output::of(repo.command("git").args(to).arg(&target)).success();

    before.assert_same(&RepoState::of(&repo));
    assert_eq!(std::fs::read(target.join("f")).unwrap(), b"3\n");
    assert_eq!(std::fs::read(target.join("untracked/deep/u")).unwrap(), b"u\n");
    assert!(!target.join("noise.log").exists());
    Output::of(repo.command("git").args(to).arg(&target)).fails();
}

#[test]
fn the_result_says_what_was_done_and_that_it_was_verified() {
    let repo = TestRepo::new();
    repo.write("gone", "g\n");
    repo.save("A");
    repo.write("f", "2\n");
    repo.remove("gone");
    repo.write("extra", "x\n");

    let document = repo.checkpoint(["restore", "--yes", "--json", "A"]).success().json();

    assert_eq!((&document["schema"], &document["status"]), (&1.into(), &"restored".into()));
    assert_eq!(document["code"]["written"], 2);
    assert_eq!(document["code"]["deleted"], 1);
    assert_eq!(document["code"]["verified"], true);
    assert_eq!(document["target"]["id"], repo.field("A", "id").as_str());
    assert_eq!(document["pre_restore"]["kind"], "pre-restore");
}

#[test]
fn the_way_back_is_printed_last() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");

    let output = repo.checkpoint(["restore", "--yes", "A"]).success();

    assert!(output.talk().lines().last().unwrap().contains("git checkpoint undo"), "{output}");
}
