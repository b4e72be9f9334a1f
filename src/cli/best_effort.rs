//! Failures that must not stop the pipeline or the agent that called: one line for whoever looks, and one in the log.

use std::io::Write;

use super::failure::Failure;
use super::output::{Ui, rfc3339};
use crate::git::shared_dir_around;
use crate::sys::now_millis;

/// Tells of a failure of `command` that the caller goes on in spite of; `what` says what is missing now.
pub(super) fn tell(ui: &mut Ui, command: &str, what: &str, failure: &Failure) {
    let text = failure.in_one_line();
    ui.warn(format!("{what}: {text}"));
    log(command, &text);
}

/// Adds a line to the log of failures beside the database. A failure to do so has nobody left to be told.
fn log(command: &str, text: &str) {
    let around = std::env::current_dir().ok().and_then(|directory| shared_dir_around(&directory));
    let Some((folder, sharing)) = around else { return };
    let line = format!("{} {command}: {text}\n", rfc3339(now_millis()));
    let _ = sharing.create_dir_all(&folder).and_then(|()| {
        sharing.open_lasting(std::fs::OpenOptions::new().append(true), &folder.join("log"))?.write_all(line.as_bytes())
    });
}
