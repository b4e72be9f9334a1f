//! Removing what the limits let go.

use std::collections::HashMap;
use std::time::Duration;

use super::removal::{Guard, remove};
use super::survey::{Survey, needed_elsewhere, note_worktrees};
use crate::git::refs;
use crate::git::worktree_dirs::journaled;
use crate::model::retention::{Limits, Protection, Reason, Verdict};
use crate::model::{Checkpoint, CheckpointId, Millis};
use crate::ops::{Context, Error};
use crate::store::{Filter, Removal, Retained};
use crate::sys;

/// What to remove; where nothing is said, as the configuration says.
#[derive(Debug, Clone, Default)]
pub struct PruneRequest {
    /// Work everything out and change nothing.
    pub dry_run: bool,
    /// How many of each worktree stay; 0 means all.
    pub keep_last: Option<u64>,
    /// The age up to which they stay; zero means any.
    pub max_age: Option<Duration>,
    /// How many bytes they may hold; 0 means any number.
    pub max_size: Option<u64>,
    /// Those of removed worktrees go at once.
    pub removed_worktrees: bool,
}

impl PruneRequest {
    fn limits(&self, configured: Limits) -> Limits {
        Limits {
            keep_last: self.keep_last.unwrap_or(configured.keep_last),
            max_age: self.max_age.unwrap_or(configured.max_age),
            max_size: self.max_size.unwrap_or(configured.max_size),
        }
    }
}

/// How many stay, and of those how many in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeptCounts {
    /// All that stay.
    pub count: usize,
    /// Those with a name.
    pub named: usize,
    /// Those that an undo or a redo needs, or a restore that was interrupted.
    pub needed: usize,
}

/// What was removed, or would be.
#[derive(Debug, Clone)]
pub struct PruneOutcome {
    /// Nothing was changed, as asked.
    pub dry_run: bool,
    /// What goes and why, newest first.
    pub removed: Vec<(Checkpoint, Reason)>,
    /// What stays.
    pub kept: KeptCounts,
    /// About how many bytes of objects nothing holds any more.
    pub bytes: u64,
}

/// Removes the checkpoints that the limits let go.
pub fn prune(context: &mut Context, request: &PruneRequest) -> Result<PruneOutcome, Error> {
    let limits = request.limits(context.repo.config().retention);
    let now = sys::now_millis();
    let guard = if request.dry_run { None } else { Some(Guard::wait(context)?) };
    if let Some(unknown) = journaled(&context.repo).iter().find(|journal| guard.is_some() && journal.checkpoints.is_none()) {
        return Err(Error::Refused(vec![needed_elsewhere(unknown)]));
    }
    let survey = Survey::take(context, now, limits.oldest(now), request.removed_worktrees)?;
    let verdicts = survey.verdicts(context, limits);
    let mut goes: HashMap<CheckpointId, Reason> =
        going(&survey, &verdicts).map(|(row, reason)| (row.id.clone(), reason)).collect();
    let mut going_rows = match goes.is_empty() {
        true => Vec::new(),
        false => context.store.list(&Filter::default())?,
    };
    if let Some(guard) = guard {
        let removed = carry_out(context, &guard, &survey, &verdicts, now)?;
        goes.retain(|id, _| removed.contains(id));
    }
    going_rows.retain(|checkpoint| goes.contains_key(&checkpoint.id));
    Ok(PruneOutcome {
        dry_run: request.dry_run,
        kept: kept(&survey, &goes),
        bytes: survey.bytes_of(context, |row| goes.contains_key(&row.id)),
        removed: going_rows.into_iter().filter_map(|checkpoint| Some((checkpoint.clone(), *goes.get(&checkpoint.id)?))).collect(),
    })
}

/// Removes what goes by the verdicts, and notes what is known of removed worktrees.
pub(super) fn carry_out(
    context: &mut Context,
    guard: &Guard,
    survey: &Survey,
    verdicts: &[Verdict],
    now: Millis,
) -> Result<Vec<CheckpointId>, Error> {
    note_worktrees(context, survey, now)?;
    super::removal::finish_left(context, guard)?;
    let removals: Vec<Removal> = going(survey, verdicts).map(|(row, _)| removal_of(row)).collect();
    if removals.is_empty() && survey.abandoned.is_empty() {
        return Ok(Vec::new());
    }
    remove(context, guard, &removals, &survey.abandoned)
}

fn going<'a>(survey: &'a Survey, verdicts: &'a [Verdict]) -> impl Iterator<Item = (&'a Retained, Reason)> {
    survey.rows.iter().zip(verdicts).filter_map(|(row, verdict)| match verdict {
        Verdict::Goes(reason) => Some((row, *reason)),
        Verdict::Stays { .. } => None,
    })
}

fn removal_of(row: &Retained) -> Removal {
    let name = format!("{}{}/{}", refs::CHECKPOINTS, row.session, row.id);
    Removal { id: row.id.clone(), names: Vec::new(), refs: vec![(name, row.commit)] }
}

fn kept(survey: &Survey, goes: &HashMap<CheckpointId, Reason>) -> KeptCounts {
    let stays = survey.rows.iter().zip(&survey.facts).filter(|(row, _)| !goes.contains_key(&row.id));
    stays.fold(KeptCounts::default(), |mut counts, (_, facts)| {
        counts.count += 1;
        match facts.protection {
            Some(Protection::Named) => counts.named += 1,
            Some(Protection::Undo | Protection::Restore) => counts.needed += 1,
            Some(Protection::RemovedWorktree) | None => {}
        }
        counts
    })
}
