//! An interrupted restore, and what others do before it is finished or taken back: none of it is lost, and none of it is unsaid.

use crate::support::TestRepo;

/// `f1`, `f2` and `f3` differ from checkpoint `A`.
fn three_files() -> TestRepo {
    let repo = TestRepo::new();
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("base{n}\n")));
    repo.commit("three files");
    repo.save("A");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n}\n")));
    repo
}

/// As [`three_files`], with a restore of `A` that was killed when `f1` was in place and `f3` was not.
fn interrupted() -> TestRepo {
    let repo = three_files();
    repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");
    repo
}

/// Edits a file in a way that its size and its modification time do not tell.
fn edit_secretly(repo: &TestRepo, path: &str, content: &str) {
    assert_eq!(repo.read(path).len(), content.len());
    let mtime = repo.mtime(path);
    repo.write(path, content);
    repo.set_mtime(path, mtime);
}

#[test]
fn continuing_overwrites_no_edit_that_keeps_size_and_time() {
    let repo = interrupted();
    edit_secretly(&repo, "f3", "MINE3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f3` changed since the restore was interrupted");

    assert_eq!(repo.read("f3"), "MINE3\n");
    repo.checkpoint(["restore", "--abort"]).success();
    assert_eq!((repo.read("f1"), repo.read("f3")), ("mine1\n".into(), "MINE3\n".into()));
}

#[test]
fn continuing_overwrites_no_edit_of_a_filtered_file_that_keeps_size_and_time() {
    let repo = TestRepo::new();
    repo.config("filter.rot.clean", "tr a-z n-za-m");
    repo.config("filter.rot.smudge", "tr a-z n-za-m");
    repo.write(".gitattributes", "f* filter=rot\n");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("base{n}\n")));
    repo.commit("three files");
    repo.save("A");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n}\n")));
    repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");
    edit_secretly(&repo, "f3", "MINE3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f3`");
    assert_eq!(repo.read("f3"), "MINE3\n");

    // The same content again: only the inode tells that anything happened.
    edit_secretly(&repo, "f3", "mine3\n");
    repo.checkpoint(["restore", "--continue"]).success();
    assert_eq!(repo.read("f3"), "base3\n");
}

#[test]
fn continuing_names_every_path_that_changed() {
    let repo = interrupted();
    repo.write("f1", "others 1\n");
    repo.write("f3", "others 3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f1`, `f3` changed since");
    assert_eq!((repo.read("f1"), repo.read("f3")), ("others 1\n".into(), "others 3\n".into()));
}

/// The folders in the worktree in which a restore keeps files whose git directory is on another file system.
fn folders_aside(repo: &TestRepo) -> usize {
    let entries = repo.top().read_dir().unwrap().map(Result::unwrap);
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".git-checkpoint-")).count()
}

#[test]
fn folders_in_the_worktree_are_cleared_away_by_the_next_command_and_never_captured() {
    let repo = three_files();
    let mut seen = 0;
    for point in 1.. {
        let output = repo.with_fault(&format!("apart:1,kill:{point}"), &["restore", "--quiet", "--yes", "A"]);
        let left = folders_aside(&repo);
        let is_over = !repo.git_dir().join("checkpoint/restore.json").exists();
        let difference = repo.checkpoint(["diff", "--name-only", "A"]).success().text();
        assert!(!difference.contains(".git-checkpoint"), "{difference} at point {point}");
        if is_over {
            assert_eq!(folders_aside(&repo), 0, "at point {point}");
            seen += usize::from(left > 0);
        } else {
            repo.checkpoint(["restore", "--quiet", "--abort"]).success();
        }
        repo.save("after");
        assert!(!repo.ls_tree(&repo.tree("after")).iter().any(|entry| format!("{entry:?}").contains(".git-checkpoint")));
        assert_eq!(folders_aside(&repo), 0, "at point {point}");
        if output.code() == Some(0) {
            break;
        }
        (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n} at {point}\n")));
    }
    assert!(seen > 0, "the clean-up was not interrupted once");
}
