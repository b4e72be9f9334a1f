//! What follows from an event that a coding agent tells of.
//!
//! A turn begins with what the person changed since the last one (`turn-start`, or the `baseline` of the session), and ends with
//! what the agent did (`turn`). In between a run marks the session as at work. All of it is done with the worktree's lock, so that
//! an event that is told twice, or together with another, finds what the first has left. What binds an event to a turn is the
//! agent's own id of it: one that comes late changes nothing of the turns after it.
//!
//! Whatever cannot be captured, that a turn began or ended is recorded all the same.

mod moment;

use crate::agents::Agent;
use crate::agents::hooks::Meaning;
use crate::agents::payload::Payload;
use crate::agents::session_key::session_key;
use crate::git::lock::WorktreeLock;
use crate::model::{Kind, Millis, SessionKey, SessionState, TurnEnd};
use crate::store::{Run, Session, Turn};
use crate::sys;

use super::save::{SaveRequest, lock, save_under};
use super::{Context, Error, memory};

/// An agent without ids for its turns that tells the same beginning again within this time means the same turn.
const SAME_BEGINNING: Millis = 10_000;

/// An event.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Whose.
    pub agent: Agent,
    /// What it means.
    pub meaning: Meaning,
    /// The agent's word for it.
    pub word: &'a str,
    /// What the agent said.
    pub payload: Payload,
}

/// Does what follows from an event.
pub fn handle(context: &mut Context, event: &Event<'_>) -> Result<(), Error> {
    context.store.require_writable()?;
    context.store.note_event(event.agent.as_str(), event.word, sys::now_millis())?;
    // Whatever an agent within the agent does is part of the turn of the one that started it.
    if event.payload.is_subagent {
        return Ok(());
    }
    let key = session_key(event.agent, &event.payload.conversation);
    match event.meaning {
        Meaning::SessionStart => session_start(context, event, &key),
        Meaning::TurnStart => turn_start(context, event, &key),
        Meaning::TurnEnd => turn_end(context, event, &key, end_of(event)),
        Meaning::TurnFailed => turn_end(context, event, &key, TurnEnd::Failed),
        Meaning::TurnInterrupted => turn_end(context, event, &key, TurnEnd::Interrupted),
        Meaning::SessionEnd => session_end(context, &key),
        Meaning::Nothing => Ok(()),
    }
}

fn end_of(event: &Event<'_>) -> TurnEnd {
    match event.payload.status.as_deref() {
        Some("aborted" | "cancelled" | "interrupted") => TurnEnd::Interrupted,
        Some("error" | "failed") => TurnEnd::Failed,
        _ => TurnEnd::Done,
    }
}

fn session_start(context: &mut Context, event: &Event<'_>, key: &SessionKey) -> Result<(), Error> {
    open_session(context, event, key)?;
    memory::copies::settle(context, key)?;
    // A conversation is made shorter in the middle of a turn too.
    let goes_on = event.payload.source.as_deref() == Some("compact");
    if goes_on || context.store.open_turn(key)?.is_none() {
        return Ok(());
    }
    let lock = lock(context)?;
    close_open_turn(context, &lock, key, TurnEnd::Inferred)
}

fn turn_start(context: &mut Context, event: &Event<'_>, key: &SessionKey) -> Result<(), Error> {
    // Without the lock nothing can be captured, but that the agent is at work is to be known all the more.
    let lock = lock(context);
    if is_known_beginning(context, event, key)? {
        return Ok(());
    }
    open_session(context, event, key)?;
    let settled = memory::copies::settle(context, key);
    let captured = match &lock {
        Ok(lock) => {
            close_open_turn(context, lock, key, TurnEnd::Inferred).and_then(|()| capture_beginning(context, lock, event, key))
        }
        Err(_) => Ok(()),
    };
    let now = sys::now_millis();
    let boundary = moment::at_beginning(context, event, key)?;
    let turn_id = event.payload.turn_id.as_deref();
    let number = context.store.begin_turn(key, turn_id, now, boundary.as_ref())?;
    context.store.remove_turn_runs(key, number)?;
    context.store.add_run(&Run {
        id: 0,
        session: key.clone(),
        worktree: context.repo.worktree_id().clone(),
        step: None,
        turn: Some(number),
        state: SessionState::Running,
        // Where nobody knows who the agent is, nobody can tell when it is gone: this process ends soon, and blocks no one.
        process: moment::agent_process(event.agent).unwrap_or_else(sys::process::Process::this),
        since: now,
    })?;
    lock?;
    captured.and(settled)
}

/// True if this very beginning was told already, or even the end of the turn.
fn is_known_beginning(context: &Context, event: &Event<'_>, key: &SessionKey) -> Result<bool, Error> {
    let store = &context.store;
    if let Some(id) = &event.payload.turn_id {
        return Ok(store.turn_by_id(key, id)?.is_some() || store.has_turn_checkpoint(key, id)?);
    }
    let prompt = event.payload.prompt.as_deref().map(moment::prompt_to_keep);
    let is_same = |turn: &Turn| {
        let has_prompt = turn.boundary.as_ref().is_none_or(|boundary| boundary.prompt == prompt);
        turn.turn_id.is_none() && has_prompt && sys::now_millis() - turn.started_at < SAME_BEGINNING
    };
    Ok(store.open_turn(key)?.as_ref().is_some_and(is_same))
}

/// Records what the person changed since the last turn, and the state before the first.
fn capture_beginning(context: &mut Context, lock: &WorktreeLock, event: &Event<'_>, key: &SessionKey) -> Result<(), Error> {
    let is_first = !context.store.has_begun(key)?;
    let newest = context.store.newest(context.repo.worktree_id())?;
    // A checkpoint of another session is no part of this one, and may be deleted with its own.
    let allow_empty = is_first && newest.is_none_or(|newest| newest.session != *key);
    let request = SaveRequest {
        session: Some(key.clone()),
        kind: Some(if is_first { Kind::Baseline } else { Kind::TurnStart }),
        turn: if is_first { None } else { Some(context.store.next_turn(key)?) },
        allow_empty,
        boundary: moment::at_beginning(context, event, key)?,
        ..SaveRequest::default()
    };
    save_under(context, lock, &request).map(|_| ())
}

fn turn_end(context: &mut Context, event: &Event<'_>, key: &SessionKey, end: TurnEnd) -> Result<(), Error> {
    let lock = lock(context);
    let number = match ended_turn(context, event, key)? {
        Ended::Already { number, again: false } => number,
        Ended::Already { number, again: true } => {
            let boundary = moment::at_end(context, event, key, None, end)?;
            let request = SaveRequest { turn_only_if_changed: true, turn: Some(number), ..turn_request(key, boundary.clone()) };
            save_under(context, &lock?, &request)?;
            return keep_memory(context, key, boundary);
        }
        Ended::Now(turn) => {
            open_session(context, event, key)?;
            let recorded = match &lock {
                Ok(lock) => record_turn(context, lock, Some(event), &turn, end),
                Err(_) => Ok(()),
            };
            context.store.remove_turn_runs(key, turn.number)?;
            lock?;
            return recorded;
        }
    };
    // Nothing is left of a turn that is over.
    Ok(context.store.remove_turn_runs(key, number)?)
}

/// What the end of a turn is the end of.
enum Ended {
    /// A turn whose end is recorded; it may have gone on since.
    Already { number: u32, again: bool },
    /// A turn whose end is not.
    Now(Box<Turn>),
}

fn ended_turn(context: &mut Context, event: &Event<'_>, key: &SessionKey) -> Result<Ended, Error> {
    let store = &mut context.store;
    let open = store.open_turn(key)?;
    let turn_id = event.payload.turn_id.as_deref();
    let known = match turn_id {
        Some(id) => store.turn_by_id(key, id)?.or_else(|| open.filter(|turn| turn.turn_id.is_none())),
        None => open,
    };
    match known {
        Some(turn) if turn.recorded_at.is_none() => return Ok(Ended::Now(Box::new(turn))),
        Some(turn) => return Ok(Ended::Already { number: turn.number, again: event.payload.goes_on }),
        None => {}
    }
    let last = store.next_turn(key)?.saturating_sub(1);
    match turn_id {
        // The database is newer than the turn.
        Some(id) if store.has_turn_checkpoint(key, id)? => {
            return Ok(Ended::Already { number: last, again: event.payload.goes_on });
        }
        // No turn is open and none is named: it is the last one that is over, if there was one.
        None if last > 0 => return Ok(Ended::Already { number: last, again: true }),
        _ => {}
    }
    // Nothing told of its beginning, or something that nobody had an ear for.
    let now = sys::now_millis();
    let number = store.begin_turn(key, turn_id, now, None)?;
    let (session, turn_id) = (key.clone(), turn_id.map(str::to_owned));
    let turn = Turn { session, number, turn_id, started_at: now, recorded_at: None, boundary: None };
    Ok(Ended::Now(Box::new(turn)))
}

/// Records the end of a turn that nothing told of.
fn close_open_turn(context: &mut Context, lock: &WorktreeLock, key: &SessionKey, end: TurnEnd) -> Result<(), Error> {
    let Some(turn) = context.store.open_turn(key)? else { return Ok(()) };
    let recorded = record_turn(context, lock, None, &turn, end);
    context.store.remove_turn_runs(key, turn.number)?;
    recorded
}

/// Records the end of `turn`, and that it is recorded.
fn record_turn(
    context: &mut Context,
    lock: &WorktreeLock,
    event: Option<&Event<'_>>,
    turn: &Turn,
    end: TurnEnd,
) -> Result<(), Error> {
    let key = &turn.session;
    let boundary = match event {
        Some(event) => moment::at_end(context, event, key, Some(turn), end)?,
        None => moment::when_closed(turn, end),
    };
    save_under(context, lock, &SaveRequest { turn: Some(turn.number), ..turn_request(key, boundary.clone()) })?;
    context.store.turn_recorded(key, turn.number, sys::now_millis())?;
    keep_memory(context, key, boundary)
}

/// Keeps a copy of what was said, with which the memory can be brought back where the agent's own file is gone.
fn keep_memory(context: &Context, key: &SessionKey, boundary: Option<crate::model::Boundary>) -> Result<(), Error> {
    let agent = context.store.session(key)?.and_then(|session| Agent::parse(session.agent.as_deref()?));
    match agent.zip(boundary) {
        Some((agent, boundary)) => memory::copies::keep(context, agent, key, &boundary).map(|_| ()),
        None => Ok(()),
    }
}

fn turn_request(key: &SessionKey, boundary: Option<crate::model::Boundary>) -> SaveRequest {
    SaveRequest { session: Some(key.clone()), kind: Some(Kind::Turn), boundary, ..SaveRequest::default() }
}

/// An agent may be killed soon after it said this, and this process with it: what matters most comes first.
fn session_end(context: &mut Context, key: &SessionKey) -> Result<(), Error> {
    let Some(session) = context.store.session(key)? else { return Ok(()) };
    let is_open = session.ended_at.is_none();
    let ended_at = session.ended_at.or(Some(sys::now_millis()));
    if is_open {
        context.store.put_session(&Session { process: None, ended_at, ..session })?;
    }
    context.store.remove_turn_runs(key, u32::MAX)?;
    memory::copies::settle(context, key)?;
    if context.store.open_turn(key)?.is_none() {
        return Ok(());
    }
    let lock = lock(context)?;
    close_open_turn(context, &lock, key, TurnEnd::SessionEnd)
}

/// Records that the conversation is open, here, and as long as the agent's process.
fn open_session(context: &mut Context, event: &Event<'_>, key: &SessionKey) -> Result<(), Error> {
    let known = context.store.session(key)?;
    let known = known.as_ref();
    let is_open = known.is_some_and(|session| session.ended_at.is_none());
    let session = Session {
        key: key.clone(),
        worktree: context.repo.worktree_ref(),
        agent: Some(event.agent.as_str().to_owned()),
        process: moment::agent_process(event.agent),
        conversation: Some(event.payload.conversation.clone()),
        model: event.payload.model.clone().or_else(|| known.and_then(|session| session.model.clone())),
        started_at: known.filter(|_| is_open).map_or_else(sys::now_millis, |session| session.started_at),
        ended_at: None,
    };
    if known != Some(&session) {
        context.store.put_session(&session)?;
    }
    Ok(())
}
