//! Failures that must not stop the pipeline or the agent that called: one line for whoever looks, and one in the log.

use std::io::Write;
use std::path::Path;

use super::failure::Failure;
use super::output::{Ui, rfc3339};
use crate::git::shared_dir_around;
use crate::sys::now_millis;
use crate::sys::sharing::Sharing;

/// Tells of a failure of `command` that the caller goes on in spite of; `what` says what is missing now.
pub(super) fn tell(ui: &mut Ui, command: &str, what: &str, failure: &Failure) {
    let text = failure.in_one_line();
    ui.warn(format!("{what}: {text}"));
    log(command, &text);
}

/// The log is begun anew when it is as long as this; the one before it is kept.
const LONGEST_LOG: u64 = 512 * 1024;

/// Adds a line to the log of failures beside the database. A failure to do so has nobody left to be told.
fn log(command: &str, text: &str) {
    if let Ok(directory) = std::env::current_dir() {
        log_around(&directory, command, text);
    }
}

/// The same for the repository around `directory`.
pub(super) fn log_around(directory: &Path, command: &str, text: &str) {
    if let Some((folder, sharing)) = shared_dir_around(directory) {
        log_in(&folder, sharing, command, text);
    }
}

/// The same in this folder.
pub(super) fn log_in(folder: &Path, sharing: Sharing, command: &str, text: &str) {
    let line = format!("{} {command}: {text}\n", rfc3339(now_millis()));
    let path = folder.join("log");
    let _ = sharing.create_dir_all(folder).and_then(|()| {
        if path.metadata().is_ok_and(|log| log.len() > LONGEST_LOG) {
            let _ = std::fs::rename(&path, folder.join("log.old"));
        }
        sharing.open_lasting(std::fs::OpenOptions::new().append(true), &path)?.write_all(line.as_bytes())
    });
}
