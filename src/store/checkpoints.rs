//! Adding, finding, listing and deleting checkpoints.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Params, params, params_from_iter};

use super::open::INDEXED;
use super::row::{self, COLUMNS, INSERT, signed, unsigned};
use super::{Filter, Store, StoreError};
use crate::model::{Boundary, Checkpoint, CheckpointId, Kind, Millis, ObjectId, SessionKey, Stat, WorktreeId};

/// A prefix that matches more than this many checkpoints is as ambiguous as it gets.
const MOST_MATCHES: u32 = 50;

/// The checkpoint made last, given `WHERE` conditions.
const NEWEST: &str = "ORDER BY number DESC LIMIT 1";

/// Own checkpoints of a worktree go before those of others.
const OWN_FIRST: &str = "ORDER BY (worktree = ?1 AND origin IS NULL) DESC, number DESC LIMIT 1";

impl Store {
    /// Adds a row for `checkpoint` with its names, and returns its number. One that has a row already keeps it.
    pub fn insert(&mut self, checkpoint: &Checkpoint) -> Result<u64, StoreError> {
        self.require_writable()?;
        let added = (|| {
            let transaction = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let number = add(&transaction, checkpoint, None)?;
            transaction.commit()?;
            Ok(number)
        })();
        added.map_err(|e| self.error("write to", e))
    }

    /// Adds the rows of checkpoints that were read from the refs, oldest first, and marks the database as complete. Those that
    /// have a row already keep it.
    pub fn insert_all(&mut self, checkpoints: &[Checkpoint]) -> Result<(), StoreError> {
        self.insert_numbered(checkpoints, &HashMap::new())
    }

    /// The same; those in `numbers` get the number that they have there, the others one that nobody ever had.
    pub fn insert_numbered(
        &mut self,
        checkpoints: &[Checkpoint],
        numbers: &HashMap<CheckpointId, u64>,
    ) -> Result<(), StoreError> {
        self.require_fillable()?;
        let added = (|| {
            let transaction = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for checkpoint in checkpoints {
                add(&transaction, checkpoint, numbers.get(&checkpoint.id).copied())?;
            }
            transaction.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, '1')", [INDEXED])?;
            transaction.commit()
        })();
        added.map_err(|e| self.error("write to", e))
    }

    /// The newest checkpoint made in `worktree`.
    pub fn newest(&self, worktree: &WorktreeId) -> Result<Option<Checkpoint>, StoreError> {
        self.nth_newest(worktree, 0)
    }

    /// The `n`th checkpoint made in `worktree` before the newest.
    pub fn nth_newest(&self, worktree: &WorktreeId, n: u64) -> Result<Option<Checkpoint>, StoreError> {
        let tail = "worktree = ?1 AND origin IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?2";
        self.find(tail, params![worktree.as_str(), signed(n)])
    }

    /// The newest checkpoint made in `worktree` at or before `time`.
    pub fn newest_before(&self, worktree: &WorktreeId, time: Millis) -> Result<Option<Checkpoint>, StoreError> {
        let tail = "worktree = ?1 AND origin IS NULL AND created_at <= ?2 ORDER BY created_at DESC, number DESC LIMIT 1";
        self.find(tail, params![worktree.as_str(), time])
    }

    /// The checkpoint made in the worktree of `checkpoint` just before it.
    pub fn previous(&self, checkpoint: &Checkpoint) -> Result<Option<Checkpoint>, StoreError> {
        let tail = format!("worktree = ?1 AND origin IS ?2 AND number < ?3 {NEWEST}");
        self.find(&tail, params![checkpoint.worktree.id.as_str(), checkpoint.origin, signed(checkpoint.number)])
    }

    /// The checkpoint with this number.
    pub fn by_number(&self, number: u64) -> Result<Option<Checkpoint>, StoreError> {
        self.find("number = ?1", [signed(number)])
    }

    /// The checkpoints whose number begins with the digits of `prefix`, newest first; at most a screenful. None if `prefix` is
    /// no number.
    pub fn by_number_prefix(&self, prefix: &str) -> Result<Vec<Checkpoint>, StoreError> {
        let mut found = Vec::new();
        let (Ok(first), false) = (prefix.parse::<u64>(), prefix.starts_with(['0', '+'])) else { return Ok(found) };
        // 12, then 120 to 129, then 1200 to 1299, as far as there are numbers.
        let mut width = 1u64;
        while let (Some(low), Some(end)) = (first.checked_mul(width), (first + 1).checked_mul(width)) {
            let tail = format!("number >= ?1 AND number < ?2 ORDER BY number DESC LIMIT {MOST_MATCHES}");
            let mut longer = self.select(&tail, [signed(low), signed(end)])?;
            longer.append(&mut found);
            found = longer;
            let Some(wider) = width.checked_mul(10) else { break };
            width = wider;
        }
        found.truncate(MOST_MATCHES as usize);
        Ok(found)
    }

    /// The names of all steps, that of the newest checkpoint first.
    pub fn steps(&self) -> Result<Vec<String>, StoreError> {
        self.words("SELECT step FROM checkpoints WHERE step IS NOT NULL GROUP BY step ORDER BY max(number) DESC")
    }

    /// The keys of all sessions, that of the newest checkpoint first.
    pub fn sessions(&self) -> Result<Vec<SessionKey>, StoreError> {
        let words = self.words("SELECT session FROM checkpoints GROUP BY session ORDER BY max(number) DESC")?;
        Ok(words.iter().filter_map(|word| SessionKey::parse(word).ok()).collect())
    }

    fn words(&self, query: &str) -> Result<Vec<String>, StoreError> {
        let words = self.db.prepare_cached(query).and_then(|mut statement| {
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        });
        words.map_err(|e| self.error("read", e))
    }

    /// The checkpoints made in `worktree` whose snapshot is this tree, newest first.
    pub fn by_tree(&self, worktree: &WorktreeId, tree: &ObjectId) -> Result<Vec<Checkpoint>, StoreError> {
        let tail = "worktree = ?1 AND origin IS NULL AND tree = ?2 ORDER BY number DESC";
        self.select(tail, params![worktree.as_str(), tree.as_slice()])
    }

    /// The checkpoint with this id.
    pub fn by_id(&self, id: &CheckpointId) -> Result<Option<Checkpoint>, StoreError> {
        self.find("id = ?1", [id.as_str()])
    }

    /// The checkpoints whose id begins with `prefix`, newest first; at most a screenful.
    pub fn by_id_prefix(&self, prefix: &str) -> Result<Vec<Checkpoint>, StoreError> {
        // `~` sorts after every character of an id.
        let tail = format!("id >= ?1 AND id < ?1 || '~' ORDER BY number DESC LIMIT {MOST_MATCHES}");
        self.select(&tail, [prefix])
    }

    /// The checkpoints whose commit's hex id begins with `prefix`, newest first; at most a screenful. None if `prefix` is not
    /// hexadecimal.
    pub fn by_commit_prefix(&self, prefix: &str) -> Result<Vec<Checkpoint>, StoreError> {
        let Some((low, high)) = commit_range(prefix) else { return Ok(Vec::new()) };
        let tail = format!("commit_id BETWEEN ?1 AND ?2 ORDER BY number DESC LIMIT {MOST_MATCHES}");
        self.select(&tail, params![low, high])
    }

    /// The checkpoint that has this name.
    pub fn by_name(&self, name: &str) -> Result<Option<Checkpoint>, StoreError> {
        self.find("number = (SELECT checkpoint FROM names WHERE name = ?1)", [name])
    }

    /// The newest checkpoint of this kind made in `worktree`.
    pub fn newest_of_kind(&self, worktree: &WorktreeId, kind: Kind) -> Result<Option<Checkpoint>, StoreError> {
        self.find(&format!("worktree = ?1 AND origin IS NULL AND kind = ?2 {NEWEST}"), params![worktree.as_str(), kind.as_str()])
    }

    /// The newest checkpoint made in `worktree` on somebody's word, and not by a restore to have a way back.
    pub fn newest_asked_for(&self, worktree: &WorktreeId) -> Result<Option<Checkpoint>, StoreError> {
        let tail = format!("worktree = ?1 AND origin IS NULL AND kind <> ?2 {NEWEST}");
        self.find(&tail, params![worktree.as_str(), Kind::PreRestore.as_str()])
    }

    /// The newest checkpoint of this step: of `worktree` if it has one, else of any.
    pub fn newest_of_step(&self, worktree: &WorktreeId, step: &str) -> Result<Option<Checkpoint>, StoreError> {
        self.find(&format!("step = ?2 {OWN_FIRST}"), params![worktree.as_str(), step])
    }

    /// The newest checkpoint of this turn: of `worktree` if it has one, else of any.
    pub fn newest_of_turn(&self, worktree: &WorktreeId, turn: u32) -> Result<Option<Checkpoint>, StoreError> {
        self.find(&format!("turn = ?2 {OWN_FIRST}"), params![worktree.as_str(), turn])
    }

    /// The newest checkpoint of this session.
    pub fn newest_of_session(&self, session: &SessionKey) -> Result<Option<Checkpoint>, StoreError> {
        self.find(&format!("session = ?1 {NEWEST}"), [session.as_str()])
    }

    /// The checkpoints that pass `filter`, in its order.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Checkpoint>, StoreError> {
        let (clauses, values) = filter.clauses();
        self.rows(&clauses, params_from_iter(values))
    }

    /// How many checkpoints there are, in all worktrees.
    pub fn count(&self) -> Result<u64, StoreError> {
        let count = self.db.query_row("SELECT count(*) FROM checkpoints", [], |row| row.get(0));
        count.map(unsigned).map_err(|e| self.error("read", e))
    }

    /// Deletes the row of a checkpoint with its names. True if there was one.
    pub fn delete(&mut self, id: &CheckpointId) -> Result<bool, StoreError> {
        self.require_writable()?;
        let deleted = self.db.execute("DELETE FROM checkpoints WHERE id = ?1", [id.as_str()]);
        deleted.map(|count| count > 0).map_err(|e| self.error("write to", e))
    }

    /// Keeps the counts of what a checkpoint changed.
    pub fn set_stat(&mut self, id: &CheckpointId, stat: Stat) -> Result<(), StoreError> {
        self.require_fillable()?;
        let values = params![signed(stat.files), signed(stat.insertions), signed(stat.deletions), id.as_str()];
        let update = "UPDATE checkpoints SET files = ?1, insertions = ?2, deletions = ?3 WHERE id = ?4";
        self.db.prepare_cached(update).and_then(|mut s| s.execute(values)).map_err(|e| self.error("write to", e))?;
        Ok(())
    }

    /// The newest checkpoint of the end of a turn that a session has.
    pub fn last_turn(&self, session: &SessionKey) -> Result<Option<Checkpoint>, StoreError> {
        self.find("session = ?1 AND kind = 'turn' AND origin IS NULL ORDER BY number DESC LIMIT 1", [session.as_str()])
    }

    /// Keeps what is known of the place of a checkpoint by now.
    pub fn set_boundary(&mut self, id: &CheckpointId, boundary: &Boundary) -> Result<(), StoreError> {
        self.require_writable()?;
        let set = self.db.execute("UPDATE checkpoints SET boundary = ?2 WHERE id = ?1", [id.as_str(), &boundary.to_line()]);
        set.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// The first checkpoint that meets the conditions.
    fn find(&self, tail: &str, values: impl Params) -> Result<Option<Checkpoint>, StoreError> {
        let found = (|| {
            let mut statement = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoints WHERE {tail}"))?;
            let Some(mut checkpoint) = statement.query_row(values, row::read).optional()? else { return Ok(None) };
            let mut names = self.db.prepare_cached("SELECT name FROM names WHERE checkpoint = ?1 ORDER BY name")?;
            let names = names.query_map([signed(checkpoint.number)], |row| row.get(0))?;
            checkpoint.names = names.collect::<rusqlite::Result<_>>()?;
            Ok(Some(checkpoint))
        })();
        found.map_err(|e| self.error("read", e))
    }

    /// All checkpoints that meet the conditions.
    fn select(&self, tail: &str, values: impl Params) -> Result<Vec<Checkpoint>, StoreError> {
        self.rows(&format!("WHERE {tail}"), values)
    }

    fn rows(&self, clauses: &str, values: impl Params) -> Result<Vec<Checkpoint>, StoreError> {
        let found = (|| {
            let mut statement = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoints {clauses}"))?;
            let mut list = Vec::with_capacity(self.most_rows()?);
            for checkpoint in statement.query_map(values, row::read)? {
                list.push(checkpoint?);
            }
            // One pass over all names is cheaper than a query for each row.
            let mut names = self.all_names()?;
            for checkpoint in &mut list {
                checkpoint.names = names.remove(&checkpoint.number).unwrap_or_default();
            }
            Ok(list)
        })();
        found.map_err(|e| self.error("read", e))
    }

    /// Room for the rows of a long list, so that it need not be moved while it grows. Never much more than there can be.
    fn most_rows(&self) -> rusqlite::Result<usize> {
        const MOST: i64 = 16_384;
        let newest: Option<i64> =
            self.db.prepare_cached("SELECT max(number) FROM checkpoints")?.query_row([], |row| row.get(0))?;
        Ok(usize::try_from(newest.unwrap_or(0).min(MOST)).unwrap_or(0))
    }

    pub(super) fn all_names(&self) -> rusqlite::Result<HashMap<u64, Vec<String>>> {
        let mut names: HashMap<u64, Vec<String>> = HashMap::new();
        let mut statement = self.db.prepare_cached("SELECT checkpoint, name FROM names ORDER BY name")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            names.entry(unsigned(row.get(0)?)).or_default().push(row.get(1)?);
        }
        Ok(names)
    }
}

/// Adds a row, with this number or with one that nobody ever had.
fn add(db: &rusqlite::Connection, checkpoint: &Checkpoint, number: Option<u64>) -> rusqlite::Result<u64> {
    // Looking first, and not `ON CONFLICT`, because that would use a number up.
    let mut known = db.prepare_cached("SELECT number FROM checkpoints WHERE id = ?1")?;
    let number: i64 = match known.query_row([checkpoint.id.as_str()], |row| row.get(0)).optional()? {
        Some(number) => number,
        None => {
            row::insert(&mut *db.prepare_cached(INSERT)?, checkpoint, number)?;
            db.last_insert_rowid()
        }
    };
    for name in &checkpoint.names {
        let mut statement = db.prepare_cached("INSERT OR REPLACE INTO names (name, checkpoint) VALUES (?1, ?2)")?;
        statement.execute(params![name, number])?;
    }
    Ok(unsigned(number))
}

/// The least and the greatest id that begin with the hex digits of `prefix`.
fn commit_range(prefix: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    // The longest hash in use has 64 digits; a shorter id sorts before the same id with more digits.
    let digits = prefix.len();
    if digits == 0 || digits > 64 || !prefix.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let odd = digits % 2;
    let low = format!("{prefix}{}", "0".repeat(odd));
    let high = format!("{prefix}{}", "f".repeat(64 - digits));
    let bytes =
        |hex: &str| (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect::<Option<_>>();
    Some((bytes(&low)?, bytes(&high)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BString, SkipReason, Skipped, WorktreeRef};
    use crate::store::testing::{Fixture, object, sample};

    fn full() -> Checkpoint {
        Checkpoint {
            kind: Kind::Turn,
            step: Some("build".into()),
            turn: Some(3),
            agent: Some("claude".into()),
            message: Some("subject\n\nbody".into()),
            index_tree: Some(object(3)),
            head: Some(object(4)),
            operation: Some("merge".into()),
            completed_at: Some(7),
            boundary: Some(crate::model::sample_boundary()),
            worktree: WorktreeRef { id: WorktreeId::linked("w"), path: b"/a\xff".as_slice().into() },
            origin: Some("laptop".into()),
            skipped: vec![
                Skipped { path: "big".into(), reason: SkipReason::TooLarge, size: Some(9) },
                Skipped { path: BString::from(b"\xff\n".as_slice()), reason: SkipReason::Special, size: None },
            ],
            intent_to_add: vec!["n".into(), b"\xfe".as_slice().into()],
            meta: [("k".to_owned(), "v=1".to_owned())].into(),
            names: vec!["a".to_owned(), "b c".to_owned()],
            stat: Some(Stat { files: 3, insertions: 2, deletions: 1 }),
            ..sample(1)
        }
    }

    fn numbers(list: &[Checkpoint]) -> Vec<u64> {
        list.iter().map(|checkpoint| checkpoint.number).collect()
    }

    #[test]
    fn a_row_reads_back_as_the_same_checkpoint() {
        let mut store = Fixture::new().store;

        let number = store.insert(&full()).unwrap();

        let expected = Checkpoint { number, ..full() };
        let expected = Checkpoint { id: expected.id, ..expected };
        let read = store.by_number(number).unwrap().unwrap();
        assert_eq!(Checkpoint { id: expected.id.clone(), ..read.clone() }, expected);
        assert_eq!(store.by_id(&read.id).unwrap().unwrap(), read);
    }

    #[test]
    fn a_number_is_never_used_again() {
        let mut store = Fixture::new().store;
        let (a, b) = (sample(1), sample(2));

        assert_eq!(store.insert(&a).unwrap(), 1);
        assert!(store.delete(&a.id).unwrap());
        assert_eq!(store.insert(&b).unwrap(), 2);
        assert!(!store.delete(&a.id).unwrap());
        assert_eq!(store.count().unwrap(), 1);
    }

    #[test]
    fn a_checkpoint_is_added_once() {
        let mut store = Fixture::new().store;
        let a = sample(1);

        assert_eq!(store.insert(&a).unwrap(), 1);
        assert_eq!(store.insert(&a).unwrap(), 1);
        assert_eq!(store.insert(&sample(2)).unwrap(), 2);
    }

    #[test]
    fn the_newest_is_that_of_the_worktree_and_made_here() {
        let mut store = Fixture::new().store;
        let elsewhere = WorktreeRef { id: WorktreeId::linked("w"), path: "/v".into() };
        store.insert(&sample(1)).unwrap();
        store.insert(&sample(2)).unwrap();
        store.insert(&Checkpoint { worktree: elsewhere, ..sample(3) }).unwrap();
        store.insert(&Checkpoint { origin: Some("laptop".into()), ..sample(4) }).unwrap();
        let main = WorktreeId::main();

        assert_eq!(store.newest(&main).unwrap().unwrap().number, 2);
        assert_eq!(store.nth_newest(&main, 1).unwrap().unwrap().number, 1);
        assert_eq!(store.nth_newest(&main, 2).unwrap(), None);
        assert_eq!(store.newest_before(&main, 1_500).unwrap().unwrap().number, 1);
        assert_eq!(store.newest_before(&main, 500).unwrap(), None);
        let newest = store.newest(&main).unwrap().unwrap();
        assert_eq!(store.previous(&newest).unwrap().unwrap().number, 1);
    }

    #[test]
    fn a_step_and_a_turn_are_looked_for_in_the_worktree_first() {
        let mut store = Fixture::new().store;
        let elsewhere = WorktreeRef { id: WorktreeId::linked("w"), path: "/v".into() };
        let step = |n| Checkpoint { step: Some("build".into()), turn: Some(4), ..sample(n) };
        store.insert(&step(1)).unwrap();
        store.insert(&Checkpoint { worktree: elsewhere.clone(), ..step(2) }).unwrap();
        let (main, third) = (WorktreeId::main(), WorktreeId::linked("x"));

        assert_eq!(store.newest_of_step(&main, "build").unwrap().unwrap().number, 1);
        assert_eq!(store.newest_of_step(&third, "build").unwrap().unwrap().number, 2);
        assert_eq!(store.newest_of_turn(&elsewhere.id, 4).unwrap().unwrap().number, 2);
        assert_eq!(store.newest_of_turn(&main, 5).unwrap(), None);
    }

    #[test]
    fn prefixes_find_ids_and_commits() {
        let mut store = Fixture::new().store;
        let (a, b) = (sample(0x1a), sample(0x1b));
        store.insert(&a).unwrap();
        store.insert(&b).unwrap();

        assert_eq!(numbers(&store.by_id_prefix(&a.id.as_str()[..20]).unwrap()), [1]);
        assert_eq!(numbers(&store.by_id_prefix("0").unwrap()), [2, 1]);
        assert_eq!(numbers(&store.by_commit_prefix("1").unwrap()), [2, 1]);
        assert_eq!(numbers(&store.by_commit_prefix("1A1").unwrap()), [1]);
        assert_eq!(numbers(&store.by_commit_prefix(&b.commit.to_string()).unwrap()), [2]);
        for none in ["", "xyz", "1c", &"1".repeat(65)] {
            assert_eq!(store.by_commit_prefix(none).unwrap(), [], "{none}");
        }
    }

    #[test]
    fn digits_find_the_numbers_that_begin_with_them() {
        let mut store = Fixture::new().store;
        let all: Vec<Checkpoint> = (1..=120).map(sample).collect();
        store.insert_all(&all).unwrap();

        assert_eq!(numbers(&store.by_number_prefix("12").unwrap()), [120, 12]);
        assert_eq!(numbers(&store.by_number_prefix("3").unwrap()), [39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 3]);
        assert_eq!(store.by_number_prefix("1").unwrap().len(), 32);
        for none in ["", "0", "x", "-1", "99999999999999999999"] {
            assert_eq!(store.by_number_prefix(none).unwrap(), [], "{none}");
        }
    }

    #[test]
    fn steps_and_sessions_come_newest_first() {
        let mut store = Fixture::new().store;
        let step = |n, step: &str| Checkpoint { step: Some(step.to_owned()), ..sample(n) };
        let session = SessionKey::parse("s-2").unwrap();
        for checkpoint in [step(1, "a"), step(2, "b"), Checkpoint { session: session.clone(), ..step(3, "a") }, sample(4)] {
            store.insert(&checkpoint).unwrap();
        }

        assert_eq!(store.steps().unwrap(), ["a", "b"]);
        assert_eq!(store.sessions().unwrap(), [sample(1).session, session]);
    }

    #[test]
    fn a_list_is_filtered_ordered_and_cut() {
        let mut store = Fixture::new().store;
        let elsewhere = WorktreeRef { id: WorktreeId::linked("w"), path: "/v".into() };
        let session = SessionKey::parse("s-2").unwrap();
        store.insert(&Checkpoint { names: vec!["x".into()], ..sample(1) }).unwrap();
        store.insert(&Checkpoint { kind: Kind::PreRestore, session: session.clone(), ..sample(2) }).unwrap();
        store.insert(&Checkpoint { worktree: elsewhere, ..sample(3) }).unwrap();
        store.insert(&Checkpoint { origin: Some("laptop".into()), ..sample(4) }).unwrap();
        let list = |filter: Filter| numbers(&store.list(&filter).unwrap());
        let all = Filter::default;

        assert_eq!(list(all()), [4, 3, 2, 1]);
        assert_eq!(list(Filter { worktree: Some(WorktreeId::main()), ..all() }), [4, 2, 1]);
        assert_eq!(list(Filter { session: Some(session), ..all() }), [2]);
        assert_eq!(list(Filter { kinds: vec![Kind::PreRestore, Kind::Turn], ..all() }), [2]);
        assert_eq!(list(Filter { since: Some(2_000), until: Some(3_000), ..all() }), [3, 2]);
        assert_eq!(list(Filter { limit: Some(2), reverse: true, ..all() }), [3, 4]);
        assert_eq!(store.list(&all()).unwrap()[3].names, ["x"]);
    }

    #[test]
    fn rows_made_from_the_refs_mark_the_database_as_complete() {
        let mut store = Fixture::new().store;
        let kept = sample(1);
        store.insert(&kept).unwrap();
        assert!(store.was_created().unwrap());

        store.insert_all(&[kept, sample(2)]).unwrap();

        assert!(!store.was_created().unwrap());
        assert_eq!(numbers(&store.list(&Filter::default()).unwrap()), [2, 1]);
    }
}
