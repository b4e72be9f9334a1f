//! Large files by git-lfs, the long-running filter that most people have.

use crate::support::{RepoState, TestRepo, tools};

/// A repository with git-lfs set up for `*.bin`; none where git-lfs is not installed.
fn with_lfs() -> Option<TestRepo> {
    if !tools::has_git_lfs() {
        return None;
    }
    let repo = TestRepo::new();
    repo.run(["lfs", "install", "--local"]);
    repo.run(["lfs", "track", "*.bin"]);
    repo.write("tracked.bin", "first\0version");
    repo.commit("with lfs");
    Some(repo)
}

#[test]
fn a_large_file_is_recorded_as_a_pointer_and_restored_as_content() {
    let Some(repo) = with_lfs() else { return };
    repo.write("tracked.bin", "second\0version");
    repo.write("new.bin", "new\0file");

    repo.save("A");
    repo.write("tracked.bin", "third");
    repo.remove("new.bin");
    repo.restore("A");

    let pointer = String::from_utf8(repo.blob("A", "new.bin")).unwrap();
    assert!(pointer.starts_with("version https://git-lfs.github.com/spec/v1\noid sha256:"), "{pointer}");
    assert_eq!(repo.bytes("tracked.bin"), b"second\0version");
    assert_eq!(repo.bytes("new.bin"), b"new\0file");
    repo.assert_tree_is_gits("A");
}

#[test]
fn the_lfs_filter_serves_hundreds_of_files_in_one_save_and_one_restore() {
    let Some(repo) = with_lfs() else { return };
    for number in 0..300 {
        repo.write(format!("d{}/{number}.bin", number % 7), format!("content {number}\0"));
    }

    repo.save("A");
    for folder in 0..7 {
        repo.remove(format!("d{folder}"));
    }
    repo.restore("A");

    assert!((0..300).all(|number| repo.read(format!("d{}/{number}.bin", number % 7)) == format!("content {number}\0")));
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_large_file_whose_content_is_nowhere_stops_the_restore_before_the_first_change() {
    let Some(repo) = with_lfs() else { return };
    repo.write("tracked.bin", "second\0version");
    repo.save("A");
    repo.write("tracked.bin", "third");
    repo.write("f", "2\n");
    std::fs::remove_dir_all(repo.common_dir().join("lfs/objects")).unwrap();
    repo.save("saved again, so that what is there now is whole");
    let before = RepoState::of(&repo);

    let output = repo.try_restore("A");

    if output.code() != Some(0) {
        before.assert_same(&RepoState::of(&repo));
    } else {
        // git-lfs may be told to hand out the pointer where the content is missing; then the restore says so by its result.
        assert!(repo.bytes("tracked.bin").starts_with(b"version https://git-lfs"), "{output}");
    }
}
