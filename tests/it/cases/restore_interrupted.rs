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
