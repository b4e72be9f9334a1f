//! A program at a terminal, with a person's keys going in and the screen coming out. Made with tmux.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Output, TestEnv, TestRepo};

/// A program that runs at a terminal of its own until this is dropped.
pub struct Terminal<'a> {
    env: &'a TestEnv,
}

impl<'a> Terminal<'a> {
    /// Starts `program` in `folder`.
    pub fn start(env: &'a TestEnv, folder: &Path, program: &str) -> Self {
        Terminal::sized(env, folder, program, (170, 50))
    }

    /// The same at a terminal of so many columns and lines.
    pub fn sized(env: &'a TestEnv, folder: &Path, program: &str, (columns, lines): (u16, u16)) -> Self {
        let terminal = Terminal { env };
        let mut start = terminal.tmux();
        start.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns.to_string(), "-y", &lines.to_string(), "-c"]);
        Output::of(start.arg(folder).arg(program)).success();
        terminal
    }

    fn tmux(&self) -> Command {
        let mut command = self.env.command("tmux");
        // Names in the test's paths are not ASCII.
        command.env("LC_ALL", "C.UTF-8").env("TERM", "screen").arg("-S").arg(self.env.root().join("tmux"));
        command
    }

    /// Types text as it stands.
    pub fn enter(&self, text: &str) {
        Output::of(self.tmux().args(["send-keys", "-l", "--", text])).success();
    }

    /// Presses a key by its name, such as `Tab` or `Enter`.
    pub fn press(&self, key: &str) {
        Output::of(self.tmux().args(["send-keys", key])).success();
    }

    /// What the screen shows.
    pub fn screen(&self) -> String {
        Output::of(self.tmux().args(["capture-pane", "-p", "-J"])).success().text()
    }

    /// Waits until the screen shows what `shows` looks for; fails the test if it does not within ten seconds.
    #[track_caller]
    pub fn wait_for(&self, what: &str, shows: impl Fn(&str) -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let screen = self.screen();
            if shows(&screen) {
                return;
            }
            assert!(Instant::now() < until, "the screen never showed {what}:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // The server of this terminal alone, by its socket.
        let _ = self.tmux().arg("kill-server").output();
    }
}

impl TestRepo {
    /// Runs `line` at a terminal that `script` of util-linux plays: everything that the terminal is sent comes as the output.
    pub fn at_terminal(&self, line: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = self.command("script");
        command.args(["--quiet", "--return", "--command", line, "/dev/null"]).env("TERM", "xterm");
        Output::of(command.envs(variables.iter().copied()))
    }
}
