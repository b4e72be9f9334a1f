//! How far the work has come, for whoever wants to show it.
//!
//! Those who work count, those who watch look now and then; neither knows of the other. There is one count for the process, as
//! it does one thing at a time.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing that takes long.
    Idle,
    /// Waiting for a lock.
    Wait,
    /// Looking at the files of the worktree, and reading those that changed.
    Capture,
    /// Writing objects.
    Write,
    /// Putting packs and refs together.
    Tidy,
    /// Making the contents of files that a restore writes.
    Stage,
    /// Changing the worktree.
    Apply,
    /// Reading back what was written.
    Verify,
    /// Comparing files.
    Compare,
    /// Writing or reading a bundle.
    Bundle,
}

impl Phase {
    const ALL: [Phase; 10] = [
        Phase::Idle,
        Phase::Wait,
        Phase::Capture,
        Phase::Write,
        Phase::Tidy,
        Phase::Stage,
        Phase::Apply,
        Phase::Verify,
        Phase::Compare,
        Phase::Bundle,
    ];
}

/// How far the work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Files that are done with.
    pub files: u64,
    /// Files in all; 0 if that is not known.
    pub total: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

static PHASE: AtomicU8 = AtomicU8::new(Phase::Idle as u8);
static FILES: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Begins something that has to do with `total` files, or with an unknown number if that is 0.
pub fn begin(phase: Phase, total: usize) {
    FILES.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
    TOTAL.store(total as u64, Ordering::Relaxed);
    PHASE.store(phase as u8, Ordering::Relaxed);
}

/// Counts files that are done with.
pub fn add_files(count: usize) {
    FILES.fetch_add(count as u64, Ordering::Relaxed);
}

/// Counts bytes that were read.
pub fn add_bytes(count: u64) {
    BYTES.fetch_add(count, Ordering::Relaxed);
}

/// How far it is now.
pub fn now() -> Progress {
    let phase = Phase::ALL.get(usize::from(PHASE.load(Ordering::Relaxed))).copied().unwrap_or(Phase::Idle);
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Progress { phase, files: load(&FILES), total: load(&TOTAL), bytes: load(&BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_known_by_its_number() {
        for phase in Phase::ALL {
            assert_eq!(Phase::ALL[phase as usize], phase);
        }
    }
}
