//! An agent's memory, brought back along with the files or alone.
//!
//! Order: the fork is written aside and read back, then the files are restored, then the fork gets its name. What a restore does to
//! memory stands in its row of the history, so that `undo` can name the old conversation again and `redo` the new one; neither has
//! to change a file of the agent, for no conversation is ever edited.

pub(super) mod copies;
mod fork;
pub mod travel;

use crate::agents::Agent;
use crate::agents::conversation::{self, MemoryError, Prepared};
use crate::git::os_path;
use crate::model::{Checkpoint, MemoryChange, Thread, What};
use crate::ops::restore::{RestoreOutcome, RestoreRequest, RestoreStatus, Task, Verb, run};
use crate::ops::{Context, Error};
use crate::store::{NewRestore, Restore};
use crate::sys;

/// What became of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryStatus {
    /// A new conversation ends where the turn did.
    Forked,
    /// A conversation that was there is the one to go on with.
    Named,
    /// There was nothing before the turn: a new conversation remembers just that.
    Empty,
    /// It would be forked.
    Planned,
    /// It is as it was.
    Failed,
}

impl MemoryStatus {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryStatus::Forked => "forked",
            MemoryStatus::Named => "named",
            MemoryStatus::Empty => "empty",
            MemoryStatus::Planned => "planned",
            MemoryStatus::Failed => "failed",
        }
    }
}

/// What became of the memory, and how to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOutcome {
    /// How it ended.
    pub status: MemoryStatus,
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The conversation that went on here before.
    pub from: Option<Thread>,
    /// The one to go on with.
    pub to: Option<Thread>,
    /// Why it is as it was: a word for programs, and a sentence.
    pub failure: Option<(&'static str, String)>,
    /// What is known of the copy that it was taken from, where the agent's own file is not what it was.
    pub copy: Option<FromCopy>,
}

/// A copy of a conversation that took the place of the agent's own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromCopy {
    /// How many secrets were taken out of it when it left the machine that it is from.
    pub redacted: u64,
    /// How many parts were left out of it then, because only the account they were made for can read them.
    pub left_out: u64,
}

impl MemoryOutcome {
    fn failed(agent: Option<String>, from: Option<Thread>, error: &MemoryError) -> MemoryOutcome {
        let causes = crate::ops::causes(error).into_iter().map(|cause| format!(": {cause}"));
        let sentence = std::iter::once(error.to_string()).chain(causes).collect();
        let failure = Some((error.code(), sentence));
        MemoryOutcome { status: MemoryStatus::Failed, agent, from, to: None, failure, copy: None }
    }

    fn named(change: &MemoryChange, verb: Verb) -> MemoryOutcome {
        let (from, to) = match verb {
            Verb::Undo => (Some(change.to.clone()), change.from.clone()),
            Verb::Restore | Verb::Redo => (change.from.clone(), Some(change.to.clone())),
        };
        MemoryOutcome { status: MemoryStatus::Named, agent: Some(change.agent.clone()), from, to, failure: None, copy: None }
    }
}

/// Ends what a process left that died between the files and the memory of the last restore of this worktree.
pub(super) fn finish_left(context: &mut Context) -> Result<(), Error> {
    let Some(row) = context.store.top_undoable(context.repo.worktree_id())? else { return Ok(()) };
    match row.memory.as_ref().map(finish) {
        Some(Err(_)) => Ok(context.store.forget_memory(row.id)?),
        Some(Ok(())) | None => Ok(()),
    }
}

/// Brings back the files and memory of `target`, or what of the two the request asks for.
pub(super) fn restore(context: &mut Context, target: Checkpoint, request: &RestoreRequest) -> Result<RestoreOutcome, Error> {
    if !request.dry_run {
        finish_left(context)?;
    }
    let task = |target, memory| Task { target, verb: Verb::Restore, row: None, taken_back: None, memory, request };
    if request.what == What::Code {
        return run(context, task(target, None));
    }
    let plan = fork::plan(context, &target);
    if request.what == What::Both && !request.insists && plan.as_ref().is_err_and(|failed| failed.is_of_no_agent()) {
        return run(context, task(target, None));
    }
    if request.what == What::Memory {
        return memory_only(context, target, request, plan);
    }
    if request.dry_run {
        let outcome = run(context, task(target, None))?;
        return Ok(RestoreOutcome { memory: Some(fork::planned(plan)), ..outcome });
    }
    let (mut memory, ready) = fork::prepare(context, plan);
    let change = ready.as_ref().map(|ready| ready.change.clone());
    let outcome = run(context, task(target, change));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            // A restore that was interrupted needs the fork when it is finished.
            if let (Some(ready), false) = (&ready, matches!(error, Error::Interrupted(_))) {
                ready.discard();
            }
            return Err(error);
        }
    };
    let is_done = matches!(outcome.status, RestoreStatus::Restored | RestoreStatus::Unchanged);
    if !is_done {
        ready.iter().for_each(Ready::discard);
        return Ok(outcome);
    }
    if let Some(ready) = &ready {
        memory = publish(context, ready, outcome.status == RestoreStatus::Restored, &outcome.target)?;
    }
    Ok(with_memory(outcome, memory))
}

fn with_memory(outcome: RestoreOutcome, memory: MemoryOutcome) -> RestoreOutcome {
    let status = if memory.status == MemoryStatus::Failed { RestoreStatus::Partial } else { outcome.status };
    RestoreOutcome { status, memory: Some(memory), ..outcome }
}

/// A fork that waits for the files, with what will be recorded of it.
struct Ready {
    prepared: Option<Prepared>,
    change: MemoryChange,
    outcome: MemoryOutcome,
}

impl Ready {
    fn discard(&self) {
        self.prepared.iter().for_each(Prepared::discard);
    }
}

/// Gives the fork its name and records it: with the files, whose row tells of it already, or alone.
fn publish(context: &mut Context, ready: &Ready, with_files: bool, target: &Checkpoint) -> Result<MemoryOutcome, Error> {
    let published = ready.prepared.as_ref().map_or(Ok(()), |prepared| conversation::publish(&prepared.aside, &prepared.file));
    if let Err(error) = published {
        ready.discard();
        if with_files && let Some(row) = context.store.top_undoable(context.repo.worktree_id())? {
            context.store.forget_memory(row.id)?;
        }
        return Ok(MemoryOutcome::failed(ready.outcome.agent.clone(), ready.outcome.from.clone(), &error));
    }
    if !with_files {
        record_alone(context, ready, target)?;
    }
    Ok(ready.outcome.clone())
}

/// Records a restore that changed no file.
fn record_alone(context: &mut Context, ready: &Ready, target: &Checkpoint) -> Result<(), Error> {
    context.store.push_restore(&NewRestore {
        worktree: context.repo.worktree_id().clone(),
        pre_restore: target.id.clone(),
        target: target.id.clone(),
        created_at: sys::now_millis(),
        created: Some(Vec::new()),
        memory: Some(MemoryChange { only: true, ..ready.change.clone() }),
    })?;
    Ok(())
}

/// Brings back the memory and leaves every file alone.
fn memory_only(
    context: &mut Context,
    target: Checkpoint,
    request: &RestoreRequest,
    plan: Result<fork::Plan, Box<fork::Failed>>,
) -> Result<RestoreOutcome, Error> {
    crate::ops::restore::refuse_if_interrupted(&context.repo)?;
    let outcome =
        |status, memory| RestoreOutcome { memory: Some(memory), ..RestoreOutcome::without_files(&target, Verb::Restore, status) };
    if request.dry_run {
        return Ok(outcome(RestoreStatus::DryRun, fork::planned(plan)));
    }
    context.store.require_writable()?;
    let limit = request.wait.unwrap_or(context.repo.config().lock_timeout);
    let Some(_lock) = crate::ops::save::lock_within(context, limit)? else {
        return Err(Error::LockTimeout(context.repo.private_dir().join("lock").display().to_string()));
    };
    let (memory, ready) = fork::prepare(context, plan);
    let memory = match &ready {
        Some(ready) => publish(context, ready, false, &target)?,
        None => memory,
    };
    // Nothing was changed where it failed.
    let status = if memory.status == MemoryStatus::Failed { RestoreStatus::Refused } else { RestoreStatus::Restored };
    Ok(outcome(status, memory))
}

/// What an undo or redo of `row` does to memory; none if the restore left it alone.
pub(super) fn step(row: &Restore, verb: Verb) -> Option<MemoryOutcome> {
    row.memory.as_ref().map(|change| MemoryOutcome::named(change, verb))
}

/// Undoes or redoes a restore that changed no file.
pub(super) fn step_alone(
    context: &mut Context,
    row: &Restore,
    verb: Verb,
    target: &Checkpoint,
    request: &RestoreRequest,
) -> Result<RestoreOutcome, Error> {
    crate::ops::restore::refuse_if_interrupted(&context.repo)?;
    let status = if request.dry_run { RestoreStatus::DryRun } else { RestoreStatus::Restored };
    if !request.dry_run {
        match verb {
            Verb::Undo => context.store.mark_undone(row.id, &row.pre_restore)?,
            Verb::Restore | Verb::Redo => context.store.mark_redone(row.id, &row.pre_restore)?,
        }
    }
    Ok(RestoreOutcome { memory: step(row, verb), ..RestoreOutcome::without_files(target, verb, status) })
}

/// The memory's part of a restore that was interrupted and is finished now.
pub(super) fn continued(change: &MemoryChange) -> MemoryOutcome {
    match finish(change) {
        Ok(()) => MemoryOutcome { status: MemoryStatus::Forked, ..MemoryOutcome::named(change, Verb::Restore) },
        Err(error) => MemoryOutcome::failed(Some(change.agent.clone()), change.from.clone(), &error),
    }
}

/// Ends what a process left that died between the files and the memory: gives the fork its name.
fn finish(change: &MemoryChange) -> Result<(), MemoryError> {
    let (Some(aside), Some(file)) = (&change.prepared, &change.to.file) else { return Ok(()) };
    let aside = os_path(aside.as_ref());
    match aside.symlink_metadata() {
        Ok(meta) if meta.is_file() => conversation::publish(aside, os_path(file.as_ref())),
        _ => Ok(()),
    }
}

/// Takes away the fork of a restore that was taken back.
pub(super) fn discard(change: &MemoryChange) {
    if let Some(aside) = &change.prepared {
        conversation::discard(os_path(aside.as_ref()));
    }
}

fn agent_of(word: Option<&str>) -> Option<Agent> {
    word.and_then(Agent::parse)
}
