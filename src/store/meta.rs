//! Small facts: free keys, the session that a worktree uses when none is named, and counts of differences.

use rusqlite::{OptionalExtension, params};

use super::row::{signed, unsigned};
use super::{Store, StoreError};
use crate::model::{Millis, ObjectId, SessionKey, Stat, WorktreeId};

/// The key of the last event of an agent, but for the agent's name.
const LAST_EVENT: &str = "last-event-of-";

impl Store {
    /// The value kept under `key`.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.db.prepare_cached("SELECT value FROM meta WHERE key = ?1").map_err(|e| self.error("read", e))?;
        statement.query_row([key], |row| row.get(0)).optional().map_err(|e| self.error("read", e))
    }

    /// Keeps `value` under `key`.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.require_writable()?;
        let set = self.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", [key, value]);
        set.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// What is kept under `key`, which is `value` from now on if nothing was. Of several processes the first decides.
    pub fn meta_or_set(&mut self, key: &str, value: &str) -> Result<String, StoreError> {
        self.require_writable()?;
        let set = self.db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES (?1, ?2)", [key, value]);
        set.map_err(|e| self.error("write to", e))?;
        Ok(self.meta(key)?.unwrap_or_else(|| value.to_owned()))
    }

    /// Remembers that an agent told of an event.
    pub fn note_event(&mut self, agent: &str, event: &str, at: Millis) -> Result<(), StoreError> {
        self.set_meta(&format!("{LAST_EVENT}{agent}"), &format!("{at} {event}"))
    }

    /// The last event that an agent told of, and when.
    pub fn last_event(&self, agent: &str) -> Result<Option<(Millis, String)>, StoreError> {
        let noted = self.meta(&format!("{LAST_EVENT}{agent}"))?;
        Ok(noted.and_then(|text| text.split_once(' ').and_then(|(at, event)| Some((at.parse().ok()?, event.to_owned())))))
    }

    /// The session that a checkpoint of `worktree` belongs to when none is named.
    pub fn default_session(&self, worktree: &WorktreeId) -> Result<Option<SessionKey>, StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT session FROM default_sessions WHERE worktree = ?1")
            .and_then(|mut statement| statement.query_row([worktree.as_str()], |row| row.get::<_, String>(0)).optional());
        let text = found.map_err(|e| self.error("read", e))?;
        Ok(text.and_then(|text| SessionKey::parse(&text).ok()))
    }

    /// Sets the session that a checkpoint of `worktree` belongs to when none is named.
    pub fn set_default_session(&mut self, worktree: &WorktreeId, session: &SessionKey) -> Result<(), StoreError> {
        self.require_writable()?;
        let set = "INSERT OR REPLACE INTO default_sessions (worktree, session) VALUES (?1, ?2)";
        let set = self.db.execute(set, [worktree.as_str(), session.as_str()]);
        set.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// The counts of the difference between two trees, if they were computed before.
    pub fn diff_stat(&self, old: &ObjectId, new: &ObjectId) -> Result<Option<Stat>, StoreError> {
        let query = "SELECT files, insertions, deletions FROM diff_stats WHERE old_tree = ?1 AND new_tree = ?2";
        let found = self.db.prepare_cached(query).and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| {
                Ok(Stat { files: unsigned(row.get(0)?), insertions: unsigned(row.get(1)?), deletions: unsigned(row.get(2)?) })
            };
            statement.query_row([old.as_bytes(), new.as_bytes()], read).optional()
        });
        found.map_err(|e| self.error("read", e))
    }

    /// Keeps the counts of the difference between two trees.
    pub fn put_diff_stat(&mut self, old: &ObjectId, new: &ObjectId, stat: Stat) -> Result<(), StoreError> {
        self.require_writable()?;
        let put = "INSERT OR REPLACE INTO diff_stats (old_tree, new_tree, files, insertions, deletions) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![old.as_bytes(), new.as_bytes(), signed(stat.files), signed(stat.insertions), signed(stat.deletions)];
        let put = self.db.prepare_cached(put).and_then(|mut statement| statement.execute(values));
        put.map(|_| ()).map_err(|e| self.error("write to", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{Fixture, object};

    #[test]
    fn a_fact_is_what_was_written_last() {
        let mut store = Fixture::new().store;

        assert_eq!(store.meta("k").unwrap(), None);
        store.set_meta("k", "a").unwrap();
        store.set_meta("k", "b").unwrap();
        assert_eq!(store.meta("k").unwrap().as_deref(), Some("b"));
    }

    #[test]
    fn each_worktree_has_its_default_session() {
        let mut store = Fixture::new().store;
        let (main, linked) = (WorktreeId::main(), WorktreeId::linked("w"));
        let key = SessionKey::parse("main-1").unwrap();

        store.set_default_session(&main, &key).unwrap();

        assert_eq!(store.default_session(&main).unwrap(), Some(key));
        assert_eq!(store.default_session(&linked).unwrap(), None);
    }

    #[test]
    fn counts_belong_to_one_direction() {
        let mut store = Fixture::new().store;
        let stat = Stat { files: 3, insertions: 2, deletions: 1 };

        store.put_diff_stat(&object(1), &object(2), stat).unwrap();

        assert_eq!(store.diff_stat(&object(1), &object(2)).unwrap(), Some(stat));
        assert_eq!(store.diff_stat(&object(2), &object(1)).unwrap(), None);
    }
}
