//! Taking restores back, and bringing them back again.
//!
//! Both are restores with all their guards: undo brings back the state before the last restore that is not undone, redo the state
//! that the last undo left. Each records the state it leaves, so nothing is lost whichever way one goes.

use super::memory;
use super::restore::{RestoreOutcome, RestoreRequest, RestoreStatus, TakenBack, Task, Verb, refuse_if_interrupted, run};
use super::{Context, Error};
use crate::model::{Blocker, BlockerCode, Checkpoint, CheckpointId};
use crate::store::Restore;

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Back to before the last restore.
    Undo,
    /// Forward again.
    Redo,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        })
    }
}

/// Takes one step; none if there is none to take in that direction. The selector and the paths of the request do not count.
pub fn step(context: &mut Context, direction: Direction, request: &RestoreRequest) -> Result<Option<RestoreOutcome>, Error> {
    if !request.dry_run {
        memory::finish_left(context)?;
    }
    let worktree = context.repo.worktree_id().clone();
    let row = match direction {
        Direction::Undo => context.store.top_undoable(&worktree)?,
        Direction::Redo => context.store.top_redoable(&worktree)?,
    };
    let Some(row) = row else {
        // An interrupted restore is in nobody's list yet, and is what there is to take back.
        refuse_if_interrupted(&context.repo)?;
        return Ok(None);
    };
    let (verb, target, left) = match (direction, &row.undone_by) {
        (Direction::Redo, Some(left)) => (Verb::Redo, left, &row.pre_restore),
        (Direction::Undo, _) | (Direction::Redo, None) => {
            (Verb::Undo, &row.pre_restore, row.redone_to.as_ref().unwrap_or(&row.target))
        }
    };
    let target = context.store.by_id(target)?.ok_or_else(|| gone(direction, target))?;
    if row.memory.as_ref().is_some_and(|change| change.only) {
        return memory::step_alone(context, &row, verb, &target, request).map(Some);
    }
    // What stands there now was put there on the way from the target to `left`.
    let left = context.store.by_id(left)?;
    let taken_back = match (direction, &row.created) {
        // A redo is about the whole worktree, whatever the restore was about.
        (Direction::Undo, Some(created)) if row.redone_to.is_none() => Some(TakenBack::Created(created.clone())),
        _ => left.map(|left| TakenBack::Trees(target.tree, left.tree)),
    };
    let request = RestoreRequest { selector: target.number.to_string(), paths: Vec::new(), ..request.clone() };
    let outcome = run(context, Task { target, verb, row: Some(row.id), taken_back, memory: None, request: &request })?;
    let is_named = !matches!(outcome.status, RestoreStatus::Refused);
    Ok(Some(RestoreOutcome { memory: memory::step(&row, verb).filter(|_| is_named), ..outcome }))
}

/// A restore that can be undone or redone, with the checkpoints it is about.
#[derive(Debug, Clone)]
pub struct Undoable {
    /// The restore.
    pub restore: Restore,
    /// The state that a step leads to; none if that checkpoint is gone.
    pub leads_to: Option<Checkpoint>,
    /// The checkpoint that was restored; none if it is gone.
    pub target: Option<Checkpoint>,
}

/// The steps that can be taken in a direction, the next one first.
pub fn steps(context: &Context, direction: Direction) -> Result<Vec<Undoable>, Error> {
    let mut rows = context.store.restores(context.repo.worktree_id())?;
    rows.retain(|row| row.undone_by.is_none() == (direction == Direction::Undo));
    if direction == Direction::Redo {
        rows.reverse();
    }
    let mut steps = Vec::with_capacity(rows.len());
    for restore in rows {
        let leads_to = context.store.by_id(restore.undone_by.as_ref().unwrap_or(&restore.pre_restore))?;
        let target = context.store.by_id(&restore.target)?;
        steps.push(Undoable { restore, leads_to, target });
    }
    Ok(steps)
}

/// Nothing of ours takes away what an undo needs without that step; a ref that somebody deleted may.
fn gone(direction: Direction, id: &CheckpointId) -> Error {
    let (message, next) = match direction {
        Direction::Undo => (
            format!("the checkpoint that the undo leads to is gone (`{id}`)"),
            "the next undo then goes one restore further back",
        ),
        Direction::Redo => {
            (format!("the checkpoint that the redo leads to is gone (`{id}`)"), "a redo after it can be taken then")
        }
    };
    let hint =
        format!("`git checkpoint doctor --fix` brings it back if its commit is still there, else takes this step out; {next}");
    Error::Refused(vec![Blocker { code: BlockerCode::ObjectsMissing, message, hint }])
}
