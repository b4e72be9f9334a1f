//! A command that runs in our place: it has our streams, gets the signals that are meant for it, and its end becomes ours.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::signals;

/// How a shell says that a command was not found, and that it was and cannot be executed (sh(1p), "Exit Status for Commands").
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// What a shell adds to the number of the signal that ended a command.
const BY_SIGNAL: u8 = 128;

/// A command that runs. From its start on, this process lives at least as long as it does.
pub struct Child {
    child: std::process::Child,
}

/// Starts `program`. It gets everything as this process got it: streams, directory, environment, and what is done on a signal.
pub fn start<S: AsRef<OsStr>>(program: &OsStr, arguments: &[S]) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(arguments);
    signals::leave_to_child(&mut command);
    signals::begin_passing_on();
    match command.spawn() {
        Ok(child) => {
            signals::pass_on_to(child.id());
            Ok(Child { child })
        }
        Err(error) => {
            signals::end_passing_on();
            Err(error)
        }
    }
}

/// The exit code of a command that could not be started.
pub fn code_of_failure(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => NOT_FOUND,
        _ => NOT_EXECUTABLE,
    }
}

impl Child {
    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, and returns the exit code that a shell would give it.
    pub fn wait(mut self) -> io::Result<u8> {
        // Its number stays its own until it is reaped: a signal that arrives in between can hit nobody else.
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
        }
        signals::end_passing_on();
        let status = self.child.wait()?;
        let by_signal = status.signal().map(|signal| u8::try_from(signal).unwrap_or(0).saturating_add(BY_SIGNAL));
        let code = status.code().map(|code| u8::try_from(code & 0xff).unwrap_or(u8::MAX));
        Ok(by_signal.or(code).unwrap_or(u8::MAX))
    }
}
