//! Who the agent is, and where in its conversation an event is: put together from what the event, the session and the beginning of
//! the turn tell.

use std::path::Path;

use super::Event;
use crate::agents::Agent;
use crate::agents::prefix::prefix_of;
use crate::agents::redact::redact_text;
use crate::git::os_path;
use crate::model::{Boundary, BoundaryState, ByteSlice, SessionKey, TurnEnd, excerpt};
use crate::ops::{Context, Error};
use crate::store::Turn;
use crate::sys;
use crate::sys::process::Process;

/// What stands between an agent and its hook: shells, what starts programs for them, and git.
const BETWEEN: [&str; 14] =
    ["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "env", "timeout", "nice", "setsid", "git", "git-checkpoint"];

/// The process of the agent that called.
pub(super) fn agent_process(agent: Agent) -> Option<Process> {
    let told = match agent {
        Agent::Claude => sys::env::text("CLAUDE_PID").and_then(|pid| Process::of(pid.parse().ok()?)),
        Agent::Codex | Agent::Gemini | Agent::OpenCode | Agent::Cursor | Agent::Copilot => None,
    };
    told.or_else(|| Process::above_this(&BETWEEN))
}

/// The place before a turn. None where such places are not to be kept.
pub(super) fn at_beginning(context: &Context, event: &Event<'_>, key: &SessionKey) -> Result<Option<Boundary>, Error> {
    if !context.repo.config().memory {
        return Ok(None);
    }
    Ok(Some(with_prefix(told(context, event, key)?)))
}

/// The place at the end of a turn.
pub(super) fn at_end(
    context: &Context,
    event: &Event<'_>,
    key: &SessionKey,
    turn: Option<&Turn>,
    end: TurnEnd,
) -> Result<Option<Boundary>, Error> {
    if !context.repo.config().memory {
        return Ok(None);
    }
    let now = told(context, event, key)?;
    let then = turn.and_then(|turn| turn.boundary.clone()).unwrap_or_default();
    let boundary = Boundary {
        end: Some(end),
        turn_id: now.turn_id.or(then.turn_id),
        prompt: then.prompt,
        agent_version: now.agent_version.or(then.agent_version),
        model: now.model.or(then.model),
        provider: now.provider.or(then.provider),
        permission_mode: now.permission_mode.or(then.permission_mode),
        approval_policy: now.approval_policy.or(then.approval_policy),
        sandbox: now.sandbox.or(then.sandbox),
        cwd: now.cwd.or(then.cwd),
        transcript: now.transcript.or(then.transcript),
        ..now
    };
    Ok(Some(with_prefix(boundary)))
}

/// The place where a turn is taken to have ended. The transcript may tell of more by now.
pub(super) fn when_closed(turn: &Turn, end: TurnEnd) -> Option<Boundary> {
    turn.boundary.clone().map(|then| with_prefix(Boundary { end: Some(end), ..then }))
}

/// The beginning of a prompt without secrets. More than can be kept is looked at, so that none is cut in two.
pub(super) fn prompt_to_keep(prompt: &str) -> String {
    const LOOKED_AT: usize = 2000;
    excerpt(&redact_text(&prompt.chars().take(LOOKED_AT).collect::<String>()))
}

fn told(context: &Context, event: &Event<'_>, key: &SessionKey) -> Result<Boundary, Error> {
    let payload = event.payload.clone();
    let known = context.store.session(key)?.and_then(|session| session.model);
    let told = Boundary {
        state: BoundaryState::Missing,
        conversation: payload.conversation,
        turn_id: payload.turn_id,
        end: None,
        // It stands in the checkpoint, which may be pushed without the conversation.
        prompt: payload.prompt.as_deref().map(prompt_to_keep),
        agent_version: payload.version,
        model: payload.model.or(known),
        provider: payload.provider,
        permission_mode: payload.permission_mode,
        approval_policy: payload.approval_policy,
        sandbox: payload.sandbox,
        cwd: payload.cwd.map(Into::into),
        transcript: payload.transcript.map(Into::into),
        offset: None,
        prefix_sha256: None,
    };
    Ok(told.clipped())
}

/// With what the transcript holds at this moment.
fn with_prefix(boundary: Boundary) -> Boundary {
    let path = boundary.transcript.as_ref().map(|path| os_path(path.as_bstr()).to_owned());
    match path.and_then(|path| prefix_of(Path::new(&path)).ok()) {
        Some(prefix) => Boundary {
            state: BoundaryState::Provisional,
            offset: Some(prefix.offset),
            prefix_sha256: Some(prefix.sha256),
            ..boundary
        },
        None => Boundary { state: BoundaryState::Missing, offset: None, prefix_sha256: None, ..boundary },
    }
}
