//! How long checkpoints stay.
//!
//! A checkpoint goes if it is beyond the newest so many of its worktree, or too old, or if its worktree is gone for good. The
//! newest of each worktree never goes by its number or age, and nothing goes that somebody relies on.

use std::collections::HashMap;
use std::time::Duration;

use super::{Millis, WorktreeId};

/// How long the checkpoints of a worktree stay that git does not know any more.
pub const REMOVED_WORKTREE_STAYS: Duration = Duration::from_secs(14 * 24 * 3600);

/// What is to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// So many of each worktree, the newest; 0 means all.
    pub keep_last: u64,
    /// Those that are not older; zero means all.
    pub max_age: Duration,
    /// So many bytes of objects that only checkpoints hold; 0 means all.
    pub max_size: u64,
}

impl Limits {
    /// The time from which on something stays by its age.
    pub fn oldest(&self, now: Millis) -> Millis {
        match Millis::try_from(self.max_age.as_millis()) {
            Ok(age) if age > 0 => now.saturating_sub(age),
            _ => Millis::MIN,
        }
    }
}

/// Why a checkpoint goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There are enough newer ones in its worktree.
    KeepLast,
    /// It is too old.
    MaxAge,
    /// All of them together are too large.
    MaxSize,
    /// Its worktree was removed.
    RemovedWorktree,
}

impl Reason {
    /// The word used in JSON and in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::KeepLast => "keep-last",
            Reason::MaxAge => "max-age",
            Reason::MaxSize => "max-size",
            Reason::RemovedWorktree => "removed-worktree",
        }
    }
}

/// Why a checkpoint stays whatever the limits say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// It has a name.
    Named,
    /// An undo or a redo that is not too old, or is the next one, leads to it or has to know it.
    Undo,
    /// A restore that was interrupted has to know it.
    Restore,
    /// Its worktree was removed not long ago, and somebody may come to look for what was in it.
    RemovedWorktree,
}

/// Where a checkpoint belongs: `origin` is none for what was made in this repository.
pub type Group = (Option<String>, WorktreeId);

/// What the decision needs to know of a checkpoint.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Where it belongs.
    pub group: Group,
    /// Since when it is here.
    pub since: Millis,
    /// Its worktree is gone, and for long enough.
    pub abandoned: bool,
    /// Why it stays in any case.
    pub protection: Option<Protection>,
}

/// What becomes of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes.
    Goes(Reason),
    /// It stays; `firm` if no limit at all can change that.
    Stays {
        /// It is protected, or the newest of its worktree.
        firm: bool,
    },
}

/// Decides about all checkpoints of a repository, which come newest first. How large they are is not looked at here.
pub fn judge(all: &[Facts], limits: Limits, now: Millis) -> Vec<Verdict> {
    let oldest = limits.oldest(now);
    let mut ranks: HashMap<&Group, u64> = HashMap::new();
    let decide = |facts: &Facts, rank: u64| {
        if facts.protection.is_some() {
            return Verdict::Stays { firm: true };
        }
        if facts.abandoned {
            return Verdict::Goes(Reason::RemovedWorktree);
        }
        if rank == 0 {
            return Verdict::Stays { firm: true };
        }
        if limits.keep_last > 0 && rank >= limits.keep_last {
            return Verdict::Goes(Reason::KeepLast);
        }
        if facts.since < oldest { Verdict::Goes(Reason::MaxAge) } else { Verdict::Stays { firm: false } }
    };
    let ranked = all.iter().map(|facts| {
        let rank = ranks.entry(&facts.group).or_default();
        *rank += 1;
        decide(facts, *rank - 1)
    });
    ranked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Millis = 24 * 3600 * 1000;
    const NOW: Millis = 1000 * DAY;

    fn facts(worktree: &str, days: Millis) -> Facts {
        let group = (None, WorktreeId::from_recorded(worktree));
        Facts { group, since: NOW - days * DAY, abandoned: false, protection: None }
    }

    fn limits(keep_last: u64, days: u64) -> Limits {
        Limits { keep_last, max_age: Duration::from_secs(days * 24 * 3600), max_size: 0 }
    }

    const FIRM: Verdict = Verdict::Stays { firm: true };
    const STAYS: Verdict = Verdict::Stays { firm: false };

    #[test]
    fn each_worktree_keeps_its_newest() {
        let all = [facts("a", 1), facts("b", 2), facts("a", 3), facts("a", 4), facts("b", 5)];
        let goes = Verdict::Goes(Reason::KeepLast);

        assert_eq!(judge(&all, limits(2, 0), NOW), [FIRM, FIRM, STAYS, goes, STAYS]);
        assert_eq!(judge(&all, limits(1, 0), NOW), [FIRM, FIRM, goes, goes, goes]);
        assert_eq!(judge(&all, limits(0, 0), NOW), [FIRM, FIRM, STAYS, STAYS, STAYS]);
    }

    #[test]
    fn what_is_too_old_goes_but_for_the_newest() {
        let all = [facts("a", 100), facts("b", 89), facts("b", 90), facts("b", 91)];

        assert_eq!(judge(&all, limits(0, 90), NOW), [FIRM, FIRM, STAYS, Verdict::Goes(Reason::MaxAge)]);
    }

    #[test]
    fn what_is_protected_stays_and_counts_among_the_newest() {
        let named = Facts { protection: Some(Protection::Named), ..facts("a", 200) };
        let all = [facts("a", 1), named.clone(), facts("a", 201), named];
        let goes = Verdict::Goes(Reason::KeepLast);

        assert_eq!(judge(&all, limits(2, 90), NOW), [FIRM, FIRM, goes, FIRM]);
    }

    #[test]
    fn of_an_abandoned_worktree_only_what_is_protected_stays() {
        let gone = Facts { abandoned: true, ..facts("a", 1) };
        let named = Facts { protection: Some(Protection::Undo), ..gone.clone() };

        assert_eq!(judge(&[gone, named], limits(0, 0), NOW), [Verdict::Goes(Reason::RemovedWorktree), FIRM]);
    }

    #[test]
    fn those_of_another_machine_have_their_own_count() {
        let foreign = Facts { group: (Some("laptop".into()), WorktreeId::from_recorded("a")), ..facts("a", 1) };

        assert_eq!(judge(&[facts("a", 1), foreign.clone(), foreign], limits(1, 0), NOW)[..2], [FIRM, FIRM]);
    }
}
