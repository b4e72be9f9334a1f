//! The command line and the terminal.

use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    crate::sys::signals::ignore_file_size_signal();
    ExitCode::SUCCESS
}
