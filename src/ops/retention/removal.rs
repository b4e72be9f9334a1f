//! The taking away itself, whoever decided about it.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use crate::git::lock::{RepositoryLock, WorktreeLock};
use crate::git::ref_deletion::RefDeletion;
use crate::git::restore::drop_originals;
use crate::git::worktree_dirs::{lock_others, private_dirs};
use crate::git::{GitError, memory_chain, refs};
use crate::model::{CheckpointId, ObjectId, SessionKey, WorktreeId};
use crate::ops::restore::refuse_or_clear;
use crate::ops::{Context, Error, save};
use crate::store::{Removal, Store};
use crate::sys::fault;
use crate::sys::progress::{self, Phase};

/// How long to wait for a git command that changes refs.
const REFS_WAIT: Duration = Duration::from_secs(2);

/// While it lives nothing is captured, restored or taken away anywhere in the repository.
pub(in crate::ops) struct Guard {
    _repository: RepositoryLock,
    _own: Option<WorktreeLock>,
    _others: Vec<WorktreeLock>,
}

impl Guard {
    /// Waits for all locks, as long as `checkpoint.lockTimeout` says for each kind; refuses if a restore of this worktree was
    /// interrupted.
    pub(in crate::ops) fn wait(context: &mut Context) -> Result<Guard, Error> {
        context.store.require_writable()?;
        progress::begin(Phase::Wait, 0);
        let limit = context.repo.config().lock_timeout;
        let repository = RepositoryLock::acquire(&context.repo, limit)?;
        let repository =
            repository.ok_or_else(|| Error::LockTimeout(RepositoryLock::path(&context.repo).display().to_string()))?;
        let own = save::lock_within(context, limit)?.ok_or_else(|| {
            let path = context.repo.private_dir().join("lock");
            Error::LockTimeout(path.display().to_string())
        })?;
        refuse_or_clear(&context.repo, &own)?;
        let others = lock_others(&context.repo, limit)?.map_err(|path| Error::LockTimeout(path.display().to_string()))?;
        Ok(Guard { _repository: repository, _own: Some(own), _others: others })
    }

    /// Takes the locks that are free beside that of this worktree, which the caller has; none if one is not.
    pub(super) fn try_take(context: &Context, _own: &WorktreeLock) -> Result<Option<Guard>, Error> {
        let Some(repository) = RepositoryLock::try_acquire(&context.repo)? else { return Ok(None) };
        let others = lock_others(&context.repo, Duration::ZERO)?;
        Ok(others.ok().map(|others| Guard { _repository: repository, _own: None, _others: others }))
    }
}

/// Takes checkpoints away, with what is kept for them. One that got another name meanwhile stays. Returns those that went.
pub(in crate::ops) fn remove(
    context: &mut Context,
    _guard: &Guard,
    removals: &[Removal],
    gone: &[WorktreeId],
) -> Result<Vec<CheckpointId>, Error> {
    progress::begin(Phase::Tidy, 0);
    let applied = context.store.limits_applied()?;
    let Context { repo, store, .. } = context;
    // Taken before the rows go, so that a git command that holds it leaves everything as it is.
    let deletion = begin(repo)?;
    let removed = store.begin_removal(removals, gone)?;
    if finish(repo, store, deletion)? {
        store.set_limits_applied(applied.unwrap_or_default())?;
    }
    Ok(removed)
}

/// Finishes what a process left that died while it took checkpoints away.
pub(super) fn finish_left(context: &mut Context, _guard: &Guard) -> Result<(), Error> {
    let Context { repo, store, .. } = context;
    if !store.unfinished_removals()?.is_empty() {
        let deletion = begin(repo)?;
        finish(repo, store, deletion)?;
    }
    Ok(())
}

fn begin(repo: &crate::git::Repo) -> Result<RefDeletion<'_>, Error> {
    let lock = repo.common_dir().join("packed-refs.lock");
    RefDeletion::begin(repo, REFS_WAIT)?.ok_or_else(|| Error::LockTimeout(lock.display().to_string()))
}

/// Deletes the refs that are noted, and what is kept for their checkpoints. True if nothing is left to be done.
fn finish(repo: &crate::git::Repo, store: &mut Store, deletion: RefDeletion<'_>) -> Result<bool, Error> {
    let noted = store.unfinished_removals()?;
    let ids: HashSet<String> =
        noted.iter().filter(|(name, _)| name.starts_with(refs::CHECKPOINTS)).filter_map(|(name, _)| id_in(name)).collect();
    let mut wanted = noted.clone();
    let is_of_them = |name: &str| id_in(name).is_some_and(|id| ids.contains(&id));
    wanted.extend(refs::list(repo, refs::ORIGINALS)?.into_iter().filter(|(name, _)| is_of_them(name)));
    wanted.extend(memory_without_checkpoints(repo, store, &noted)?);
    let gone: HashSet<String> = deletion.run(&wanted)?.into_iter().collect();
    for folder in private_dirs(repo) {
        drop_originals(&folder, |id| ids.contains(id));
    }
    fault::point().map_err(|source| GitError::io("note what is gone in", repo.shared_dir(), source))?;
    // Those of which something is left are tried again.
    let left: HashSet<String> =
        wanted.iter().filter(|(name, _)| !gone.contains(name)).filter_map(|(name, _)| id_in(name)).collect();
    let is_left = |name: &String| !gone.contains(name) || id_in(name).is_some_and(|id| left.contains(&id));
    let done: Vec<String> = noted.into_iter().map(|(name, _)| name).filter(|name| !is_left(name)).collect();
    store.end_removal(&done)?;
    Ok(store.unfinished_removals()?.is_empty())
}

/// The copies of conversations of which no checkpoint is left, of those that the noted refs are of.
fn memory_without_checkpoints(
    repo: &crate::git::Repo,
    store: &Store,
    noted: &[(String, ObjectId)],
) -> Result<Vec<(String, ObjectId)>, Error> {
    let session = |name: &str| SessionKey::parse(name.strip_prefix(refs::CHECKPOINTS)?.split('/').next()?).ok();
    let sessions: BTreeSet<SessionKey> = noted.iter().filter_map(|(name, _)| session(name)).collect();
    let mut found = Vec::new();
    for session in sessions {
        let name = memory_chain::ref_of(&session);
        if store.newest_of_session(&session)?.is_none()
            && let Some(id) = refs::read(repo, &name)?
        {
            found.push((name, id));
        }
    }
    Ok(found)
}

/// The last part of a ref's name.
fn id_in(name: &str) -> Option<String> {
    name.rsplit('/').next().map(str::to_owned)
}
