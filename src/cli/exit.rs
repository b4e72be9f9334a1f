//! The exit codes. The manual page has the same table.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or there was nothing to do.
    Done = 0,
    /// The answer is no: `--exit-code`, or `doctor` found problems.
    Negative = 1,
    /// Refused; nothing was changed.
    Refused = 3,
    /// The selector names no checkpoint, or several.
    Selector = 4,
    /// A lock was not free in time.
    LockTimeout = 5,
    /// Done in part, and undoable.
    Partial = 6,
    /// The command could not be carried out.
    Fatal = 128,
    /// The command line makes no sense.
    Usage = 129,
    /// The person interrupted.
    Interrupted = 130,
}

impl Exit {
    /// All of them, in the order of their numbers.
    pub const ALL: [Exit; 9] = [
        Exit::Done,
        Exit::Negative,
        Exit::Refused,
        Exit::Selector,
        Exit::LockTimeout,
        Exit::Partial,
        Exit::Fatal,
        Exit::Usage,
        Exit::Interrupted,
    ];

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
