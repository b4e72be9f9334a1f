//! A command as a step of a session: what there was before, and what it made.
//!
//! Running the command itself is not part of it, and nothing here may keep it from running.

use super::save::{SaveOutcome, SaveRequest, save};
use super::{Context, Error, session};
use crate::model::{Kind, Millis, SessionKey, SessionState};
use crate::store::{Run, Session};
use crate::sys;
use crate::sys::process::Process;

/// A week, in milliseconds.
const LONG_AGO: Millis = 7 * 24 * 60 * 60 * 1000;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The session; by default the one that owns the worktree.
    pub session: Option<SessionKey>,
    /// The stage that the command is.
    pub step: String,
}

/// A command that is about to run, or runs.
#[derive(Debug, Clone)]
pub struct Begun {
    id: i64,
    session: SessionKey,
}

/// Records that a command is about to run. It counts as long as the calling process is alive, or what [`at_work`] names.
pub fn begin(context: &mut Context, request: &RunRequest) -> Result<Begun, Error> {
    context.store.require_writable()?;
    let session = match &request.session {
        Some(session) => session.clone(),
        None => session::owner(context)?,
    };
    let now = sys::now_millis();
    forget_dead(context, now)?;
    if context.store.session(&session)?.is_none() {
        context.store.put_session(&never_open(context, session.clone(), now))?;
    }
    let run = Run {
        id: 0,
        session: session.clone(),
        worktree: context.repo.worktree_id().clone(),
        step: Some(request.step.clone()),
        turn: None,
        state: SessionState::Pending,
        process: Process::this(),
        since: now,
    };
    Ok(Begun { id: context.store.add_run(&run)?, session })
}

/// A session that lasts only as long as something runs in it.
fn never_open(context: &Context, key: SessionKey, now: Millis) -> Session {
    let worktree = context.repo.worktree_ref();
    Session { key, worktree, agent: None, process: None, conversation: None, model: None, started_at: now, ended_at: Some(now) }
}

/// Takes out what died at work long ago. It counts for nothing here as soon as it is dead; but what is no process here may be one
/// in another container that shares the repository.
fn forget_dead(context: &mut Context, now: Millis) -> Result<(), Error> {
    for run in context.store.runs()?.iter().filter(|run| now - run.since > LONG_AGO && !run.process.is_alive()) {
        context.store.remove_run(run.id)?;
    }
    Ok(())
}

/// Records the state before the command, if it is the first in its session; after that, that the command is at work as this
/// process. It may ask before this process knows its number.
pub fn baseline(context: &mut Context, begun: &Begun) -> Result<(), Error> {
    let saved = session::baseline(context, &begun.session);
    context.store.set_run(begun.id, SessionState::Running, &Process::this(), sys::now_millis())?;
    saved.map(|_| ())
}

/// Records that the command is at work as process `pid`, which may outlive this one.
pub fn at_work(context: &mut Context, begun: &Begun, pid: u32) -> Result<(), Error> {
    // One that has ended already is not at work.
    let Some(process) = Process::of(pid) else { return Ok(()) };
    Ok(context.store.set_run(begun.id, SessionState::Running, &process, sys::now_millis())?)
}

/// Records that the command is over.
pub fn finish(context: &mut Context, begun: &Begun) -> Result<(), Error> {
    context.store.remove_run(begun.id)?;
    let session = context.store.session(&begun.session)?;
    // An open session stays open: its next run may come.
    if let Some(session) = session.filter(|session| session.ended_at.is_some()) {
        context.store.put_session(&Session { ended_at: Some(sys::now_millis()), ..session })?;
    }
    Ok(())
}

/// Records what the command made, if anything.
pub fn capture(context: &mut Context, begun: Option<&Begun>, request: &RunRequest, code: u8) -> Result<SaveOutcome, Error> {
    let request = SaveRequest {
        session: begun.map(|begun| begun.session.clone()).or_else(|| request.session.clone()),
        kind: Some(Kind::Step),
        step: Some(request.step.clone()),
        meta: [("exit_code".to_owned(), code.to_string())].into(),
        ..SaveRequest::default()
    };
    save(context, &request)
}
