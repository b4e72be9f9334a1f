//! Who is at work in the worktree that a restore would change under them.

use jiff::Timestamp;

use crate::agents::Agent;
use crate::agents::conversation::Homes;
use crate::agents::inside;
use crate::agents::registry::{Open, open_conversations};
use crate::agents::session_key::session_key;
use crate::git::{Repo, os_path};
use crate::model::{Blocker, BlockerCode, SessionKey, SessionState};
use crate::ops::Error;
use crate::ops::session::{Active, active};
use crate::store::Store;

/// A reason for each session that is at work in this worktree, and another where it is that session that asks for the restore.
pub(super) fn blockers(repo: &Repo, store: &Store) -> Result<Vec<Blocker>, Error> {
    let mut blockers = Vec::new();
    let mut here: Vec<Active> = active(store)?.into_iter().filter(|active| active.worktree == *repo.worktree_id()).collect();
    here.extend(without_hooks(repo, &here));
    for active in &here {
        blockers.push(session_active(repo, active));
        if active.process.is_above_this() {
            blockers.push(running_inside(&active.session, &format!(" (process {})", active.process.pid)));
        }
    }
    // An agent whose process is not above this one tells its commands all the same where they run.
    for (agent, conversation) in inside::conversations() {
        let key = session_key(agent, &conversation);
        let is_told = here.iter().any(|active| active.session == key && active.process.is_above_this());
        let is_of_here = store.session(&key)?.is_some_and(|session| session.worktree.id == *repo.worktree_id());
        if is_of_here && !is_told {
            blockers.push(running_inside(&key, ""));
        }
    }
    Ok(blockers)
}

/// Agents that say themselves that they are at work in this worktree, and of which no hook told.
fn without_hooks(repo: &Repo, known: &[Active]) -> Vec<Active> {
    let top = repo.top().canonicalize().unwrap_or_else(|_| repo.top().to_owned());
    let others = repo.worktrees().into_iter().filter(|other| other.id != *repo.worktree_id());
    let others: Vec<_> = others.map(|other| os_path(&other.path).to_owned()).filter(|other| other.starts_with(&top)).collect();
    let is_here = |open: &Open| {
        let directory = open.directory.canonicalize().unwrap_or_else(|_| open.directory.clone());
        directory.starts_with(&top) && !others.iter().any(|other| directory.starts_with(other))
    };
    let busy = open_conversations(&Homes::from_env()).into_iter().filter(|open| open.is_busy == Some(true) && is_here(open));
    let busy = busy.map(|open| Active {
        session: session_key(Agent::Claude, &open.conversation),
        worktree: repo.worktree_id().clone(),
        state: SessionState::Running,
        step: None,
        turn: None,
        agent: Some(Agent::Claude.to_string()),
        process: open.process,
        since: open.since,
        is_run: true,
    });
    busy.filter(|open| !known.iter().any(|active| active.session == open.session)).collect()
}

/// A session that is at work, here or in another worktree. The way out is that of a restore, which asks about this worktree alone.
pub fn session_active(repo: &Repo, active: &Active) -> Blocker {
    let Active { session, state, process, since, .. } = active;
    let since = Timestamp::from_millisecond(*since).unwrap_or(Timestamp::UNIX_EPOCH);
    let step = active.step.as_ref().map(|step| format!(" (step `{step}`)"));
    let stage = step.or_else(|| active.turn.map(|turn| format!(" (turn {turn})"))).unwrap_or_default();
    let who = active.agent.as_ref().map(|agent| format!("{agent}, ")).unwrap_or_default();
    let way_out = match active.is_run {
        true => "wait until it is done".to_owned(),
        false => format!("wait until it is done, or end it with `git checkpoint session end {session}`"),
    };
    let other = repo.worktrees().into_iter().find(|other| other.id == active.worktree && other.id != *repo.worktree_id());
    let place = match (other, active.worktree == *repo.worktree_id()) {
        (Some(other), _) => format!("the worktree `{}`", other.path),
        (None, true) => "this worktree".to_owned(),
        (None, false) => format!("the worktree `{}`", active.worktree),
    };
    Blocker {
        code: BlockerCode::SessionActive,
        message: format!("session `{session}`{stage} is {state} in {place}: {who}process {}, since {since:.0}", process.pid),
        hint: format!("{way_out}, or give `--allow session-active`"),
    }
}

fn running_inside(session: &SessionKey, process: &str) -> Blocker {
    Blocker {
        code: BlockerCode::RunningInsideAgent,
        message: format!("this command runs inside session `{session}`{process}, whose files it would change"),
        hint: "run it in another terminal when the session is over, or give `--allow running-inside-agent`".into(),
    }
}
