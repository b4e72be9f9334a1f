//! What a checkpoint changed, or how two states differ, put into lines: about the checkpoint, the files with their counts, the patch.

use super::look::{Spans, Tone};
use super::patch;
use super::work::{Change, View};
use crate::cli::output::{Clock, plural, sanitize};
use crate::git::diff::{Comparison, Count, FileCount, Format, Quoting, Status, total};
use crate::model::Checkpoint;
use crate::ops::{self, Context, DiffRequest, Error};
use crate::sys;

/// More bytes of a patch than anybody looks at.
const MOST_BYTES: usize = 4 << 20;

/// Works out what `view` shows. None if `is_unwanted` said meanwhile that nobody wants it any more.
pub(super) fn describe(context: &Context, view: View, mut is_unwanted: impl FnMut() -> bool) -> Result<Option<Change>, Error> {
    let mut change = Change::default();
    let comparison = match view {
        View::Change(number) => {
            let checkpoint = checkpoint(context, number)?;
            about(&checkpoint, &mut change.lines);
            ops::change_of(context, &checkpoint)?
        }
        View::Between(old, new) => between(context, &[old, new])?,
        View::Worktree(number) => between(context, &[number])?,
    };
    if is_unwanted() {
        return Ok(None);
    }
    let format = Format { quoting: Quoting::of(&context.repo), ..Format::default() };
    list_files(&comparison.counts(&format)?, format.quoting, &mut change.lines);
    let mut text = Vec::new();
    let mut was_stopped = false;
    comparison.patch(&context.repo, &format, |piece| {
        text.extend_from_slice(piece);
        was_stopped = is_unwanted();
        !was_stopped && text.len() <= MOST_BYTES
    })?;
    if was_stopped {
        return Ok(None);
    }
    if !text.is_empty() {
        change.lines.push(Vec::new());
        let is_cut = text.len() > MOST_BYTES;
        text.truncate(MOST_BYTES);
        let is_whole = patch::read(&text, &mut change.lines, &mut change.files);
        if is_cut || !is_whole {
            change.lines.push(vec![(Tone::Warning, "cut here; `git checkpoint diff` shows all of it".to_owned())]);
        }
    }
    Ok(Some(change))
}

/// The checkpoint with a number that the screen shows.
pub(super) fn checkpoint(context: &Context, number: u64) -> Result<Checkpoint, Error> {
    let gone = || Error::UnknownSelector { selector: number.to_string(), candidates: Vec::new() };
    context.store.by_number(number)?.ok_or_else(gone)
}

fn between(context: &Context, numbers: &[u64]) -> Result<Comparison, Error> {
    // A number alone could also be the beginning of a commit id, were the checkpoint gone.
    let sides = numbers.iter().map(|number| checkpoint(context, *number).map(|checkpoint| checkpoint.ref_name()));
    ops::diff(context, &DiffRequest { sides: sides.collect::<Result<_, _>>()?, ..DiffRequest::default() })
}

/// What a person wants to know of a checkpoint before its files.
fn about(checkpoint: &Checkpoint, lines: &mut Vec<Spans>) {
    let clock = Clock::new(sys::now_millis());
    let mut field = |name: &str, tone, text: &str| {
        lines.push(vec![(Tone::Dim, format!("{name:<9}")), (tone, sanitize(text).into_owned())]);
    };
    field("made", Tone::Plain, &clock.local_rfc3339(checkpoint.created_at));
    field("session", Tone::Plain, checkpoint.session.as_str());
    if let Some(branch) = &checkpoint.branch {
        field("branch", Tone::Plain, branch);
    }
    if let Some(step) = &checkpoint.step {
        field("step", Tone::Plain, step);
    }
    if let Some(turn) = checkpoint.turn {
        let agent = checkpoint.agent.as_ref().map(|agent| format!(" of {agent}")).unwrap_or_default();
        field("turn", Tone::Plain, &format!("#{turn}{agent}"));
    }
    if let Some(prompt) = checkpoint.boundary.as_ref().and_then(|boundary| boundary.prompt.as_ref()) {
        field("prompt", Tone::Plain, prompt);
    }
    if !checkpoint.names.is_empty() {
        field("names", Tone::Strong, &checkpoint.names.join(", "));
    }
    for line in checkpoint.message.as_deref().unwrap_or(&checkpoint.subject).lines() {
        field("message", Tone::Plain, line);
    }
    for skipped in &checkpoint.skipped {
        field("skipped", Tone::Warning, &format!("{} ({})", skipped.path, skipped.reason.as_str()));
    }
    lines.push(Vec::new());
}

fn list_files(files: &[FileCount], quoting: Quoting, lines: &mut Vec<Spans>) {
    if files.is_empty() {
        lines.push(vec![(Tone::Dim, "no differences".to_owned())]);
        return;
    }
    let stat = total(files);
    let mut sum = vec![(Tone::Strong, format!("{} changed", plural(stat.files, "file")))];
    sum.extend(signed(stat.insertions, stat.deletions));
    lines.push(sum);
    lines.extend(files.iter().map(|file| file_line(file, quoting)));
}

fn file_line(file: &FileCount, quoting: Quoting) -> Spans {
    let status = file.pair.status();
    let path = |path: &[u8]| {
        let mut text = Vec::new();
        quoting.push(&mut text, path);
        sanitize(&String::from_utf8_lossy(&text)).into_owned()
    };
    let tone = match status {
        Status::Added => Tone::Added,
        Status::Deleted => Tone::Removed,
        Status::Modified | Status::TypeChanged | Status::Renamed => Tone::Plain,
    };
    let newest = path(&file.pair.newest().path);
    let name = match status {
        Status::Renamed => format!("{} => {newest}", path(&file.pair.oldest().path)),
        Status::Added | Status::Deleted | Status::Modified | Status::TypeChanged => newest,
    };
    let mut line = vec![(tone, format!("{} ", status.letter())), (Tone::Plain, name)];
    match file.count {
        Count::Lines { added, removed } => line.extend(signed(added, removed)),
        Count::Bytes { old, new } => line.push((Tone::Dim, format!(" binary, {old} -> {new} bytes"))),
    }
    line
}

/// Lines added and removed, each with its sign; nothing for none.
pub(super) fn signed(added: u64, removed: u64) -> impl Iterator<Item = (Tone, String)> {
    let counts = [(added, '+', Tone::Added), (removed, '-', Tone::Removed)];
    counts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, sign, tone)| (tone, format!(" {sign}{count}")))
}
