//! Conversations on their way to another machine: copies of the copies, without what is secret or bound to an account.
//!
//! They are made anew for each journey and are the same each time, so that what is there already is not sent again.

use std::collections::BTreeMap;

use super::agent_of;
use crate::agents::Agent;
use crate::agents::redact::{leave_out_encrypted, redact};
use crate::agents::session_key::session_key;
use crate::git::memory_chain::{self, Link};
use crate::git::{GitError, refs};
use crate::model::{Checkpoint, MemoryCopy, ObjectId, SessionKey};
use crate::ops::{Context, Error};

/// Whether secrets are taken out of what leaves the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrets {
    /// They are.
    #[default]
    TakenOut,
    /// They go along.
    Kept,
}

/// A conversation that is ready to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The session that it is of.
    pub session: SessionKey,
    /// Where its ref is to lead.
    pub tip: ObjectId,
    /// The commits that come after it, where the conversation goes further than what is sent.
    pub later: Vec<ObjectId>,
    /// How many secrets were taken out.
    pub redacted: u64,
    /// How many parts were left out that only the account can read that they were made for.
    pub left_out: u64,
}

/// The conversations that some checkpoints are of, each up to the last turn among them.
pub(in crate::ops) fn outgoing(context: &Context, checkpoints: &[Checkpoint], secrets: Secrets) -> Result<Vec<Outgoing>, Error> {
    let mut turns: BTreeMap<&SessionKey, Vec<Option<&String>>> = BTreeMap::new();
    for checkpoint in checkpoints {
        let turn = checkpoint.boundary.as_ref().and_then(|boundary| boundary.turn_id.as_ref());
        turns.entry(&checkpoint.session).or_default().push(turn);
    }
    let mut found = Vec::new();
    for (session, turns) in turns {
        let Some(tip) = refs::read(&context.repo, &memory_chain::ref_of(session))? else { continue };
        let links = memory_chain::chain(&context.repo.gix(), tip)?;
        let is_sent = |link: &Link| turns.contains(&link.copy.turn_id.as_ref());
        let last = links.iter().position(is_sent).unwrap_or(0);
        let ready = made_ready(context, links, secrets)?;
        let (later, sent) = ready.split_at(last.min(ready.len()));
        let Some(tip) = sent.first() else { continue };
        found.push(Outgoing {
            session: session.clone(),
            tip: tip.id,
            later: later.iter().map(|link| link.id).collect(),
            redacted: sent.iter().map(|link| link.copy.redacted).sum(),
            left_out: sent.iter().map(|link| link.copy.left_out).sum(),
        });
    }
    Ok(found)
}

/// The chain as it leaves the machine, newest first. What came from another goes on as it came.
fn made_ready(context: &Context, links: Vec<Link>, secrets: Secrets) -> Result<Vec<Link>, Error> {
    if links.iter().all(|link| link.copy.travels) {
        return Ok(links);
    }
    let gix = context.repo.gix();
    let mut copies = Vec::new();
    for link in links.iter().rev() {
        let piece = memory_chain::piece(&gix, link)?;
        if link.copy.travels {
            copies.push((link.copy.clone(), piece, link.made_at));
            continue;
        }
        let (piece, left_out) = leave_out_encrypted(&piece);
        let (piece, redacted) = if secrets == Secrets::TakenOut { redact(&piece) } else { (piece, 0) };
        copies.push((MemoryCopy { travels: true, redacted, left_out, ..link.copy.clone() }, piece, link.made_at));
    }
    let tip = memory_chain::write(&context.repo, &copies)?;
    Ok(tip.map(|tip| memory_chain::chain(&gix, tip)).transpose()?.unwrap_or_default())
}

/// A conversation that came in; the inner error says why it is none.
pub(in crate::ops) fn check(gix: &gix::Repository, name: &str, id: ObjectId) -> Result<Result<SessionKey, String>, Error> {
    let Some(session) = memory_chain::session_of(name) else { return Ok(Err(format!("`{name}` names no session"))) };
    let links = match memory_chain::chain(gix, id) {
        Ok(links) => links,
        Err(GitError::ObjectMissing(_)) => return Ok(Err(format!("`{name}` is not whole"))),
        Err(error) => return Err(error.into()),
    };
    let is_of_it = |link: &Link| {
        let agent = agent_of(Some(&link.copy.agent));
        agent.is_some_and(|agent: Agent| session_key(agent, &link.copy.conversation) == session)
    };
    if memory_chain::whole(&links).is_none() || !links.iter().all(is_of_it) {
        return Ok(Err(format!("`{name}` holds no conversation of that session")));
    }
    Ok(Ok(session))
}

/// Takes a conversation in that was checked. True if it was not here before. One that this machine keeps itself, or that goes further
/// than what came, stays.
pub(in crate::ops) fn take_in(context: &Context, session: &SessionKey, id: ObjectId) -> Result<bool, Error> {
    let name = memory_chain::ref_of(session);
    let known = refs::read(&context.repo, &name)?;
    let goes_on = match known {
        Some(known) if known == id => return Ok(false),
        Some(known) => memory_chain::chain(&context.repo.gix(), id)?.iter().any(|link| link.id == known),
        None => true,
    };
    if goes_on {
        refs::set(&context.repo, &name, id)?;
    }
    Ok(goes_on)
}
