//! Deleting a session: its checkpoints with their refs and names, and what is known of it. Nothing else.
//!
//! A checkpoint loses its names, then its ref, then its row. Whoever dies in between leaves rows that say what is still to be
//! deleted: the same command again ends it.

use std::collections::BTreeSet;

use super::{SessionReport, active, show};
use crate::git::{Repo, refs};
use crate::model::{Blocker, BlockerCode, Checkpoint, CheckpointId, SessionKey};
use crate::ops::restore::{Consent, refuse_if_interrupted, session_active};
use crate::ops::save::lock;
use crate::ops::{Context, Error};
use crate::store::Filter;

/// What is to be deleted.
#[derive(Debug, Clone)]
pub struct DeleteRequest {
    /// The session.
    pub key: SessionKey,
    /// Work everything out and delete nothing.
    pub dry_run: bool,
    /// Whether the person agreed.
    pub consent: Consent,
}

/// What was deleted, or would be.
#[derive(Debug, Clone)]
pub struct Deleted {
    /// The session as it was.
    pub session: SessionReport,
    /// Its checkpoints, newest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// Deletes a session. Refused while something is at work in it, and where an undo needs one of its checkpoints.
pub fn delete(context: &mut Context, request: &DeleteRequest) -> Result<Deleted, Error> {
    refuse_if_interrupted(&context.repo)?;
    let session = show(context, Some(&request.key))?;
    if !request.dry_run {
        context.store.require_writable()?;
    }
    // Nothing is captured or restored in this worktree meanwhile.
    let _lock = if request.dry_run { None } else { Some(lock(context)?) };
    let mut blockers: Vec<Blocker> =
        active(&context.store)?.iter().filter(|active| active.session == request.key).map(session_active).collect();
    // There is no way around it here.
    blockers.iter_mut().for_each(|blocker| blocker.hint = "wait until it is over, or end it, and delete the session then".into());
    if request.consent == Consent::Missing && !request.dry_run {
        blockers.push(confirmation_required(&request.key));
    }
    if !blockers.is_empty() {
        return Err(Error::Refused(blockers));
    }
    let filter = Filter { session: Some(request.key.clone()), ..Filter::default() };
    let checkpoints = context.store.list(&filter)?;
    let needed = needed_by_undo(context, &checkpoints)?;
    if !needed.is_empty() {
        return Err(Error::NeededByUndo(needed));
    }
    if !request.dry_run {
        for checkpoint in &checkpoints {
            delete_checkpoint(context, checkpoint)?;
        }
        context.store.forget_session(&request.key)?;
    }
    Ok(Deleted { session, checkpoints })
}

fn delete_checkpoint(context: &mut Context, checkpoint: &Checkpoint) -> Result<(), Error> {
    let repo = &context.repo;
    let names = checkpoint.names.iter().map(|name| refs::name_ref(name));
    let originals = format!("{}{}", refs::ORIGINALS, checkpoint.id);
    for name in names.chain([originals, checkpoint.ref_name()]) {
        refs::delete(repo, &name, None)?;
    }
    context.store.delete(&checkpoint.id)?;
    Ok(())
}

/// The numbers of those of `checkpoints` that an undo or a redo leads to or goes by, in any worktree that is still there, or that a
/// restore which did not end is about.
fn needed_by_undo(context: &Context, checkpoints: &[Checkpoint]) -> Result<Vec<u64>, Error> {
    let worktrees = context.repo.worktrees();
    let mut needed: BTreeSet<CheckpointId> = BTreeSet::new();
    for restore in context.store.all_restores()? {
        // The directory of one that the environment placed is known only there.
        let is_there = restore.worktree.mark().is_some() || worktrees.iter().any(|known| known.id == restore.worktree);
        if is_there {
            needed.extend([restore.pre_restore, restore.target].into_iter().chain(restore.undone_by).chain(restore.redone_to));
        }
    }
    let journals = journals(&context.repo);
    let is_needed = |id: &CheckpointId| needed.contains(id) || journals.iter().any(|journal| journal.contains(id.as_str()));
    Ok(checkpoints.iter().filter(|checkpoint| is_needed(&checkpoint.id)).map(|checkpoint| checkpoint.number).collect())
}

/// The journals of restores of all worktrees, as text: the ids in them are all that matters here.
fn journals(repo: &Repo) -> Vec<String> {
    let below = |folder: &std::path::Path| {
        let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut git_dirs = below(&repo.common_dir().join("worktrees"));
    git_dirs.push(repo.common_dir().to_owned());
    let folders = git_dirs.iter().map(|git_dir| git_dir.join("checkpoint"));
    let folders = folders.flat_map(|folder| below(&folder).into_iter().chain([folder]).collect::<Vec<_>>());
    folders.filter_map(|folder| std::fs::read_to_string(folder.join("restore.json")).ok()).collect()
}

fn confirmation_required(key: &SessionKey) -> Blocker {
    Blocker {
        code: BlockerCode::ConfirmationRequired,
        message: format!("deleting session `{key}` takes its checkpoints with it, and nobody is there to be asked"),
        hint: "look with `--dry-run`, then give `--yes`".into(),
    }
}
