//! What a command gave back, and the first checks on it.

use std::fmt;
use std::process::{Command, ExitStatus};

/// Both streams and the exit status of a finished command.
pub struct Output {
    command: String,
    status: ExitStatus,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Runs `command` to its end.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn of(command: &mut Command) -> Output {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {shown}: {error}"));
        Output::from_parts(shown, output)
    }

    /// What a command gave back that was run elsewhere.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn from_parts(command: String, output: std::process::Output) -> Output {
        Output { command, status: output.status, stdout: output.stdout, stderr: output.stderr }
    }

    /// The exit code; none if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Fails the test unless the exit code is 0.
    #[track_caller]
    pub fn success(self) -> Output {
        self.exits(0)
    }

    /// Fails the test unless the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Output {
        assert_eq!(self.code(), Some(code), "{self}");
        self
    }

    /// Fails the test if the exit code is 0, or if the command did not end by itself or panicked.
    #[track_caller]
    pub fn fails(self) -> Output {
        let code = self.code().unwrap_or_else(|| panic!("ended by a signal: {self}"));
        assert!(code != 0 && code != 101, "{self}");
        assert!(!self.talk().contains("panicked"), "{self}");
        self
    }

    /// Standard output without the last newline.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// Standard error.
    pub fn talk(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self}"))
    }

    /// Fails the test unless standard error contains `text`.
    #[track_caller]
    pub fn says(self, text: &str) -> Output {
        assert!(self.talk().contains(text), "expected `{text}` in the talk of {self}");
        self
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}\n{}", self.command, self.status)?;
        writeln!(f, "--- stdout\n{}[EOF]", String::from_utf8_lossy(&self.stdout))?;
        writeln!(f, "--- stderr\n{}[EOF]", String::from_utf8_lossy(&self.stderr))
    }
}
