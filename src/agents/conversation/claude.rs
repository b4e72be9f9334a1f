//! Claude Code: a conversation is a file of lines that name their parents; a new prompt after a rewind begins another branch in it.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::fork::{Prepared, aside, clear_left, make_folder, write_aside};
use super::lines::Lines;
use super::{ForkOptions, Homes, MemoryError, Side, Turn, Wanted};
use crate::agents::prefix;

#[cfg(test)]
mod tests;
mod tree;

pub(super) use tree::read;

/// The longest name of a folder that the agent makes of a path alone, in bytes.
const LONGEST_KEY: usize = 200;

/// The file of the conversation `id`: where the agent said that it is, or else below its folder.
pub(super) fn find(homes: &Homes, id: &str, recorded: Option<&Path>) -> Result<PathBuf, MemoryError> {
    let gone = || MemoryError::TranscriptGone(id.to_owned());
    let is_plain = !id.is_empty() && id.len() <= 100 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_plain {
        return Err(gone());
    }
    let name = format!("{id}.jsonl");
    if let Some(recorded) = recorded.filter(|path| is_place(path, &name)) {
        match recorded.symlink_metadata() {
            Ok(meta) if meta.is_file() => return Ok(recorded.to_owned()),
            Ok(_) => return Err(MemoryError::NotAFile(recorded.to_owned())),
            Err(_) => {}
        }
    }
    let projects = homes.claude.as_ref().map(|home| home.join("projects")).ok_or_else(gone)?;
    let folders = std::fs::read_dir(projects).map_err(|_| gone())?.flatten();
    let mut found = folders.map(|folder| folder.path().join(&name));
    found.find(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_file())).ok_or_else(gone)
}

/// True for `…/projects/<key>/<name>`: what was recorded is a file of the agent, and not any file at all.
fn is_place(path: &Path, name: &str) -> bool {
    let mut parts = path.components().rev();
    let is_name = parts.next().is_some_and(|part| part.as_os_str() == name);
    let key = parts.next();
    let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    is_plain && is_name && key.is_some() && parts.next().is_some_and(|part| part.as_os_str() == "projects")
}

/// The folder in which the agent looks for the conversations of a directory: its path, with a dash for whatever is no letter or
/// digit. None if that is so long that the agent adds a hash of its own.
pub(super) fn folder_for(homes: &Homes, cwd: &Path) -> Option<PathBuf> {
    let cwd = cwd.canonicalize().ok()?;
    let key: String = cwd.to_str()?.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let projects = homes.claude.as_ref()?.join("projects");
    (key.len() <= LONGEST_KEY).then(|| projects.join(key))
}

/// The lines from one place of the file to another, without those that only record what was sent to the model.
pub(super) fn piece(
    path: &Path,
    from: u64,
    to: u64,
    mut put: impl FnMut(&[u8]) -> Result<(), MemoryError>,
) -> Result<(), MemoryError> {
    let mut lines = Lines::open_at(path, from)?;
    while let Some(line) = lines.next_until(to)? {
        if !kind_begins(line.bytes, "api-request") {
            put(line.bytes)?;
        }
    }
    Ok(())
}

/// Writes the fork that ends at one side of a turn into `folder`. None if nothing comes before.
pub(super) fn prepare(
    path: &Path,
    folder: &Path,
    id: &str,
    wanted: &Wanted,
    side: Side,
    options: &ForkOptions,
) -> Result<Option<Prepared>, MemoryError> {
    let transcript = read(path)?;
    let (turns, at) = transcript.turn(wanted).ok_or_else(|| MemoryError::BoundaryMissing(id.to_owned()))?;
    if let Some((offset, sha256)) = &wanted.prefix
        && !prefix::begins_with(path, *offset, sha256).map_err(MemoryError::io("read", path))?
    {
        return Err(MemoryError::PrefixMismatch(id.to_owned()));
    }
    let kept = if side == Side::After { &turns[..=at] } else { &turns[..at] };
    let Some(last) = kept.last() else { return Ok(None) };
    let conversation = uuid::Uuid::new_v4().to_string();
    make_folder(folder)?;
    let prepared = Prepared {
        resume: resume(&conversation, options.model.as_deref(), options.permission_mode.as_deref()),
        aside: aside(folder, &conversation),
        file: folder.join(format!("{conversation}.jsonl")),
        conversation,
    };
    clear_left(folder);
    write_aside(&prepared.aside, |out| {
        let put =
            |out: &mut dyn std::io::Write, bytes: &[u8]| out.write_all(bytes).map_err(MemoryError::io("write", &prepared.aside));
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next_until(last.end)? {
            match renamed(line.bytes, &prepared.conversation) {
                Some(line) => put(out, &line)?,
                // What `/rewind` would need lies elsewhere under the old id.
                None if is_file_history(line.bytes) => {}
                None => put(out, line.bytes)?,
            }
        }
        let session = &prepared.conversation;
        let leaf = json!({"type": "last-prompt", "lastPrompt": last.prompt, "leafUuid": last.tip, "sessionId": session});
        let title = transcript.title.as_deref().unwrap_or(&turns[0].prompt);
        let title = json!({"type": "custom-title", "customTitle": format!("{title} {}", options.title), "sessionId": session});
        put(out, format!("{leaf}\n{title}\n").as_bytes())
    })?;
    let verified = verify(&prepared, kept);
    if verified.is_err() {
        prepared.discard();
    }
    verified.map(|()| Some(prepared))
}

/// The fields that a fork changes or looks at. Everything else keeps its bytes: what is signed must not be written anew.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a RawValue>,
}

/// The line with another id of the conversation; none if it is not to be there or names none.
fn renamed(line: &[u8], conversation: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(line).ok()?;
    let named: Named<'_> = serde_json::from_str(text).ok()?;
    let session = named.session.filter(|session| session.get().starts_with('"'))?.get();
    if is_file_history(line) {
        return None;
    }
    let start = session.as_ptr().addr() - text.as_ptr().addr();
    let mut new = Vec::with_capacity(line.len() + conversation.len());
    new.extend_from_slice(&line[..start]);
    new.extend_from_slice(format!("\"{conversation}\"").as_bytes());
    new.extend_from_slice(&line[start + session.len()..]);
    Some(new)
}

fn is_file_history(line: &[u8]) -> bool {
    kind_begins(line, "file-history-")
}

fn kind_begins(line: &[u8], beginning: &str) -> bool {
    let named = std::str::from_utf8(line).ok().and_then(|text| serde_json::from_str::<Named<'_>>(text).ok());
    let kind = named.and_then(|named| named.kind).and_then(|kind| kind.get().strip_prefix('"'));
    kind.is_some_and(|kind| kind.starts_with(beginning))
}

/// Reads the fork as the agent will, and compares what it says with what it is to say.
fn verify(prepared: &Prepared, kept: &[Turn]) -> Result<(), MemoryError> {
    let fork = read(&prepared.aside)?;
    let turns = fork.turns(None)?;
    let same = |a: &Turn, b: &Turn| (&a.id, &a.prompt, &a.tip) == (&b.id, &b.prompt, &b.tip);
    if turns.len() != kept.len() || !turns.iter().zip(kept).all(|(a, b)| same(a, b)) {
        return Err(MemoryError::NotVerified("its turns are others"));
    }
    if fork.leaf().map(|leaf| fork.uuid(leaf)) != kept.last().map(|last| last.tip.as_str()) {
        return Err(MemoryError::NotVerified("it goes on from another place"));
    }
    if fork.sessions.iter().any(|session| *session != prepared.conversation) {
        return Err(MemoryError::NotVerified("it names another conversation"));
    }
    Ok(())
}

/// `claude --resume …`, with what the turn was made with.
pub(super) fn resume(conversation: &str, model: Option<&str>, permission_mode: Option<&str>) -> Vec<String> {
    let mut words = vec!["claude".to_owned(), "--resume".to_owned(), conversation.to_owned()];
    let mut option = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value.to_owned()]);
        }
    };
    option("--model", model);
    option("--permission-mode", permission_mode.filter(|mode| *mode != "default"));
    words
}
