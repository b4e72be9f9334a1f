//! The checkpoints for the screen of `browse`, with the restores among them as jumps.

use std::collections::HashMap;
use std::time::Duration;

use super::{Context, Error, ListRequest, add_stats};
use crate::model::{CheckpointId, Jump, Stat, TimelineEntry};
use crate::store::Filter;

/// The checkpoints of this worktree, or of all, newest first; at most `limit` of them if there is one.
pub fn timeline(context: &Context, request: &ListRequest) -> Result<Vec<TimelineEntry>, Error> {
    let filter = Filter {
        worktree: (!request.all_worktrees).then(|| context.repo.worktree_id().clone()),
        limit: request.limit,
        ..Filter::default()
    };
    let mut entries = context.store.timeline(&filter)?;
    let jumps = jumps(context)?;
    if !jumps.is_empty() {
        entries.iter_mut().for_each(|entry| entry.jump = jumps.get(&entry.number).copied());
    }
    Ok(entries)
}

/// From which checkpoint to which the worktrees went, by the number of the former.
fn jumps(context: &Context) -> Result<HashMap<u64, Jump>, Error> {
    let number = |id: &CheckpointId| Ok::<_, Error>(context.store.by_id(id)?.map(|checkpoint| checkpoint.number));
    let mut jumps = HashMap::new();
    for restore in context.store.all_restores()? {
        let Some(before) = number(&restore.pre_restore)? else { continue };
        if let Some(target) = number(restore.redone_to.as_ref().unwrap_or(&restore.target))? {
            jumps.insert(before, Jump::Restore(target));
        }
        if let Some(undone) = restore.undone_by.as_ref().map(number).transpose()?.flatten() {
            jumps.insert(undone, Jump::Undo(before));
        }
    }
    Ok(jumps)
}

/// Counts the changes of some checkpoints that were not counted yet, the newest first, for no longer than `patience`. None are left
/// that can be counted if it returns nothing.
pub fn count_some(context: &mut Context, patience: Duration) -> Result<Vec<(u64, Stat)>, Error> {
    /// More than can be counted in the time that anybody would wait.
    const MOST: u64 = 200;
    if !context.store.is_writable() {
        return Ok(Vec::new());
    }
    let mut list = context.store.list(&Filter { uncounted: true, limit: Some(MOST), ..Filter::default() })?;
    add_stats(context, &mut list, Some(patience));
    Ok(list.iter().filter_map(|checkpoint| Some((checkpoint.number, checkpoint.stat?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Checkpoint;
    use crate::ops::restore::{Consent, RestoreRequest, restore};
    use crate::ops::save::{SaveRequest, save};
    use crate::ops::testing::Fixture;
    use crate::ops::undo::{Direction, step};

    #[test]
    fn a_restore_and_its_undo_are_jumps() {
        let mut fixture = Fixture::new();
        for content in ["two\n", "three\n"] {
            std::fs::write(fixture.folder.path().join("file"), content).unwrap();
            save(&mut fixture.context, &SaveRequest::default()).unwrap();
        }
        let given =
            |selector: &str| RestoreRequest { consent: Consent::Given, ..RestoreRequest::of(selector, fixture.folder.path()) };
        restore(&mut fixture.context, &given("1")).unwrap();
        step(&mut fixture.context, Direction::Undo, &given("")).unwrap();

        let entries = timeline(&fixture.context, &ListRequest::default()).unwrap();

        let jumps: Vec<_> = entries.iter().map(|entry| (entry.number, entry.jump)).collect();
        assert_eq!(jumps, [(4, Some(Jump::Undo(3))), (3, Some(Jump::Restore(1))), (2, None), (1, None)]);
    }

    #[test]
    fn what_was_not_counted_is_counted_and_then_nothing_is_left() {
        let mut fixture = Fixture::new();
        std::fs::write(fixture.folder.path().join("file"), "two\n").unwrap();
        save(&mut fixture.context, &SaveRequest::default()).unwrap();
        let counted = fixture.context.store.by_number(1).unwrap().unwrap();
        // As one that came from another machine.
        let (id, origin) = (CheckpointId::generate(1), Some("laptop x7".to_owned()));
        fixture.context.store.insert(&Checkpoint { id, origin, stat: None, ..counted }).unwrap();
        let patience = Duration::from_secs(60);

        let counted = count_some(&mut fixture.context, patience).unwrap();

        assert_eq!(counted, [(2, Stat { files: 1, insertions: 1, deletions: 1 })]);
        assert_eq!(count_some(&mut fixture.context, patience).unwrap(), []);
    }
}
