//! What `drop` and `prune` took away, or would.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::json::{SCHEMA, checkpoint};
use super::restore::{blockers, title};
use super::show::size;
use crate::cli::output::{Styles, plural, sanitize};
use crate::model::Checkpoint;
use crate::ops::retention::{DropOutcome, DropStatus, KeptCounts, PruneOutcome};

/// The document of `drop`.
pub fn drop_document(outcome: &DropOutcome) -> Value {
    let status = match outcome.status {
        DropStatus::Dropped => "dropped",
        DropStatus::Refused => "refused",
        DropStatus::DryRun => "dry-run",
    };
    json!({
        "schema": SCHEMA,
        "status": status,
        "checkpoints": Value::from_iter(outcome.checkpoints.iter().map(checkpoint)),
        "blockers": blockers(&outcome.blockers),
        "steps": outcome.steps,
        "bytes": outcome.bytes,
    })
}

/// The document of `prune`.
pub fn prune_document(outcome: &PruneOutcome) -> Value {
    let status = match (outcome.dry_run, outcome.removed.is_empty()) {
        (true, _) => "dry-run",
        (false, true) => "unchanged",
        (false, false) => "pruned",
    };
    let removed = outcome.removed.iter().map(|(removed, reason)| {
        let mut object = checkpoint(removed);
        object["reason"] = reason.as_str().into();
        object
    });
    let KeptCounts { count, named, needed } = outcome.kept;
    json!({
        "schema": SCHEMA,
        "status": status,
        "removed": Value::from_iter(removed),
        "kept": {"count": count, "named": named, "needed": needed},
        "bytes": outcome.bytes,
    })
}

/// Writes what would be dropped, one checkpoint on a line.
pub fn write_dropped(out: &mut dyn Write, styles: &Styles, outcome: &DropOutcome) -> io::Result<()> {
    outcome
        .checkpoints
        .iter()
        .try_for_each(|checkpoint| writeln!(out, "{} {}", styles.removed.paint("drop"), described(checkpoint)))
}

/// Writes what would be pruned, one checkpoint on a line.
pub fn write_pruned(out: &mut dyn Write, styles: &Styles, outcome: &PruneOutcome) -> io::Result<()> {
    outcome.removed.iter().try_for_each(|(checkpoint, reason)| {
        let word = styles.removed.paint("prune");
        writeln!(out, "{word} {} ({})", described(checkpoint), styles.dim.paint(reason.as_str()))
    })
}

/// A checkpoint with what a person knows it by: `checkpoint 3 (good): before the codemod`.
pub fn described(checkpoint: &Checkpoint) -> String {
    format!("{}: {}", title(checkpoint), sanitize(&checkpoint.subject))
}

/// What was dropped in one line: `dropped checkpoint 3`, `dropped 2 checkpoints`.
pub fn dropped(outcome: &DropOutcome) -> String {
    match outcome.checkpoints.as_slice() {
        [only] => format!("dropped {}", described(only)),
        several => format!("dropped {}", plural(several.len() as u64, "checkpoint")),
    }
}

/// What becomes of the names of checkpoints that are dropped; none if they have none.
pub fn names_line(outcome: &DropOutcome) -> Option<String> {
    let names: Vec<String> =
        outcome.checkpoints.iter().flat_map(|c| &c.names).map(|name| format!("`{}`", sanitize(name))).collect();
    let verb = if outcome.status == DropStatus::Dropped { "went" } else { "would go" };
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("the name {only} {verb} with it")),
        several => Some(format!("the names {} {verb} with them", several.join(", "))),
    }
}

/// What becomes of undo and redo; none if nothing.
pub fn steps_line(outcome: &DropOutcome) -> Option<String> {
    let verb = if outcome.status == DropStatus::Dropped { "went" } else { "would go" };
    (outcome.steps > 0).then(|| format!("{} of undo and redo {verb} too", plural(outcome.steps as u64, "step")))
}

/// What was pruned in one line: `pruned 12 checkpoints; 488 stay, 2 of them named and 3 needed by undo`.
pub fn pruned(outcome: &PruneOutcome) -> String {
    let done = match (outcome.dry_run, outcome.removed.len() as u64) {
        (_, 0) => "nothing to prune".to_owned(),
        (true, count) => format!("would prune {}", plural(count, "checkpoint")),
        (false, count) => format!("pruned {}", plural(count, "checkpoint")),
    };
    let KeptCounts { count, named, needed } = outcome.kept;
    let stay = match count {
        1 => "1 stays".to_owned(),
        count => format!("{count} stay"),
    };
    let parts = [(named, "named"), (needed, "needed by undo")];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let of_them = if parts.is_empty() { String::new() } else { format!(", of them {}", parts.join(" and ")) };
    format!("{done}; {stay}{of_them}")
}

/// What git can free by and by; none if that is nothing.
pub fn bytes_line(bytes: u64, is_done: bool) -> Option<String> {
    let verb = if is_done { "can free" } else { "could free" };
    (bytes > 0).then(|| format!("`git gc` {verb} about {} when they are old enough for it", size(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::retention::Reason;
    use crate::store::testing::sample;

    fn prune(removed: usize, kept: KeptCounts, dry_run: bool) -> PruneOutcome {
        PruneOutcome { dry_run, removed: vec![(sample(1), Reason::MaxAge); removed], kept, bytes: 0 }
    }

    #[test]
    fn counts_are_told_in_good_grammar() {
        let kept = |count, named, needed| KeptCounts { count, named, needed };
        for (outcome, expected) in [
            (prune(0, kept(1, 0, 0), false), "nothing to prune; 1 stays"),
            (prune(1, kept(0, 0, 0), true), "would prune 1 checkpoint; 0 stay"),
            (prune(2, kept(9, 2, 0), false), "pruned 2 checkpoints; 9 stay, of them 2 named"),
            (prune(2, kept(9, 1, 3), false), "pruned 2 checkpoints; 9 stay, of them 1 named and 3 needed by undo"),
        ] {
            assert_eq!(pruned(&outcome), expected);
        }
    }

    #[test]
    fn names_are_told_before_and_after() {
        let named = |names: &[&str]| Checkpoint { names: names.iter().map(|n| (*n).to_owned()).collect(), ..sample(1) };
        let outcome = |status, checkpoints| DropOutcome { status, checkpoints, blockers: Vec::new(), steps: 1, bytes: 0 };

        assert_eq!(names_line(&outcome(DropStatus::DryRun, vec![named(&[])])), None);
        let one = outcome(DropStatus::DryRun, vec![named(&["a"])]);
        assert_eq!(names_line(&one).unwrap(), "the name `a` would go with it");
        assert_eq!(steps_line(&one).unwrap(), "1 step of undo and redo would go too");
        let two = outcome(DropStatus::Dropped, vec![named(&["a", "b"]), named(&[])]);
        assert_eq!(names_line(&two).unwrap(), "the names `a`, `b` went with them");
        assert_eq!((dropped(&one), dropped(&two)), ("dropped checkpoint 0 (a): sample 1".into(), "dropped 2 checkpoints".into()));
    }
}
