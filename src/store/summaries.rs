//! Long lists, read without what they do not show.

use std::borrow::Cow;

use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{Row, params_from_iter};

use super::row::{skipped, unsigned, word};
use super::{Filter, Store, StoreError};
use crate::model::{Kind, Stat, Summary};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str = "number, kind, step, turn, subject, created_at, worktree, origin, skipped, files, insertions, deletions";

impl Store {
    /// Hands a summary of each checkpoint that passes `filter` to `each`, in its order.
    pub fn summaries(&self, filter: &Filter, mut each: impl FnMut(&Summary<'_>)) -> Result<(), StoreError> {
        let (clauses, values) = filter.clauses();
        let read = (|| {
            let mut names = self.all_names()?;
            let mut statement = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoints {clauses}"))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                let mut summary = read(row)?;
                if !names.is_empty() {
                    summary.names = Cow::Owned(names.remove(&summary.number).unwrap_or_default());
                }
                each(&summary);
            }
            Ok(())
        })();
        read.map_err(|e| self.error("read", e))
    }
}

/// Reads a row of [`COLUMNS`]. Names are not part of it.
fn read<'a>(row: &'a Row<'_>) -> rusqlite::Result<Summary<'a>> {
    let stat = match integer(row, 9)? {
        Some(files) => Some(Stat {
            files: unsigned(files),
            insertions: unsigned(integer(row, 10)?.unwrap_or(0)),
            deletions: unsigned(integer(row, 11)?.unwrap_or(0)),
        }),
        None => None,
    };
    Ok(Summary {
        number: unsigned(row.get(0)?),
        kind: word(row, 1, "kind", Kind::parse)?,
        step: row.get_ref(2)?.as_str_or_null()?,
        turn: row.get(3)?,
        subject: row.get_ref(4)?.as_str()?,
        created_at: row.get(5)?,
        worktree: row.get_ref(6)?.as_str()?,
        origin: row.get_ref(7)?.as_str_or_null()?,
        skipped: skipped(row, 8)?.len(),
        names: Cow::Borrowed(&[]),
        stat,
    })
}

fn integer(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<i64>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => Ok(Some(value)),
        ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => Err(FromSqlError::InvalidType.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Checkpoint, SkipReason, Skipped, WorktreeId, WorktreeRef};
    use crate::store::testing::{Fixture, sample};

    #[test]
    fn a_summary_tells_the_same_as_the_checkpoint() {
        let mut store = Fixture::new().store;
        let skipped = |path: &str| Skipped { path: path.into(), reason: SkipReason::Special, size: Some(3) };
        let all = [
            sample(1),
            Checkpoint {
                kind: Kind::Step,
                step: Some("build".into()),
                names: vec!["a".into(), "b".into()],
                stat: Some(Stat { files: 3, insertions: 20, deletions: 1 }),
                ..sample(2)
            },
            Checkpoint {
                kind: Kind::Turn,
                turn: Some(7),
                origin: Some("laptop x7".into()),
                skipped: vec![skipped("a"), skipped("b")],
                worktree: WorktreeRef { id: WorktreeId::linked("w"), path: "/v".into() },
                ..sample(3)
            },
        ];
        store.insert_all(&all).unwrap();
        for filter in [
            Filter::default(),
            Filter { reverse: true, ..Filter::default() },
            Filter { limit: Some(2), reverse: true, ..Filter::default() },
            Filter { uncounted: true, ..Filter::default() },
            Filter { kinds: vec![Kind::Turn], ..Filter::default() },
        ] {
            let list = store.list(&filter).unwrap();
            let mut at = 0;

            store
                .summaries(&filter, |summary| {
                    assert_eq!(*summary, Summary::from(&list[at]), "{filter:?}");
                    at += 1;
                })
                .unwrap();

            assert_eq!(at, list.len(), "{filter:?}");
        }
    }

    #[test]
    fn only_what_was_not_counted_yet_is_listed_as_such() {
        let mut store = Fixture::new().store;
        let all = [1, 2, 3].map(|n| Checkpoint { stat: None, ..sample(n) });
        store.insert_all(&all).unwrap();
        store.set_stat(&all[1].id, Stat::default()).unwrap();

        let left = store.list(&Filter { uncounted: true, ..Filter::default() }).unwrap();

        assert_eq!(left.iter().map(|checkpoint| checkpoint.number).collect::<Vec<_>>(), [3, 1]);
    }
}
