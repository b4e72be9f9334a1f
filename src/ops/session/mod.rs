//! Sessions: starting, ending and showing them, and who is at work in them.
//!
//! A session is *open* from `start` to `end`, or as long as the process that it was started for. A *run* is a command at work in
//! a session, open or not. What a row says of a process counts only as long as that very process is alive, so nothing that a
//! crash leaves behind stands in anyone's way.

mod delete;

use std::collections::{BTreeMap, HashSet};

use super::restore::refuse_if_interrupted;
use super::save::{SaveOutcome, SaveRequest, save};
use super::{Context, Error};
use crate::agents::Agent;
use crate::agents::conversation::Homes;
use crate::agents::registry::open_conversations;
use crate::agents::session_key::session_key;
use crate::model::{Blocker, Checkpoint, CheckpointId, Kind, Millis, SessionKey, SessionState, WorktreeId, WorktreeRef};
use crate::store::{Run, Session, SessionCounts, Store};
use crate::sys;
use crate::sys::process::Process;

pub use delete::{DeleteRequest, Deleted, delete};

/// What is to be started.
#[derive(Debug, Clone, Default)]
pub struct StartRequest {
    /// Its key; by default a new one.
    pub key: Option<SessionKey>,
    /// The agent whose conversation it is.
    pub agent: Option<String>,
    /// The process that it lasts as long as.
    pub process: Option<Process>,
}

/// Someone who works in a session at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Active {
    /// The session.
    pub session: SessionKey,
    /// The worktree.
    pub worktree: WorktreeId,
    /// [`SessionState::Pending`] or [`SessionState::Running`].
    pub state: SessionState,
    /// The step, of a run that has one.
    pub step: Option<String>,
    /// The number of the turn, of an agent at work.
    pub turn: Option<u32>,
    /// The agent whose session it is.
    pub agent: Option<String>,
    /// Who.
    pub process: Process,
    /// Since when.
    pub since: Millis,
    /// Whether it ends by itself, or lasts until the session is ended.
    pub is_run: bool,
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    /// Its key.
    pub key: SessionKey,
    /// How far it has come; none if it was never started and only its checkpoints are known.
    pub state: Option<SessionState>,
    /// The agent whose conversation it is.
    pub agent: Option<String>,
    /// Where it takes place.
    pub worktree: WorktreeRef,
    /// The machine it came from; none if it is from here.
    pub origin: Option<String>,
    /// Who is at work in it now.
    pub active: Option<Active>,
    /// When it was started last.
    pub started_at: Option<Millis>,
    /// When it ended, where that is known.
    pub ended_at: Option<Millis>,
    /// Its checkpoints; none if there are none yet.
    pub counts: Option<SessionCounts>,
    /// True if it owns the checkpoints of this worktree for which no session is named.
    pub is_current: bool,
}

/// Starts a session, or goes on with one. Its first state is recorded with [`baseline`].
pub fn start(context: &mut Context, request: &StartRequest) -> Result<SessionReport, Error> {
    refuse_if_interrupted(&context.repo)?;
    context.store.require_writable()?;
    let now = sys::now_millis();
    let key = match (&request.key, &request.agent) {
        (Some(key), _) => key.clone(),
        (None, Some(agent)) => new_key(agent)?,
        (None, None) => new_key(context.repo.worktree_id().as_str())?,
    };
    let known = context.store.session(&key)?;
    let active = active(&context.store)?.into_iter().find(|active| active.session == key);
    if let Some(active) = active.iter().find(|active| active.worktree != *context.repo.worktree_id()) {
        let blocker = super::restore::session_active(&context.repo, active);
        // A session is in one worktree at a time, and nothing can be allowed here.
        let hint = "wait until it is done there, or start a session with another key here".to_owned();
        return Err(Error::Refused(vec![Blocker { hint, ..blocker }]));
    }
    let goes_on = state_of(known.as_ref(), active.as_ref()).is_some_and(|state| state != SessionState::Ended);
    let known = known.as_ref();
    context.store.put_session(&Session {
        key: key.clone(),
        worktree: context.repo.worktree_ref(),
        agent: request.agent.clone().or_else(|| known.and_then(|session| session.agent.clone())),
        conversation: known.and_then(|session| session.conversation.clone()),
        model: known.and_then(|session| session.model.clone()),
        process: request.process.clone().or_else(|| known.and_then(|session| session.process.clone().filter(Process::is_alive))),
        started_at: known.filter(|session| goes_on && session.ended_at.is_none()).map_or(now, |session| session.started_at),
        ended_at: None,
    })?;
    show(context, Some(&key))
}

/// Records the state before the first step or turn of a session, unless the session has begun or its last checkpoint holds that
/// state. Returns the checkpoint if one was made.
pub fn baseline(context: &mut Context, key: &SessionKey) -> Result<Option<Checkpoint>, Error> {
    if context.store.has_begun(key)? {
        return Ok(None);
    }
    let newest = context.store.newest(context.repo.worktree_id())?;
    // A checkpoint of another session is no part of this one, and may be deleted with its own.
    let allow_empty = newest.is_none_or(|newest| newest.session != *key);
    let request = SaveRequest { session: Some(key.clone()), kind: Some(Kind::Baseline), allow_empty, ..SaveRequest::default() };
    match save(context, &request)? {
        SaveOutcome::Captured(checkpoint) => Ok(Some(checkpoint)),
        SaveOutcome::Unchanged(_) | SaveOutcome::Disabled => Ok(None),
    }
}

/// A session after [`end`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The session.
    pub session: SessionReport,
    /// False if it was over before.
    pub was_open: bool,
}

/// Ends a session, by default the one that was started last in this worktree; none if none is open.
pub fn end(context: &mut Context, key: Option<&SessionKey>) -> Result<Option<Ended>, Error> {
    refuse_if_interrupted(&context.repo)?;
    context.store.require_writable()?;
    let session = match key {
        Some(key) => context.store.session(key)?,
        None => last_open(context)?,
    };
    let Some(session) = session else {
        return match key {
            Some(key) => Ok(Some(Ended { session: show(context, Some(key))?, was_open: false })),
            None => Ok(None),
        };
    };
    let was_open = session.ended_at.is_none();
    if was_open {
        let ended_at = Some(sys::now_millis());
        context.store.put_session(&Session { process: None, ended_at, ..session.clone() })?;
    }
    Ok(Some(Ended { session: show(context, Some(&session.key))?, was_open }))
}

/// The session that is ended by default: the last one started here, unless its process is gone and another's is not.
fn last_open(context: &Context) -> Result<Option<Session>, Error> {
    let open = context.store.open_sessions(context.repo.worktree_id())?;
    let lasting = open.iter().find(|session| lasts(session)).or(open.first());
    Ok(lasting.cloned())
}

/// True if an open session was not ended by the end of its process.
fn lasts(session: &Session) -> bool {
    session.process.as_ref().is_none_or(Process::is_alive)
}

/// Everyone who is at work in a session, in any worktree; the last to begin first, and one for each session.
pub fn active(store: &Store) -> Result<Vec<Active>, Error> {
    let mut found: Vec<Active> = Vec::new();
    let started = store.started_sessions()?;
    let agent_of =
        |key: &SessionKey| started.iter().find(|session| session.key == *key).and_then(|session| session.agent.clone());
    // A person can stop an agent without a word to any hook; the agent itself knows that it rests.
    let resting: HashSet<SessionKey> = open_conversations(&Homes::from_env())
        .into_iter()
        .filter(|open| open.is_busy == Some(false))
        .map(|open| session_key(Agent::Claude, &open.conversation))
        .collect();
    let is_at_work = |run: &Run| run.process.is_alive() && !(run.turn.is_some() && resting.contains(&run.session));
    for run in store.runs()?.into_iter().filter(is_at_work) {
        let active = Active {
            agent: agent_of(&run.session),
            session: run.session,
            worktree: run.worktree,
            state: run.state,
            step: run.step,
            turn: run.turn,
            process: run.process,
            since: run.since,
            is_run: true,
        };
        match found.iter_mut().find(|other| other.session == active.session && other.worktree == active.worktree) {
            Some(other) if other.state == SessionState::Pending => *other = active,
            Some(_) => {}
            None => found.push(active),
        }
    }
    // An agent whose hooks tell what it does is at work only while they say so.
    let lasting = |session: &Session| session.ended_at.is_none() && session.conversation.is_none();
    for session in started.iter().filter(|session| lasting(session)).cloned() {
        let Some(process) = session.process.filter(Process::is_alive) else { continue };
        if found.iter().any(|other| other.session == session.key && other.worktree == session.worktree.id) {
            continue;
        }
        found.push(Active {
            session: session.key,
            worktree: session.worktree.id,
            state: SessionState::Running,
            step: None,
            turn: None,
            agent: session.agent,
            process,
            since: session.started_at,
            is_run: false,
        });
    }
    Ok(found)
}

/// All sessions, of this worktree or of every one, the one that was last at work first. Those that came from elsewhere belong to
/// no worktree and are always among them.
pub fn list(context: &Context, all_worktrees: bool) -> Result<Vec<SessionReport>, Error> {
    let mut reports = reports(context)?;
    let here = context.repo.worktree_id();
    reports.retain(|report| all_worktrees || report.origin.is_some() || report.worktree.id == *here);
    Ok(reports)
}

/// One session, by default the one that owns this worktree.
pub fn show(context: &Context, key: Option<&SessionKey>) -> Result<SessionReport, Error> {
    let mut reports = reports(context)?;
    let found = reports.iter().position(|report| key.map_or(report.is_current, |key| report.key == *key));
    match found {
        Some(found) => Ok(reports.swap_remove(found)),
        None => Err(Error::UnknownSession {
            key: key.map(ToString::to_string),
            candidates: reports.into_iter().map(|report| report.key.to_string()).collect(),
        }),
    }
}

fn reports(context: &Context) -> Result<Vec<SessionReport>, Error> {
    let active = active(&context.store)?;
    let started = context.store.started_sessions()?.into_iter().map(|session| (session.key.clone(), session));
    let mut started: BTreeMap<SessionKey, Session> = started.collect();
    let current = current(context)?;
    let mut reports = Vec::new();
    for counts in context.store.session_counts()? {
        let session = started.remove(&counts.key);
        reports.push((session, Some(counts)));
    }
    reports.extend(started.into_values().map(|session| (Some(session), None)));
    let mut reports: Vec<SessionReport> = reports
        .into_iter()
        .filter_map(|(session, counts)| {
            let key = session.as_ref().map(|s| &s.key).or(counts.as_ref().map(|c| &c.key))?.clone();
            let active = active.iter().find(|active| active.session == key);
            let is_current = current.as_ref() == Some(&key);
            report(key, session, counts, active, is_current)
        })
        .collect();
    let last_at = |report: &SessionReport| {
        let of_checkpoints = report.counts.as_ref().map(|counts| counts.last_at);
        [report.started_at, report.ended_at, of_checkpoints].into_iter().flatten().max()
    };
    reports.sort_by(|a, b| (b.active.is_some(), last_at(b)).cmp(&(a.active.is_some(), last_at(a))).then(a.key.cmp(&b.key)));
    Ok(reports)
}

/// None if there is neither a row nor a checkpoint.
fn report(
    key: SessionKey,
    session: Option<Session>,
    counts: Option<SessionCounts>,
    active: Option<&Active>,
    is_current: bool,
) -> Option<SessionReport> {
    let recorded_agent = session.as_ref().and_then(|session| session.agent.clone());
    let place = session.as_ref().map(|session| session.worktree.clone());
    Some(SessionReport {
        key,
        state: state_of(session.as_ref(), active),
        agent: recorded_agent.or_else(|| counts.as_ref().and_then(|counts| counts.agent.clone())),
        origin: if session.is_some() { None } else { counts.as_ref().and_then(|counts| counts.origin.clone()) },
        worktree: place.or_else(|| counts.as_ref().map(|counts| counts.worktree.clone()))?,
        active: active.cloned(),
        started_at: session.as_ref().map(|session| session.started_at),
        ended_at: if active.is_some() { None } else { session.as_ref().and_then(|session| session.ended_at) },
        counts,
        is_current,
    })
}

fn state_of(session: Option<&Session>, active: Option<&Active>) -> Option<SessionState> {
    match (active, session) {
        (Some(active), _) => Some(active.state),
        (None, None) => None,
        (None, Some(session)) if session.ended_at.is_none() && lasts(session) => Some(SessionState::Pending),
        (None, Some(_)) => Some(SessionState::Ended),
    }
}

/// The session that owns this worktree: that of what is at work here, else the last one that was started and not ended, else the
/// worktree's own; none if that does not exist yet.
fn current(context: &Context) -> Result<Option<SessionKey>, Error> {
    let here = context.repo.worktree_id();
    let run = context.store.runs()?.into_iter().find(|run| run.worktree == *here && run.process.is_alive());
    if let Some(run) = run {
        return Ok(Some(run.session));
    }
    let open = context.store.open_sessions(here)?;
    match open.into_iter().find(lasts) {
        Some(session) => Ok(Some(session.key)),
        None => Ok(context.store.default_session(here)?),
    }
}

/// The session that owns this worktree, and with it the checkpoints for which no session is named. Where there is none, one is made
/// up for the worktree: its key is unique, so that the sessions of two machines stay apart when they meet.
pub(super) fn owner(context: &mut Context) -> Result<SessionKey, Error> {
    if let Some(session) = current(context)? {
        return Ok(session);
    }
    let worktree = context.repo.worktree_id().clone();
    let session = new_key(worktree.as_str())?;
    context.store.set_default_session(&worktree, &session)?;
    Ok(session)
}

/// A key that nothing else has, which begins like `text`.
fn new_key(text: &str) -> Result<SessionKey, Error> {
    let plain: String = text
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .take(32)
        .collect();
    let random = CheckpointId::generate(sys::now_millis());
    let plain = plain.trim_matches('-');
    let plain = if plain.is_empty() { "session" } else { plain };
    Ok(SessionKey::parse(&format!("{plain}-{}", &random.as_str()[18..]))?)
}
