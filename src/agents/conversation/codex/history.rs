//! The lines of a conversation in order, wherever they lie, and the turns in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::lines::Lines;
use super::super::{MemoryError, Turn, Wanted};
use crate::model::{Millis, excerpt};

/// No conversation points further back than so many files.
const MOST_FILES: usize = 64;

/// A part of the history that lies in one file.
#[derive(Debug, Clone)]
struct Segment {
    path: PathBuf,
    /// The number of the first line that is no part of it; none if all are.
    end: Option<u64>,
}

/// A conversation that was read.
#[derive(Debug)]
pub(in crate::agents::conversation) struct History {
    /// The file that it goes on in.
    pub(super) path: PathBuf,
    /// The first line of that file.
    pub(super) meta: Value,
    /// Oldest first.
    segments: Vec<Segment>,
    turns: Vec<Turn>,
}

/// Reads a conversation with what it points to.
pub(in crate::agents::conversation) fn read(home: &Path, path: &Path) -> Result<History, MemoryError> {
    let meta = meta_of(path)?;
    let mut segments = vec![Segment { path: path.to_owned(), end: None }];
    let mut pointer = base_of(&meta);
    while let Some((thread, end)) = pointer.take() {
        let gone = || MemoryError::TranscriptGone(thread.clone());
        let is_new = |path: &PathBuf| segments.iter().all(|segment| segment.path != *path);
        let candidates = files_of(home, &thread).into_iter().filter(is_new);
        let mut found = candidates.filter(|path| reaches(path, end));
        let base = found.next().filter(|_| segments.len() < MOST_FILES).ok_or_else(gone)?;
        pointer = base_of(&meta_of(&base)?);
        segments.push(Segment { path: base, end: Some(end) });
    }
    segments.reverse();
    let mut history = History { path: path.to_owned(), meta, segments, turns: Vec::new() };
    let mut turns = Turns::default();
    let mut count = 0;
    history.lines(u64::MAX, |line| {
        count += 1;
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            turns.line(&value, count);
        }
        Ok(())
    })?;
    history.turns = turns.done;
    Ok(history)
}

impl History {
    /// True if part of it lies in another file.
    pub(super) fn is_pointer(&self) -> bool {
        self.segments.len() > 1
    }

    /// The turns that were not taken back. The end of each is a number of lines.
    pub(in crate::agents::conversation) fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The place of the wanted turn.
    pub(super) fn turn(&self, wanted: &Wanted) -> Option<usize> {
        if let Some(id) = &wanted.turn_id {
            return self.turns.iter().position(|turn| turn.id.as_ref() == Some(id));
        }
        self.turns.iter().rposition(|turn| wanted.fits(turn))
    }

    /// Gives the first `end` lines, without the first of each file, which tells of the file.
    pub(super) fn lines(&self, end: u64, mut give: impl FnMut(&[u8]) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        let mut count = 0;
        self.segments.iter().try_for_each(|segment| segment.lines(&mut count, end, &mut give))
    }

    /// Gives the lines of all files before the last.
    pub(super) fn lines_before(&self, mut give: impl FnMut(&[u8]) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        let before = self.segments.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().try_for_each(|segment| segment.lines(&mut 0, u64::MAX, &mut give))
    }
}

impl Segment {
    /// Gives its lines until `end` are given in all, without the first, which tells of the file.
    fn lines(
        &self,
        count: &mut u64,
        end: u64,
        give: &mut impl FnMut(&[u8]) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        let mut lines = Lines::open(&self.path)?;
        lines.next()?;
        while let Some(line) = lines.next()? {
            let is_later = self.end.is_some_and(|end| ordinal(line.bytes).is_some_and(|at| at >= end));
            if is_later || *count == end {
                break;
            }
            *count += 1;
            give(line.bytes)?;
        }
        Ok(())
    }
}

/// The turns as far as the lines tell.
#[derive(Default)]
struct Turns {
    done: Vec<Turn>,
    /// The last turn goes on.
    is_open: bool,
    /// The lines say when a turn begins; in old files only prompts do.
    is_told: bool,
}

impl Turns {
    fn line(&mut self, line: &Value, count: u64) {
        let payload = &line["payload"];
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        match (line["type"].as_str(), text("type")) {
            (Some("event_msg"), Some("task_started")) => {
                self.is_told = true;
                let started = payload.get("started_at").and_then(Value::as_f64).map(|seconds| (seconds * 1000.0) as Millis);
                self.begin(text("turn_id").map(str::to_owned), started);
            }
            (Some("event_msg"), Some("task_complete" | "turn_aborted")) => {
                let is_of = |turn: &Turn| turn.id.is_none() || turn.id.as_deref() == text("turn_id");
                if let Some(turn) = self.done.last_mut().filter(|turn| self.is_open && is_of(turn)) {
                    turn.end = count;
                    self.is_open = false;
                    return;
                }
            }
            (Some("event_msg"), Some("thread_rolled_back")) => {
                let turns = payload.get("num_turns").and_then(Value::as_u64).and_then(|turns| usize::try_from(turns).ok());
                self.done.truncate(self.done.len().saturating_sub(turns.unwrap_or(0)));
                self.is_open = false;
            }
            (Some("event_msg"), Some("user_message")) => self.prompt(text("message").unwrap_or_default()),
            (Some("event_msg"), Some("item_completed")) if payload["item"]["type"] == "UserMessage" => {
                self.prompt(&spoken(&payload["item"]["content"]));
            }
            _ => {}
        }
        if let Some(turn) = self.done.last_mut().filter(|_| self.is_open) {
            turn.end = count;
        }
    }

    fn begin(&mut self, id: Option<String>, started_at: Option<Millis>) {
        let tip = id.clone().unwrap_or_default();
        self.done.push(Turn { id, prompt: String::new(), started_at, is_prompted: true, end: 0, tip });
        self.is_open = true;
    }

    fn prompt(&mut self, text: &str) {
        if !self.is_told {
            self.begin(None, None);
        }
        if let Some(turn) = self.done.last_mut().filter(|turn| self.is_open && turn.prompt.is_empty()) {
            turn.prompt = excerpt(text);
        }
    }
}

fn spoken(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten().filter_map(|part| part.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}

/// The first line, which tells of the conversation.
fn meta_of(path: &Path) -> Result<Value, MemoryError> {
    let unknown = || MemoryError::UnknownFormat(path.to_owned(), "it does not begin with `session_meta`");
    let mut lines = Lines::open(path)?;
    let line = lines.next()?.ok_or_else(unknown)?;
    let meta: Value = serde_json::from_slice(line.bytes).map_err(|_| unknown())?;
    let payload = meta.get("payload").and_then(Value::as_object);
    let payload = payload.filter(|_| meta.get("type").and_then(Value::as_str) == Some("session_meta")).ok_or_else(unknown)?;
    match payload.get("history_mode").and_then(Value::as_str) {
        None | Some("legacy" | "paginated") => Ok(meta),
        Some(_) => Err(MemoryError::UnknownFormat(path.to_owned(), "its `history_mode` is none that is known")),
    }
}

/// True if the conversation in this file begins in another.
pub(super) fn is_pointer(path: &Path) -> Result<bool, MemoryError> {
    Ok(base_of(&meta_of(path)?).is_some())
}

/// Where the history before this file is: the conversation, and the number of the first line that is no part of it.
fn base_of(meta: &Value) -> Option<(String, u64)> {
    let base = meta.pointer("/payload/history_base")?;
    Some((base.get("thread_id")?.as_str()?.to_owned(), base.get("end_ordinal_exclusive")?.as_u64()?))
}

/// True if the file has the line before number `end`.
fn reaches(path: &Path, end: u64) -> bool {
    let reach = || -> Result<bool, MemoryError> {
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            if ordinal(line.bytes).is_some_and(|at| at + 1 == end) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    reach().unwrap_or(false)
}

fn ordinal(line: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Counted {
        ordinal: Option<u64>,
    }
    serde_json::from_slice::<Counted>(line).ok()?.ordinal
}

/// An id of the agent is letters, digits and dashes.
pub(super) fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= 100 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// True if the file is named after the conversation, as its own file or as one that it went on in.
pub(super) fn is_of(path: &Path, id: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.strip_prefix("rollout-").and_then(|name| name.strip_suffix(".jsonl"));
    stem.is_some_and(|stem| stem.ends_with(id) || stem.rsplit_once('_').is_some_and(|(stem, _)| stem.ends_with(id)))
}

/// The agent's folder that a file of a conversation lies in: what lies elsewhere is none.
pub(super) fn home_of(path: &Path) -> Option<&Path> {
    let has_detour = path.components().any(|part| part == std::path::Component::ParentDir);
    let mut above = path.ancestors().skip(1).take(5).filter(|_| path.is_absolute() && !has_detour);
    above.find(|folder| folder.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions"))?.parent()
}

/// The files that are named after a conversation, by the time in their names.
pub(super) fn files_of(home: &Path, id: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if is_plain(id) {
        collect(&home.join("sessions"), 4, &mut found);
        collect(&home.join("archived_sessions"), 1, &mut found);
    }
    found.retain(|path| is_of(path, id));
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}

pub(super) fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 1 => collect(&entry.path(), depth - 1, found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}
