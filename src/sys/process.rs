//! Whether a process that left something behind is still alive.

use serde::{Deserialize, Serialize};

/// A process, told from a later one with the same number by when it began and since when the machine runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The process number.
    pub pid: u32,
    /// When it began, in clock ticks since the machine started; none where the system does not tell.
    started: Option<u64>,
    /// Names this run of the machine.
    boot: Option<String>,
}

impl Process {
    /// The running process.
    pub fn this() -> Process {
        let pid = std::process::id();
        Process { pid, started: start_of(pid), boot: boot_id() }
    }

    /// True if the process still runs.
    pub fn is_alive(&self) -> bool {
        if self.boot != boot_id() {
            return false;
        }
        match (self.started, start_of(self.pid)) {
            (Some(then), Some(now)) => then == now,
            (Some(_), None) => false,
            (None, _) => i32::try_from(self.pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
                .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
        }
    }
}

/// Field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)); the name before it may hold spaces and parentheses.
fn start_of(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

fn boot_id() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_or_began_later_is_not_alive() {
        assert!(Process::this().is_alive());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let other = Process { pid: child.id(), ..Process::this() };
        assert!(!other.is_alive(), "another start time");
        child.wait().unwrap();
        assert!(!other.is_alive());
        assert!(!Process { boot: Some("x".into()), ..Process::this() }.is_alive());
    }
}
