//! The manifest of a bundle: what is in it, for whoever looks before they take it, and so that nothing is taken for whole that is not.

use gix::objs::Kind;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Exported;
use crate::git::{GitError, Repo, memory_chain};
use crate::model::{Checkpoint, ObjectId};
use crate::ops::Error;

/// The ref that it has in a bundle: a commit whose tree holds it as `manifest.json`.
pub(super) const REF: &str = "refs/checkpoint-manifest";

/// Its file.
const FILE: &str = "manifest.json";

/// The version of the form that this program writes.
const FORMAT: u32 = 1;

/// One of this many bytes or more is refused.
const LARGEST: u64 = 64 << 20;

/// What a bundle says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    checkpoints: Vec<Entry>,
    memory: Vec<Conversation>,
    /// The SHA-256 of a line `<object> <ref>` for each ref but this one, sorted.
    refs_sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    id: String,
    session: String,
    kind: String,
    #[serde(default)]
    turn: Option<u32>,
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Conversation {
    session: String,
    redacted: u64,
    left_out: u64,
}

impl Manifest {
    /// That of what is exported, as these refs.
    pub(super) fn of(exported: &Exported, refs: &[(String, ObjectId)]) -> Manifest {
        let entry = |one: &Checkpoint| Entry {
            id: one.id.to_string(),
            session: one.session.to_string(),
            kind: one.kind.to_string(),
            turn: one.turn,
            names: one.names.clone(),
        };
        let memory = exported.memory.iter().flatten().map(|one| Conversation {
            session: one.session.to_string(),
            redacted: one.redacted,
            left_out: one.left_out,
        });
        Manifest {
            format: FORMAT,
            checkpoints: exported.checkpoints.iter().map(entry).collect(),
            memory: memory.collect(),
            refs_sha256: sum(refs),
        }
    }

    /// Writes it as a commit, which is the same for the same content.
    pub(super) fn write(&self, repo: &Repo, checkpoints: &[Checkpoint]) -> Result<ObjectId, GitError> {
        let at = checkpoints.iter().map(|checkpoint| checkpoint.created_at).max().unwrap_or(0);
        let text = serde_json::to_vec_pretty(self).map_err(|source| GitError::other("write the manifest", source))?;
        memory_chain::write_file(repo, FILE, &text, "what is in this bundle\n", at)
    }
}

fn sum(refs: &[(String, ObjectId)]) -> String {
    let mut lines: Vec<String> = refs.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
    lines.sort();
    Sha256::digest(lines.concat()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares a bundle with its manifest, if it has one: plain git makes bundles without. The inner error says what is wrong.
pub(super) fn check(objects: &gix::Repository, refs: &[(String, ObjectId)]) -> Result<Result<(), String>, Error> {
    let Some((_, id)) = refs.iter().find(|(name, _)| name == REF) else { return Ok(Ok(())) };
    let read = || -> Option<Vec<u8>> {
        let tree = objects.find_object(*id).ok()?.try_into_commit().ok()?.tree().ok()?;
        let file = tree.find_entry(FILE)?.object_id();
        let header = objects.find_header(file).ok()?;
        let is_fit = header.kind() == Kind::Blob && header.size() < LARGEST;
        if is_fit { Some(objects.find_object(file).ok()?.detach().data) } else { None }
    };
    let Some(text) = read() else { return Ok(Err("its manifest cannot be read".into())) };
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }
    match serde_json::from_slice::<Versioned>(&text) {
        Ok(Versioned { format: FORMAT }) => {}
        Ok(Versioned { format }) => {
            return Ok(Err(format!(
                "it has format {format}, written by a newer version of git-checkpoint; this one reads {FORMAT}"
            )));
        }
        Err(_) => return Ok(Err("its manifest cannot be read".into())),
    }
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else {
        return Ok(Err("its manifest cannot be read".into()));
    };
    let others: Vec<_> = refs.iter().filter(|(name, _)| name != REF).cloned().collect();
    Ok(if manifest.refs_sha256 == sum(&others) { Ok(()) } else { Err("its refs are not those of its manifest".into()) })
}
