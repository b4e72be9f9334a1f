//! What a save does once a day.

use super::prune::carry_out;
use super::removal::{Guard, finish_left};
use super::survey::Survey;
use crate::git::lock::WorktreeLock;
use crate::git::worktree_dirs::journaled;
use crate::model::Millis;
use crate::ops::{Context, Error};
use crate::sys;

/// How often the limits are applied.
const PERIOD: Millis = 24 * 3600 * 1000;

/// Called at the end of a save, which has the lock of its worktree. Looks at one row; once a day it applies the limits, and it
/// finishes what a process left that died over that. It never makes a save fail; what could not be done is tried again with the
/// next.
pub(in crate::ops) fn after_save(context: &mut Context, lock: &WorktreeLock) {
    let now = sys::now_millis();
    // A time that is yet to come was noted while the clock was wrong.
    let is_recent = |applied: Millis| (0..PERIOD).contains(&now.saturating_sub(applied));
    if context.store.limits_applied().is_ok_and(|applied| !applied.is_some_and(is_recent)) {
        context.pruned = apply(context, lock, now).unwrap_or_default();
    }
}

fn apply(context: &mut Context, lock: &WorktreeLock, now: Millis) -> Result<usize, Error> {
    let Some(guard) = Guard::try_take(context, lock)? else { return Ok(0) };
    finish_left(context, &guard)?;
    let mut count = 0;
    if context.repo.config().auto_prune {
        // What an interrupted restore needs is known only as far as its journal can be read, and it may need more to be mended.
        if !journaled(&context.repo).is_empty() {
            return Ok(0);
        }
        let limits = context.repo.config().retention;
        let survey = Survey::take(context, now, limits.oldest(now), false)?;
        let verdicts = survey.verdicts(context, limits);
        count = carry_out(context, &guard, &survey, &verdicts, now)?.len();
    }
    if context.store.unfinished_removals()?.is_empty() {
        context.store.set_limits_applied(now)?;
    }
    Ok(count)
}
