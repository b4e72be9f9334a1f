//! Files that are larger than the memory one would spend on them.

use crate::support::TestRepo;

/// Runs a command with no more memory than this for data, in KiB.
const MEMORY: u32 = 28 << 10;

fn in_little_memory(repo: &TestRepo, command: &str) {
    let line = format!("ulimit -d {MEMORY} && exec git checkpoint {command}");
    let output = repo.command("sh").args(["-c", &line]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_file_that_does_not_fit_into_memory_is_saved_restored_and_brought_back_by_undo() {
    let repo = TestRepo::new();
    repo.config("checkpoint.maxFileSize", "0");
    // Nobody wants to know its lines.
    repo.config("core.bigFileThreshold", "8m");
    let mut content = vec![0; 36 << 20];
    content.iter_mut().step_by(4096).zip(0u32..).for_each(|(byte, n)| *byte = n.to_le_bytes()[0]);
    repo.write("large", &content);
    in_little_memory(&repo, "save --name A");
    assert!(repo.holds("A", "large"));

    // From a loose object, and from a pack.
    for pack in [false, true] {
        if pack {
            repo.run(["repack", "-adq"]);
        }
        repo.write("large", "small\n");
        in_little_memory(&repo, "restore --quiet --yes A");
        assert!(repo.bytes("large") == content, "restored");
        in_little_memory(&repo, "undo --quiet --yes");
        assert_eq!(repo.read("large"), "small\n");
    }
    repo.assert_sound();
}
