//! What there is, and what the limits say about it.

use std::collections::{HashMap, HashSet};

use crate::git::reach::Reach;
use crate::git::restore::Journaled;
use crate::git::worktree_dirs::{is_known, journaled};
use crate::model::retention::{Facts, Limits, Protection, REMOVED_WORKTREE_STAYS, Reason, Verdict, judge};
use crate::model::{Blocker, BlockerCode, Millis, WorktreeId};
use crate::ops::{Context, Error};
use crate::store::Retained;

/// All checkpoints, newest first, with what the limits need to know of each.
pub(super) struct Survey {
    pub(super) rows: Vec<Retained>,
    pub(super) facts: Vec<Facts>,
    /// The worktrees that are gone and whose time is over.
    pub(super) abandoned: Vec<WorktreeId>,
    now: Millis,
}

impl Survey {
    /// Looks at everything. A restore from before `undo_since` keeps nothing but where it is the next to be undone or done again.
    /// With `at_once` the checkpoints of removed worktrees have no time left.
    pub(super) fn take(context: &Context, now: Millis, undo_since: Millis, at_once: bool) -> Result<Survey, Error> {
        let rows = context.store.retained()?;
        let named: HashSet<u64> = context.store.names()?.into_iter().map(|(_, number)| number).collect();
        let needed = context.store.needed_by_undo(undo_since)?;
        let journaled: HashSet<String> =
            journaled(&context.repo).into_iter().filter_map(|journal| journal.checkpoints).flatten().collect();
        let removed = context.store.removed_worktrees()?;
        let stays = Millis::try_from(REMOVED_WORKTREE_STAYS.as_millis()).unwrap_or(Millis::MAX);
        let is_over = |worktree: &WorktreeId| {
            let since = removed.get(worktree).copied().unwrap_or(now);
            at_once || now.saturating_sub(since) >= stays
        };
        let is_gone = |worktree: &WorktreeId| !is_known(&context.repo, worktree);
        let own = rows.iter().filter(|row| row.origin.is_none()).map(|row| &row.worktree).chain(removed.keys());
        let gone: HashSet<&WorktreeId> = own.collect::<HashSet<_>>().into_iter().filter(|id| is_gone(id)).collect();
        let (abandoned, waiting): (HashSet<&WorktreeId>, HashSet<&WorktreeId>) = gone.into_iter().partition(|id| is_over(id));
        let mut next_own = None;
        let facts = rows.iter().map(|row| {
            let is_own = row.origin.is_none();
            // What came from elsewhere came, at the latest, just before the next checkpoint that was made here.
            let since = if is_own { row.created_at } else { row.created_at.max(next_own.unwrap_or(now)) };
            if is_own {
                next_own = Some(row.created_at);
            }
            let is_needed = needed.get(row.id.as_str()).is_some_and(|by| by.iter().any(|by| !abandoned.contains(by)));
            let protection = match () {
                () if named.contains(&row.number) => Some(Protection::Named),
                () if is_needed => Some(Protection::Undo),
                () if journaled.contains(row.id.as_str()) => Some(Protection::Restore),
                () if is_own && waiting.contains(&row.worktree) => Some(Protection::RemovedWorktree),
                () => None,
            };
            let group = (row.origin.clone(), row.worktree.clone());
            Facts { group, since, abandoned: is_own && abandoned.contains(&row.worktree), protection }
        });
        let facts = facts.collect();
        let abandoned = abandoned.into_iter().cloned().collect();
        Ok(Survey { rows, facts, abandoned, now })
    }

    /// What the limits say of each, its size included.
    pub(super) fn verdicts(&self, context: &Context, limits: Limits) -> Vec<Verdict> {
        let mut verdicts = judge(&self.facts, limits, self.now);
        if limits.max_size > 0 {
            self.limit_size(context, limits.max_size, &mut verdicts);
        }
        verdicts
    }

    /// Lets the oldest go until the others hold no more than so many bytes.
    fn limit_size(&self, context: &Context, most: u64, verdicts: &mut [Verdict]) {
        let mut reach = self.reach(context);
        let firm = |verdict: &Verdict| matches!(verdict, Verdict::Stays { firm: true });
        let mut size = 0;
        for (row, _) in self.rows.iter().zip(&*verdicts).filter(|(_, verdict)| firm(verdict)) {
            size += reach.add_checkpoint(row.commit);
        }
        for (row, verdict) in self.rows.iter().zip(verdicts) {
            if matches!(verdict, Verdict::Stays { firm: false }) {
                // Once it is too much nothing older stays, or there would be holes between what does.
                size = if size > most { size } else { size.saturating_add(reach.add_checkpoint(row.commit)) };
                if size > most {
                    *verdict = Verdict::Goes(Reason::MaxSize);
                }
            }
        }
    }

    /// About how many bytes of objects nothing holds any more without those that go.
    pub(super) fn bytes_of(&self, context: &Context, goes: impl Fn(&Retained) -> bool) -> u64 {
        if !self.rows.iter().any(&goes) {
            return 0;
        }
        let mut reach = self.reach(context);
        self.rows.iter().filter(|row| !goes(row)).for_each(|row| reach.see_checkpoint(row.commit));
        self.rows.iter().filter(|row| goes(row)).map(|row| reach.add_checkpoint(row.commit)).sum()
    }

    fn reach(&self, context: &Context) -> Reach {
        let oldest = self.rows.iter().map(|row| row.created_at).min().unwrap_or(self.now);
        Reach::of_others(&context.repo, oldest)
    }
}

/// Notes which worktrees are gone from now on, and which are there again.
pub(super) fn note_worktrees(context: &mut Context, survey: &Survey, now: Millis) -> Result<(), Error> {
    let noted = context.store.removed_worktrees()?;
    let mut known: HashMap<&WorktreeId, bool> = HashMap::new();
    for row in survey.rows.iter().filter(|row| row.origin.is_none()) {
        known.entry(&row.worktree).or_insert_with(|| is_known(&context.repo, &row.worktree));
    }
    for (worktree, is_known) in &known {
        match noted.get(*worktree) {
            // A time that is yet to come was noted while the clock was wrong.
            Some(since) if !*is_known && *since <= now => {}
            None if *is_known => {}
            _ => context.store.note_removed_worktree(worktree, (!*is_known).then_some(now))?,
        }
    }
    for worktree in noted.keys().filter(|worktree| !known.contains_key(worktree)) {
        context.store.note_removed_worktree(worktree, None)?;
    }
    Ok(())
}

/// A restore of another worktree that was interrupted stands in the way.
pub(super) fn needed_elsewhere(journal: &Journaled) -> Blocker {
    let path = journal.journal.display();
    Blocker {
        code: BlockerCode::RestoreInterrupted,
        message: format!("a restore in another worktree was interrupted, and what it needs must stay (`{path}`)"),
        hint: "there, `git checkpoint restore --continue` finishes it, `git checkpoint restore --abort` takes it back".into(),
    }
}
