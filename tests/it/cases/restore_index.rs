//! The index after a restore: as captured while HEAD is the same, HEAD's where it moved.

use crate::support::{RepoState, TestRepo};

/// Staged, unstaged and untracked changes, with a checkpoint `A` of them.
fn mixed() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.run(["add", "f"]);
    repo.write("f", "3\n");
    repo.write("n", "n\n");
    repo.run(["add", "n"]);
    repo.write("u", "u\n");
    repo.save("A");
    repo
}

#[test]
fn the_staged_and_unstaged_split_is_back() {
    let repo = mixed();
    let status = repo.status();
    repo.run(["add", "-A"]);
    repo.write("f", "9\n");

    repo.restore("A");

    assert_eq!(repo.status(), status);
    assert_eq!(repo.git(["show", ":f"]).text(), "2");
    assert_eq!(repo.read("f"), "3\n");
}

#[test]
fn a_staged_deletion_and_a_staged_rename_are_back() {
    let repo = TestRepo::new();
    repo.write("old", "content that is long enough to be seen as renamed\n");
    repo.write("gone", "x\n");
    repo.commit("files");
    repo.run(["mv", "old", "new"]);
    repo.run(["rm", "-q", "gone"]);
    let status = repo.status();
    repo.save("A");
    repo.run(["reset", "-q", "--hard"]);

    repo.restore("A");

    assert_eq!(repo.status(), status);
    assert!(status.contains("R100"));
}

#[test]
fn after_head_moved_the_index_is_heads_and_the_files_are_the_checkpoints() {
    let repo = mixed();
    repo.commit("everything");
    let head = repo.rev("HEAD");

    let output = repo.checkpoint(["restore", "--yes", "A"]).success();

    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]).text(), "");
    assert_eq!(repo.git(["diff", "--name-only"]).text(), "");
    assert_eq!((repo.read("f"), repo.read("u")), ("3\n".into(), "u\n".into()));
    assert!(
        output.talk().contains("1 commit made since stays on main")
            || output.text().contains("1 commit made since stays on main"),
        "{output}"
    );
}

#[test]
fn keep_index_leaves_the_index_byte_for_byte() {
    let repo = mixed();
    repo.run(["add", "-A"]);
    repo.write("f", "9\n");
    let entries = repo.index_entries();

    repo.checkpoint(["restore", "--quiet", "--yes", "--keep-index", "A"]).success();

    assert_eq!(repo.index_entries(), entries);
    assert_eq!(repo.read("f"), "3\n");
}

#[test]
fn the_first_status_after_a_restore_reads_no_file_again() {
    let repo = TestRepo::new();
    (0..50).for_each(|number| repo.write(format!("{number}"), "1\n"));
    repo.commit("many");
    repo.save("A");
    (0..50).for_each(|number| repo.write(format!("{number}"), "2\n"));
    repo.restore("A");

    // `diff-files` does not refresh: an entry whose stat data is not that of the file shows up.
    let stale = repo.git(["diff-files", "--name-only"]).text();

    assert_eq!(stale, "");
}

#[test]
fn a_commit_after_a_restore_holds_what_the_index_says() {
    let repo = TestRepo::new();
    for path in ["d/a", "d/b", "e/c"] {
        repo.write(path, "1\n");
    }
    repo.commit("folders");
    repo.write("d/a", "staged\n");
    repo.run(["add", "d/a"]);
    repo.save("A");
    repo.write("d/b", "2\n");
    repo.write("e/c", "2\n");
    repo.run(["add", "-A"]);
    // Makes the index carry the ids of the trees it will have to forget.
    repo.run(["write-tree"]);
    repo.restore("A");

    repo.run(["commit", "-q", "-m", "after"]);

    assert_eq!(repo.git(["diff", "--name-only", "HEAD~1", "HEAD"]).text(), "d/a");
    assert_eq!(repo.status(), "");
    repo.assert_sound();
}

#[test]
fn an_index_that_was_removed_is_made_again() {
    let repo = mixed();
    let status = repo.status();
    std::fs::remove_file(repo.git_dir().join("index")).unwrap();

    repo.restore("A");

    assert_eq!(repo.status(), status);
}

#[test]
fn the_state_of_an_unborn_branch_comes_back() {
    let repo = TestRepo::unborn();
    repo.write("f", "1\n");
    repo.run(["add", "f"]);
    repo.write("f", "2\n");
    let before = RepoState::of(&repo).without_times();
    repo.save("A");
    repo.write("f", "3\n");
    repo.write("n", "n\n");
    let later = RepoState::of(&repo).without_times();

    repo.restore("A");
    before.assert_same(&RepoState::of(&repo).without_times());
    repo.undo();

    later.assert_same(&RepoState::of(&repo).without_times());
    assert_eq!(repo.rev("HEAD"), None);
}

#[test]
fn a_checkpoint_of_an_unborn_branch_is_restored_after_the_first_commit() {
    let repo = TestRepo::unborn();
    repo.write("f", "1\n");
    repo.save("A");
    repo.write("f", "2\n");
    repo.commit("first");
    let head = repo.rev("HEAD");

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]).text(), "");
}

/// Git falls back to the attributes in the index where a capture does without them; the status is git's to say.
#[test]
fn a_file_that_only_attributes_in_the_index_make_clean_is_clean_after_undo() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.txt text\n");
    // All in one second, so that a capture and git look into the file.
    while std::time::UNIX_EPOCH.elapsed().unwrap().subsec_millis() > 300 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    repo.write("mixed.txt", "a\r\nb\n");
    repo.commit("text");
    repo.save("A");
    repo.remove(".gitattributes");
    let before = RepoState::of(&repo).without_times();
    repo.restore("A");
    // Now nothing is as young as the index any more, and what is wrong in an entry stays wrong.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    repo.write("staged since", "x\n");
    repo.run(["add", "staged since"]);

    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn a_path_that_takes_the_place_of_a_file_or_a_folder_takes_its_place_in_the_index_too() {
    let repo = TestRepo::new();
    for (path, content) in [("was-dir/x", "x\n"), ("was-dir/y", "y\n"), ("was-file", "1\n")] {
        repo.write(path, content);
    }
    repo.commit("shapes");
    repo.save("A");
    repo.remove("was-dir");
    repo.remove("was-file");
    repo.write("was-dir", "2\n");
    repo.write("was-file/in", "2\n");
    repo.run(["add", "-A"]);
    let before = RepoState::of(&repo).without_times();

    repo.checkpoint(["restore", "--yes", "A", "--", "was-dir/x", "was-file"]).success();

    assert_eq!((repo.read("was-dir/x"), repo.read("was-file")), ("x\n".into(), "1\n".into()));
    assert_eq!(repo.git(["ls-files", "was-dir", "was-file"]).text(), "was-dir/x\nwas-file");
    repo.git(["write-tree"]).success();
    repo.undo();
    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn an_index_that_holds_a_path_as_a_file_and_a_folder_makes_no_tree_that_cannot_be() {
    let repo = TestRepo::new();
    // Git replaces one by the other; without the hash over it, the file can be changed by hand.
    repo.config("index.skipHash", "true");
    repo.write("d", "1\n");
    repo.write("d0x", "1\n");
    repo.run(["add", "d", "d0x"]);
    let mut index = repo.bytes(".git/index");
    let at = index.windows(3).position(|bytes| bytes == b"d0x").unwrap();
    index[at + 1] = b'/';
    std::fs::write(repo.path(".git/index"), index).unwrap();
    repo.try_git(["write-tree"]).fails().says("both");

    repo.save("A");

    repo.assert_sound();
    let document = repo.checkpoint(["show", "--json", "A"]).success().json();
    assert_eq!(document["checkpoint"]["index_tree"], serde_json::Value::Null);
    assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["unmerged-index"]);
}
