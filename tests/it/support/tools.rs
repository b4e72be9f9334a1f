//! Programs that some tests need beside git. Where one is missing the test says so and does nothing, unless
//! `CHECKPOINT_TESTS_REQUIRE_ALL` is set, as it is in continuous integration: then it fails.

use std::process::{Command, Stdio};

/// Whether `program` can be run here.
#[track_caller]
pub fn has(program: &str, probe: &[&str]) -> bool {
    let found = Command::new(program).args(probe).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CHECKPOINT_TESTS_REQUIRE_ALL").is_none(), "`{program}` is needed here and is not installed");
    skip(&format!("`{program}` is not installed"));
    false
}

/// Whether git-lfs can be run here.
pub fn has_git_lfs() -> bool {
    has("git-lfs", &["version"])
}

/// Says on the terminal why a test does nothing.
pub fn skip(reason: &str) {
    tell(&format!("skipped: {reason}"));
}

/// Says something on the terminal, whether or not the test passes.
pub fn tell(text: &str) {
    use std::io::Write;
    // Not through the test harness, which hides the output of tests that pass.
    let _ = writeln!(std::io::stderr(), "{text}");
}
