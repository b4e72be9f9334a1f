//! The index in every form: it is read right, never trusted to hide a change, and never altered.

use std::os::unix::fs::PermissionsExt;

use crate::support::{RepoState, TestRepo};

/// Changes the worktree in ways that only a look at the files can find.
fn change(repo: &TestRepo) {
    repo.write("dir/g", "edited\n");
    repo.remove("dir/h");
    repo.write("new/file", "new\n");
    repo.chmod("f", 0o755);
}

fn tracked() -> TestRepo {
    let repo = TestRepo::new();
    for path in ["dir/g", "dir/h", "dir/i"] {
        repo.write(path, path);
    }
    repo.commit("tracked");
    repo
}

#[test]
fn an_index_of_every_version_is_read_and_left_byte_for_byte() {
    for version in ["2", "3", "4"] {
        let repo = tracked();
        repo.config("index.version", version);
        repo.run(["update-index", "--index-version", version]);
        repo.write("meant", "m\n");
        repo.run(["add", "-N", "meant"]);
        change(&repo);
        let before = RepoState::of(&repo);

        repo.save("A");

        before.assert_same(&RepoState::of(&repo));
        repo.assert_tree_is_gits("A");
    }
}

#[test]
fn a_split_index_is_read_whole() {
    let repo = tracked();
    repo.run(["update-index", "--split-index"]);
    repo.write("dir/g", "staged\n");
    repo.run(["add", "-A"]);
    change(&repo);
    repo.run(["rm", "-q", "--cached", "dir/i"]);
    let before = RepoState::of(&repo);

    repo.save("A");

    before.assert_same(&RepoState::of(&repo));
    assert_eq!(repo.blob("A", "dir/g"), b"edited\n");
    assert_eq!(repo.ls_tree(&repo.tree("A")).len(), 4);
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_split_index_is_still_whole_after_a_restore() {
    let repo = tracked();
    repo.run(["update-index", "--split-index"]);
    change(&repo);
    repo.run(["add", "dir"]);
    let before = RepoState::of(&repo).without_times();
    repo.save("A");
    repo.run(["add", "-A"]);
    repo.write("dir/g", "later\n");

    repo.restore("A");

    before.assert_same(&RepoState::of(&repo).without_times());
    repo.assert_sound();
}

#[test]
fn an_untracked_cache_that_is_out_of_date_hides_nothing() {
    let repo = tracked();
    repo.config("core.untrackedCache", "true");
    repo.run(["update-index", "--force-untracked-cache"]);
    repo.run(["status"]);
    change(&repo);

    repo.save("A");

    repo.assert_tree_is_gits("A");
    assert!(repo.holds("A", "new/file"));
}

#[test]
fn a_file_system_monitor_that_says_nothing_changed_hides_nothing() {
    let repo = tracked();
    let monitor = repo.env().home().join("monitor");
    std::fs::write(&monitor, "#!/bin/sh\nprintf 'token\\0'\n").unwrap();
    std::fs::set_permissions(&monitor, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.config("core.fsmonitor", &monitor.to_string_lossy());
    repo.run(["update-index", "--fsmonitor"]);
    repo.run(["status"]);
    change(&repo);
    let index = std::fs::read(repo.git_dir().join("index")).unwrap();
    assert!(!repo.status().contains("dir/g"), "the monitor does not lie: this test shows nothing");

    repo.save("A");

    assert_eq!(repo.blob("A", "dir/g"), b"edited\n");
    assert!(!repo.holds("A", "dir/h"));
    assert!(std::fs::read(repo.git_dir().join("index")).unwrap() == index);
}

#[test]
fn entries_marked_by_add_n_are_captured_and_stay_marked() {
    let repo = TestRepo::new();
    repo.write("n", "new\n");
    repo.write("dir/m", "");
    repo.run(["add", "-N", "n", "dir/m"]);
    let status = repo.status();

    repo.save("A");
    for path in ["n", "dir"] {
        repo.remove(path);
    }
    repo.run(["add", "-A"]);
    repo.restore("A");

    assert_eq!(repo.blob("A", "n"), b"new\n");
    assert_eq!(repo.read("n"), "new\n");
    assert_eq!(repo.status(), status);
    repo.assert_tree_is_gits("A");
}

#[test]
fn an_entry_removed_from_the_index_only_is_captured_as_a_file_and_restored_as_untracked() {
    let repo = tracked();
    repo.run(["rm", "-q", "--cached", "dir/g"]);
    let status = repo.status();

    repo.save("A");
    repo.run(["add", "-A"]);
    repo.remove("dir/g");
    repo.restore("A");

    assert_eq!(repo.status(), status);
    assert_eq!(repo.read("dir/g"), "dir/g");
}

#[test]
fn a_foreign_index_in_the_environment_is_neither_read_nor_written() {
    let repo = tracked();
    let foreign = repo.env().root().join("other index");
    std::fs::write(&foreign, "not an index at all").unwrap();
    change(&repo);
    let before = RepoState::of(&repo);

    let save = ["checkpoint", "save", "--quiet", "--name", "A"];
    crate::support::Output::of(repo.command("git").env("GIT_INDEX_FILE", &foreign).args(save)).success();

    assert_eq!(std::fs::read(&foreign).unwrap(), b"not an index at all");
    before.assert_same(&RepoState::of(&repo));
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_restore_leaves_a_foreign_index_in_the_environment_alone_and_writes_the_real_one() {
    let repo = tracked();
    repo.write("dir/g", "staged\n");
    repo.run(["add", "-A"]);
    let status = repo.status();
    repo.save("A");
    repo.write("dir/g", "later\n");
    repo.run(["add", "-A"]);
    let foreign = repo.env().root().join("other index");
    std::fs::copy(repo.git_dir().join("index"), &foreign).unwrap();
    let bytes = std::fs::read(&foreign).unwrap();

    let restore = ["checkpoint", "restore", "--quiet", "--yes", "A"];
    crate::support::Output::of(repo.command("git").env("GIT_INDEX_FILE", &foreign).args(restore)).success();

    assert!(std::fs::read(&foreign).unwrap() == bytes);
    assert_eq!(repo.status(), status);
}

#[test]
fn a_damaged_index_stops_a_save_with_one_sentence() {
    let repo = tracked();
    let index = repo.git_dir().join("index");
    std::fs::write(&index, "DIRC and then nonsense that is no index").unwrap();

    repo.try_save("A").exits(128).says("index");

    assert_eq!(repo.checkpoint_refs(), Vec::<String>::new());
    assert_eq!(std::fs::read(&index).unwrap(), b"DIRC and then nonsense that is no index");
}
