//! The JSON documents. Keys are never renamed; readers ignore those they do not know.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Map, Value, json};

use crate::cli::output::rfc3339;
use crate::model::{Boundary, BoundaryState, ByteSlice, Checkpoint, CheckpointId, Millis, ObjectId, Skipped, Stat, TurnEnd};

/// The version of all documents.
pub const SCHEMA: u32 = 1;

/// The document of `list`. It is written while it is read: ten thousand checkpoints as a tree of values would take longer
/// to build than to print.
#[derive(Serialize)]
pub struct List<'a> {
    schema: u32,
    #[serde(serialize_with = "all")]
    checkpoints: &'a [Checkpoint],
}

impl<'a> List<'a> {
    /// The document with these checkpoints.
    pub fn of(checkpoints: &'a [Checkpoint]) -> List<'a> {
        List { schema: SCHEMA, checkpoints }
    }
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
pub fn checkpoint(checkpoint: &Checkpoint) -> Value {
    // All keys are strings and all values plain, so there is nothing that could fail.
    serde_json::to_value(CheckpointObject::of(checkpoint)).unwrap_or_default()
}

/// Adds a path to an object: `path`, and `bytes` in base64 beside it where the path is no UTF-8.
pub fn put_path(object: &mut Map<String, Value>, path: &[u8]) {
    object.insert("path".to_owned(), path.to_str_lossy().into());
    if let Some(bytes) = bytes(path) {
        object.insert("bytes".to_owned(), bytes.into());
    }
}

fn bytes(path: &[u8]) -> Option<String> {
    path.to_str().is_err().then(|| STANDARD.encode(path))
}

fn all<S: Serializer>(checkpoints: &[Checkpoint], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(checkpoints.len()))?;
    for checkpoint in checkpoints {
        list.serialize_element(&CheckpointObject::of(checkpoint))?;
    }
    list.end()
}

#[derive(Serialize)]
struct CheckpointObject<'a> {
    number: u64,
    id: &'a str,
    r#ref: String,
    #[serde(serialize_with = "hex")]
    commit: ObjectId,
    #[serde(serialize_with = "hex")]
    tree: ObjectId,
    #[serde(serialize_with = "maybe_hex")]
    index_tree: Option<ObjectId>,
    #[serde(serialize_with = "maybe_hex")]
    head: Option<ObjectId>,
    branch: Option<&'a str>,
    kind: &'a str,
    session: &'a str,
    step: Option<&'a str>,
    turn: Option<u32>,
    agent: Option<&'a str>,
    names: &'a [String],
    message: Option<&'a str>,
    #[serde(serialize_with = "time")]
    created_at: Millis,
    #[serde(serialize_with = "maybe_time")]
    completed_at: Option<Millis>,
    worktree: WorktreeObject<'a>,
    origin: Option<&'a str>,
    complete: bool,
    skipped: Vec<SkippedObject<'a>>,
    stat: Option<StatObject>,
    meta: &'a BTreeMap<String, String>,
    memory: Option<BoundaryObject<'a>>,
}

#[derive(Serialize)]
struct WorktreeObject<'a> {
    id: &'a str,
    #[serde(flatten)]
    path: PathObject<'a>,
}

#[derive(Serialize)]
struct BoundaryObject<'a> {
    state: &'a str,
    conversation: &'a str,
    turn_id: Option<&'a str>,
    end: Option<&'a str>,
    prompt: Option<&'a str>,
    agent_version: Option<&'a str>,
    model: Option<&'a str>,
    provider: Option<&'a str>,
    permission_mode: Option<&'a str>,
    approval_policy: Option<&'a str>,
    sandbox: Option<&'a str>,
    cwd: Option<PathObject<'a>>,
    transcript: Option<PathObject<'a>>,
    offset: Option<u64>,
    prefix_sha256: Option<&'a str>,
}

#[derive(Serialize)]
struct SkippedObject<'a> {
    #[serde(flatten)]
    path: PathObject<'a>,
    reason: &'a str,
    size: Option<u64>,
}

#[derive(Serialize)]
struct PathObject<'a> {
    path: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

#[derive(Serialize)]
struct StatObject {
    files: u64,
    insertions: u64,
    deletions: u64,
}

impl<'a> CheckpointObject<'a> {
    fn of(c: &'a Checkpoint) -> CheckpointObject<'a> {
        CheckpointObject {
            number: c.number,
            id: c.id.as_str(),
            r#ref: c.ref_name(),
            commit: c.commit,
            tree: c.tree,
            index_tree: c.index_tree,
            head: c.head,
            branch: c.branch.as_deref(),
            kind: c.kind.as_str(),
            session: c.session.as_str(),
            step: c.step.as_deref(),
            turn: c.turn,
            agent: c.agent.as_deref(),
            names: &c.names,
            message: c.message.as_deref(),
            created_at: c.created_at,
            completed_at: c.completed_at,
            worktree: WorktreeObject { id: c.worktree.id.as_str(), path: PathObject::of(&c.worktree.path) },
            origin: c.origin.as_deref(),
            complete: c.is_complete(),
            skipped: c.skipped.iter().map(SkippedObject::of).collect(),
            stat: c.stat.map(StatObject::of),
            meta: &c.meta,
            memory: c.boundary.as_ref().map(BoundaryObject::of),
        }
    }
}

impl<'a> BoundaryObject<'a> {
    fn of(boundary: &'a Boundary) -> BoundaryObject<'a> {
        let b = boundary;
        BoundaryObject {
            state: BoundaryState::as_str(b.state),
            conversation: &b.conversation,
            turn_id: b.turn_id.as_deref(),
            end: b.end.map(TurnEnd::as_str),
            prompt: b.prompt.as_deref(),
            agent_version: b.agent_version.as_deref(),
            model: b.model.as_deref(),
            provider: b.provider.as_deref(),
            permission_mode: b.permission_mode.as_deref(),
            approval_policy: b.approval_policy.as_deref(),
            sandbox: b.sandbox.as_deref(),
            cwd: b.cwd.as_ref().map(|path| PathObject::of(path)),
            transcript: b.transcript.as_ref().map(|path| PathObject::of(path)),
            offset: b.offset,
            prefix_sha256: b.prefix_sha256.as_deref(),
        }
    }
}

impl<'a> SkippedObject<'a> {
    fn of(skipped: &'a Skipped) -> SkippedObject<'a> {
        SkippedObject { path: PathObject::of(&skipped.path), reason: skipped.reason.as_str(), size: skipped.size }
    }
}

impl<'a> PathObject<'a> {
    fn of(path: &'a [u8]) -> PathObject<'a> {
        PathObject { path: path.to_str_lossy(), bytes: bytes(path) }
    }
}

impl StatObject {
    fn of(stat: Stat) -> StatObject {
        StatObject { files: stat.files, insertions: stat.insertions, deletions: stat.deletions }
    }
}

fn hex<S: Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn maybe_hex<S: Serializer>(id: &Option<ObjectId>, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        Some(id) => serializer.collect_str(id),
        None => serializer.serialize_none(),
    }
}

fn time<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*at))
}

fn maybe_time<S: Serializer>(at: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use snapbox::IntoData;

    use super::*;
    use crate::model::{Kind, SkipReason, WorktreeId, WorktreeRef};
    use crate::store::testing::{object, sample};

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

        let document = serde_json::to_string_pretty(&List::of(&[checkpoint])).unwrap();

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
    fn the_place_in_a_conversation_has_every_key() {
        let known = Checkpoint { boundary: Some(crate::model::sample_boundary()), ..sample(1) };
        let bare = Checkpoint { boundary: Some(Boundary { conversation: "c".into(), ..Boundary::default() }), ..sample(1) };

        let expected = json!({
            "state": "provisional",
            "conversation": "1f6d",
            "turn_id": "p-1",
            "end": "interrupted",
            "prompt": "add \"alpha\" ✓",
            "agent_version": "2.1",
            "model": "claude-x",
            "provider": "p",
            "permission_mode": "plan",
            "approval_policy": "never",
            "sandbox": "read-only",
            "cwd": {"path": "/w"},
            "transcript": {"path": "/t/\u{fffd}\n.jsonl", "bytes": "L3Qv/wouanNvbmw="},
            "offset": 12,
            "prefix_sha256": "ab",
        });
        assert_eq!(checkpoint(&known)["memory"], expected);
        let bare = checkpoint(&bare);
        assert_eq!(bare["memory"].as_object().unwrap().len(), expected.as_object().unwrap().len());
        assert_eq!((&bare["memory"]["turn_id"], &bare["memory"]["transcript"]), (&Value::Null, &Value::Null));
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
