//! The line at the terminal that says how far the work has come.
//!
//! It appears after a second in which nothing else was said, is drawn anew in place, and is gone before anything else appears. A
//! thread of its own draws it, so that it moves while the work waits for a slow program or disk. It lives on standard error, and
//! only where that is a terminal that can move its cursor and belongs to this process.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{plural, truncate};
use crate::sys::env;
use crate::sys::progress::{Phase, Progress, now};

/// Silence before the line appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two drawings.
const PACE: Duration = Duration::from_millis(150);
/// To the first column, and away with all that stands in the line.
const CLEAR: &[u8] = b"\r\x1b[K";

/// True while the line is on the screen: for a panic, which cannot ask its owner.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line off the screen, without regard to its owner.
pub(in crate::cli) fn clear_in_panic() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().write_all(CLEAR);
    }
}

/// The line. It is gone for good when this is dropped.
pub(super) struct ProgressLine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// When something else was last said.
    quiet_since: Instant,
    /// Somebody else has the terminal for now.
    paused: bool,
    ended: bool,
}

impl ProgressLine {
    /// Watches the work from now on; none where nobody would see it.
    pub(super) fn start() -> Option<ProgressLine> {
        if !io::stderr().is_terminal() || env::is("TERM", "dumb") {
            return None;
        }
        let state = State { quiet_since: Instant::now(), paused: false, ended: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || watched.draw()).ok()?;
        Some(ProgressLine { shared, thread: Some(thread) })
    }

    /// Takes the line off the screen, as something else is to be said. It comes back when the work goes on for long.
    pub(super) fn hide(&self) {
        let mut state = self.shared.lock();
        clear();
        state.quiet_since = Instant::now();
    }

    /// The same until [`ProgressLine::resume`].
    pub(super) fn pause(&self) {
        self.hide();
        self.shared.lock().paused = true;
    }

    /// Ends a pause.
    pub(super) fn resume(&self) {
        let mut state = self.shared.lock();
        state.quiet_since = Instant::now();
        state.paused = false;
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
        clear();
    }
}

impl Shared {
    fn draw(&self) {
        let mut state = self.lock();
        while !state.ended {
            let is_due = !state.paused && state.quiet_since.elapsed() >= PATIENCE;
            if is_due && let Some(text) = words(&now()) {
                show(&text);
            }
            let wait = if is_due { PACE } else { PATIENCE.saturating_sub(state.quiet_since.elapsed()).max(PACE) };
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn clear() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        // Nobody is left to be told if standard error is closed.
        let _ = io::stderr().write_all(CLEAR);
    }
}

fn show(text: &str) {
    let terminal = rustix::stdio::stderr();
    // As git does it (`progress.c:is_foreground_fd`): a job in the background does not write over the one in front.
    if rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group != rustix::process::getpgrp()) {
        return;
    }
    let columns = rustix::termios::tcgetwinsize(terminal).map_or(0, |size| usize::from(size.ws_col));
    let columns = if columns == 0 { 80 } else { columns };
    // A line that fills the last column may wrap.
    let line = truncate(text, columns.saturating_sub(1));
    SHOWN.store(true, Ordering::Relaxed);
    let _ = io::stderr().write_all(&[b"\r", line.as_bytes(), b"\x1b[K"].concat());
}

/// The progress in words; none where there is nothing to say.
fn words(progress: &Progress) -> Option<String> {
    let Progress { phase, files, total, bytes } = *progress;
    let what = match phase {
        Phase::Idle => return None,
        Phase::Wait => "waiting for a lock",
        Phase::Capture => "looking at the worktree",
        Phase::Write => "writing objects",
        Phase::Tidy => "putting packs together",
        Phase::Stage => "preparing files",
        Phase::Apply => "restoring files",
        Phase::Verify => "verifying files",
        Phase::Compare => "comparing files",
        Phase::Bundle => "working on the bundle",
    };
    let mut text = what.to_owned();
    match (files, total) {
        (0, 0) => {}
        (_, 0) => text += &format!(": {}", plural(files, "file")),
        // What is counted is read at another time than the total.
        (_, _) => text += &format!(": {} of {total}", files.min(total)),
    }
    if bytes > 0 {
        text += &format!(", {} MiB read", bytes >> 20);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_as_far_as_it_is_known() {
        let table = [
            ((Phase::Idle, 3, 4, 5), None),
            ((Phase::Wait, 0, 0, 0), Some("waiting for a lock")),
            ((Phase::Capture, 1, 0, 0), Some("looking at the worktree: 1 file")),
            ((Phase::Capture, 81_234, 0, 5 << 20), Some("looking at the worktree: 81234 files, 5 MiB read")),
            ((Phase::Stage, 0, 20, 0), Some("preparing files: 0 of 20")),
            ((Phase::Apply, 21, 20, 0), Some("restoring files: 20 of 20")),
        ];
        for ((phase, files, total, bytes), expected) in table {
            assert_eq!(words(&Progress { phase, files, total, bytes }).as_deref(), expected);
        }
    }
}
