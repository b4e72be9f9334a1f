//! Finishing a restore that was interrupted, or taking it back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::judge;
use super::run::{Verb, index_lock_timeout, limit_of};
use crate::git::lock::WorktreeLock;
use crate::git::restore::{Aborted, ApplyError, Dead, IndexMode, Purpose, Recovery, pending};
use crate::git::{Objects, Repo};
use crate::model::{Blocker, Checkpoint, CheckpointId};
use crate::ops::memory::{self, MemoryOutcome};
use crate::ops::save;
use crate::ops::{Context, Error};
use crate::store::NewRestore;
use crate::sys;

/// What is to be told of a restore of this worktree that was interrupted, if there is one.
pub fn interrupted(repo: &Repo) -> Result<Option<Blocker>, Error> {
    let pending = pending(repo)?.filter(|pending| !pending.live);
    Ok(pending.map(|pending| judge::interrupted(pending.unreadable.as_ref())))
}

/// Refuses to go on while an interrupted restore waits to be finished or taken back.
pub fn refuse_if_interrupted(repo: &Repo) -> Result<(), Error> {
    match interrupted(repo)? {
        Some(blocker) => Err(Error::Refused(vec![blocker])),
        None => Ok(()),
    }
}

/// As [`refuse_if_interrupted`], for the holder of the worktree's lock: what a restore left that died before it changed anything,
/// its `index.lock` above all, is cleared away.
pub fn refuse_or_clear(repo: &Repo, _lock: &WorktreeLock) -> Result<(), Error> {
    match Recovery::open(repo)? {
        Dead::Nothing => Ok(()),
        Dead::Restore(_) => Err(Error::Refused(vec![judge::interrupted(None)])),
        Dead::Unreadable(unreadable) => Err(Error::Refused(vec![judge::interrupted(Some(&unreadable))])),
    }
}

/// What finishing or taking back a restore came to.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
    /// `restore`, `undo` or `redo`.
    pub verb: String,
    /// The checkpoint that was to come back, if it still has a row.
    pub target: Option<Checkpoint>,
    /// The state before.
    pub pre_restore: Option<Checkpoint>,
    /// How many files it writes.
    pub written: usize,
    /// How many files it deletes.
    pub deleted: usize,
    /// True if what was written was read back.
    pub verified: bool,
    /// What was left as others had changed it.
    pub aborted: Aborted,
    /// What became of the index, in the word used in JSON; none if it is as before the restore.
    pub index: Option<String>,
    /// The journal could not be read: no file was changed, and all that had been set aside is in these folders.
    pub given_up: Option<Vec<PathBuf>>,
    /// What became of an agent's memory; none if the restore left that alone.
    pub memory: Option<MemoryOutcome>,
}

/// Finishes the interrupted restore of this worktree; none if there is none.
pub fn continue_restore(context: &mut Context, wait: Option<Duration>) -> Result<Option<Recovered>, Error> {
    let limit = limit_of(context, wait);
    let Some(_lock) = save::lock_within(context, limit)? else { return Err(busy(context)?) };
    let recovery = match Recovery::open(&context.repo)? {
        Dead::Nothing => return Ok(None),
        Dead::Restore(recovery) => recovery,
        Dead::Unreadable(unreadable) => return Err(Error::Refused(vec![judge::interrupted(Some(&unreadable))])),
    };
    let mut recovered = describe(context, &recovery)?;
    let purpose = recovery.purpose().clone();
    let objects = Objects::new(context.repo.gix(), Arc::default());
    let applied = match recovery.resume(&context.repo, &objects, limit) {
        Ok(applied) => applied,
        Err(ApplyError::Changed(left)) => {
            return Err(Error::Refused(vec![super::obstacles::changed_after_interruption(&left)]));
        }
        Err(ApplyError::Failed(error, _) | ApplyError::Interrupted(error)) => {
            return Err(Error::Interrupted(Box::new(error.into())));
        }
        Err(ApplyError::IndexLocked) => return Err(index_lock_timeout(context)),
    };
    record(context, &purpose).map_err(|error| Error::Interrupted(Box::new(error)))?;
    recovered.memory = purpose.memory.as_ref().map(memory::continued);
    recovered.verified = applied.verified;
    recovered.aborted.index_left = applied.index_left;
    recovered.index = Some(if applied.index_left { kept() } else { purpose.index });
    recovered.aborted.left.rescued = applied.finish(&context.repo).map_err(|error| Error::Interrupted(Box::new(error.into())))?;
    Ok(Some(recovered))
}

/// Takes the interrupted restore of this worktree back; none if there is none.
pub fn abort_restore(context: &mut Context, wait: Option<Duration>) -> Result<Option<Recovered>, Error> {
    let limit = limit_of(context, wait);
    let Some(_lock) = save::lock_within(context, limit)? else { return Err(busy(context)?) };
    let recovery = match Recovery::open(&context.repo)? {
        Dead::Nothing => return Ok(None),
        Dead::Restore(recovery) => recovery,
        Dead::Unreadable(unreadable) if unreadable.newer => {
            return Err(Error::Refused(vec![judge::interrupted(Some(&unreadable))]));
        }
        Dead::Unreadable(unreadable) => {
            let given_up = Some(unreadable.give_up(&context.repo)?);
            return Ok(Some(Recovered { verb: Verb::Restore.as_str().to_owned(), given_up, ..Recovered::default() }));
        }
    };
    if !recovery.wait_for_index(&context.repo, limit)? {
        return Err(index_lock_timeout(context));
    }
    let mut recovered = describe(context, &recovery)?;
    let purpose = recovery.purpose().clone();
    unrecord(context, &purpose)?;
    recovered.aborted = recovery.take_back(&context.repo).map_err(|error| Error::Interrupted(Box::new(error.into())))?;
    recovered.index = recovered.aborted.index_left.then(kept);
    purpose.memory.iter().for_each(memory::discard);
    Ok(Some(recovered))
}

fn kept() -> String {
    IndexMode::Kept.as_str().to_owned()
}

fn busy(context: &Context) -> Result<Error, Error> {
    Ok(match judge::unfinished(&context.repo)? {
        Some(blocker) => Error::Refused(vec![blocker]),
        None => Error::LockTimeout(context.repo.private_dir().join("lock").display().to_string()),
    })
}

fn describe(context: &Context, recovery: &Recovery) -> Result<Recovered, Error> {
    let purpose = recovery.purpose();
    let find = |id: &str| -> Result<Option<Checkpoint>, Error> {
        let id = CheckpointId::parse(id).ok();
        Ok(id.map(|id| context.store.by_id(&id)).transpose()?.flatten())
    };
    let (written, deleted) = recovery.counts();
    Ok(Recovered {
        verb: purpose.verb.clone(),
        target: find(&purpose.target)?,
        pre_restore: find(&purpose.pre_restore)?,
        written,
        deleted,
        ..Recovered::default()
    })
}

/// Records what the dead process may have recorded already.
fn record(context: &mut Context, purpose: &Purpose) -> Result<(), Error> {
    let pre_restore = CheckpointId::parse(&purpose.pre_restore)?;
    let worktree = context.repo.worktree_id().clone();
    match purpose.row {
        Some(row) if purpose.verb == Verb::Undo.as_str() => context.store.mark_undone(row, &pre_restore)?,
        Some(row) => context.store.mark_redone(row, &pre_restore)?,
        None => {
            let top = context.store.top_undoable(&worktree)?;
            if top.is_none_or(|top| top.pre_restore != pre_restore) {
                let target = CheckpointId::parse(&purpose.target)?;
                context.store.push_restore(&NewRestore {
                    worktree,
                    pre_restore,
                    target,
                    created_at: sys::now_millis(),
                    created: purpose.limited.then(|| purpose.created.clone()),
                    memory: purpose.memory.clone(),
                })?;
            }
        }
    }
    Ok(())
}

/// Takes out what the dead process may have recorded.
fn unrecord(context: &mut Context, purpose: &Purpose) -> Result<(), Error> {
    let (Ok(pre_restore), Ok(target)) = (CheckpointId::parse(&purpose.pre_restore), CheckpointId::parse(&purpose.target)) else {
        return Ok(());
    };
    let worktree = context.repo.worktree_id().clone();
    let rows = context.store.restores(&worktree)?;
    match purpose.row {
        // An undo is recorded by the state it left; without it, the restore counts again.
        Some(row) if purpose.verb == Verb::Undo.as_str() => {
            if let Some(row) = rows.iter().find(|found| found.id == row && found.undone_by.as_ref() == Some(&pre_restore)) {
                context.store.withdraw_undo(row.id)?;
            }
        }
        // A redo left the state that the undo had made, so that is where an undo of the restore leads as before.
        Some(row) => {
            if rows.iter().any(|found| found.id == row && found.undone_by.is_none() && found.pre_restore == pre_restore) {
                context.store.mark_undone(row, &target)?;
            }
        }
        None => {
            if let Some(row) = rows.iter().find(|found| found.pre_restore == pre_restore) {
                context.store.drop_restore(row.id)?;
            }
        }
    }
    Ok(())
}
