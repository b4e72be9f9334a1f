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

    /// The process with this number; none if there is none.
    pub fn of(pid: u32) -> Option<Process> {
        let process = Process { pid, started: start_of(pid), boot: boot_id() };
        // Where the system tells when processes began, one of which it does not has ended and is only not yet forgotten.
        let is_told = process.started.is_some() || process.boot.is_none();
        (is_told && process.is_alive()).then_some(process)
    }

    /// True if it began at `ticks`, in clock ticks since the machine started.
    pub fn began_at(&self, ticks: Option<u64>) -> bool {
        self.started.is_some() && self.started == ticks
    }

    /// True if the running process is this one or descends from it. A process whose parents ended in between descends from
    /// nobody any more.
    pub fn is_above_this(&self) -> bool {
        // Parents are older than their children; the bound is for a number that is used again while this looks.
        let lineage = std::iter::successors(Some(std::process::id()), |pid| parent_of(*pid)).take(MOST_ANCESTORS);
        self.is_alive() && lineage.into_iter().any(|pid| pid == self.pid)
    }

    /// The nearest process above this one whose name is none of `passed_over`. None if it is the first of all processes, which takes
    /// over those that nobody waits for.
    pub fn above_this(passed_over: &[&str]) -> Option<Process> {
        let above = std::iter::successors(parent_of(std::process::id()), |pid| parent_of(*pid)).take(MOST_ANCESTORS);
        let mut meant = above.into_iter().filter(|pid| !name_of(*pid).is_some_and(|name| passed_over.contains(&name.as_str())));
        meant.next().filter(|pid| *pid > 1).and_then(Process::of)
    }

    /// True if the process still runs.
    pub fn is_alive(&self) -> bool {
        if self.boot != boot_id() {
            return false;
        }
        match (self.started, start_of(self.pid)) {
            (Some(then), Some(now)) => then == now,
            (Some(_), None) => false,
            (None, _) => i32::try_from(self.pid).is_ok_and(is_running),
        }
    }
}

/// No lineage of processes is longer than this.
const MOST_ANCESTORS: usize = 1000;

/// True if there is a process with this number.
pub fn is_running(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)).
fn start_of(pid: u32) -> Option<u64> {
    let fields = fields_of(pid)?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Field 4, unless that is nobody.
fn parent_of(pid: u32) -> Option<u32> {
    fields_of(pid)?.split_ascii_whitespace().nth(1)?.parse().ok().filter(|parent| *parent != 0)
}

/// Field 2, which the system cuts to 15 bytes.
fn name_of(pid: u32) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.split_once('(')?.1.rsplit_once(')')?.0.to_owned())
}

/// The fields from the third on; the name before them may hold spaces and parentheses, and need not be UTF-8.
fn fields_of(pid: u32) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.rsplit_once(')').map(|(_, after_name)| after_name.to_owned())
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

    #[test]
    fn a_process_is_found_by_its_number_as_long_as_it_runs() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();

        assert!(process.is_alive() && process.pid == child.id());
        child.kill().unwrap();
        // Dead, but not yet forgotten.
        while process.is_alive() {
            std::thread::yield_now();
        }
        assert_eq!(Process::of(child.id()), None);
        child.wait().unwrap();
        assert!(!process.is_alive());
        assert_eq!(Process::of(child.id()), None);
        assert_eq!(Process::of(0), None);
    }

    #[test]
    fn the_process_above_is_found_past_those_that_are_passed_over() {
        let parent = std::os::unix::process::parent_id();
        let name = name_of(parent).unwrap();

        assert_eq!(Process::above_this(&[]).map(|process| process.pid), Some(parent));
        assert_ne!(Process::above_this(&[&name]).map(|process| process.pid), Some(parent));
    }

    #[test]
    fn only_parents_and_their_parents_are_above() {
        let parent = Process::of(std::os::unix::process::parent_id()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let below = Process::of(child.id()).unwrap();

        assert!(Process::this().is_above_this() && parent.is_above_this());
        assert!(!below.is_above_this());
        assert!(!Process { started: Some(1), ..parent }.is_above_this(), "another process had this number before");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
