//! Who is at work in the worktree that a restore would change under them.

use jiff::Timestamp;

use crate::git::Repo;
use crate::model::{Blocker, BlockerCode};
use crate::ops::Error;
use crate::ops::session::{Active, active};
use crate::store::Store;

/// A reason for each session that is at work in this worktree, and another where it is that session that asks for the restore.
pub(super) fn blockers(repo: &Repo, store: &Store) -> Result<Vec<Blocker>, Error> {
    let mut blockers = Vec::new();
    for active in active(store)?.iter().filter(|active| active.worktree == *repo.worktree_id()) {
        blockers.push(session_active(active));
        if active.process.is_above_this() {
            blockers.push(running_inside(active));
        }
    }
    Ok(blockers)
}

/// A session that is at work.
pub fn session_active(active: &Active) -> Blocker {
    let Active { session, state, process, since, .. } = active;
    let since = Timestamp::from_millisecond(*since).unwrap_or(Timestamp::UNIX_EPOCH);
    let step = active.step.as_ref().map(|step| format!(" (step `{step}`)"));
    let stage = step.or_else(|| active.turn.map(|turn| format!(" (turn {turn})"))).unwrap_or_default();
    let who = active.agent.as_ref().map(|agent| format!("{agent}, ")).unwrap_or_default();
    let way_out = match active.is_run {
        true => "wait until it is done".to_owned(),
        false => format!("wait until it is done, or end it with `git checkpoint session end {session}`"),
    };
    Blocker {
        code: BlockerCode::SessionActive,
        message: format!(
            "session `{session}`{stage} is {state} in this worktree: {who}process {}, since {since:.0}",
            process.pid
        ),
        hint: format!("{way_out}, or give `--allow session-active`"),
    }
}

fn running_inside(active: &Active) -> Blocker {
    Blocker {
        code: BlockerCode::RunningInsideAgent,
        message: format!(
            "this command runs inside session `{}` (process {}), whose files it would change",
            active.session, active.process.pid
        ),
        hint: "run it in another terminal when the session is over, or give `--allow running-inside-agent`".into(),
    }
}
