//! The turns of agents, from the moment that one begins.
//!
//! What a turn came to is its checkpoint; a row here says that it began, and whether its end was recorded. Rows that were lost cost
//! no more than that: a turn whose end is told then gets a new number unless a checkpoint tells it.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, StoreError};
use crate::model::{Boundary, Millis, SessionKey};

/// A turn of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its session.
    pub session: SessionKey,
    /// Its number in the session.
    pub number: u32,
    /// The agent's own id of it.
    pub turn_id: Option<String>,
    /// When it began.
    pub started_at: Millis,
    /// When its end was recorded; none before that.
    pub recorded_at: Option<Millis>,
    /// What was known of its place in the conversation when it began; none if that is not to be kept.
    pub boundary: Option<Boundary>,
}

const COLUMNS: &str = "number, turn_id, started_at, recorded_at, boundary";

impl Store {
    /// Adds a turn after all that the session has had, and returns its number.
    pub fn begin_turn(
        &mut self,
        session: &SessionKey,
        turn_id: Option<&str>,
        started_at: Millis,
        boundary: Option<&Boundary>,
    ) -> Result<u32, StoreError> {
        self.require_writable()?;
        let begun = (|| {
            let transaction = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let next = next_number(&transaction, session)?;
            let add = "INSERT INTO turns (session, number, turn_id, started_at, boundary) VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = params![session.as_str(), next, turn_id, started_at, boundary.map(Boundary::to_line)];
            transaction.execute(add, values)?;
            transaction.commit()?;
            Ok(next)
        })();
        begun.map_err(|e| self.error("write to", e))
    }

    /// The number that the next turn of a session gets.
    pub fn next_turn(&self, session: &SessionKey) -> Result<u32, StoreError> {
        next_number(&self.db, session).map_err(|e| self.error("read", e))
    }

    /// The turn that the agent calls so.
    pub fn turn_by_id(&self, session: &SessionKey, turn_id: &str) -> Result<Option<Turn>, StoreError> {
        self.turn("turn_id = ?2", session, params![session.as_str(), turn_id])
    }

    /// The last turn of a session whose end was not recorded.
    pub fn open_turn(&self, session: &SessionKey) -> Result<Option<Turn>, StoreError> {
        self.turn("recorded_at IS NULL", session, params![session.as_str()])
    }

    /// Records that the end of a turn is recorded, and with it that of those before it, of which nobody will tell any more.
    pub fn turn_recorded(&mut self, session: &SessionKey, number: u32, at: Millis) -> Result<(), StoreError> {
        self.require_writable()?;
        let set = "UPDATE turns SET recorded_at = ?3 WHERE session = ?1 AND number <= ?2 AND recorded_at IS NULL";
        let set = self.db.execute(set, params![session.as_str(), number, at]);
        set.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// True if a checkpoint of this session holds the end of the turn that the agent calls so.
    pub fn has_turn_checkpoint(&self, session: &SessionKey, turn_id: &str) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM checkpoints WHERE session = ?1 AND kind = 'turn' \
                     AND json_extract(boundary, '$.turn_id') = ?2)";
        let found = self.db.prepare_cached(query).and_then(|mut s| s.query_row([session.as_str(), turn_id], |row| row.get(0)));
        found.map_err(|e| self.error("read", e))
    }

    /// Takes out that an agent is at work on a turn of a session, up to the turn with this number.
    pub fn remove_turn_runs(&mut self, session: &SessionKey, number: u32) -> Result<(), StoreError> {
        self.require_writable()?;
        let removed = self.db.execute("DELETE FROM runs WHERE session = ?1 AND turn <= ?2", params![session.as_str(), number]);
        removed.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    fn turn(&self, condition: &str, session: &SessionKey, values: impl rusqlite::Params) -> Result<Option<Turn>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM turns WHERE session = ?1 AND {condition} ORDER BY number DESC LIMIT 1");
        let read = |row: &Row<'_>| {
            Ok(Turn {
                session: session.clone(),
                number: row.get(0)?,
                turn_id: row.get(1)?,
                started_at: row.get(2)?,
                recorded_at: row.get(3)?,
                boundary: row.get_ref(4)?.as_str_or_null()?.and_then(Boundary::from_line),
            })
        };
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_row(values, read).optional());
        found.map_err(|e| self.error("read", e))
    }
}

/// One more than any turn of the session has, whether a row or a checkpoint tells of it. One from before a turn tells of none.
fn next_number(db: &rusqlite::Connection, session: &SessionKey) -> rusqlite::Result<u32> {
    let query = "SELECT 1 + max(coalesce((SELECT max(number) FROM turns WHERE session = ?1), 0), \
                 coalesce((SELECT max(CASE kind WHEN 'turn-start' THEN turn - 1 ELSE turn END) \
                 FROM checkpoints WHERE session = ?1), 0))";
    let next: i64 = db.prepare_cached(query)?.query_row([session.as_str()], |row| row.get(0))?;
    Ok(u32::try_from(next).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Checkpoint, Kind, sample_boundary};
    use crate::store::testing::{Fixture, sample};

    fn key(text: &str) -> SessionKey {
        SessionKey::parse(text).unwrap()
    }

    #[test]
    fn turns_are_numbered_after_those_that_rows_and_checkpoints_tell_of() {
        let mut store = Fixture::new().store;
        let (a, b) = (key("main-1"), key("b"));

        assert_eq!(store.begin_turn(&a, Some("t1"), 5, Some(&sample_boundary())).unwrap(), 1);
        store.insert(&Checkpoint { kind: Kind::Turn, turn: Some(7), ..sample(1) }).unwrap();
        assert_eq!((store.next_turn(&a).unwrap(), store.next_turn(&b).unwrap()), (8, 1));
        store.insert(&Checkpoint { kind: Kind::TurnStart, turn: Some(8), ..sample(2) }).unwrap();
        assert_eq!(store.begin_turn(&a, None, 6, None).unwrap(), 8);
        assert_eq!(store.begin_turn(&b, Some("t1"), 6, None).unwrap(), 1);

        let first = Turn {
            session: a.clone(),
            number: 1,
            turn_id: Some("t1".into()),
            started_at: 5,
            recorded_at: None,
            boundary: Some(sample_boundary()),
        };
        assert_eq!(store.turn_by_id(&a, "t1").unwrap(), Some(first));
        assert_eq!(store.open_turn(&a).unwrap().map(|turn| turn.number), Some(8));
        store.turn_recorded(&a, 8, 9).unwrap();
        assert_eq!(store.open_turn(&a).unwrap(), None);
        assert_eq!(store.turn_by_id(&a, "t1").unwrap().and_then(|turn| turn.recorded_at), Some(9));
        assert!(store.open_turn(&b).unwrap().is_some());
    }

    #[test]
    fn a_turn_is_known_by_the_checkpoint_of_its_end_alone() {
        let mut store = Fixture::new().store;
        let of = |kind, n| Checkpoint { kind, boundary: Some(sample_boundary()), ..sample(n) };

        store.insert(&of(Kind::TurnStart, 1)).unwrap();
        assert!(!store.has_turn_checkpoint(&key("main-1"), "p-1").unwrap());
        store.insert(&of(Kind::Turn, 2)).unwrap();
        assert!(store.has_turn_checkpoint(&key("main-1"), "p-1").unwrap());
        assert!(!store.has_turn_checkpoint(&key("main-1"), "p-2").unwrap());
        assert!(!store.has_turn_checkpoint(&key("b"), "p-1").unwrap());
    }
}
