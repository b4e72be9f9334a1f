//! Facts of the running process and machine: the environment, the clock, signals.

pub mod env;
pub mod fault;
pub mod process;
pub mod signals;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Millis;

/// The wall clock in nanoseconds since the Unix epoch.
pub fn now_nanos() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The wall clock in milliseconds, or the value of `GIT_CHECKPOINT_NOW` (milliseconds) where a test sets it.
pub fn now_millis() -> Millis {
    env::test_clock().unwrap_or_else(|| now_nanos() / 1_000_000)
}

/// The name of this machine, as other machines show it for checkpoints that came from here.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A number that is the same as long as the system runs, and another after it was started anew; 0 if there is none.
pub fn boot_id() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).unwrap_or_default()
}
