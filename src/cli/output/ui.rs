//! The streams of the program: results on standard output (through a pager where a person reads), talk on standard error.

use std::fmt::Display;
use std::io::{self, BufRead, BufWriter, IsTerminal, Stdout, Write};

use super::pager::{self, Pager};
use super::progress::ProgressLine;
use super::sanitize;
use super::style::{ColorChoice, Styles, Surroundings, is_colored};
use crate::git::{GitError, TerminalConfig};
use crate::sys::env;

/// What the global options say about output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `--color`.
    pub color: Option<ColorChoice>,
    /// `--quiet`.
    pub quiet: bool,
    /// `--json`.
    pub json: bool,
    /// `--no-pager`.
    pub no_pager: bool,
}

/// The one thing that prints.
pub struct Ui {
    options: Options,
    config: Wishes,
    out: Out,
    styles: Styles,
    talk_styles: Styles,
    /// Talk held back while a pager owns the terminal.
    held: String,
    progress: Option<ProgressLine>,
}

enum Out {
    Stdout(BufWriter<Stdout>),
    Pager(Box<BufWriter<Pager>>),
    #[cfg(test)]
    Memory(Vec<u8>),
}

/// What the configuration says about output.
#[derive(Debug, PartialEq, Eq)]
struct Wishes {
    color_checkpoint: Option<ColorChoice>,
    color_ui: Option<ColorChoice>,
    color_pager: bool,
    paging: Paging,
    core_pager: Option<String>,
}

/// What `pager.checkpoint` says.
#[derive(Debug, PartialEq, Eq)]
enum Paging {
    Off,
    Usual,
    By(String),
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes { color_checkpoint: None, color_ui: None, color_pager: true, paging: Paging::Usual, core_pager: None }
    }
}

impl Wishes {
    fn read(config: TerminalConfig) -> Result<Wishes, GitError> {
        let color = |key: &str, value: Option<String>| {
            let bad = |value: &str| GitError::BadConfig { key: key.to_owned(), value: value.to_owned() };
            value.map(|value| ColorChoice::parse(&value).ok_or_else(|| bad(&value))).transpose()
        };
        let paging = match config.pager {
            None => Paging::Usual,
            Some(value) => match ColorChoice::parse(&value) {
                Some(ColorChoice::Auto) => Paging::Usual,
                Some(ColorChoice::Never) => Paging::Off,
                Some(ColorChoice::Always) | None => Paging::By(value),
            },
        };
        Ok(Wishes {
            color_checkpoint: color("color.checkpoint", config.color_checkpoint)?,
            color_ui: color("color.ui", config.color_ui)?,
            color_pager: color("color.pager", config.color_pager)? != Some(ColorChoice::Never),
            paging,
            core_pager: config.core_pager,
        })
    }
}

impl Ui {
    /// Output as the options say; the configuration follows with [`Ui::configure`] once a repository is open.
    pub fn new(options: Options) -> Ui {
        let out = Out::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()));
        let mut ui = Ui {
            options,
            config: Wishes::default(),
            out,
            styles: Styles::default(),
            talk_styles: Styles::default(),
            held: String::new(),
            progress: None,
        };
        ui.choose_styles();
        ui
    }

    /// Output into memory, without colour or talk.
    #[cfg(test)]
    pub(crate) fn captured(options: Options) -> Ui {
        let mut ui = Ui::new(Options { quiet: true, color: Some(ColorChoice::Never), ..options });
        ui.out = Out::Memory(Vec::new());
        ui
    }

    /// What was written to standard output of a [`Ui::captured`].
    #[cfg(test)]
    pub(crate) fn written(&self) -> String {
        match &self.out {
            Out::Memory(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Out::Stdout(_) | Out::Pager(_) => String::new(),
        }
    }

    /// Takes the repository's wishes about colour and pager into account.
    pub fn configure(&mut self, config: TerminalConfig) -> Result<(), GitError> {
        self.config = Wishes::read(config)?;
        self.choose_styles();
        Ok(())
    }

    fn choose_styles(&mut self) {
        let choices = [self.options.color, self.config.color_checkpoint, self.config.color_ui];
        let surroundings = |terminal| Surroundings {
            terminal,
            no_color: env::is_set("NO_COLOR"),
            force_color: env::is_set("CLICOLOR_FORCE") && !env::is("CLICOLOR_FORCE", "0"),
            dumb: env::is("TERM", "dumb"),
        };
        let paged = env::git_pager_in_use() && self.config.color_pager;
        self.styles = Styles::new(is_colored(&choices, surroundings(io::stdout().is_terminal() || paged)));
        self.talk_styles = Styles::new(is_colored(&choices, surroundings(io::stderr().is_terminal())));
    }

    /// Shows from now on how far the work has come, where a person is there to see it. That ends with the first word of the
    /// result.
    pub fn show_progress(&mut self) {
        let wanted = !self.options.quiet && !self.options.json && matches!(self.out, Out::Stdout(_));
        if wanted && self.progress.is_none() {
            self.progress = ProgressLine::start();
        }
    }

    /// Ends the line that [`Ui::show_progress`] began: the terminal is somebody else's now.
    pub fn end_progress(&mut self) {
        self.progress = None;
    }

    /// True if a person sees what is told.
    pub fn is_seen(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Where the result goes. A reader that stopped reading is an error of kind `BrokenPipe`: pass it up, the program then
    /// ends quietly.
    pub fn out(&mut self) -> &mut dyn Write {
        self.progress = None;
        self.stream()
    }

    fn stream(&mut self) -> &mut dyn Write {
        match &mut self.out {
            Out::Stdout(out) => out,
            Out::Pager(out) => out,
            #[cfg(test)]
            Out::Memory(out) => out,
        }
    }

    /// Writes a document to standard output, on one line.
    pub fn json(&mut self, document: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer(self.out(), document)?;
        self.out().write_all(b"\n")
    }

    /// True if the result is to be a JSON document.
    pub fn wants_json(&self) -> bool {
        self.options.json
    }

    /// True if `--quiet` was given.
    pub fn quiet(&self) -> bool {
        self.options.quiet
    }

    /// The looks of what goes to standard output.
    pub fn styles(&self) -> Styles {
        self.styles
    }

    /// True if a person reads standard output: names from disk then pass [`sanitize`] first.
    pub fn is_terminal(&self) -> bool {
        matches!(self.out, Out::Pager(_)) || io::stdout().is_terminal() || env::git_pager_in_use()
    }

    /// The number of columns of the terminal; 80 where there is none. As in git, `COLUMNS` wins.
    pub fn width(&self) -> usize {
        let set = env::columns();
        let measured = || rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok().map(|size| usize::from(size.ws_col));
        set.or_else(measured).filter(|columns| *columns > 0).unwrap_or(80)
    }

    /// Sends the rest of the result through the pager, if a person sits at a terminal and wants one.
    pub fn page(&mut self) -> io::Result<()> {
        let wanted = !self.options.no_pager && !self.options.json;
        if !wanted || !matches!(self.out, Out::Stdout(_)) || env::git_pager_in_use() || !io::stdout().is_terminal() {
            return Ok(());
        }
        let usual = || pager::choose([env::text("GIT_PAGER"), self.config.core_pager.clone(), env::text("PAGER")]);
        let command = match &self.config.paging {
            Paging::Off => None,
            Paging::By(command) => Some(command.clone()),
            Paging::Usual => usual(),
        };
        let Some(command) = command else { return Ok(()) };
        self.out().flush()?;
        if let Ok(pager) = Pager::start(&command, self.width()) {
            self.out = Out::Pager(Box::new(BufWriter::with_capacity(1 << 16, pager)));
            if !self.config.color_pager && self.options.color.is_none() {
                self.styles = Styles::default();
            }
        }
        Ok(())
    }

    /// Writes the line that says what was done. Silent with `--quiet`, and where a document says it.
    pub fn done(&mut self, text: impl Display) -> io::Result<()> {
        if self.options.quiet || self.wants_json() {
            return Ok(());
        }
        writeln!(self.out(), "{text}")
    }

    /// Tells the person something. Silent with `--quiet`.
    pub fn say(&mut self, text: impl Display) {
        if !self.options.quiet {
            self.talk(&format!("{}\n", lines(&text)));
        }
    }

    /// Warns the person.
    pub fn warn(&mut self, text: impl Display) {
        let label = self.talk_styles.warning.paint("warning:").to_string();
        self.talk(&format!("{label} {}\n", lines(&text)));
    }

    /// Names something that the person can do. Silent with `--quiet`.
    pub fn hint(&mut self, text: impl Display) {
        if !self.options.quiet {
            let label = self.talk_styles.hint.paint("hint:").to_string();
            self.talk(&format!("{label} {}\n", lines(&text)));
        }
    }

    /// Says that the command failed.
    pub fn error(&mut self, text: impl Display) {
        let label = self.talk_styles.error.paint("error:").to_string();
        self.talk(&format!("{label} {}\n", lines(&text)));
    }

    /// Writes text that is laid out already, such as the usage of clap, to standard error.
    pub fn talk(&mut self, text: &str) {
        match self.out {
            Out::Stdout(_) => {}
            Out::Pager(_) => return self.held.push_str(text),
            #[cfg(test)]
            Out::Memory(_) => return self.held.push_str(text),
        }
        if let Some(progress) = &self.progress {
            progress.hide();
        }
        // What was said before must stand above this at a terminal. A failure shows again at the next write.
        let _ = self.stream().flush();
        // Nobody is left to be told if standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// True if a person is there to answer.
    pub fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal() && !matches!(self.out, Out::Pager(_))
    }

    /// Asks a question that is answered with yes or no; anything but yes is no, and so is the absence of a terminal.
    pub fn confirm(&mut self, question: impl Display) -> bool {
        if !self.can_ask() {
            return false;
        }
        if let Some(progress) = &self.progress {
            progress.pause();
        }
        self.talk(&format!("{} [y/N] ", lines(&question)));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        if let Some(progress) = &self.progress {
            progress.resume();
        }
        match read {
            Ok(0) => self.talk("\n"),
            Ok(_) => {}
            Err(_) => return false,
        }
        matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    /// Writes what is still buffered, waits for the pager, then says what was held back.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut result = self.out().flush();
        if let Out::Pager(pager) = &mut self.out {
            result = pager.get_mut().finish();
            self.out = Out::Stdout(BufWriter::new(io::stdout()));
            let held = std::mem::take(&mut self.held);
            self.talk(&held);
        }
        result
    }
}

/// Text for people, line by line without control characters.
fn lines(text: &impl Display) -> String {
    let text = text.to_string();
    text.split('\n').map(sanitize).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_takes_one_line() {
        let mut ui = Ui::captured(Options { json: true, ..Options::default() });

        ui.json(&serde_json::json!({"schema": 1, "a": [1, 2]})).unwrap();

        assert_eq!(ui.written(), "{\"schema\":1,\"a\":[1,2]}\n");
        assert!(ui.wants_json());
    }

    #[test]
    fn the_configuration_is_read_as_git_reads_it() {
        let text = |value: &str| Some(value.to_owned());
        let config = TerminalConfig {
            color_checkpoint: text("always"),
            color_ui: text("false"),
            color_pager: text("no"),
            pager: text("less -S"),
            core_pager: text("delta"),
        };
        let expected = Wishes {
            color_checkpoint: Some(ColorChoice::Always),
            color_ui: Some(ColorChoice::Never),
            color_pager: false,
            paging: Paging::By("less -S".to_owned()),
            core_pager: text("delta"),
        };

        assert_eq!(Wishes::read(config).unwrap(), expected);
        assert_eq!(Wishes::read(TerminalConfig::default()).unwrap(), Wishes::default());
        let off = TerminalConfig { pager: text("false"), ..TerminalConfig::default() };
        assert_eq!(Wishes::read(off).unwrap().paging, Paging::Off);
        let bad = TerminalConfig { color_ui: text("purple"), ..TerminalConfig::default() };
        assert_eq!(Wishes::read(bad).unwrap_err().to_string(), "bad config value `purple` for `color.ui`");
    }

    #[test]
    fn talk_keeps_its_lines_but_no_control_characters() {
        assert_eq!(lines(&"a\x1b[2J\nb"), "a\\x1b[2J\nb");
    }
}
