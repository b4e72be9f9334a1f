//! The terminal while the screen has it: raw mode and the alternate screen, both given back however the program ends.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

use crate::sys::env;

/// True while the terminal is ours: for a panic, which cannot ask its owner.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// True if a person sits at a terminal that can show a screen.
pub(in crate::cli) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && !env::is("TERM", "dumb")
}

/// The terminal; it is given back when this is dropped.
pub(super) struct Stage {
    /// What is drawn on.
    pub(super) terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Stage {
    /// Takes the terminal.
    pub(super) fn take(colored: bool) -> io::Result<Stage> {
        // What decides about colour has decided.
        ratatui::crossterm::style::force_color_output(colored);
        TAKEN.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode().and_then(|()| {
            // Text that is pasted must not count as keys.
            execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
            Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout())))
        });
        if taken.is_err() {
            give_back();
        }
        Ok(Stage { terminal: taken? })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back as it was, if it is taken. What fails here fails because nobody is there any more.
pub(in crate::cli) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = io::stdout().flush();
        let _ = disable_raw_mode();
    }
}
