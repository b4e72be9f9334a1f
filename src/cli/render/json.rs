//! The JSON documents. Keys are never renamed; readers ignore those they do not know.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::cli::output::rfc3339;
use crate::model::{ByteSlice, Checkpoint, CheckpointId, ObjectId, Skipped};

/// The version of all documents.
pub const SCHEMA: u32 = 1;

/// The document of `list`.
pub fn list(checkpoints: &[Checkpoint]) -> Value {
    json!({"schema": SCHEMA, "checkpoints": Value::from_iter(checkpoints.iter().map(checkpoint))})
}

/// The document of `show`.
pub fn show(shown: &Checkpoint) -> Value {
    json!({"schema": SCHEMA, "checkpoint": checkpoint(shown)})
}

/// The document of `name`: what has the name now (`status` is `named`) or had it until now (`deleted`).
pub fn name(status: &str, name: &str, named: &Checkpoint, moved_from: Option<&CheckpointId>) -> Value {
    json!({
        "schema": SCHEMA,
        "status": status,
        "name": name,
        "checkpoint": checkpoint(named),
        "moved_from": moved_from.map(CheckpointId::as_str),
    })
}

/// A checkpoint inside a document.
pub fn checkpoint(c: &Checkpoint) -> Value {
    let id = |id: &Option<ObjectId>| id.map(|id| id.to_string());
    let mut worktree = Map::new();
    worktree.insert("id".to_owned(), c.worktree.id.as_str().into());
    put_path(&mut worktree, &c.worktree.path);
    json!({
        "number": c.number,
        "id": c.id.as_str(),
        "ref": c.ref_name(),
        "commit": c.commit.to_string(),
        "tree": c.tree.to_string(),
        "index_tree": id(&c.index_tree),
        "head": id(&c.head),
        "branch": c.branch,
        "kind": c.kind.as_str(),
        "session": c.session.as_str(),
        "step": c.step,
        "turn": c.turn,
        "agent": c.agent,
        "names": c.names,
        "message": c.message,
        "created_at": rfc3339(c.created_at),
        "completed_at": c.completed_at.map(rfc3339),
        "worktree": worktree,
        "origin": c.origin,
        "complete": c.is_complete(),
        "skipped": Value::from_iter(c.skipped.iter().map(skipped)),
        "stat": c.stat.map(|s| json!({"files": s.files, "insertions": s.insertions, "deletions": s.deletions})),
        "meta": c.meta,
        "memory": Value::Null,
    })
}

/// Adds a path to an object: `path`, and `bytes` in base64 beside it where the path is no UTF-8.
pub fn put_path(object: &mut Map<String, Value>, path: &[u8]) {
    object.insert("path".to_owned(), path.to_str_lossy().into());
    if path.to_str().is_err() {
        object.insert("bytes".to_owned(), STANDARD.encode(path).into());
    }
}

fn skipped(skipped: &Skipped) -> Value {
    let mut object = Map::new();
    put_path(&mut object, &skipped.path);
    object.insert("reason".to_owned(), skipped.reason.as_str().into());
    object.insert("size".to_owned(), skipped.size.into());
    object.into()
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{Kind, SkipReason, Stat, WorktreeId, WorktreeRef};
    use crate::store::testing::{object, sample};

    fn pretty(value: &Value) -> String {
        serde_json::to_string_pretty(value).unwrap()
    }

    #[test]
    fn a_document_has_every_key_in_its_place() {
        let checkpoint = Checkpoint {
            number: 7,
            id: CheckpointId::parse("01arz3ndektsv4rrffq69g5fav").unwrap(),
            kind: Kind::Turn,
            step: Some("build".into()),
            turn: Some(3),
            agent: Some("claude".into()),
            names: vec!["a".into(), "b".into()],
            message: Some("subject\n\nbody".into()),
            index_tree: Some(object(3)),
            head: Some(object(4)),
            completed_at: Some(1_700_000_000_000),
            created_at: 1_700_000_000_123,
            worktree: WorktreeRef { id: WorktreeId::main(), path: b"/w\xff".as_slice().into() },
            origin: Some("laptop".into()),
            skipped: vec![Skipped { path: "big".into(), reason: SkipReason::TooLarge, size: Some(9) }],
            stat: Some(Stat { files: 3, insertions: 2, deletions: 1 }),
            meta: [("k".to_owned(), "v".to_owned())].into(),
            ..sample(1)
        };

        let document = pretty(&list(&[checkpoint]));

        snapbox::assert_data_eq!(
            document,
            snapbox::str![[r#"
{
  "schema": 1,
  "checkpoints": [
    {
      "number": 7,
      "id": "01arz3ndektsv4rrffq69g5fav",
      "ref": "refs/checkpoints/main-1/01arz3ndektsv4rrffq69g5fav",
      "commit": "0101010101010101010101010101010101010101",
      "tree": "0101010101010101010101010101010101010101",
      "index_tree": "0303030303030303030303030303030303030303",
      "head": "0404040404040404040404040404040404040404",
      "branch": "main",
      "kind": "turn",
      "session": "main-1",
      "step": "build",
      "turn": 3,
      "agent": "claude",
      "names": [
        "a",
        "b"
      ],
      "message": "subject\n\nbody",
      "created_at": "2023-11-14T22:13:20.123Z",
      "completed_at": "2023-11-14T22:13:20.000Z",
      "worktree": {
        "id": "main",
        "path": "/w�",
        "bytes": "L3f/"
      },
      "origin": "laptop",
      "complete": false,
      "skipped": [
        {
          "path": "big",
          "reason": "too-large",
          "size": 9
        }
      ],
      "stat": {
        "files": 3,
        "insertions": 2,
        "deletions": 1
      },
      "meta": {
        "k": "v"
      },
      "memory": null
    }
  ]
}
"#]]
            .raw()
        );
    }

    #[test]
    fn what_is_not_there_is_null_or_empty() {
        let value = checkpoint(&sample(1));

        for key in ["index_tree", "head", "step", "turn", "agent", "message", "completed_at", "origin", "stat", "memory"] {
            assert_eq!(value.get(key), Some(&Value::Null), "{key}");
        }
        assert_eq!(value["names"], json!([]));
        assert_eq!(value["skipped"], json!([]));
        assert_eq!(value["meta"], json!({}));
        assert_eq!(value["complete"], json!(true));
        assert_eq!(value["worktree"], json!({"id": "main", "path": "/w"}));
    }
}
