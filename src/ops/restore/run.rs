//! One restore, undo or redo from its request to its outcome.

use std::time::Duration;

use super::created::created_if_limited;
use super::prepare::{Prepared, all_obstacles, attributes, prepare};
use super::{HeadMoved, RestoreOutcome, RestoreRequest, RestoreStatus, judge, obstacles};
use crate::git::restore::{ApplyError, Begun, Contents, IndexMode, Left, Originals, Purpose, Session, drop_unknown_originals};
use crate::git::snapshot::{Keep, Snapshot};
use crate::git::{GitError, facts};
use crate::model::{BString, Blocker, BlockerCode, Checkpoint, CheckpointId, Kind, MemoryChange, ObjectId};
use crate::ops::save::{self, SaveRequest};
use crate::ops::tidy::tidy;
use crate::ops::{Context, Error};
use crate::store::{NewRestore, StoreError};
use crate::sys;

/// Which command is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// To a checkpoint.
    Restore,
    /// Back to before the last restore.
    Undo,
    /// Forward again.
    Redo,
}

impl Verb {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Restore => "restore",
            Verb::Undo => "undo",
            Verb::Redo => "redo",
        }
    }
}

/// What is to be done.
pub(in crate::ops) struct Task<'a> {
    pub(in crate::ops) target: Checkpoint,
    pub(in crate::ops) verb: Verb,
    /// The row of the restore that is undone or redone.
    pub(in crate::ops) row: Option<i64>,
    /// What the last restore did that this one takes back.
    pub(in crate::ops) taken_back: Option<TakenBack>,
    /// What becomes of an agent's memory once the files are done.
    pub(in crate::ops) memory: Option<MemoryChange>,
    pub(in crate::ops) request: &'a RestoreRequest,
}

/// How what a restore created is found out.
pub(in crate::ops) enum TakenBack {
    /// It went from the first of these trees to the second.
    Trees(ObjectId, ObjectId),
    /// It created these paths.
    Created(Vec<BString>),
}

/// Carries out a task.
pub(in crate::ops) fn run(context: &mut Context, task: Task<'_>) -> Result<RestoreOutcome, Error> {
    let blockers = judge::judge(context, &task.target, task.request)?;
    if task.request.dry_run || !blockers.is_empty() {
        return preview(context, &task, blockers);
    }
    context.store.require_writable()?;
    let limit = task.request.wait.unwrap_or(context.repo.config().lock_timeout);
    let Some(_lock) = save::lock_within(context, limit)? else {
        return match judge::unfinished(&context.repo)? {
            Some(blocker) => Ok(RestoreOutcome { timed_out: true, ..refused(&task, vec![blocker]) }),
            None => Err(Error::LockTimeout(context.repo.private_dir().join("lock").display().to_string())),
        };
    };
    let blockers = judge::judge_again(context, task.request)?;
    if !blockers.is_empty() {
        return Ok(refused(&task, blockers));
    }
    let session = match Session::begin(&context.repo, sys::now_millis(), limit)? {
        Begun::Session(session) => *session,
        Begun::IndexLocked => {
            // Whoever waited for it in vain is to know what else would have been in the way.
            let outcome = preview(context, &task, vec![judge::index_locked(&context.repo)])?;
            let timed_out = !limit.is_zero() && outcome.blockers.len() == 1;
            return Ok(RestoreOutcome { timed_out, ..outcome });
        }
    };
    carry_out(context, &task, session)
}

/// Why a restore of `target` would be refused now; without one, what would stop a restore of any checkpoint.
pub fn blockers_now(context: &Context, target: Option<&Checkpoint>, request: &RestoreRequest) -> Result<Vec<Blocker>, Error> {
    let Some(target) = target else {
        let mut blockers = judge::judge_worktree(context, request)?;
        blockers.extend(lock_of_others(context, &blockers));
        return Ok(blockers);
    };
    let blockers = judge::judge(context, target, request)?;
    let task = Task { target: target.clone(), verb: Verb::Restore, row: None, taken_back: None, memory: None, request };
    preview(context, &task, blockers).map(|outcome| outcome.blockers)
}

/// A held `index.lock`. The lock of a restore that did not end is part of it: nobody is to remove that by hand.
fn lock_of_others(context: &Context, blockers: &[Blocker]) -> Option<Blocker> {
    let unfinished = [BlockerCode::RestoreInProgress, BlockerCode::RestoreInterrupted];
    let is_ours = blockers.iter().any(|blocker| unfinished.contains(&blocker.code));
    let is_held = || context.repo.git_dir().join("index.lock").symlink_metadata().is_ok();
    (!is_ours && is_held()).then(|| judge::index_locked(&context.repo))
}

/// Everything that can be told without changing anything.
fn preview(context: &Context, task: &Task<'_>, mut blockers: Vec<Blocker>) -> Result<RestoreOutcome, Error> {
    blockers.extend(lock_of_others(context, &blockers));
    let mut outcome = match prepare(context, task, Keep::Memory)? {
        Err(found) => {
            blockers.extend(found);
            refused(task, Vec::new())
        }
        Ok(mut prepared) => {
            let objects = prepared.snapshot.objects(&context.repo);
            blockers.extend(all_obstacles(context, task, &objects, &mut prepared.plan, &prepared.kept_edits)?);
            describe(context, task, &prepared)?
        }
    };
    blockers.sort_by_key(|blocker| blocker.code);
    blockers.dedup();
    outcome.blockers = blockers;
    outcome.status = if task.request.dry_run { RestoreStatus::DryRun } else { RestoreStatus::Refused };
    Ok(outcome)
}

/// From the locks to the end.
fn carry_out(context: &mut Context, task: &Task<'_>, mut session: Session) -> Result<RestoreOutcome, Error> {
    let mut prepared = match prepare(context, task, Keep::Objects)? {
        Ok(prepared) => prepared,
        Err(blockers) => return Ok(refused(task, blockers)),
    };
    let mut outcome = describe(context, task, &prepared)?;
    let objects = prepared.snapshot.objects(&context.repo);
    if !prepared.plan.obstacles.is_empty() {
        let blockers = all_obstacles(context, task, &objects, &mut prepared.plan, &prepared.kept_edits)?;
        return Ok(RestoreOutcome { status: RestoreStatus::Refused, blockers, ..outcome });
    }
    if prepared.plan.is_empty() && prepared.edits.is_empty() {
        return Ok(RestoreOutcome { status: RestoreStatus::Unchanged, ..outcome });
    }
    let plan = std::mem::take(&mut prepared.plan);
    let contents = Contents {
        tree: task.target.tree,
        before: prepared.snapshot.tree,
        attributes: attributes(task, &prepared.kept_edits),
        ignored_rules: &prepared.snapshot.ignored_rules(),
        originals: &Originals::of(&context.repo, task.target.id.as_str())?,
    };
    let nothing_changed = |error: GitError| Error::TakenBack { source: Box::new(error.into()), left: Left::default() };
    let failures = session.stage(&context.repo, &objects, plan, &contents).map_err(nothing_changed)?;
    if !failures.is_empty() {
        let blockers = obstacles::blockers_of_failures(&failures);
        return Ok(RestoreOutcome { status: RestoreStatus::Refused, blockers, ..outcome });
    }
    let pre_restore = match record_state_before(context, task, &mut prepared.snapshot) {
        Ok(checkpoint) => checkpoint,
        Err(error) => {
            let blockers = vec![obstacles::pre_restore_failed(&error)];
            return Ok(RestoreOutcome { status: RestoreStatus::Refused, blockers, ..outcome });
        }
    };
    let purpose = Purpose {
        target: task.target.id.to_string(),
        pre_restore: pre_restore.id.to_string(),
        verb: task.verb.as_str().to_owned(),
        row: task.row,
        limited: !task.request.is_whole(),
        index: prepared.index.as_str().to_owned(),
        created: created_if_limited(task, &outcome).unwrap_or_default(),
        memory: task.memory.clone(),
    };
    let edits = (prepared.index != IndexMode::Kept).then_some(prepared.edits);
    let snapshot = &prepared.snapshot;
    let applied = session.apply(&context.repo, &objects, purpose, edits, &|path| snapshot.entry(path));
    let applied = match applied {
        Ok(applied) => applied,
        Err(ApplyError::Changed(left)) => {
            let blockers = vec![obstacles::changed_meanwhile(&left)];
            let (status, rescued) = (RestoreStatus::Refused, left.rescued);
            return Ok(RestoreOutcome { status, blockers, rescued, pre_restore: Some(pre_restore), ..outcome });
        }
        Err(ApplyError::Failed(error, left)) => return Err(Error::TakenBack { source: Box::new(error.into()), left }),
        Err(ApplyError::Interrupted(error)) => return Err(Error::Interrupted(Box::new(error.into()))),
        Err(ApplyError::IndexLocked) => return Err(index_lock_timeout(context)),
    };
    outcome.verified = applied.verified;
    if let Err(error) = record_row(context, task, &pre_restore, &outcome) {
        if let Error::Store(StoreError::Uncertain { .. }) = error {
            // The row may stand: then the files have to. When the database can be written again, both ways are open.
            return Err(Error::Interrupted(Box::new(error)));
        }
        return Err(match applied.take_back(&context.repo) {
            Ok(left) => Error::TakenBack { source: Box::new(error), left },
            Err(_) => Error::Interrupted(Box::new(error)),
        });
    }
    outcome.rescued = applied.finish(&context.repo).map_err(|error| Error::Interrupted(Box::new(error.into())))?;
    let store = &context.store;
    drop_unknown_originals(&context.repo, |id| {
        CheckpointId::parse(id).is_ok_and(|id| store.by_id(&id).map_or(true, |found| found.is_some()))
    });
    tidy(context, pre_restore.number);
    Ok(RestoreOutcome { status: RestoreStatus::Restored, pre_restore: Some(pre_restore), ..outcome })
}

fn record_state_before(context: &mut Context, task: &Task<'_>, snapshot: &mut Snapshot) -> Result<Checkpoint, Error> {
    let message = match task.verb {
        Verb::Restore => format!("before the restore of {}", task.target.number),
        Verb::Undo => "before an undo".to_owned(),
        Verb::Redo => "before a redo".to_owned(),
    };
    let request = SaveRequest { message: Some(message), kind: Some(Kind::PreRestore), ..SaveRequest::default() };
    save::record(context, snapshot, &request)
}

fn record_row(context: &mut Context, task: &Task<'_>, pre_restore: &Checkpoint, outcome: &RestoreOutcome) -> Result<(), Error> {
    match (task.verb, task.row) {
        (Verb::Undo, Some(row)) => context.store.mark_undone(row, &pre_restore.id)?,
        (Verb::Redo, Some(row)) => context.store.mark_redone(row, &pre_restore.id)?,
        (Verb::Restore, _) | (Verb::Undo | Verb::Redo, None) => {
            context.store.push_restore(&NewRestore {
                worktree: context.repo.worktree_id().clone(),
                pre_restore: pre_restore.id.clone(),
                target: task.target.id.clone(),
                created_at: sys::now_millis(),
                created: created_if_limited(task, outcome),
                memory: task.memory.clone(),
            })?;
        }
    }
    Ok(())
}

fn describe(context: &Context, task: &Task<'_>, prepared: &Prepared) -> Result<RestoreOutcome, Error> {
    let (written, deleted) = prepared.plan.counts();
    Ok(RestoreOutcome {
        written,
        deleted,
        kept: prepared.plan.kept.clone(),
        index: prepared.index,
        plan: prepared.plan.steps().map(|step| (step.kind, step.path.to_owned())).collect(),
        head_moved: head_moved(context, task, &prepared.snapshot.head)?,
        ..refused(task, Vec::new())
    })
}

fn head_moved(context: &Context, task: &Task<'_>, head: &facts::Head) -> Result<Option<HeadMoved>, Error> {
    if head.id == task.target.head {
        return Ok(None);
    }
    let commits = facts::commits_since(&context.repo, head.id, task.target.head)?;
    Ok(Some(HeadMoved { branch: head.branch.clone(), head: head.id, commits }))
}

fn refused(task: &Task<'_>, blockers: Vec<Blocker>) -> RestoreOutcome {
    let index = if task.request.keep_index { IndexMode::Kept } else { IndexMode::Captured };
    RestoreOutcome { blockers, index, ..RestoreOutcome::without_files(&task.target, task.verb, RestoreStatus::Refused) }
}

/// Others held `index.lock` for longer than was to be waited.
pub(super) fn index_lock_timeout(context: &Context) -> Error {
    Error::LockTimeout(context.repo.git_dir().join("index.lock").display().to_string())
}

/// How long to wait for locks in a task that has no request of its own.
pub(super) fn limit_of(context: &Context, wait: Option<Duration>) -> Duration {
    wait.unwrap_or(context.repo.config().lock_timeout)
}
