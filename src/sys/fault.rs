//! Places where a test can let the program fail: before each change that a restore makes to the file system.
//!
//! `GIT_CHECKPOINT_FAULT=<what>:<n>[,…]` acts at the n-th place, counted from 1: `kill` ends the process as `kill -9` does, `full`
//! fails as a full disk does, `denied` as missing permissions do, `panic` panics, `hold` stops the process until it is told to go on (`SIGCONT`).
//! `count:<file>` writes the number of places passed so far into
//! a file. Release builds have none of it.

use std::io;

/// True if a test asked for a file system that can only do plain renames (`plain:1`).
#[inline]
pub fn only_plain_renames() -> bool {
    #[cfg(debug_assertions)]
    return active::is_ordered("plain");
    #[cfg(not(debug_assertions))]
    false
}

/// True if a test asked for a worktree that is on another file system than the git directory (`apart:1`).
#[inline]
pub fn is_apart() -> bool {
    #[cfg(debug_assertions)]
    return active::is_ordered("apart");
    #[cfg(not(debug_assertions))]
    false
}

/// Passes one place. Fails or ends the process if a test asked for it.
#[inline]
pub fn point() -> io::Result<()> {
    #[cfg(debug_assertions)]
    active::point()?;
    Ok(())
}

#[cfg(debug_assertions)]
mod active {
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static PASSED: AtomicUsize = AtomicUsize::new(0);
    static ORDERS: OnceLock<Vec<(String, String)>> = OnceLock::new();

    fn orders() -> &'static [(String, String)] {
        ORDERS.get_or_init(|| {
            let text = crate::sys::env::text("GIT_CHECKPOINT_FAULT").unwrap_or_default();
            text.split(',').filter_map(|order| order.split_once(':')).map(|(what, n)| (what.into(), n.into())).collect()
        })
    }

    pub(super) fn is_ordered(what: &str) -> bool {
        orders().iter().any(|order| order.0 == what)
    }

    pub(super) fn point() -> io::Result<()> {
        let orders = orders();
        if orders.is_empty() {
            return Ok(());
        }
        let passed = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        orders.iter().try_for_each(|(what, value)| obey(what, value, passed))
    }

    /// An index out of bounds: whoever uses it panics.
    fn n_of(value: &str) -> usize {
        value.len()
    }

    fn obey(what: &str, value: &str, passed: usize) -> io::Result<()> {
        if what == "count" {
            return std::fs::write(value, passed.to_string());
        }
        if matches!(what, "plain" | "apart") || value.parse() != Ok(passed) {
            return Ok(());
        }
        match what {
            "full" => Err(rustix::io::Errno::NOSPC.into()),
            "panic" => Err(io::Error::other(["a test asked for it"][n_of(value)])),
            "denied" => Err(rustix::io::Errno::ACCESS.into()),
            _ => {
                use rustix::process::Signal;
                let signal = if what == "hold" { Signal::STOP } else { Signal::KILL };
                let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
                Ok(())
            }
        }
    }
}
