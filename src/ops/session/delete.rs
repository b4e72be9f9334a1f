//! Deleting a session: its checkpoints with their refs and names, and what is known of it. Nothing else.
//!
//! The rows go in one transaction that notes the refs which follow: whoever dies in between leaves notes by which the next removal
//! finishes, and the same command again takes the session itself.

use std::collections::HashSet;

use super::{SessionReport, active, show};
use crate::model::{Blocker, BlockerCode, Checkpoint, SessionKey};
use crate::ops::restore::{Consent, refuse_if_interrupted, session_active};
use crate::ops::retention::{Guard, needed, removal_of, remove};
use crate::ops::{Context, Error};
use crate::store::{Filter, Removal};

/// What is to be deleted.
#[derive(Debug, Clone)]
pub struct DeleteRequest {
    /// The session.
    pub key: SessionKey,
    /// Work everything out and delete nothing.
    pub dry_run: bool,
    /// Whether the person agreed.
    pub consent: Consent,
    /// Blockers that are not to count.
    pub allow: Vec<BlockerCode>,
}

/// What was deleted, or would be.
#[derive(Debug, Clone)]
pub struct Deleted {
    /// The session as it was.
    pub session: SessionReport,
    /// Its checkpoints, newest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// Deletes a session. Refused while something is at work in it, and where an undo needs one of its checkpoints and that is not allowed. A checkpoint that got
/// another name meanwhile stays, and the session with it.
pub fn delete(context: &mut Context, request: &DeleteRequest) -> Result<Deleted, Error> {
    refuse_if_interrupted(&context.repo)?;
    // Nothing is captured, restored or taken away in any worktree from before the judgement until it is done.
    let guard = if request.dry_run { None } else { Some(Guard::wait(context)?) };
    let session = show(context, Some(&request.key))?;
    let mut blockers: Vec<Blocker> = active(&context.store)?
        .iter()
        .filter(|active| active.session == request.key)
        .map(|active| session_active(&context.repo, active))
        .collect();
    // There is no way around it here.
    blockers.iter_mut().for_each(|blocker| blocker.hint = "wait until it is over, or end it, and delete the session then".into());
    if request.consent == Consent::Missing && !request.dry_run {
        blockers.push(confirmation_required(&request.key));
    }
    if !blockers.is_empty() {
        return Err(Error::Refused(blockers));
    }
    let filter = Filter { session: Some(request.key.clone()), ..Filter::default() };
    let mut checkpoints = context.store.list(&filter)?;
    let needed = needed(context, &checkpoints, &request.allow)?;
    if !needed.is_empty() {
        return Err(Error::Refused(needed));
    }
    if let Some(guard) = guard {
        let removals: Vec<Removal> = checkpoints.iter().map(removal_of).collect();
        let removed: HashSet<_> = remove(context, &guard, &removals, &[])?.into_iter().collect();
        let all = checkpoints.len();
        checkpoints.retain(|checkpoint| removed.contains(&checkpoint.id));
        if checkpoints.len() == all {
            context.store.forget_session(&request.key)?;
        }
    }
    Ok(Deleted { session, checkpoints })
}

fn confirmation_required(key: &SessionKey) -> Blocker {
    Blocker {
        code: BlockerCode::ConfirmationRequired,
        message: format!("deleting session `{key}` takes its checkpoints with it, and nobody is there to be asked"),
        hint: "look with `--dry-run`, then give `--yes`".into(),
    }
}
