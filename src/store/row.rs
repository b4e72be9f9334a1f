//! A checkpoint as a row and back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Row, ToSql};
use serde_json::{Value, json};

use super::error::BadValue;
use crate::model::{
    BString, Boundary, ByteSlice, Checkpoint, CheckpointId, Kind, ObjectId, SessionKey, SkipReason, Skipped, Stat, WorktreeId,
    WorktreeRef,
};

/// The columns in the order that [`read`] expects.
pub(super) const COLUMNS: &str = "number, id, session, kind, step, turn, agent, subject, message, commit_id, tree, index_tree, \
     head, branch, operation, created_at, completed_at, worktree, worktree_path, origin, skipped, intent_to_add, meta, files, \
     insertions, deletions, boundary";

/// The statement that adds a row; its parameters are those of [`values`].
pub(super) const INSERT: &str = "INSERT INTO checkpoints (id, session, kind, step, turn, agent, subject, message, commit_id, \
     tree, index_tree, head, branch, operation, created_at, completed_at, worktree, worktree_path, origin, skipped, \
     intent_to_add, meta, files, insertions, deletions, boundary, number) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, \
     ?25, ?26, ?27)";

/// Runs `statement` with the values of `checkpoint`, and with its number here if it is to have a certain one.
pub(super) fn insert(
    statement: &mut rusqlite::Statement<'_>,
    checkpoint: &Checkpoint,
    number: Option<u64>,
) -> rusqlite::Result<usize> {
    let c = checkpoint;
    let stat = |value: fn(&Stat) -> u64| c.stat.as_ref().map(|stat| signed(value(stat)));
    let values: [&dyn ToSql; 27] = [
        &c.id.as_str(),
        &c.session.as_str(),
        &c.kind.as_str(),
        &c.step,
        &c.turn,
        &c.agent,
        &c.subject,
        &c.message,
        &c.commit.as_slice(),
        &c.tree.as_slice(),
        &c.index_tree.as_ref().map(|id| id.as_slice()),
        &c.head.as_ref().map(|id| id.as_slice()),
        &c.branch,
        &c.operation,
        &c.created_at,
        &c.completed_at,
        &c.worktree.id.as_str(),
        &c.worktree.path.as_slice(),
        &c.origin,
        &skipped_text(&c.skipped),
        &paths_text(&c.intent_to_add),
        &(!c.meta.is_empty()).then(|| json!(c.meta).to_string()),
        &stat(|s| s.files),
        &stat(|s| s.insertions),
        &stat(|s| s.deletions),
        &c.boundary.as_ref().map(Boundary::to_line),
        &number.map(signed),
    ];
    statement.execute(values.as_slice())
}

/// Reads a row of [`COLUMNS`]. Names are not part of it.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Checkpoint> {
    let files: Option<i64> = row.get(23)?;
    let stat = match files {
        Some(files) => {
            Some(Stat { files: unsigned(files), insertions: unsigned(row.get(24)?), deletions: unsigned(row.get(25)?) })
        }
        None => None,
    };
    Ok(Checkpoint {
        number: unsigned(row.get(0)?),
        id: word(row, 1, "id", |text| CheckpointId::parse(text).ok())?,
        session: word(row, 2, "session", |text| SessionKey::parse(text).ok())?,
        kind: word(row, 3, "kind", Kind::parse)?,
        step: row.get(4)?,
        turn: row.get(5)?,
        agent: row.get(6)?,
        subject: row.get(7)?,
        message: row.get(8)?,
        commit: required(row, 9, "commit_id")?,
        tree: required(row, 10, "tree")?,
        index_tree: object(row, 11, "index_tree")?,
        head: object(row, 12, "head")?,
        branch: row.get(13)?,
        operation: row.get(14)?,
        created_at: row.get(15)?,
        completed_at: row.get(16)?,
        boundary: row.get_ref(26)?.as_str_or_null()?.and_then(Boundary::from_line),
        worktree: WorktreeRef {
            id: word(row, 17, "worktree", |text| Some(WorktreeId::from_recorded(text)))?,
            path: row.get_ref(18)?.as_blob()?.into(),
        },
        origin: row.get(19)?,
        skipped: skipped(row, 20)?,
        intent_to_add: document(row, 21, "intent_to_add", |value| value.as_array()?.iter().map(path_value).collect())?,
        meta: document(row, 22, "meta", |value| {
            value.as_object()?.iter().map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        })?,
        names: Vec::new(),
        stat,
    })
}

/// Reads the manifest.
pub(super) fn skipped(row: &Row<'_>, at: usize) -> rusqlite::Result<Vec<Skipped>> {
    document(row, at, "skipped", skipped_values)
}

pub(super) fn word<T>(row: &Row<'_>, at: usize, column: &'static str, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text = row.get_ref(at)?.as_str()?;
    parse(text).ok_or_else(|| bad(at, column, text.to_owned()))
}

fn object(row: &Row<'_>, at: usize, column: &'static str) -> rusqlite::Result<Option<ObjectId>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => {
            ObjectId::try_from(bytes).map(Some).map_err(|_| bad(at, column, format!("{} bytes", bytes.len())))
        }
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => Err(FromSqlError::InvalidType.into()),
    }
}

pub(super) fn required(row: &Row<'_>, at: usize, column: &'static str) -> rusqlite::Result<ObjectId> {
    object(row, at, column)?.ok_or_else(|| bad(at, column, "null".to_owned()))
}

fn document<T: Default>(
    row: &Row<'_>,
    at: usize,
    column: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> rusqlite::Result<T> {
    let ValueRef::Text(text) = row.get_ref(at)? else { return Ok(T::default()) };
    let value = serde_json::from_slice(text).ok();
    value.as_ref().and_then(read).ok_or_else(|| bad(at, column, text.to_str_lossy().into_owned()))
}

fn bad(at: usize, column: &'static str, value: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(BadValue { column, value }))
}

fn skipped_text(skipped: &[Skipped]) -> Option<String> {
    let line = |s: &Skipped| json!([s.reason.as_str(), s.size, path_json(&s.path)]);
    (!skipped.is_empty()).then(|| Value::from_iter(skipped.iter().map(line)).to_string())
}

fn skipped_values(value: &Value) -> Option<Vec<Skipped>> {
    let line = |value: &Value| {
        let [reason, size, path] = value.as_array()?.as_slice() else { return None };
        Some(Skipped { path: path_value(path)?, reason: SkipReason::parse(reason.as_str()?)?, size: size.as_u64() })
    };
    value.as_array()?.iter().map(line).collect()
}

pub(super) fn paths_text(paths: &[BString]) -> Option<String> {
    (!paths.is_empty()).then(|| Value::from_iter(paths.iter().map(|path| path_json(path))).to_string())
}

/// A path as text, or as `{"bytes": "<base64>"}` where it is none.
fn path_json(path: &[u8]) -> Value {
    path.to_str().map_or_else(|_| json!({"bytes": STANDARD.encode(path)}), Value::from)
}

pub(super) fn path_value(value: &Value) -> Option<BString> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        other => STANDARD.decode(other.get("bytes")?.as_str()?).ok().map(BString::from),
    }
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
