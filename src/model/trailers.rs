//! The commit message of a checkpoint: a subject, an optional body, then trailers that hold all that the database knows.
//!
//! The format of trailers is that of git-interpret-trailers(1): one `Token: value` a line in the last paragraph. A value
//! never contains a line break; paths are quoted as git quotes them. A reader ignores tokens it does not know.

use std::collections::BTreeMap;

use super::{
    BString, Boundary, ByteSlice, Checkpoint, CheckpointId, Kind, Millis, ObjectId, SessionKey, SkipReason, Skipped, WorktreeId,
    WorktreeRef,
};

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

/// A message that does not describe a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrailerError {
    /// There is no `Checkpoint-Version` trailer.
    #[error("the commit is no checkpoint")]
    NotACheckpoint,
    /// Written by a newer program.
    #[error("the checkpoint has format version {0}, newer than this program knows")]
    Newer(u32),
    /// A trailer that must be there is missing or malformed.
    #[error("the checkpoint's trailer `{0}` is missing or malformed")]
    Malformed(&'static str),
}

/// The commit message for `checkpoint`; its number, names, stat, commit and tree are not part of it.
pub fn message(checkpoint: &Checkpoint, origin: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(one_line(&checkpoint.subject).as_bytes());
    out.extend_from_slice(b"\n\n");
    if let Some((_, body)) = checkpoint.message.as_deref().and_then(|message| message.split_once('\n')) {
        out.extend_from_slice(body.trim().as_bytes());
        out.extend_from_slice(b"\n\n");
    }
    let mut put = |token: &str, value: &[u8]| {
        out.extend_from_slice(token.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.push(b'\n');
    };
    put("Checkpoint-Version", VERSION.to_string().as_bytes());
    put("Checkpoint-Id", checkpoint.id.as_str().as_bytes());
    put("Checkpoint-Kind", checkpoint.kind.as_str().as_bytes());
    put("Checkpoint-Session", checkpoint.session.as_str().as_bytes());
    put("Checkpoint-Created-At", checkpoint.created_at.to_string().as_bytes());
    put("Checkpoint-Origin", one_line(origin).as_bytes());
    put("Checkpoint-Worktree", checkpoint.worktree.id.as_str().as_bytes());
    put("Checkpoint-Worktree-Path", &quote(&checkpoint.worktree.path));
    let mut optional = |token: &str, value: Option<String>| {
        if let Some(value) = value {
            put(token, one_line(&value).as_bytes());
        }
    };
    optional("Checkpoint-Head", checkpoint.head.map(|id| id.to_string()));
    optional("Checkpoint-Branch", checkpoint.branch.clone());
    optional("Checkpoint-Index-Tree", checkpoint.index_tree.map(|id| id.to_string()));
    optional("Checkpoint-Operation", checkpoint.operation.clone());
    optional("Checkpoint-Step", checkpoint.step.clone());
    optional("Checkpoint-Turn", checkpoint.turn.map(|turn| turn.to_string()));
    optional("Checkpoint-Agent", checkpoint.agent.clone());
    optional("Checkpoint-Completed-At", checkpoint.completed_at.map(|at| at.to_string()));
    optional("Checkpoint-Boundary", checkpoint.boundary.as_ref().map(Boundary::to_line));
    optional("Checkpoint-Message", checkpoint.message.as_ref().map(|_| "yes".to_owned()));
    for path in &checkpoint.intent_to_add {
        put("Checkpoint-Intent-To-Add", &quote(path));
    }
    for (key, value) in &checkpoint.meta {
        put("Checkpoint-Meta", format!("{}={}", one_line(key), one_line(value)).as_bytes());
    }
    for skipped in &checkpoint.skipped {
        let size = skipped.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
        let mut value = format!("{} {size} ", skipped.reason.as_str()).into_bytes();
        value.extend_from_slice(&quote(&skipped.path));
        put("Checkpoint-Skipped", &value);
    }
    out
}

/// Reads a message made by [`message`]. Returns the checkpoint (with number 0, no names, no stat) and the origin it was
/// written on.
pub fn parse(message: &[u8], commit: ObjectId, tree: ObjectId) -> Result<(Checkpoint, String), TrailerError> {
    let text = message.trim_end();
    let start = text.rfind("\n\n").map_or(0, |at| at + 2);
    let fields = Fields::read(&text[start..]);
    let version: u32 = fields.text("Checkpoint-Version").and_then(|v| v.parse().ok()).ok_or(TrailerError::NotACheckpoint)?;
    if version > VERSION {
        return Err(TrailerError::Newer(version));
    }
    let subject = text.lines().next().unwrap_or_default().to_str_lossy().into_owned();
    let body = text.get(subject_end(text)..start).unwrap_or_default().trim().to_str_lossy().into_owned();
    let whole = if body.is_empty() { subject.clone() } else { format!("{subject}\n\n{body}") };
    let skipped = fields.all("Checkpoint-Skipped").map(parse_skipped).collect::<Option<Vec<_>>>();
    let checkpoint = Checkpoint {
        number: 0,
        id: required(&fields, "Checkpoint-Id", |v| CheckpointId::parse(v).ok())?,
        session: required(&fields, "Checkpoint-Session", |v| SessionKey::parse(v).ok())?,
        kind: required(&fields, "Checkpoint-Kind", Kind::parse)?,
        step: fields.text("Checkpoint-Step"),
        turn: optional(&fields, "Checkpoint-Turn", |v| v.parse().ok())?,
        agent: fields.text("Checkpoint-Agent"),
        subject,
        message: fields.text("Checkpoint-Message").map(|_| whole),
        commit,
        tree,
        index_tree: optional(&fields, "Checkpoint-Index-Tree", |v| v.parse().ok())?,
        head: optional(&fields, "Checkpoint-Head", |v| v.parse().ok())?,
        branch: fields.text("Checkpoint-Branch"),
        operation: fields.text("Checkpoint-Operation"),
        created_at: required(&fields, "Checkpoint-Created-At", |v| v.parse::<Millis>().ok())?,
        completed_at: optional(&fields, "Checkpoint-Completed-At", |v| v.parse::<Millis>().ok())?,
        boundary: fields.text("Checkpoint-Boundary").and_then(|line| Boundary::from_line(&line)),
        worktree: WorktreeRef {
            id: required(&fields, "Checkpoint-Worktree", |v| Some(WorktreeId::from_recorded(v)))?,
            path: fields
                .all("Checkpoint-Worktree-Path")
                .next()
                .and_then(unquote)
                .ok_or(TrailerError::Malformed("Checkpoint-Worktree-Path"))?,
        },
        origin: None,
        skipped: skipped.ok_or(TrailerError::Malformed("Checkpoint-Skipped"))?,
        intent_to_add: fields
            .all("Checkpoint-Intent-To-Add")
            .map(unquote)
            .collect::<Option<Vec<_>>>()
            .ok_or(TrailerError::Malformed("Checkpoint-Intent-To-Add"))?,
        meta: fields
            .all("Checkpoint-Meta")
            .filter_map(|v| v.to_str().ok()?.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
            .collect::<BTreeMap<_, _>>(),
        names: Vec::new(),
        stat: None,
    };
    Ok((checkpoint, fields.text("Checkpoint-Origin").unwrap_or_default()))
}

/// Brings the text given with `-m` into the form that a commit message gives back: a first line without control characters,
/// then, after an empty line, the rest. None if nothing is left.
pub fn normalize_message(text: &str) -> Option<String> {
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (first, rest) = (one_line(first), rest.trim());
    match (first.is_empty(), rest.is_empty()) {
        (true, _) => None,
        (false, true) => Some(first),
        (false, false) => Some(format!("{first}\n\n{rest}")),
    }
}

fn subject_end(text: &[u8]) -> usize {
    text.find_byte(b'\n').unwrap_or(text.len())
}

struct Fields<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Fields<'a> {
    fn read(paragraph: &'a [u8]) -> Self {
        Fields(paragraph.lines().filter_map(|line| line.split_once_str(": ")).collect())
    }

    fn all<'s>(&'s self, token: &'s str) -> impl Iterator<Item = &'a [u8]> + 's {
        self.0.iter().filter(move |(t, _)| *t == token.as_bytes()).map(|(_, v)| *v)
    }

    fn text(&self, token: &str) -> Option<String> {
        self.all(token).next().map(|v| v.to_str_lossy().into_owned())
    }
}

fn required<T>(fields: &Fields<'_>, token: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<T, TrailerError> {
    fields.text(token).and_then(|v| read(&v)).ok_or(TrailerError::Malformed(token))
}

fn optional<T>(fields: &Fields<'_>, token: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, TrailerError> {
    fields.text(token).map(|v| read(&v).ok_or(TrailerError::Malformed(token))).transpose()
}

fn parse_skipped(value: &[u8]) -> Option<Skipped> {
    let mut parts = value.splitn_str(3, " ");
    let reason = SkipReason::parse(parts.next()?.to_str().ok()?)?;
    let size = match parts.next()? {
        b"-" => None,
        digits => Some(digits.to_str().ok()?.parse().ok()?),
    };
    Some(Skipped { path: unquote(parts.next()?)?, reason, size })
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// Quotes a path so that it fits one line: always in double quotes, with `\\`, `\"` and octal escapes for control bytes.
fn quote(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in path {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..=31 | 127 => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

fn unquote(text: &[u8]) -> Option<BString> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next()? {
            quoted @ (b'"' | b'\\') => out.push(quoted),
            high @ b'0'..=b'3' => {
                let digits = [high, bytes.next()?, bytes.next()?];
                out.push(u8::from_str_radix(digits.to_str().ok()?, 8).ok()?);
            }
            _ => return None,
        }
    }
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let id = |c: char| ObjectId::from_hex(c.to_string().repeat(40).as_bytes()).unwrap();
        Checkpoint {
            number: 0,
            id: CheckpointId::generate(5),
            session: SessionKey::parse("main-1").unwrap(),
            kind: Kind::Turn,
            step: Some("build".into()),
            turn: Some(3),
            agent: Some("claude".into()),
            subject: "first line".into(),
            message: Some("first line\n\nsecond paragraph: with colon".into()),
            commit: id('1'),
            tree: id('2'),
            index_tree: Some(id('3')),
            head: Some(id('4')),
            branch: Some("main".into()),
            operation: Some("merge".into()),
            created_at: 1_700_000_000_123,
            completed_at: Some(1_700_000_000_456),
            boundary: Some(crate::model::sample_boundary()),
            worktree: WorktreeRef { id: WorktreeId::main(), path: b"/tmp/a \xff\"\n\\b".as_slice().into() },
            origin: None,
            skipped: vec![
                Skipped { path: "a b".into(), reason: SkipReason::TooLarge, size: Some(9) },
                Skipped { path: b"new\nline\xe9".as_slice().into(), reason: SkipReason::Special, size: None },
            ],
            intent_to_add: vec!["n".into(), "with \"quote".into()],
            meta: [("k".to_owned(), "v=1".to_owned())].into(),
            names: Vec::new(),
            stat: None,
        }
    }

    #[test]
    fn a_message_reads_back_as_the_same_checkpoint() {
        let checkpoint = sample();

        let (read, origin) = parse(&message(&checkpoint, "laptop"), checkpoint.commit, checkpoint.tree).unwrap();

        assert_eq!(read, checkpoint);
        assert_eq!(origin, "laptop");
    }

    #[test]
    fn a_message_without_body_reads_back_without_one() {
        let checkpoint =
            Checkpoint { message: None, subject: "manual checkpoint".into(), skipped: vec![], intent_to_add: vec![], ..sample() };

        let (read, _) = parse(&message(&checkpoint, ""), checkpoint.commit, checkpoint.tree).unwrap();

        assert_eq!(read, checkpoint);
    }

    #[test]
    fn a_message_is_normalized_to_what_a_commit_gives_back() {
        assert_eq!(normalize_message("  a\tb\nc\n\nd \n"), Some("a b\n\nc\n\nd".into()));
        assert_eq!(normalize_message("a"), Some("a".into()));
        assert_eq!(normalize_message(" \n "), None);
    }

    #[test]
    fn an_ordinary_commit_is_no_checkpoint_and_a_newer_one_is_named() {
        let id = sample().tree;

        assert_eq!(parse(b"fix: a bug\n\nbody\n", id, id).unwrap_err(), TrailerError::NotACheckpoint);
        assert_eq!(parse(b"x\n\nCheckpoint-Version: 9\n", id, id).unwrap_err(), TrailerError::Newer(9));
        assert_eq!(parse(b"x\n\nCheckpoint-Version: 1\n", id, id).unwrap_err(), TrailerError::Malformed("Checkpoint-Id"));
    }

    #[test]
    fn a_body_that_looks_like_trailers_does_not_forge_them() {
        let checkpoint = Checkpoint { message: Some("first line\n\nCheckpoint-Id: 0\nCheckpoint-Version: 7".into()), ..sample() };

        let (read, _) = parse(&message(&checkpoint, ""), checkpoint.commit, checkpoint.tree).unwrap();

        assert_eq!(read.message, checkpoint.message);
        assert_eq!(read.id, checkpoint.id);
    }
}
