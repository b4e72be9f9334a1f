//! The text and the document of `status`.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::json::{SCHEMA, checkpoint, put_path};
use super::restore::{blockers, title};
use super::show::size;
use crate::cli::output::{Clock, Styles, pad, plural, sanitize};
use crate::model::ByteSlice;
use crate::ops::session::SessionReport;
use crate::ops::status::{Since, Status};
use crate::ops::undo::Undoable;

const LABEL_WIDTH: usize = 13;

/// Writes how things stand, a fact a line.
pub fn write(out: &mut dyn Write, status: &Status, clock: &Clock, styles: &Styles) -> io::Result<()> {
    let label = |text: &str| pad(&format!("{text}:"), LABEL_WIDTH);
    let path = sanitize(&status.worktree.path.to_str_lossy()).into_owned();
    writeln!(out, "{} {} ({path})", label("Worktree"), sanitize(status.worktree.id.as_str()))?;
    match &status.newest {
        None => writeln!(out, "{} no checkpoint yet; `git checkpoint` saves one", label("Newest"))?,
        Some(newest) => {
            let name = styles.id.paint(title(newest)).to_string();
            writeln!(out, "{} {name}, {}: {}", label("Newest"), clock.age(newest.created_at), sanitize(&newest.subject))?;
            writeln!(out, "{} {}", label("Since then"), since(status.since.as_ref(), styles))?;
        }
    }
    if let Some(session) = &status.session {
        writeln!(out, "{} {}", label("Session"), who(session, clock))?;
    }
    for (word, step) in [("Undo", &status.undo), ("Redo", &status.redo)] {
        if let Some(step) = step {
            writeln!(out, "{} {}", label(word), what_of(step, clock))?;
        }
    }
    if status.blockers.is_empty() {
        writeln!(out, "{} possible", label("Restore"))?;
    } else {
        writeln!(out, "{} {}", label("Restore"), styles.warning.paint("would be refused"))?;
        for blocker in &status.blockers {
            writeln!(out, "  {} ({})", sanitize(&blocker.message), styles.warning.paint(blocker.code.as_str()))?;
            writeln!(out, "    {}", sanitize(&blocker.hint))?;
        }
    }
    let kept = plural(status.store.checkpoints, "checkpoint");
    writeln!(out, "{} {kept}, {} beside git's objects", label("Kept"), size(status.store.bytes))?;
    if let Some(failure) = &status.last_failure {
        writeln!(out, "{} {} {}", label("Last failure"), sanitize(&failure.at), sanitize(&failure.message))?;
    }
    Ok(())
}

fn since(since: Option<&Since>, styles: &Styles) -> String {
    let Some(since) = since else { return "nothing changed".to_owned() };
    let mut parts = Vec::new();
    if since.files.files > 0 {
        parts.push(format!(
            "{} changed {} {}",
            plural(since.files.files, "file"),
            styles.added.paint(format_args!("+{}", since.files.insertions)),
            styles.removed.paint(format_args!("-{}", since.files.deletions)),
        ));
    }
    if since.index {
        parts.push("something else is staged".to_owned());
    }
    if since.head {
        parts.push("HEAD moved".to_owned());
    }
    if parts.is_empty() {
        parts.push("other paths are left out of a capture".to_owned());
    }
    parts.join(", ")
}

/// The session, and who is at work in it.
fn who(session: &SessionReport, clock: &Clock) -> String {
    let agent = session.agent.as_deref().map(|agent| format!(" of {}", sanitize(agent))).unwrap_or_default();
    let state = match (&session.active, session.state) {
        (Some(active), _) => format!(", {}: process {} since {}", active.state, active.process.pid, clock.age(active.since)),
        (None, Some(state)) => format!(", {state}"),
        (None, None) => String::new(),
    };
    format!("{}{agent}{state}", session.key)
}

fn what_of(step: &Undoable, clock: &Clock) -> String {
    let target = step.target.as_ref().map_or_else(|| "a checkpoint that is gone".to_owned(), title);
    format!("the restore of {target}, {}", clock.age(step.restore.created_at))
}

/// The document of `status`.
pub fn document(status: &Status) -> Value {
    let mut worktree = serde_json::Map::new();
    worktree.insert("id".to_owned(), status.worktree.id.as_str().into());
    put_path(&mut worktree, &status.worktree.path);
    let since = status.since.as_ref().map(|since| {
        json!({
            "files": since.files.files,
            "insertions": since.files.insertions,
            "deletions": since.files.deletions,
            "index": since.index,
            "head": since.head,
        })
    });
    let step = |step: &Undoable| {
        json!({
            "created_at": crate::cli::output::rfc3339(step.restore.created_at),
            "target": step.target.as_ref().map(checkpoint),
        })
    };
    json!({
        "schema": SCHEMA,
        "worktree": worktree,
        "newest": status.newest.as_ref().map(checkpoint),
        "since": since,
        "blockers": blockers(&status.blockers),
        "undo": status.undo.as_ref().map(step),
        "redo": status.redo.as_ref().map(step),
        "session": status.session.as_ref().map(super::session::object),
        "store": {"checkpoints": status.store.checkpoints, "bytes": status.store.bytes},
        "last_failure": status.last_failure.as_ref().map(|failure| json!({"at": failure.at, "message": failure.message})),
    })
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{Blocker, BlockerCode, Checkpoint, SessionKey, SessionState, Stat, WorktreeId, WorktreeRef};
    use crate::ops::status::{LoggedFailure, StoreSize};
    use crate::store::Restore;
    use crate::store::testing::sample;

    fn stopped() -> Status {
        let newest = Checkpoint { number: 7, subject: "fix \x1b[31mit".into(), ..sample(1) };
        let restore = Restore {
            memory: None,
            id: 1,
            worktree: WorktreeId::main(),
            pre_restore: newest.id.clone(),
            target: newest.id.clone(),
            created_at: 20_000,
            undone_by: None,
            redone_to: None,
            created: None,
        };
        Status {
            worktree: WorktreeRef { id: WorktreeId::main(), path: b"/w\xff".as_slice().into() },
            since: Some(Since { files: Stat { files: 1, insertions: 2, deletions: 3 }, index: true, head: true }),
            blockers: vec![Blocker { code: BlockerCode::IndexLocked, message: "it is held".into(), hint: "wait".into() }],
            undo: Some(Undoable { restore, leads_to: None, target: Some(newest.clone()) }),
            redo: None,
            session: Some(SessionReport {
                key: SessionKey::parse("main-1").unwrap(),
                state: Some(SessionState::Pending),
                agent: Some("claude".into()),
                worktree: WorktreeRef { id: WorktreeId::main(), path: "/w".into() },
                origin: None,
                active: None,
                started_at: None,
                ended_at: None,
                counts: None,
                is_current: true,
            }),
            store: StoreSize { checkpoints: 1, bytes: 2048 },
            last_failure: Some(LoggedFailure { at: "2026-01-02T00:00:00.000Z".into(), message: "save: no room".into() }),
            newest: Some(newest),
        }
    }

    fn text(status: &Status) -> String {
        let mut out = Vec::new();
        write(&mut out, status, &Clock::utc(60_000), &Styles::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_fact_has_a_line() {
        snapbox::assert_data_eq!(
            text(&stopped()),
            snapbox::str![[r#"
Worktree:     main (/w�)
Newest:       checkpoint 7, 59 seconds ago: fix \x1b[31mit
Since then:   1 file changed +2 -3, something else is staged, HEAD moved
Session:      main-1 of claude, pending
Undo:         the restore of checkpoint 7, 40 seconds ago
Restore:      would be refused
  it is held (index-locked)
    wait
Kept:         1 checkpoint, 2.00 KiB beside git's objects
Last failure: 2026-01-02T00:00:00.000Z save: no room

"#]]
            .raw()
        );
    }

    #[test]
    fn where_there_is_nothing_it_says_so() {
        let empty = Status {
            newest: None,
            since: None,
            blockers: Vec::new(),
            undo: None,
            session: None,
            last_failure: None,
            ..stopped()
        };

        snapbox::assert_data_eq!(
            text(&empty),
            snapbox::str![[r#"
Worktree:     main (/w�)
Newest:       no checkpoint yet; `git checkpoint` saves one
Restore:      possible
Kept:         1 checkpoint, 2.00 KiB beside git's objects

"#]]
            .raw()
        );
        assert_eq!(document(&empty)["newest"], Value::Null);
    }

    #[test]
    fn the_document_has_every_key() {
        let document = document(&stopped());

        assert_eq!(document["since"], json!({"files": 1, "insertions": 2, "deletions": 3, "index": true, "head": true}));
        assert_eq!(document["worktree"], json!({"id": "main", "path": "/w\u{fffd}", "bytes": "L3f/"}));
        assert_eq!(document["blockers"][0]["code"], "index-locked");
        assert_eq!(document["undo"]["created_at"], "1970-01-01T00:00:20.000Z");
        assert_eq!(document["undo"]["target"]["number"], 7);
        assert_eq!(document["store"], json!({"checkpoints": 1, "bytes": 2048}));
        assert_eq!(document["last_failure"]["message"], "save: no room");
        assert_eq!((&document["session"]["key"], &document["session"]["state"]), (&json!("main-1"), &json!("pending")));
    }
}
