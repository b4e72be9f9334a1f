//! Which conversation a checkpoint belongs to, and the fork of it that ends there.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::copies::{self, Assembled};
use super::{FromCopy, MemoryOutcome, MemoryStatus, Ready, agent_of};
use crate::agents::Agent;
use crate::agents::conversation::{Conversation, ForkOptions, Homes, MemoryError, Prepared, Side, Wanted, resume_command};
use crate::git::os_path;
use crate::model::{Boundary, Checkpoint, Kind, MemoryChange, SessionKey, Thread};
use crate::ops::{Context, Error};
use crate::store::Filter;

/// A fork that can be made.
pub(super) struct Plan {
    agent: Agent,
    source: Source,
    session: SessionKey,
    boundary: Boundary,
    wanted: Wanted,
    side: Side,
    options: ForkOptions,
    from: Option<Thread>,
}

/// What it is made from.
enum Source {
    /// The agent's own file.
    File(Conversation),
    /// A copy, because the file is gone.
    Copy(Box<Assembled>),
}

/// Why none can.
pub(super) struct Failed {
    agent: Option<String>,
    from: Option<Thread>,
    error: MemoryError,
}

impl Failed {
    /// True if the checkpoint belongs to no conversation at all.
    pub(super) fn is_of_no_agent(&self) -> bool {
        matches!(self.error, MemoryError::NoBoundary(_))
    }
}

impl Source {
    fn copy(&self) -> Option<FromCopy> {
        match self {
            Source::File(_) => None,
            Source::Copy(copy) => Some(FromCopy { redacted: copy.redacted, left_out: copy.left_out }),
        }
    }
}

impl Plan {
    /// Writes the fork aside; none if nothing comes before. A file that does not hold the turn any more gives way to the copy.
    fn write(&mut self, context: &Context) -> Result<Option<Prepared>, MemoryError> {
        if let Source::File(conversation) = &self.source {
            match conversation.prepare(&self.wanted, self.side, &self.options) {
                Err(error) if is_of_the_file(&error) => {
                    match copies::assemble(context, self.agent, &self.session, &self.boundary) {
                        Ok(Some(copy)) => self.source = Source::Copy(Box::new(copy)),
                        Ok(None) | Err(_) => return Err(error),
                    }
                }
                done => return done,
            }
        }
        let conversation = match &self.source {
            Source::File(conversation) => conversation,
            Source::Copy(copy) => &copy.conversation,
        };
        // A copy is whole by its own ids; what was recorded of the file does not hold for it.
        conversation.prepare(&Wanted { prefix: None, ..self.wanted.clone() }, self.side, &self.options)
    }
}

/// True if the file is at fault, and a copy may not be.
fn is_of_the_file(error: &MemoryError) -> bool {
    match error {
        MemoryError::TranscriptGone(_)
        | MemoryError::NotAFile(_)
        | MemoryError::PrefixMismatch(_)
        | MemoryError::BoundaryMissing(_)
        | MemoryError::UnknownFormat(..) => true,
        MemoryError::NoBoundary(_)
        | MemoryError::CodeOnly(_)
        | MemoryError::NoPlace(_)
        | MemoryError::NotVerified(_)
        | MemoryError::Io { .. } => false,
    }
}

/// Finds the conversation of a checkpoint.
pub(super) fn plan(context: &Context, target: &Checkpoint) -> Result<Plan, Box<Failed>> {
    let nothing = |agent: Option<String>, error| Box::new(Failed { agent, from: None, error });
    let unknown = |_: Error| nothing(target.agent.clone(), MemoryError::NoBoundary(target.number));
    let holder = holder(context, target).map_err(unknown)?;
    let Some((checkpoint, boundary)) = holder else {
        return Err(nothing(target.agent.clone(), MemoryError::NoBoundary(target.number)));
    };
    let Some(agent) = agent_of(checkpoint.agent.as_deref()) else {
        return Err(nothing(checkpoint.agent.clone(), MemoryError::NoBoundary(target.number)));
    };
    let from = current(context, agent, &boundary).map_err(unknown)?;
    // What came from another machine names a place on that one.
    let recorded = boundary.transcript.as_ref().filter(|_| checkpoint.origin.is_none());
    let recorded = recorded.map(|path| os_path(path.as_ref()).to_owned());
    let found = Conversation::find(agent, &Homes::from_env(), &boundary.conversation, recorded.as_deref());
    let session = checkpoint.session.clone();
    let source = match found {
        Ok(conversation) => Source::File(conversation),
        Err(error) => match copies::assemble(context, agent, &session, &boundary) {
            Ok(Some(copy)) => Source::Copy(Box::new(copy)),
            Ok(None) | Err(_) => return Err(Box::new(Failed { agent: Some(agent.to_string()), from, error })),
        },
    };
    // All other kinds were made before the turn that they name.
    let side = if checkpoint.kind == Kind::Turn { Side::After } else { Side::Before };
    Ok(Plan {
        agent,
        source,
        session,
        wanted: Wanted {
            turn_id: boundary.turn_id.clone(),
            prompt: boundary.prompt.clone(),
            completed_at: checkpoint.completed_at.or(Some(checkpoint.created_at)),
            prefix: boundary.offset.zip(boundary.prefix_sha256.clone()),
        },
        side,
        options: ForkOptions {
            title: format!("(checkpoint {})", target.number),
            model: boundary.model.clone(),
            permission_mode: boundary.permission_mode.clone(),
        },
        from,
        boundary,
    })
}

/// The checkpoint whose place in a conversation is that of `target`: itself, or the last of its session before it that has one.
fn holder(context: &Context, target: &Checkpoint) -> Result<Option<(Checkpoint, Boundary)>, Error> {
    if let Some(boundary) = &target.boundary {
        return Ok(Some((target.clone(), boundary.clone())));
    }
    let filter = Filter { session: Some(target.session.clone()), ..Filter::default() };
    let before = context.store.list(&filter)?.into_iter().filter(|other| other.created_at <= target.created_at);
    let holder = before.filter(|other| other.boundary.is_some()).max_by_key(|other| (other.created_at, other.number));
    Ok(holder.and_then(|holder| holder.boundary.clone().map(|boundary| (holder, boundary))))
}

/// The conversation that goes on in this worktree: the one that the last restore led to, unless the agent spoke in one since; the
/// one of `boundary` where nothing tells.
fn current(context: &Context, agent: Agent, boundary: &Boundary) -> Result<Option<Thread>, Error> {
    let here = context.repo.worktree_id();
    let filter =
        Filter { worktree: Some(here.clone()), kinds: vec![Kind::Turn, Kind::TurnStart, Kind::Baseline], ..Filter::default() };
    let spoken = context
        .store
        .list(&filter)?
        .into_iter()
        .filter(|one| one.origin.is_none() && one.agent.as_deref() == Some(agent.as_str()));
    let spoken = spoken.filter_map(|one| one.boundary.clone().map(|boundary| (one.created_at, boundary))).next();
    let restored = context.store.top_undoable(here)?.and_then(|row| row.memory.map(|change| (row.created_at, change.to)));
    if let Some((at, to)) = restored
        && spoken.as_ref().is_none_or(|(spoken_at, _)| *spoken_at <= at)
    {
        return Ok(Some(to));
    }
    Ok(Some(thread(agent, spoken.as_ref().map_or(boundary, |(_, boundary)| boundary))))
}

/// The conversation of a place in it, with how to go on with it.
fn thread(agent: Agent, boundary: &Boundary) -> Thread {
    Thread {
        conversation: boundary.conversation.clone(),
        resume: resume_command(agent, &boundary.conversation, boundary.model.as_deref(), boundary.permission_mode.as_deref()),
        file: boundary.transcript.clone(),
    }
}

/// What would become of the memory.
pub(super) fn planned(plan: Result<Plan, Box<Failed>>) -> MemoryOutcome {
    match plan {
        Ok(plan) => MemoryOutcome {
            status: MemoryStatus::Planned,
            agent: Some(plan.agent.to_string()),
            from: plan.from,
            to: None,
            failure: None,
            copy: plan.source.copy(),
        },
        Err(failed) => MemoryOutcome::failed(failed.agent, failed.from, &failed.error),
    }
}

/// Writes the fork aside. Without one the outcome says why.
pub(super) fn prepare(context: &Context, plan: Result<Plan, Box<Failed>>) -> (MemoryOutcome, Option<Ready>) {
    let mut plan = match plan {
        Ok(plan) => plan,
        Err(failed) => return (MemoryOutcome::failed(failed.agent, failed.from, &failed.error), None),
    };
    let agent = plan.agent.to_string();
    let prepared = match plan.write(context) {
        Ok(prepared) => prepared,
        Err(error) => return (MemoryOutcome::failed(Some(agent), plan.from, &error), None),
    };
    let bytes = |path: &Path| path.as_os_str().as_bytes().into();
    let to = match &prepared {
        Some(prepared) => Thread {
            conversation: prepared.conversation.clone(),
            resume: prepared.resume.clone(),
            file: Some(bytes(&prepared.file)),
        },
        // A conversation that nothing was said in is a new one.
        None => Thread { conversation: String::new(), resume: vec![plan.agent.program().to_owned()], file: None },
    };
    let status = if prepared.is_some() { MemoryStatus::Forked } else { MemoryStatus::Empty };
    let outcome = MemoryOutcome {
        status,
        agent: Some(agent.clone()),
        from: plan.from.clone(),
        to: Some(to.clone()),
        failure: None,
        copy: plan.source.copy(),
    };
    let aside = prepared.as_ref().map(|prepared| bytes(&prepared.aside));
    let change = MemoryChange { agent, from: plan.from, to, prepared: aside, only: false };
    (outcome.clone(), Some(Ready { prepared, change, outcome }))
}
