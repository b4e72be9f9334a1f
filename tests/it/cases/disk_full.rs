//! No room left: an error, nothing half-written, and the next try works. A limit on the size of files stands in for a full
//! disk: a write beyond it fails in the middle.

use crate::support::{Output, Random, RepoState, TestRepo};

/// Content that no compression makes small.
fn noise(bytes: usize) -> Vec<u8> {
    let mut random = Random::new(3);
    (0..bytes).map(|_| random.next().to_le_bytes()[0]).collect()
}

/// Runs `git checkpoint` where no file may grow beyond `blocks` of 512 bytes.
fn limited(repo: &TestRepo, blocks: u32, args: &[&str]) -> Output {
    let script = format!("ulimit -f {blocks}; exec git checkpoint \"$@\"");
    Output::of(repo.command("sh").args(["-c", &script, "sh"]).args(args))
}

#[test]
fn a_save_without_room_fails_records_nothing_and_the_next_one_works() {
    for blocks in [0, 1, 8, 100] {
        let repo = TestRepo::new();
        let content = noise(300_000);
        repo.write("big", &content);
        let before = RepoState::of(&repo);

        limited(&repo, blocks, &["save", "--quiet", "--name", "A"]).fails();

        assert_eq!(repo.checkpoint_refs(), Vec::<String>::new(), "{blocks} blocks");
        before.assert_same(&RepoState::of(&repo));
        repo.save("B");
        assert!(repo.blob("B", "big") == content);
        repo.assert_sound();
    }
}

#[test]
fn a_restore_without_room_leaves_every_file_whole() {
    for blocks in [0, 1, 8, 100, 400] {
        let repo = TestRepo::new();
        repo.write("a", "A\n");
        repo.write("big", noise(300_000));
        repo.write("z", "A\n");
        repo.save("A");
        for path in ["a", "big", "z"] {
            repo.write(path, "small\n");
        }
        repo.run(["add", "-A"]);
        let before = RepoState::of(&repo);

        limited(&repo, blocks, &["restore", "--quiet", "--yes", "A"]).fails();

        before.assert_same(&RepoState::of(&repo));
        repo.restore("A");
        assert!(repo.bytes("big") == noise(300_000), "{blocks} blocks");
        assert_eq!(repo.read("z"), "A\n");
    }
}

#[test]
fn a_restore_whose_safety_copy_has_no_room_is_refused() {
    let repo = TestRepo::new();
    repo.write("big", "small\n");
    repo.save("A");
    repo.write("big", noise(300_000));
    let before = RepoState::of(&repo);

    limited(&repo, 100, &["restore", "--quiet", "--yes", "A"]).fails();

    before.assert_same(&RepoState::of(&repo));
}
