//! Turning a snapshot into a commit on a hidden ref.

use gix::ObjectId;
use gix::actor::Signature;
use gix::bstr::ByteSlice;
use gix::date::Time;
use gix::objs::{Commit, Kind, WriteTo};

use super::child::{git, not_run};
use super::snapshot::Snapshot;
use super::{GitError, Repo, refs};
use crate::model::{Checkpoint, Millis, trailers};

/// The fixed identity of every checkpoint; no `user.name` is needed and nothing is signed.
pub(super) const NAME: &str = "git-checkpoint";
pub(super) const EMAIL: &str = "git-checkpoint@localhost";

/// Writes `snapshot` as `checkpoint`: its objects, the commit of the index where that differs from HEAD, the commit, the ref.
/// All of it is on disk when this returns. Sets the checkpoint's commit.
pub fn record(repo: &Repo, snapshot: &mut Snapshot, checkpoint: &mut Checkpoint, origin: &str) -> Result<(), GitError> {
    let mut parents: Vec<ObjectId> = snapshot.head.id.into_iter().collect();
    if let Some(index) = snapshot.index_tree.filter(|tree| *tree != snapshot.head.tree) {
        let branch = snapshot.head.branch.as_deref().unwrap_or("(no branch)");
        let message = format!("index on {branch}\n").into_bytes();
        parents.push(write(repo, snapshot, index, snapshot.head.id.into_iter().collect(), message, checkpoint.created_at)?);
    }
    let message = trailers::message(checkpoint, origin);
    checkpoint.commit = write(repo, snapshot, snapshot.tree, parents, message, checkpoint.created_at)?;
    snapshot.flush()?;
    let name = checkpoint.ref_name();
    refs::create_noted(repo, &name, checkpoint.commit)?;
    snapshot.held_by_ref()?;
    snapshot.save_cache(repo, checkpoint.commit, &name);
    Ok(())
}

fn write(
    repo: &Repo,
    snapshot: &Snapshot,
    tree: ObjectId,
    parents: Vec<ObjectId>,
    message: Vec<u8>,
    at: Millis,
) -> Result<ObjectId, GitError> {
    snapshot.add_object(repo, Kind::Commit, &encode(tree, parents, message, at)?)
}

/// The bytes of a commit by the fixed identity.
pub(super) fn encode(tree: ObjectId, parents: Vec<ObjectId>, message: Vec<u8>, at: Millis) -> Result<Vec<u8>, GitError> {
    let who = Signature { name: NAME.into(), email: EMAIL.into(), time: Time { seconds: at.div_euclid(1000), offset: 0 } };
    let commit = Commit {
        tree,
        parents: parents.into(),
        author: who.clone(),
        committer: who,
        encoding: None,
        message: message.into(),
        extra_headers: Vec::new(),
    };
    let mut data = Vec::with_capacity(1024);
    commit.write_to(&mut data).map_err(|source| GitError::other("encode a commit", source))?;
    Ok(data)
}

/// Reads the checkpoint that the commit `id` holds, with the origin it was written on.
pub fn read(gix: &gix::Repository, id: ObjectId) -> Result<Result<(Checkpoint, String), trailers::TrailerError>, GitError> {
    let object = gix.find_object(id).map_err(|_| GitError::ObjectMissing(id))?;
    if object.kind != Kind::Commit {
        return Ok(Err(trailers::TrailerError::NotACheckpoint));
    }
    let commit = object.into_commit();
    let failed = |source| GitError::other(format!("read commit {id}"), source);
    let decoded = commit.decode().map_err(failed)?;
    Ok(trailers::parse(decoded.message, id, decoded.tree()))
}

/// All commits of the repository, reachable or not.
pub fn all(repo: &Repo) -> Result<Vec<ObjectId>, GitError> {
    let mut command = git(repo);
    command.args(["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"]);
    let output = command.output().map_err(not_run)?;
    // What git cannot read is left out; it says so on a line of its own.
    let ids = output.stdout.lines().filter_map(|line| ObjectId::from_hex(line.strip_prefix(b"commit ")?).ok());
    Ok(ids.collect())
}
