//! The pager at a terminal, chosen as git chooses it.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::sys;

/// Which pager to use, in git's order (`git var GIT_PAGER`): the first that is set wins, even if it is empty.
pub(super) fn choose(candidates: [Option<String>; 3]) -> Option<String> {
    let chosen = candidates.into_iter().flatten().next().unwrap_or_else(|| "less".to_owned());
    let chosen = chosen.trim();
    (!chosen.is_empty() && chosen != "cat").then(|| chosen.to_owned())
}

/// A running pager.
pub(super) struct Pager {
    child: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts `command`; through the shell where it is more than one word, as git does.
    pub(super) fn start(command: &str, columns: usize) -> io::Result<Pager> {
        let needs_shell = command.contains(|c: char| "|&;<>()$`\\\"' \t\n*?[#~=%".contains(c));
        let mut process = if needs_shell { Command::new("sh") } else { Command::new(command) };
        if needs_shell {
            process.args(["-c", command]);
        }
        if std::env::var_os("LESS").is_none() {
            process.env("LESS", "FRX");
        }
        if std::env::var_os("LV").is_none() {
            process.env("LV", "-c");
        }
        process.env("COLUMNS", columns.to_string()).env_remove("GIT_PAGER_IN_USE");
        let mut child = process.stdin(Stdio::piped()).spawn()?;
        // From here on Ctrl-C belongs to the pager: dying under it would leave the terminal in its hands.
        sys::signals::ignore_interrupt();
        let input = child.stdin.take();
        Ok(Pager { child, input })
    }

    /// Ends the pager's input and waits until the person leaves it.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        drop(self.input.take());
        self.child.wait()?;
        flushed
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.input {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn the_first_pager_that_is_set_wins() {
        let set = |text: &str| Some(text.to_owned());

        assert_eq!(choose([set("a"), set("b"), set("c")]), set("a"));
        assert_eq!(choose([None, set("b -x"), set("c")]), set("b -x"));
        assert_eq!(choose([None, None, None]), set("less"));
    }

    #[test]
    fn an_empty_pager_and_cat_mean_none() {
        assert_eq!(choose([Some(String::new()), Some("less".to_owned()), None]), None);
        assert_eq!(choose([Some("cat".to_owned()), None, None]), None);
    }
}
