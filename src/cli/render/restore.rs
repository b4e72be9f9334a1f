//! What a restore, undo or redo did, would do, or refused to do.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::json::{SCHEMA, checkpoint, put_path};
use super::memory;
use crate::cli::output::{Styles, plural, sanitize};
use crate::git::restore::{IndexMode, KeepReason, Kept, Rescued};
use crate::model::{BString, Blocker, ByteSlice, Checkpoint};
use crate::ops::restore::{ExportOutcome, HeadMoved, Recovered, RestoreOutcome, RestoreStatus, Verb};
use crate::ops::undo::Undoable;

/// The document of `restore`, `undo` and `redo`.
pub fn document(outcome: &RestoreOutcome) -> Value {
    // Of a refused restore the plan is known, but nothing of it was done.
    let done = |count: usize| if outcome.status == RestoreStatus::Refused { 0 } else { count };
    let mut document = json!({
        "schema": SCHEMA,
        "status": status_word(outcome.status),
        "target": checkpoint(&outcome.target),
        "pre_restore": outcome.pre_restore.as_ref().map(checkpoint),
        "blockers": blockers(&outcome.blockers),
        "code": {
            "written": done(outcome.written),
            "deleted": done(outcome.deleted),
            "kept": outcome.kept.len(),
            "index": if outcome.status == RestoreStatus::Refused { "kept" } else { outcome.index.as_str() },
            "verified": outcome.verified,
        },
        "memory": outcome.memory.as_ref().map(memory::document),
        "rescued": Value::from_iter(outcome.rescued.iter().map(rescued)),
        "kept": Value::from_iter(outcome.kept.iter().map(kept)),
        "head_moved": outcome.head_moved.as_ref().map(|moved| json!({
            "branch": moved.branch,
            "head": moved.head.map(|id| id.to_string()),
            "commits": moved.commits,
        })),
    });
    if outcome.status == RestoreStatus::DryRun {
        let steps = outcome.plan.iter().map(|(kind, path)| with_path(path, [("op", kind.as_str().into())]));
        document["plan"] = Value::from_iter(steps);
    }
    document
}

/// The document of an undo or redo that has nothing to do.
pub fn nothing_document() -> Value {
    json!({
        "schema": SCHEMA,
        "status": "unchanged",
        "target": Value::Null,
        "pre_restore": Value::Null,
        "blockers": [],
        "code": {"written": 0, "deleted": 0, "kept": 0, "index": "kept", "verified": false},
        "memory": Value::Null,
        "rescued": [],
        "kept": [],
        "head_moved": Value::Null,
    })
}

/// The document of `restore --continue` and `--abort`.
pub fn recovered_document(recovered: &Recovered, status: &str) -> Value {
    json!({
        "schema": SCHEMA,
        "status": status,
        "target": recovered.target.as_ref().map(checkpoint),
        "pre_restore": recovered.pre_restore.as_ref().map(checkpoint),
        "blockers": [],
        "code": {
            "written": recovered.written,
            "deleted": recovered.deleted,
            "kept": 0,
            "index": recovered.index.as_deref().unwrap_or("kept"),
            "verified": recovered.verified,
        },
        "memory": recovered.memory.as_ref().map(memory::document),
        "rescued": Value::from_iter(recovered.aborted.left.rescued.iter().map(rescued)),
        "kept": [],
        "head_moved": Value::Null,
        "left": Value::from_iter(recovered.aborted.left.paths.iter().map(|path| with_path(path, []))),
        "index_left": recovered.aborted.index_left,
        "given_up": recovered.given_up.as_ref().map(|places| {
            Value::from_iter(places.iter().map(|place| place.to_string_lossy()))
        }),
    })
}

/// The document of `restore --to`.
pub fn export_document(exported: &ExportOutcome) -> Value {
    let status = match (exported.blockers.is_empty(), exported.dry_run) {
        (_, true) => "dry-run",
        (true, false) => "restored",
        (false, false) => "refused",
    };
    json!({
        "schema": SCHEMA,
        "status": status,
        "target": checkpoint(&exported.target),
        "pre_restore": Value::Null,
        "blockers": blockers(&exported.blockers),
        "code": {"written": exported.export.written, "deleted": 0, "kept": 0, "index": "kept", "verified": false},
        "memory": Value::Null,
        "rescued": [],
        "kept": [],
        "head_moved": Value::Null,
        "to": exported.directory.to_string_lossy(),
    })
}

/// The document of `undo --list` and `redo --list`.
pub fn steps_document(steps: &[Undoable]) -> Value {
    let step = |step: &Undoable| {
        json!({
            "created_at": crate::cli::output::rfc3339(step.restore.created_at),
            "target": step.target.as_ref().map(checkpoint),
            "leads_to": step.leads_to.as_ref().map(checkpoint),
        })
    };
    json!({"schema": SCHEMA, "restores": Value::from_iter(steps.iter().map(step))})
}

/// Blockers inside a document.
pub fn blockers(blockers: &[Blocker]) -> Value {
    let one = |blocker: &Blocker| {
        json!({
            "code": blocker.code.as_str(),
            "message": blocker.message,
            "hint": blocker.hint,
            "override": blocker.code.override_by().map(|by| by.as_str()),
        })
    };
    Value::from_iter(blockers.iter().map(one))
}

fn kept(kept: &Kept) -> Value {
    with_path(&kept.path, [("reason", reason_word(kept.reason).into())])
}

fn rescued(rescued: &Rescued) -> Value {
    with_path(&rescued.path, [("place", rescued.place.to_string_lossy().into())])
}

/// Where a file is that has no place in the worktree.
pub fn rescued_line(rescued: &Rescued) -> String {
    format!("a version of `{}` that has no place in the worktree is kept in `{}`", rescued.path, rescued.place.display())
}

fn with_path<const N: usize>(path: &BString, fields: [(&str, Value); N]) -> Value {
    let mut object = Map::new();
    put_path(&mut object, path);
    object.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    object.into()
}

fn status_word(status: RestoreStatus) -> &'static str {
    match status {
        RestoreStatus::Restored => "restored",
        RestoreStatus::Unchanged => "unchanged",
        RestoreStatus::Refused => "refused",
        RestoreStatus::Partial => "partial",
        RestoreStatus::DryRun => "dry-run",
    }
}

fn reason_word(reason: KeepReason) -> &'static str {
    match reason {
        KeepReason::Ignored => "ignored",
        KeepReason::Repository => "repository",
        KeepReason::NotCaptured => "not-captured",
        KeepReason::OutsideSparseCheckout => "outside-sparse-checkout",
        KeepReason::Edited => "edited",
        KeepReason::SkipWorktree => "skip-worktree",
    }
}

/// Writes the steps of a plan, one path on a line.
pub fn write_plan(out: &mut dyn Write, styles: &Styles, outcome: &RestoreOutcome) -> io::Result<()> {
    for (kind, path) in &outcome.plan {
        let word = match kind {
            crate::git::restore::OpKind::Add => styles.added.paint("add").to_string(),
            crate::git::restore::OpKind::Replace => styles.path.paint("replace").to_string(),
            crate::git::restore::OpKind::Delete => styles.removed.paint("delete").to_string(),
        };
        writeln!(out, "{word} {}", sanitize(&path.to_str_lossy()))?;
    }
    for kept in &outcome.kept {
        let path = sanitize(&kept.path.to_str_lossy()).into_owned();
        writeln!(out, "{} {path} ({})", styles.dim.paint("keep"), reason_word(kept.reason))?;
    }
    Ok(())
}

/// The plan in one line: `2 files to write, 1 to delete, 3 kept`.
pub fn summary(outcome: &RestoreOutcome) -> String {
    let mut text = format!("{} to write, {} to delete", plural(outcome.written as u64, "file"), outcome.deleted);
    if !outcome.kept.is_empty() {
        text.push_str(&format!(", {} kept", outcome.kept.len()));
    }
    text
}

/// The result in one line: `restored checkpoint 3: 2 files written, 1 deleted`.
pub fn result(outcome: &RestoreOutcome) -> String {
    let done = match outcome.verb {
        Verb::Restore => format!("restored {}", title(&outcome.target)),
        Verb::Undo => "undid the last restore".to_owned(),
        Verb::Redo => "did the restore again".to_owned(),
    };
    format!("{done}: {} written, {} deleted", plural(outcome.written as u64, "file"), outcome.deleted)
}

/// The result in one line where no file was to be touched.
pub fn result_without_files(outcome: &RestoreOutcome) -> String {
    match outcome.verb {
        Verb::Restore => format!("restored the memory of {}", title(&outcome.target)),
        Verb::Undo => "undid the last restore, which was of the memory alone".to_owned(),
        Verb::Redo => "did the restore of the memory again".to_owned(),
    }
}

/// The result in one line where nothing was to be done.
pub fn unchanged(outcome: &RestoreOutcome) -> String {
    let target = title(&outcome.target);
    match outcome.kept.iter().any(|kept| kept.reason == KeepReason::Edited) {
        true => format!("unchanged: what differs from {target} was edited since, and is kept"),
        false => format!("unchanged: the worktree is as in {target}"),
    }
}

/// How to go back from here.
pub fn way_back(verb: Verb) -> &'static str {
    match verb {
        Verb::Restore | Verb::Redo => "to take it back: git checkpoint undo",
        Verb::Undo => "to go forward again: git checkpoint redo",
    }
}

/// What else a person should know of a restore that was done.
pub fn notes(outcome: &RestoreOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    if !outcome.kept.is_empty() {
        notes.push(kept_line(&outcome.kept));
    }
    if !outcome.target.is_complete() {
        let count = outcome.target.skipped.len() as u64;
        notes.push(format!("the checkpoint does not hold {}, left as they are", plural(count, "path")));
    }
    match outcome.index {
        IndexMode::Captured => {}
        IndexMode::Head => notes.push("the index is HEAD's".to_owned()),
        IndexMode::Kept => notes.push("the index is as it was".to_owned()),
    }
    notes.extend(outcome.head_moved.as_ref().map(head_line));
    notes
}

fn head_line(moved: &HeadMoved) -> String {
    let place = match (&moved.branch, moved.head) {
        (Some(branch), _) => branch.clone(),
        (None, Some(head)) => head.to_hex_with_len(8).to_string(),
        (None, None) => "HEAD".to_owned(),
    };
    match moved.commits {
        Some(1) => format!("1 commit made since stays on {place}"),
        Some(commits) => format!("{} made since stay on {place}", plural(commits as u64, "commit")),
        None => format!("HEAD moved since, and stays at {place}"),
    }
}

fn kept_line(kept: &[Kept]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    kept.iter().for_each(|kept| *counts.entry(kept.reason).or_insert(0_u64) += 1);
    let parts: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {}", reason_word(reason))).collect();
    format!("kept: {}", parts.join(", "))
}

/// A checkpoint as a sentence names it: `checkpoint 3 (before refactor)`.
pub fn title(target: &Checkpoint) -> String {
    match target.names.first() {
        Some(name) => format!("checkpoint {} ({})", target.number, sanitize(name)),
        None => format!("checkpoint {}", target.number),
    }
}
