//! Recording the state of the worktree as a checkpoint.
//!
//! Order: lock, capture, compare with the newest, write objects, write the ref, write the row. A file named `pending` beside
//! the lock says which ref is being written, so that one whose row a crash left out gets it with the next capture.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::restore::refuse_or_clear;
use super::tidy::tidy;
use super::{Context, Error, retention, session, stat_of};
use crate::git::lock::WorktreeLock;
use crate::git::snapshot::{self, Keep, Snapshot};
use crate::git::{GitError, commit, refs};
use crate::model::{
    BString, Boundary, Checkpoint, CheckpointId, Kind, ObjectId, SessionKey, SkipReason, Skipped, trailers, validate_name,
};
use crate::sys;
use crate::sys::progress::{self, Phase};

/// With more changed paths than this, a save does not count lines.
const MOST_COUNTED: usize = 100;

/// What to record beside the state.
#[derive(Debug, Clone, Default)]
pub struct SaveRequest {
    /// The text given with `-m`.
    pub message: Option<String>,
    /// A name for the checkpoint.
    pub name: Option<String>,
    /// The session that owns it; by default the worktree's own.
    pub session: Option<SessionKey>,
    /// What it is; by default what `step` and `turn` imply, else [`Kind::Manual`].
    pub kind: Option<Kind>,
    /// The pipeline stage that ended.
    pub step: Option<String>,
    /// The agent's turn that ended.
    pub turn: Option<u32>,
    /// Free keys and values.
    pub meta: BTreeMap<String, String>,
    /// Record even if nothing changed.
    pub allow_empty: bool,
    /// Record the end of a turn only if something changed, for what may have been recorded already.
    pub turn_only_if_changed: bool,
    /// Where in an agent's conversation it belongs; not kept where `checkpoint.memory` is false.
    pub boundary: Option<Boundary>,
}

/// What a save came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaveOutcome {
    /// A checkpoint was recorded.
    Captured(Checkpoint),
    /// Nothing changed since this checkpoint, which holds the state already.
    Unchanged(Checkpoint),
    /// `checkpoint.enabled` is false.
    Disabled,
}

impl SaveRequest {
    fn kind(&self) -> Kind {
        match (self.kind, self.turn, &self.step) {
            (Some(kind), _, _) => kind,
            (None, Some(_), _) => Kind::Turn,
            (None, None, Some(_)) => Kind::Step,
            (None, None, None) => Kind::Manual,
        }
    }

    fn subject(&self, snapshot: &Snapshot) -> String {
        let place = match (&snapshot.head.branch, snapshot.head.id) {
            (Some(branch), _) => format!("on {branch}"),
            (None, Some(id)) => format!("at {}", id.to_hex_with_len(8)),
            (None, None) => "before the first commit".to_owned(),
        };
        match (self.kind(), &self.step, self.turn) {
            (Kind::Step, Some(step), _) => format!("step {step} {place}"),
            (Kind::Turn, _, Some(turn)) => format!("turn {turn} {place}"),
            (Kind::TurnStart, _, Some(turn)) => format!("before turn {turn} {place}"),
            (kind, _, _) => format!("{kind} checkpoint {place}"),
        }
    }
}

/// Records the state of the worktree, unless the newest checkpoint holds it already.
pub fn save(context: &mut Context, request: &SaveRequest) -> Result<SaveOutcome, Error> {
    if !context.repo.config().enabled {
        return Ok(SaveOutcome::Disabled);
    }
    if let Some(name) = &request.name {
        validate_name(name)?;
    }
    context.store.require_writable()?;
    let lock = lock(context)?;
    save_under(context, &lock, request)
}

/// As [`save`], where the caller has the worktree's lock.
pub(super) fn save_under(context: &mut Context, lock: &WorktreeLock, request: &SaveRequest) -> Result<SaveOutcome, Error> {
    progress::begin(Phase::Capture, 0);
    let mut snapshot = snapshot::take_watched(&context.repo, Keep::Objects)?;
    // The end of an agent's turn is recorded in any case: its place in the conversation matters.
    if !request.allow_empty
        && (request.kind() != Kind::Turn || request.turn_only_if_changed)
        && let Some(newest) = context.store.newest(context.repo.worktree_id())?
        && holds(&newest, &snapshot)
        && is_held(context, &newest)?
    {
        snapshot.save_cache(&context.repo, newest.commit, &newest.ref_name());
        let named = name_checkpoint(context, newest, request.name.as_deref())?;
        return Ok(SaveOutcome::Unchanged(named));
    }
    let checkpoint = record(context, &mut snapshot, request)?;
    let checkpoint = name_checkpoint(context, checkpoint, request.name.as_deref())?;
    tidy(context, checkpoint.number);
    retention::after_save(context, lock);
    Ok(SaveOutcome::Captured(checkpoint))
}

/// True if the ref of `checkpoint` holds it. Whoever deletes a ref takes the checkpoint away, whatever the database says.
fn is_held(context: &Context, checkpoint: &Checkpoint) -> Result<bool, Error> {
    Ok(refs::read(&context.repo, &checkpoint.ref_name())? == Some(checkpoint.commit))
}

/// Waits for the worktree's lock and finishes what a capture that died under it left.
pub(super) fn lock(context: &mut Context) -> Result<WorktreeLock, Error> {
    progress::begin(Phase::Wait, 0);
    let lock = WorktreeLock::acquire(&context.repo, None)?;
    let lock = lock.ok_or_else(|| Error::LockTimeout(context.repo.private_dir().join("lock").display().to_string()))?;
    refuse_or_clear(&context.repo, &lock)?;
    adopt_pending(context)?;
    Ok(lock)
}

/// As [`lock`], but gives up after `limit`: none.
pub(super) fn lock_within(context: &mut Context, limit: Duration) -> Result<Option<WorktreeLock>, Error> {
    progress::begin(Phase::Wait, 0);
    let lock = WorktreeLock::acquire(&context.repo, Some(limit))?;
    if lock.is_some() {
        adopt_pending(context)?;
    }
    Ok(lock)
}

/// True if `checkpoint` holds the very state that `snapshot` saw.
pub(super) fn holds(checkpoint: &Checkpoint, snapshot: &Snapshot) -> bool {
    checkpoint.tree == snapshot.tree
        && checkpoint.index_tree == snapshot.index_tree
        && checkpoint.head == snapshot.head.id
        && checkpoint.intent_to_add == snapshot.intent_to_add
        && left_out(&checkpoint.skipped) == left_out(&snapshot.skipped)
}

/// What was left out and why; how large it is, and what goes on in a submodule, may change all the time.
fn left_out(skipped: &[Skipped]) -> Vec<(&BString, SkipReason)> {
    let own = skipped.iter().filter(|skipped| skipped.reason != SkipReason::DirtySubmodule);
    own.map(|skipped| (&skipped.path, skipped.reason)).collect()
}

/// Records `snapshot` as a checkpoint. The caller holds the worktree's lock.
pub fn record(context: &mut Context, snapshot: &mut Snapshot, request: &SaveRequest) -> Result<Checkpoint, Error> {
    let now = sys::now_millis();
    let kind = request.kind();
    let message = request.message.as_deref().and_then(trailers::normalize_message);
    let subject =
        message.as_deref().and_then(|text| text.lines().next()).map_or_else(|| request.subject(snapshot), str::to_owned);
    let session = match &request.session {
        Some(session) => session.clone(),
        None => session::owner(context)?,
    };
    let agent = context.store.session(&session)?.and_then(|session| session.agent);
    let origin = context.origin()?;
    let mut checkpoint = Checkpoint {
        number: 0,
        id: CheckpointId::generate(now),
        session,
        kind,
        step: request.step.clone(),
        turn: request.turn,
        agent,
        subject,
        message,
        commit: ObjectId::null(context.repo.hash_kind()),
        tree: snapshot.tree,
        index_tree: snapshot.index_tree,
        head: snapshot.head.id,
        branch: snapshot.head.branch.clone(),
        operation: snapshot.operation.clone(),
        created_at: now,
        completed_at: (kind == Kind::Turn).then_some(now),
        boundary: request.boundary.clone().filter(|_| context.repo.config().memory).map(Boundary::clipped),
        worktree: context.repo.worktree_ref(),
        origin: None,
        skipped: snapshot.skipped.clone(),
        intent_to_add: snapshot.intent_to_add.clone(),
        meta: request.meta.clone(),
        names: Vec::new(),
        stat: None,
    };
    let pending = pending_path(context);
    let noted = context.repo.sharing().write(&pending, checkpoint.ref_name().as_bytes());
    noted.map_err(|source| GitError::io("write", &pending, source))?;
    let recorded = commit::record(&context.repo, snapshot, &mut checkpoint, &origin);
    let inserted = recorded.map_err(Error::from).and_then(|()| Ok(context.store.insert(&checkpoint)?));
    let number = match inserted {
        Ok(number) => number,
        Err(error) => {
            // All or nothing: without its row it could not be listed, so it is not left behind as a ref either.
            if withdraw(context, &checkpoint) {
                let _ = fs::remove_file(&pending);
            }
            return Err(error);
        }
    };
    note_packs(context, snapshot);
    let checkpoint = with_stat(context, Checkpoint { number, ..checkpoint }, snapshot.changes());
    let _ = fs::remove_file(&pending);
    Ok(checkpoint)
}

/// Deletes the ref of a checkpoint that got no row. False if that failed: then the next capture gives it one.
fn withdraw(context: &Context, checkpoint: &Checkpoint) -> bool {
    let name = checkpoint.ref_name();
    match refs::read(&context.repo, &name) {
        Ok(None) => true,
        _ => refs::delete(&context.repo, &name, Some(checkpoint.commit)).is_ok(),
    }
}

/// Remembers what is to be put together later. Packs that nobody remembers are left to `git gc`.
fn note_packs(context: &mut Context, snapshot: &Snapshot) {
    for name in snapshot.written() {
        let _ = context.store.note_pack(&name, 0);
    }
}

/// Counts what a small change comes to while it is at hand; a large one is counted when somebody asks.
fn with_stat(context: &mut Context, checkpoint: Checkpoint, changes: usize) -> Checkpoint {
    let stat = if changes <= MOST_COUNTED { stat_of(context, &checkpoint).ok() } else { None };
    Checkpoint { stat, ..checkpoint }
}

/// Gives `name` to `checkpoint`, in a ref and in the database. Whoever had it before loses it.
pub(super) fn name_checkpoint(
    context: &mut Context,
    mut checkpoint: Checkpoint,
    name: Option<&str>,
) -> Result<Checkpoint, Error> {
    let Some(name) = name else { return Ok(checkpoint) };
    validate_name(name)?;
    refs::set(&context.repo, &refs::name_ref(name), checkpoint.commit)?;
    context.store.set_name(name, &checkpoint.id)?;
    if !checkpoint.names.iter().any(|known| known == name) {
        checkpoint.names.push(name.to_owned());
        checkpoint.names.sort();
    }
    Ok(checkpoint)
}

fn pending_path(context: &Context) -> PathBuf {
    context.repo.private_dir().join("pending")
}

/// Gives a row to a ref that was written by a capture which then died, and removes the lock of it that such a one left.
fn adopt_pending(context: &mut Context) -> Result<(), Error> {
    let path = pending_path(context);
    let Ok(name) = fs::read_to_string(&path) else { return Ok(()) };
    refs::clear_noted(&context.repo, &name)?;
    if name.starts_with(refs::CHECKPOINTS)
        && let Some(id) = refs::read(&context.repo, &name)?
        && let Ok((checkpoint, _)) = commit::read(&context.repo.gix(), id)?
    {
        context.store.insert(&checkpoint)?;
    }
    fs::remove_file(&path).map_err(|source| GitError::io("remove", &path, source))?;
    Ok(())
}
