//! Undo and redo: each step leads to a checkpoint that is there.

use std::collections::HashMap;

use gix::ObjectId;

use super::refs::add;
use super::{ProblemCode, Report};
use crate::git::{commit, refs};
use crate::model::{Checkpoint, CheckpointId};
use crate::ops::{Context, Error};
use crate::store::Restore;

pub(super) fn examine(context: &mut Context, fix: bool, report: &mut Report) -> Result<(), Error> {
    let mut broken: Vec<Restore> = Vec::new();
    for row in context.store.all_restores()? {
        if context.store.by_id(leads_to(&row))?.is_none() && !is_about_to_be_added(context, leads_to(&row))? {
            broken.push(row);
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    let mut unheld = unheld(context, &broken)?;
    for row in broken {
        let verb = if row.undone_by.is_some() { "a redo" } else { "an undo" };
        let message = format!("the checkpoint that {verb} leads to is gone (`{}`)", leads_to(&row));
        match unheld.remove(leads_to(&row)) {
            Some((id, checkpoint, origin)) => {
                let way = ("makes its ref and its row again: its commit is there", "made again from its commit");
                report.mendable(fix, (ProblemCode::UndoBroken, message), way, || {
                    refs::create(&context.repo, &checkpoint.ref_name(), id)?;
                    add(context, checkpoint, origin)
                })?;
            }
            None => {
                let way = ("takes that step out: its commit is gone too", "that step was taken out: its commit is gone too");
                let store = &mut context.store;
                report.mendable(fix, (ProblemCode::UndoBroken, message), way, || Ok(store.forget_restore(row.id)?))?;
            }
        }
    }
    Ok(())
}

/// The state that the next step over this restore brings back.
fn leads_to(row: &Restore) -> &CheckpointId {
    row.undone_by.as_ref().unwrap_or(&row.pre_restore)
}

/// True if a ref holds the checkpoint: it has only lost its row, which was told before.
fn is_about_to_be_added(context: &Context, id: &CheckpointId) -> Result<bool, Error> {
    let ending = format!("/{id}");
    Ok(refs::list(&context.repo, refs::CHECKPOINTS)?.iter().any(|(name, _)| name.ends_with(&ending)))
}

/// The checkpoints that the steps lead to and of which only the commit is left.
fn unheld(context: &Context, broken: &[Restore]) -> Result<HashMap<CheckpointId, (ObjectId, Checkpoint, String)>, Error> {
    let mut found = HashMap::new();
    for id in commit::all(&context.repo)? {
        if let Ok(Ok((checkpoint, origin))) = commit::read(&context.repo.gix(), id)
            && broken.iter().any(|row| *leads_to(row) == checkpoint.id)
        {
            found.insert(checkpoint.id.clone(), (id, checkpoint, origin));
        }
    }
    Ok(found)
}
