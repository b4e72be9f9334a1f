//! Which checkpoints may go, and taking many out at once.
//!
//! Rows go first, in one transaction that also notes which refs are to follow. A process that dies before the refs are gone
//! leaves those notes, and whoever comes next finishes the work: a ref without a row is never listed, and never forgotten.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::row::{required, unsigned, word};
use super::{Store, StoreError};
use crate::model::{CheckpointId, Millis, ObjectId, SessionKey, WorktreeId};
use crate::sys::fault;

/// How keys in `meta` begin that note a ref to be deleted, with what it points to.
const DROPPED: &str = "dropped:";
/// How keys in `meta` begin that note since when a worktree is gone.
const REMOVED: &str = "removed:";
/// The key in `meta` for when the limits were last applied. Absent as long as refs may wait to be deleted.
const APPLIED: &str = "limits-applied";

/// What the limits need to know of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// Its number.
    pub number: u64,
    /// Its id.
    pub id: CheckpointId,
    /// Its session.
    pub session: SessionKey,
    /// Its commit.
    pub commit: ObjectId,
    /// When it was captured.
    pub created_at: Millis,
    /// Where it was captured.
    pub worktree: WorktreeId,
    /// Where it came from, if from elsewhere.
    pub origin: Option<String>,
}

/// A checkpoint to be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Which one.
    pub id: CheckpointId,
    /// The names that go with it. If it has others by now, it stays.
    pub names: Vec<String>,
    /// The refs that follow.
    pub refs: Vec<(String, ObjectId)>,
}

impl Store {
    /// All checkpoints, newest first, without what no limit asks for.
    pub fn retained(&self) -> Result<Vec<Retained>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Retained>> {
            let query = "SELECT number, id, session, commit_id, created_at, worktree, origin FROM checkpoints \
                         ORDER BY number DESC";
            let mut statement = self.db.prepare_cached(query)?;
            let rows = statement.query_map([], |row| {
                Ok(Retained {
                    number: unsigned(row.get(0)?),
                    id: word(row, 1, "id", |text| CheckpointId::parse(text).ok())?,
                    session: word(row, 2, "session", |text| SessionKey::parse(text).ok())?,
                    commit: required(row, 3, "commit_id")?,
                    created_at: row.get(4)?,
                    worktree: WorktreeId::from_recorded(row.get_ref(5)?.as_str()?),
                    origin: row.get(6)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|e| self.error("read", e))
    }

    /// The ids that a restore of each worktree has to know to be undone or done again: any restore that took place at `since` or
    /// later, and whatever its age the one that the next undo and the one that the next redo is about.
    pub fn needed_by_undo(&self, since: Millis) -> Result<HashMap<String, BTreeSet<WorktreeId>>, StoreError> {
        let read = || -> rusqlite::Result<HashMap<String, BTreeSet<WorktreeId>>> {
            let mut needed: HashMap<String, BTreeSet<WorktreeId>> = HashMap::new();
            let query = "WITH done AS (SELECT worktree, max(id) AS id FROM restores WHERE undone_by IS NULL GROUP BY worktree), \
                 undone AS (SELECT r.worktree, min(r.id) AS id FROM restores r LEFT JOIN done USING (worktree) \
                 WHERE r.undone_by IS NOT NULL AND r.id > coalesce(done.id, 0) GROUP BY r.worktree) \
                 SELECT worktree, pre_restore, target, undone_by, redone_to FROM restores \
                 WHERE created_at >= ?1 OR id IN (SELECT id FROM done UNION ALL SELECT id FROM undone)";
            let mut statement = self.db.prepare_cached(query)?;
            let mut rows = statement.query([since])?;
            while let Some(row) = rows.next()? {
                let worktree = WorktreeId::from_recorded(row.get_ref(0)?.as_str()?);
                for at in 1..5 {
                    if let Some(id) = row.get::<_, Option<String>>(at)? {
                        needed.entry(id).or_default().insert(worktree.clone());
                    }
                }
            }
            Ok(needed)
        };
        read().map_err(|e| self.error("read", e))
    }

    /// How many restores have to know one of these checkpoints to be undone or done again.
    pub fn steps_through(&self, checkpoints: &HashSet<&str>) -> Result<usize, StoreError> {
        restores_through(&self.db, checkpoints).map(|steps| steps.len()).map_err(|e| self.error("read", e))
    }

    /// Takes the rows out, with all names of each, with the restores that lead to them, and with what is known of worktrees
    /// that are gone. Notes the refs that are to follow. Returns which rows went: on disk, when this returns.
    pub fn begin_removal(&mut self, removals: &[Removal], gone: &[WorktreeId]) -> Result<Vec<CheckpointId>, StoreError> {
        self.require_writable()?;
        let work = |db: &mut Connection| {
            db.execute_batch("PRAGMA synchronous = FULL")?;
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let removed = remove(&transaction, removals)?;
            for worktree in gone {
                transaction.execute("DELETE FROM restores WHERE worktree = ?1", [worktree.as_str()])?;
                transaction.execute("DELETE FROM default_sessions WHERE worktree = ?1", [worktree.as_str()])?;
            }
            transaction.execute("DELETE FROM meta WHERE key = ?1", [APPLIED])?;
            transaction.commit()?;
            db.execute_batch("PRAGMA synchronous = NORMAL")?;
            Ok(removed)
        };
        let passed = fault::point().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()));
        passed.and_then(|()| work(&mut self.db)).map_err(|e| self.error("write to", e))
    }

    /// The refs that are to be deleted, and may be there still. One whose checkpoint has a row again is not among them.
    pub fn unfinished_removals(&self) -> Result<Vec<(String, ObjectId)>, StoreError> {
        let mut found = Vec::new();
        for (name, value) in self.noted(DROPPED)? {
            let id = name.rsplit('/').next().and_then(|id| CheckpointId::parse(id).ok());
            let is_back = id.map(|id| self.by_id(&id)).transpose()?.flatten().is_some();
            if let (Ok(id), false) = (ObjectId::from_hex(value.as_bytes()), is_back) {
                found.push((name, id));
            }
        }
        Ok(found)
    }

    /// Forgets refs that are deleted.
    pub fn end_removal(&mut self, refs: &[String]) -> Result<(), StoreError> {
        self.require_writable()?;
        let forget = |db: &mut Connection| -> rusqlite::Result<()> {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for name in refs {
                transaction.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([format!("{DROPPED}{name}")])?;
            }
            transaction.commit()
        };
        forget(&mut self.db).map_err(|e| self.error("write to", e))
    }

    /// Since when each worktree is known to be gone.
    pub fn removed_worktrees(&self) -> Result<HashMap<WorktreeId, Millis>, StoreError> {
        let noted = self.noted(REMOVED)?.into_iter();
        Ok(noted.filter_map(|(id, since)| Some((WorktreeId::from_recorded(&id), since.parse().ok()?))).collect())
    }

    /// Notes since when a worktree is gone; none if it is there again.
    pub fn note_removed_worktree(&mut self, worktree: &WorktreeId, since: Option<Millis>) -> Result<(), StoreError> {
        let key = format!("{REMOVED}{worktree}");
        match since {
            Some(since) => self.set_meta(&key, &since.to_string()),
            None => self.delete_meta(&key),
        }
    }

    /// When the limits were last applied; none if never, or if refs may wait to be deleted.
    pub fn limits_applied(&self) -> Result<Option<Millis>, StoreError> {
        Ok(self.meta(APPLIED)?.and_then(|time| time.parse().ok()))
    }

    /// Notes when the limits were applied, and that nothing is left to be done.
    pub fn set_limits_applied(&mut self, time: Millis) -> Result<(), StoreError> {
        self.set_meta(APPLIED, &time.to_string())
    }

    fn delete_meta(&mut self, key: &str) -> Result<(), StoreError> {
        self.require_writable()?;
        let deleted = self.db.execute("DELETE FROM meta WHERE key = ?1", [key]);
        deleted.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// The rest of each key that begins so, with its value.
    fn noted(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            // `;` comes right after `:`.
            let mut statement = self.db.prepare_cached("SELECT key, value FROM meta WHERE key > ?1 AND key < ?2")?;
            let end = prefix.replace(':', ";");
            let rows = statement.query_map([prefix, &end], |row| {
                let key: String = row.get(0)?;
                Ok((key[prefix.len()..].to_owned(), row.get(1)?))
            })?;
            rows.collect()
        };
        read().map_err(|e| self.error("read", e))
    }
}

fn remove(transaction: &Transaction<'_>, removals: &[Removal]) -> rusqlite::Result<Vec<CheckpointId>> {
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    let mut statement =
        transaction.prepare("SELECT c.id, n.name FROM names n JOIN checkpoints c ON c.number = n.checkpoint ORDER BY n.name")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        names.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    let mut removed = Vec::new();
    for removal in removals {
        let has = names.get(removal.id.as_str()).map_or(&[][..], Vec::as_slice);
        let mut delete = transaction.prepare_cached("DELETE FROM checkpoints WHERE id = ?1")?;
        if has != removal.names || delete.execute([removal.id.as_str()])? == 0 {
            continue;
        }
        for (name, id) in &removal.refs {
            let mut note = transaction.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
            note.execute(params![format!("{DROPPED}{name}"), id.to_string()])?;
        }
        removed.push(removal.id.clone());
    }
    let gone: HashSet<&str> = removed.iter().map(CheckpointId::as_str).collect();
    drop_restores(transaction, &gone)?;
    transaction.execute("DELETE FROM diff_stats WHERE new_tree NOT IN (SELECT tree FROM checkpoints)", [])?;
    Ok(removed)
}

/// Takes out the restores that cannot be undone or done again without the checkpoints that are gone.
fn drop_restores(transaction: &Transaction<'_>, gone: &HashSet<&str>) -> rusqlite::Result<()> {
    for id in restores_through(transaction, gone)? {
        transaction.execute("DELETE FROM restores WHERE id = ?1", [id])?;
    }
    Ok(())
}

/// The restores that have to know one of these checkpoints.
fn restores_through(db: &Connection, checkpoints: &HashSet<&str>) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db.prepare_cached("SELECT id, pre_restore, target, undone_by FROM restores")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut goes_through = false;
        for at in 1..4 {
            goes_through |= row.get_ref(at)?.as_str_or_null()?.is_some_and(|id| checkpoints.contains(id));
        }
        if goes_through {
            found.push(row.get::<_, i64>(0)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Checkpoint;
    use crate::store::NewRestore;
    use crate::store::testing::{Fixture, object, sample};

    fn removal(checkpoint: &Checkpoint, names: &[&str]) -> Removal {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Removal { id: checkpoint.id.clone(), names, refs: vec![(checkpoint.ref_name(), checkpoint.commit)] }
    }

    fn filled() -> (Fixture, Vec<Checkpoint>) {
        let mut fixture = Fixture::new();
        let all: Vec<Checkpoint> = (1..=4).map(sample).collect();
        fixture.store.insert_all(&all).unwrap();
        (fixture, all)
    }

    #[test]
    fn rows_go_with_names_and_restores_and_leave_notes_of_their_refs() {
        let (mut fixture, all) = filled();
        let store = &mut fixture.store;
        store.set_name("x", &all[1].id).unwrap();
        store.set_name("late", &all[2].id).unwrap();
        let main = WorktreeId::main();
        for (pre_restore, target) in [(0, 3), (3, 3)] {
            let (pre_restore, target) = (all[pre_restore].id.clone(), all[target].id.clone());
            let restore = NewRestore { worktree: main.clone(), pre_restore, target, created_at: 1, created: None, memory: None };
            store.push_restore(&restore).unwrap();
        }
        store.put_diff_stat(&object(9), &object(1), Default::default()).unwrap();
        store.set_limits_applied(7).unwrap();

        let removals = [removal(&all[0], &[]), removal(&all[1], &["x"]), removal(&all[2], &[])];
        let removed = store.begin_removal(&removals, &[]).unwrap();

        assert_eq!(removed, [all[0].id.clone(), all[1].id.clone()], "one got a name meanwhile");
        assert_eq!(store.retained().unwrap().iter().map(|kept| kept.number).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(store.names().unwrap(), [("late".to_owned(), 3)]);
        assert_eq!(store.restores(&main).unwrap().len(), 1);
        assert_eq!(store.diff_stat(&object(9), &object(1)).unwrap(), None);
        assert_eq!(store.limits_applied().unwrap(), None);
        let noted: HashSet<String> = store.unfinished_removals().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(noted, HashSet::from([all[0].ref_name(), all[1].ref_name()]));
        store.insert(&all[0]).unwrap();
        assert_eq!(store.unfinished_removals().unwrap(), [(all[1].ref_name(), all[1].commit)], "one has a row again");
        store.end_removal(&[all[1].ref_name()]).unwrap();
        assert_eq!(store.unfinished_removals().unwrap(), []);
    }

    #[test]
    fn what_an_undo_needs_is_known_with_the_worktree_that_needs_it() {
        let (mut fixture, all) = filled();
        let (main, linked) = (WorktreeId::main(), WorktreeId::linked("w"));
        let row = |worktree: &WorktreeId, pre_restore: usize| NewRestore {
            worktree: worktree.clone(),
            pre_restore: all[pre_restore].id.clone(),
            target: all[3].id.clone(),
            created_at: 1,
            created: None,
            memory: None,
        };
        let id = fixture.store.push_restore(&row(&main, 0)).unwrap();
        fixture.store.mark_undone(id, &all[1].id).unwrap();
        fixture.store.push_restore(&row(&linked, 2)).unwrap();

        let needed = fixture.store.needed_by_undo(Millis::MIN).unwrap();

        let of = |n: usize| needed[all[n].id.as_str()].iter().cloned().collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2)), (vec![main.clone()], vec![main.clone()], vec![linked.clone()]));
        assert_eq!(of(3), [main, linked.clone()]);
        fixture.store.begin_removal(&[], &[linked]).unwrap();
        assert!(!fixture.store.needed_by_undo(Millis::MIN).unwrap().contains_key(all[2].id.as_str()));
    }

    #[test]
    fn a_worktree_is_noted_as_gone_until_it_is_back() {
        let mut store = Fixture::new().store;
        let worktree = WorktreeId::linked("main");

        store.note_removed_worktree(&worktree, Some(5)).unwrap();
        assert_eq!(store.removed_worktrees().unwrap(), HashMap::from([(worktree.clone(), 5)]));
        store.note_removed_worktree(&worktree, None).unwrap();
        assert!(store.removed_worktrees().unwrap().is_empty());
    }
}
