//! Codex: a conversation is a file of lines in order; one that was forked or reverted begins with a pointer into another file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fork::{Prepared, aside, clear_left, make_folder, write_aside};
use super::lines::Lines;
use super::{ForkOptions, Homes, MemoryError, Side, Turn, Wanted};
use crate::agents::prefix;

mod history;
#[cfg(test)]
mod tests;

use history::{History, read};

/// The file of the conversation `id`: where the agent said that it is, or else the newest below its folder that is named after it.
pub(super) fn find(homes: &Homes, id: &str, recorded: Option<&Path>) -> Result<PathBuf, MemoryError> {
    let gone = || MemoryError::TranscriptGone(id.to_owned());
    if !history::is_plain(id) {
        return Err(gone());
    }
    if let Some(recorded) = recorded.filter(|path| history::is_of(path, id) && history::home_of(path).is_some()) {
        match recorded.symlink_metadata() {
            Ok(meta) if meta.is_file() => return Ok(recorded.to_owned()),
            Ok(_) => return Err(MemoryError::NotAFile(recorded.to_owned())),
            Err(_) => {}
        }
    }
    // The time stands in the name, so that the last is where the conversation went on.
    let home = homes.codex.as_ref().ok_or_else(gone)?;
    history::files_of(home, id).pop().ok_or_else(gone)
}

/// The turns of the conversation in this file.
pub(super) fn turns(home: &Path, path: &Path) -> Result<Vec<Turn>, MemoryError> {
    Ok(read(home, path)?.turns().to_vec())
}

/// The lines from one place of the file to another. What the file points to comes before its first line, as if it were one file.
pub(super) fn piece(
    path: &Path,
    from: u64,
    to: u64,
    mut put: impl FnMut(&[u8]) -> Result<(), MemoryError>,
) -> Result<(), MemoryError> {
    let home = home_of(path)?;
    let is_flat = history::is_pointer(path)?;
    let mut lines = Lines::open_at(path, from)?;
    if is_flat && from == 0 {
        let history = read(home, path)?;
        lines.next()?;
        put(format!("{}\n", flat_meta(&history.meta)).as_bytes())?;
        history.lines_before(|line| put(&without_ordinal(line)))?;
    }
    while let Some(line) = lines.next_until(to)? {
        if is_flat { put(&without_ordinal(line.bytes)) } else { put(line.bytes) }?;
    }
    Ok(())
}

/// The agent's folder that the file lies in.
pub(super) fn home_of(path: &Path) -> Result<&Path, MemoryError> {
    history::home_of(path).ok_or_else(|| MemoryError::NotAFile(path.to_owned()))
}

/// Writes the fork that ends at one side of a turn into `home`. None if nothing comes before. With `cwd`, that is where it goes on.
pub(super) fn prepare(
    path: &Path,
    (home, cwd): (&Path, Option<&Path>),
    id: &str,
    wanted: &Wanted,
    side: Side,
    options: &ForkOptions,
) -> Result<Option<Prepared>, MemoryError> {
    let missing = || MemoryError::BoundaryMissing(id.to_owned());
    let mut history = read(home, path)?;
    let mut at = history.turn(wanted);
    if at.is_none() {
        // A revert goes on in another file, and the turns that it left are in the old one.
        for other in history::files_of(home, id).into_iter().rev().filter(|other| other != path) {
            let Ok(read) = read(home, &other) else { continue };
            at = read.turn(wanted);
            if at.is_some() {
                history = read;
                break;
            }
        }
    }
    let at = at.ok_or_else(missing)?;
    if let Some((offset, sha256)) = wanted.prefix.as_ref().filter(|_| history.path == path)
        && !prefix::begins_with(path, *offset, sha256).map_err(MemoryError::io("read", path))?
    {
        return Err(MemoryError::PrefixMismatch(id.to_owned()));
    }
    let turns = history.turns();
    let kept = if side == Side::After { &turns[..=at] } else { &turns[..at] };
    let Some(last) = kept.last() else { return Ok(None) };
    let prepared = begin(home, options)?;
    write_aside(&prepared.aside, |out| write_fork(out, &history, last.end, (id, cwd), &prepared))?;
    let verified = verify(home, &prepared, kept);
    if verified.is_err() {
        prepared.discard();
    }
    verified.map(|()| Some(prepared))
}

/// The names of a new conversation, in the folder of today, which is made.
fn begin(home: &Path, options: &ForkOptions) -> Result<Prepared, MemoryError> {
    // Identities of this agent are in order of time, and so are its folders, in the person's own zone.
    let conversation = uuid::Uuid::now_v7().to_string();
    let now = jiff::Zoned::now();
    let folder = home.join("sessions").join(now.strftime("%Y/%m/%d").to_string());
    make_folder(&folder)?;
    clear_left(&folder);
    Ok(Prepared {
        resume: resume(&conversation, options.model.as_deref()),
        aside: aside(&folder, &conversation),
        file: folder.join(format!("rollout-{}-{conversation}.jsonl", now.strftime("%Y-%m-%dT%H-%M-%S"))),
        conversation,
    })
}

/// The lines up to `end` as a conversation of its own. What pointed into other files is one file then, in the older form that counts
/// no lines.
fn write_fork(
    out: &mut dyn Write,
    history: &History,
    end: u64,
    (id, cwd): (&str, Option<&Path>),
    prepared: &Prepared,
) -> Result<(), MemoryError> {
    let is_flat = history.is_pointer();
    let mut meta = if is_flat { flat_meta(&history.meta) } else { history.meta.clone() };
    if let Some(payload) = meta.get_mut("payload").and_then(Value::as_object_mut) {
        payload.insert("id".into(), json!(prepared.conversation));
        payload.insert("session_id".into(), json!(prepared.conversation));
        payload.insert("forked_from_id".into(), json!(id));
        if let Some(cwd) = cwd.and_then(Path::to_str) {
            payload.insert("cwd".into(), json!(cwd));
        }
    }
    let put = |out: &mut dyn Write, bytes: &[u8]| out.write_all(bytes).map_err(MemoryError::io("write", &prepared.aside));
    put(out, format!("{meta}\n").as_bytes())?;
    let old = format!("\"thread_id\":\"{id}\"");
    let new = format!("\"thread_id\":\"{}\"", prepared.conversation);
    history.lines(end, |line| {
        let line = if is_flat { without_ordinal(line) } else { line.to_vec() };
        match std::str::from_utf8(&line) {
            Ok(text) if text.contains(&old) => put(out, text.replace(&old, &new).as_bytes()),
            _ => put(out, &line),
        }
    })
}

/// The first line of a conversation that points nowhere.
fn flat_meta(meta: &Value) -> Value {
    let mut meta = meta.clone();
    if let Some(payload) = meta.get_mut("payload").and_then(Value::as_object_mut) {
        payload.insert("history_mode".into(), json!("legacy"));
        payload.shift_remove("history_base");
        payload.shift_remove("forked_from_ordinal_exclusive");
    }
    if let Some(meta) = meta.as_object_mut() {
        meta.shift_remove("ordinal");
    }
    meta
}

#[derive(Deserialize)]
struct Counted<'a> {
    #[serde(borrow)]
    ordinal: Option<&'a RawValue>,
}

/// The line without its number. Nothing else of it is written anew: what is encrypted or signed keeps its bytes.
fn without_ordinal(line: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(line).ok();
    let counted = text.and_then(|text| Some((text, serde_json::from_str::<Counted<'_>>(text).ok()?.ordinal?.get())));
    let Some((text, ordinal)) = counted else { return line.to_vec() };
    let start = ordinal.as_ptr().addr() - text.as_ptr().addr();
    let end = start + ordinal.len();
    let key = "\"ordinal\":";
    match (text[..start].ends_with(key), text[end..].starts_with(',')) {
        (true, true) => [&line[..start - key.len()], &line[end + 1..]].concat(),
        _ => line.to_vec(),
    }
}

/// Reads the fork as the agent will, and compares what it says with what it is to say.
fn verify(home: &Path, prepared: &Prepared, kept: &[Turn]) -> Result<(), MemoryError> {
    let fork = read(home, &prepared.aside)?;
    let same = |a: &Turn, b: &Turn| (&a.id, &a.prompt) == (&b.id, &b.prompt);
    let turns = fork.turns();
    if turns.len() != kept.len() || !turns.iter().zip(kept).all(|(a, b)| same(a, b)) {
        return Err(MemoryError::NotVerified("its turns are others"));
    }
    if fork.meta.pointer("/payload/id").and_then(Value::as_str) != Some(&prepared.conversation) || fork.is_pointer() {
        return Err(MemoryError::NotVerified("it is another conversation"));
    }
    Ok(())
}

/// `codex resume …`, with the model that the turn was made with.
pub(super) fn resume(conversation: &str, model: Option<&str>) -> Vec<String> {
    let words = ["codex", "resume", conversation].map(str::to_owned);
    words.into_iter().chain(model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()])).collect()
}
