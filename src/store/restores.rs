//! The history of restores of each worktree: a stack for undo, with what was undone on top of it for redo.
//!
//! ```text
//! rows of a worktree by id:   done … done │ undone … undone
//!                       undo takes ─┘        └─ redo takes
//! ```
//!
//! A new restore supersedes the undone ones: there is no way forward any more from a state that was left. Their rows stay below its
//! own, and count for nothing, until something is recorded on top of it: should it be taken back after all, because its process
//! died, they are as before.

use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};

use super::{Store, StoreError, row};
use crate::model::{BString, CheckpointId, MemoryChange, Millis, WorktreeId};
use crate::sys::fault;

/// A restore to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRestore {
    /// Where it took place.
    pub worktree: WorktreeId,
    /// The state before it.
    pub pre_restore: CheckpointId,
    /// The state it brought back.
    pub target: CheckpointId,
    /// When it took place.
    pub created_at: Millis,
    /// The paths that it created, if it was limited to some paths; none if it was about the whole worktree, where the two
    /// trees tell.
    pub created: Option<Vec<BString>>,
    /// What it did to an agent's memory; none if it left that alone.
    pub memory: Option<MemoryChange>,
}

/// A restore that took place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restore {
    /// Identity within this database.
    pub id: i64,
    /// Where it took place.
    pub worktree: WorktreeId,
    /// The state before it: what undo brings back.
    pub pre_restore: CheckpointId,
    /// The state it brought back.
    pub target: CheckpointId,
    /// When it took place.
    pub created_at: Millis,
    /// The state before it was undone: what redo brings back. None if it was not undone.
    pub undone_by: Option<CheckpointId>,
    /// The state that a redo brought back last, which is not the target if something was changed before the undo.
    pub redone_to: Option<CheckpointId>,
    /// The paths that it created, if it was limited to some paths.
    pub created: Option<Vec<BString>>,
    /// What it did to an agent's memory; none if it left that alone.
    pub memory: Option<MemoryChange>,
}

pub(super) const COLUMNS: &str = "id, worktree, pre_restore, target, created_at, undone_by, redone_to, created, memory";

/// True for an undone restore of the worktree `?1` after which another was done.
const SUPERSEDED: &str =
    "(undone_by IS NOT NULL AND id < (SELECT coalesce(max(id), 0) FROM restores WHERE worktree = ?1 AND undone_by IS NULL))";

impl Store {
    /// Records a restore, which supersedes those of its worktree that were undone. Returns its id.
    pub fn push_restore(&mut self, restore: &NewRestore) -> Result<i64, StoreError> {
        let worktree = restore.worktree.as_str();
        self.durably(worktree, |transaction| {
            let created = restore.created.as_ref().map(|paths| row::paths_text(paths).unwrap_or_else(|| "[]".to_owned()));
            let memory = restore.memory.as_ref().map(MemoryChange::to_line);
            transaction.execute(&format!("DELETE FROM restores WHERE worktree = ?1 AND {SUPERSEDED}"), [worktree])?;
            transaction.execute(
                "INSERT INTO restores (worktree, pre_restore, target, created_at, created, memory) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![worktree, restore.pre_restore.as_str(), restore.target.as_str(), restore.created_at, created, memory],
            )?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// The restore that undo would take back.
    pub fn top_undoable(&self, worktree: &WorktreeId) -> Result<Option<Restore>, StoreError> {
        self.find_restore("worktree = ?1 AND undone_by IS NULL ORDER BY id DESC LIMIT 1", worktree)
    }

    /// The undone restore that redo would bring back.
    pub fn top_redoable(&self, worktree: &WorktreeId) -> Result<Option<Restore>, StoreError> {
        let tail = format!("worktree = ?1 AND undone_by IS NOT NULL AND NOT {SUPERSEDED} ORDER BY id LIMIT 1");
        self.find_restore(&tail, worktree)
    }

    /// Records that a restore was undone; `redo` is the state that was left by it.
    pub fn mark_undone(&mut self, restore: i64, redo: &CheckpointId) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| {
            // What it superseded would count again without it.
            let superseded = "DELETE FROM restores WHERE undone_by IS NOT NULL AND id < ?1
                              AND worktree = (SELECT worktree FROM restores WHERE id = ?1)";
            transaction.execute(superseded, [restore])?;
            let update = "UPDATE restores SET undone_by = ?2 WHERE id = ?1";
            transaction.execute(update, params![restore, redo.as_str()]).map(|_| ())
        })
    }

    /// Records that an undone restore was done again; `pre_restore` is the state that was left by it.
    pub fn mark_redone(&mut self, restore: i64, pre_restore: &CheckpointId) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| {
            let update = "UPDATE restores SET redone_to = undone_by, undone_by = NULL, pre_restore = ?2 WHERE id = ?1";
            transaction.execute(update, params![restore, pre_restore.as_str()]).map(|_| ())
        })
    }

    /// Records that a restore left the memory alone after all.
    pub fn forget_memory(&mut self, restore: i64) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| {
            transaction.execute("UPDATE restores SET memory = NULL WHERE id = ?1", [restore]).map(|_| ())
        })
    }

    /// Records that an undo did not come about after all.
    pub fn withdraw_undo(&mut self, restore: i64) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| {
            let update = "UPDATE restores SET undone_by = NULL WHERE id = ?1";
            transaction.execute(update, [restore]).map(|_| ())
        })
    }

    /// Takes out a restore that did not come about after all.
    pub fn drop_restore(&mut self, restore: i64) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| transaction.execute("DELETE FROM restores WHERE id = ?1", [restore]).map(|_| ()))
    }

    /// Takes a restore out that can be neither undone nor done again, and with it what it superseded, which would count again.
    pub fn forget_restore(&mut self, restore: i64) -> Result<(), StoreError> {
        let worktree = self.worktree_of(restore)?;
        self.durably(&worktree, |transaction| {
            transaction.execute(&format!("DELETE FROM restores WHERE worktree = ?1 AND {SUPERSEDED}"), [&worktree])?;
            transaction.execute("DELETE FROM restores WHERE id = ?1", [restore]).map(|_| ())
        })
    }

    /// The restores of `worktree`, newest first, undone ones included that can be redone.
    pub fn restores(&self, worktree: &WorktreeId) -> Result<Vec<Restore>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM restores WHERE worktree = ?1 AND NOT {SUPERSEDED} ORDER BY id DESC");
        let found = self.db.prepare_cached(&query).and_then(|mut statement| {
            let rows = statement.query_map([worktree.as_str()], read)?;
            rows.collect()
        });
        found.map_err(|e| self.error("read", e))
    }

    /// The restores of all worktrees, newest first, undone ones included.
    pub fn all_restores(&self) -> Result<Vec<Restore>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM restores ORDER BY id DESC");
        let found = self.db.prepare_cached(&query).and_then(|mut statement| statement.query_map([], read)?.collect());
        found.map_err(|e| self.error("read", e))
    }

    /// Where a restore took place; empty if there is no such row.
    fn worktree_of(&self, restore: i64) -> Result<String, StoreError> {
        let query = "SELECT worktree FROM restores WHERE id = ?1";
        let found = self.db.query_row(query, [restore], |row| row.get(0)).optional();
        found.map(Option::unwrap_or_default).map_err(|e| self.error("read", e))
    }

    fn find_restore(&self, tail: &str, worktree: &WorktreeId) -> Result<Option<Restore>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM restores WHERE {tail}");
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_row([worktree.as_str()], read).optional());
        found.map_err(|e| self.error("read", e))
    }

    /// Runs a transaction on the history of `worktree`, which nobody else works on meanwhile, that is on disk when this returns:
    /// unlike rows of checkpoints, this history exists nowhere else.
    fn durably<T>(
        &mut self,
        worktree: &str,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.require_writable()?;
        let before = rows_of(&self.db, worktree).map_err(|e| self.error("read", e))?;
        let mut committing = false;
        let done = (|| {
            self.db.execute_batch("PRAGMA synchronous = FULL")?;
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            committing = true;
            transaction.commit()?;
            fault::point().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            self.db.execute_batch("PRAGMA synchronous = NORMAL")?;
            Ok(value)
        })();
        done.map_err(|error: rusqlite::Error| {
            // A commit that failed to reach the disk may stand all the same; the caller takes the files back, so this goes too.
            let is_back = put_back(&mut self.db, worktree, &before).is_ok();
            // Without room nothing of it is whole.
            let is_nothing = !committing || error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull);
            match self.error("write to", error) {
                StoreError::Failed { path, source, .. } if !is_back && !is_nothing => StoreError::Uncertain { path, source },
                error => error,
            }
        })
    }
}

type RawRow = Vec<rusqlite::types::Value>;

fn rows_of(db: &rusqlite::Connection, worktree: &str) -> rusqlite::Result<Vec<RawRow>> {
    let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM restores WHERE worktree = ?1 ORDER BY id"))?;
    let count = statement.column_count();
    let rows = statement.query_map([worktree], |row| (0..count).map(|at| row.get(at)).collect())?;
    rows.collect()
}

fn put_back(db: &mut rusqlite::Connection, worktree: &str, before: &[RawRow]) -> rusqlite::Result<()> {
    db.execute_batch("PRAGMA synchronous = NORMAL")?;
    // Always written, whatever can be read: what failed to be flushed may lie in the log, and the next process would take it
    // for done, unless something else takes its place there.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("DELETE FROM restores WHERE worktree = ?1", [worktree])?;
    for row in before {
        let insert = format!("INSERT INTO restores ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
        transaction.execute(&insert, rusqlite::params_from_iter(row))?;
    }
    let now = crate::sys::now_millis().to_string();
    transaction.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('retracted', ?1)", [now])?;
    transaction.commit()
}

fn created_paths(text: &str) -> Vec<BString> {
    let values: Vec<serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    values.iter().filter_map(row::path_value).collect()
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Restore> {
    let id = |at: usize, text: &str| {
        CheckpointId::parse(text)
            .map_err(|e| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, e.into()))
    };
    let maybe = |at: usize| row.get_ref(at)?.as_str_or_null()?.map(|text| id(at, text)).transpose();
    Ok(Restore {
        id: row.get(0)?,
        worktree: WorktreeId::from_recorded(row.get_ref(1)?.as_str()?),
        pre_restore: id(2, row.get_ref(2)?.as_str()?)?,
        target: id(3, row.get_ref(3)?.as_str()?)?,
        created_at: row.get(4)?,
        undone_by: maybe(5)?,
        redone_to: maybe(6)?,
        created: row.get_ref(7)?.as_str_or_null()?.map(created_paths),
        memory: row.get_ref(8)?.as_str_or_null()?.and_then(MemoryChange::from_line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::Fixture;

    fn restore(worktree: &WorktreeId, n: i64) -> NewRestore {
        let id = CheckpointId::generate(n);
        NewRestore {
            worktree: worktree.clone(),
            pre_restore: id.clone(),
            target: id,
            created_at: n,
            created: Some(vec!["a".into(), b"\xff".as_slice().into()]),
            memory: None,
        }
    }

    #[test]
    fn undo_goes_down_the_stack_and_redo_up_again() {
        let mut store = Fixture::new().store;
        let main = WorktreeId::main();
        let first = store.push_restore(&restore(&main, 1)).unwrap();
        let second = store.push_restore(&restore(&main, 2)).unwrap();
        let left = CheckpointId::generate(3);

        assert_eq!(store.top_redoable(&main).unwrap(), None);
        assert_eq!(store.top_undoable(&main).unwrap().unwrap().id, second);
        store.mark_undone(second, &left).unwrap();
        assert_eq!(store.top_undoable(&main).unwrap().unwrap().id, first);
        store.mark_undone(first, &left).unwrap();
        assert_eq!(store.top_undoable(&main).unwrap(), None);
        let redoable = store.top_redoable(&main).unwrap().unwrap();
        assert_eq!((redoable.id, redoable.undone_by.as_ref()), (first, Some(&left)));
        store.mark_redone(first, &left).unwrap();
        assert_eq!(store.top_redoable(&main).unwrap().unwrap().id, second);
        let undoable = store.top_undoable(&main).unwrap().unwrap();
        assert_eq!((undoable.id, undoable.pre_restore, undoable.undone_by), (first, left, None));
    }

    #[test]
    fn what_a_restore_superseded_comes_back_if_it_did_not_come_about_and_only_then() {
        let mut store = Fixture::new().store;
        let main = WorktreeId::main();
        let left = CheckpointId::generate(3);
        let undone = store.push_restore(&restore(&main, 1)).unwrap();
        store.mark_undone(undone, &left).unwrap();

        let dead = store.push_restore(&restore(&main, 4)).unwrap();
        assert_eq!(store.top_redoable(&main).unwrap(), None);
        store.drop_restore(dead).unwrap();
        assert_eq!(store.top_redoable(&main).unwrap().unwrap().id, undone);

        let done = store.push_restore(&restore(&main, 5)).unwrap();
        store.mark_undone(done, &left).unwrap();
        assert_eq!(store.top_redoable(&main).unwrap().unwrap().id, done);
        assert_eq!(store.restores(&main).unwrap().len(), 1);
    }

    #[test]
    fn a_new_restore_drops_what_was_undone_in_its_worktree_only() {
        let mut store = Fixture::new().store;
        let (main, linked) = (WorktreeId::main(), WorktreeId::linked("w"));
        let left = CheckpointId::generate(3);
        for worktree in [&main, &linked] {
            let id = store.push_restore(&restore(worktree, 1)).unwrap();
            store.mark_undone(id, &left).unwrap();
        }

        store.push_restore(&restore(&main, 4)).unwrap();

        assert_eq!(store.top_redoable(&main).unwrap(), None);
        assert!(store.top_redoable(&linked).unwrap().is_some());
        assert_eq!(store.restores(&main).unwrap().len(), 1);
    }
}
