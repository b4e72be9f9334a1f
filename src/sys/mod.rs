//! Facts of the running process and machine: the environment, the clock, signals, how far the work has come; and who
//! may use what it leaves on the disk.

pub mod child;
pub mod env;
pub mod fault;
pub mod process;
pub mod progress;
pub mod sharing;
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

/// A moment, with what tells whether the wall clock was set back since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The wall clock, nanoseconds since the Unix epoch.
    pub wall_ns: i64,
    /// Which run of the system it was in, as [`boot_id`] says.
    pub boot: u64,
    /// How long that run had lasted, sleep included.
    pub up_ns: i64,
}

impl Moment {
    /// Steps of the clock that are smaller than this cannot be told from the time between the reading of two clocks.
    const SMALL_STEP_NS: i64 = 10_000_000;

    /// This moment.
    pub fn now() -> Moment {
        let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let up_ns = up.tv_sec.saturating_mul(1_000_000_000).saturating_add(up.tv_nsec);
        Moment { wall_ns: now_nanos(), boot: boot_id(), up_ns }
    }

    /// True if the wall clock shows less time since `earlier` than there was, so that it may show a time once more.
    pub fn was_set_back_since(&self, earlier: &Moment) -> bool {
        let (by_wall, by_system) = (self.wall_ns.saturating_sub(earlier.wall_ns), self.up_ns.saturating_sub(earlier.up_ns));
        let is_same_run = self.boot == earlier.boot && self.boot != 0;
        by_wall < 0 || (is_same_run && by_wall < by_system.saturating_sub(Self::SMALL_STEP_NS))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_is_found_out() {
        let second = 1_000_000_000;
        let earlier = Moment { wall_ns: 100 * second, boot: 7, up_ns: 50 * second };
        let later = |wall, boot, up| Moment { wall_ns: wall * second, boot, up_ns: up * second };
        let table = [
            (later(110, 7, 60), false, "ten seconds by both clocks"),
            (later(200, 7, 60), false, "set forward"),
            (later(90, 7, 60), true, "set back to before"),
            (later(105, 7, 60), true, "set back, and past the old time again"),
            (later(110, 8, 500), false, "started anew"),
            (later(90, 8, 5), true, "started anew with an earlier time"),
        ];
        for (now, expected, what) in table {
            assert_eq!(now.was_set_back_since(&earlier), expected, "{what}");
        }
        let nameless = Moment { boot: 0, ..earlier };
        assert!(!Moment { boot: 0, ..later(105, 0, 60) }.was_set_back_since(&nameless), "nobody knows if it is the same run");
        let earlier = Moment::now();
        assert!(!Moment::now().was_set_back_since(&earlier) && earlier.up_ns > 0);
    }
}
