//! What can still be read of a database that is damaged: a row that means nothing, or a page that cannot be read, costs itself alone.
//!
//! Rows of checkpoints are made again from the refs, with the numbers that they had. What exists nowhere else is taken as it
//! stands: the undo history, sessions with what is at work in them, turns, and small facts. Counts are worked out again.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, TransactionBehavior, params, params_from_iter};

use super::open::{FILE_NAME, INDEXED};
use super::{Store, StoreError, restores, row, sessions};
use crate::model::{Checkpoint, CheckpointId, SessionKey};

/// What was read of a damaged database.
#[derive(Debug, Default)]
pub struct Salvage {
    /// The numbers of checkpoints.
    pub numbers: HashMap<CheckpointId, u64>,
    /// The checkpoints that could be read whole, without their names: of one whose ref is lost nothing else tells.
    pub checkpoints: Vec<Checkpoint>,
    /// How many restores could not be read that could be undone or done again.
    pub lost_steps: u64,
    /// How many other rows could not be read, but for those of checkpoints.
    pub lost_rows: u64,
    /// True if the tables could not be read to their ends: nobody knows what else there was.
    pub is_cut_short: bool,
    /// The highest number that was ever given.
    highest: i64,
    tables: Vec<Rows>,
}

#[derive(Debug)]
struct Rows {
    table: &'static str,
    columns: &'static str,
    values: Vec<Vec<Value>>,
}

/// Whether the program can read a row.
type Check = fn(&Row<'_>) -> bool;

/// The tables whose rows are taken as they stand, parents first.
fn tables() -> [(&'static str, &'static str, Check); 7] {
    let any: Check = |_| true;
    [
        ("restores", restores::COLUMNS, |row| restores::read(row).is_ok()),
        ("sessions", sessions::COLUMNS, |row| sessions::read(row).is_ok()),
        ("runs", sessions::RUN_COLUMNS, |row| sessions::read_run(row).is_ok()),
        ("turns", "session, number, turn_id, started_at, recorded_at, boundary", |row| {
            row::word(row, 0, "session", |text| SessionKey::parse(text).ok()).is_ok()
        }),
        ("default_sessions", "worktree, session", any),
        ("packs", "name, tier", any),
        ("meta", "key, value", any),
    ]
}

impl Salvage {
    /// Reads what it can of the database in `folder`, which stays as it is.
    pub fn read(folder: &Path) -> Salvage {
        let mut salvage = Salvage::default();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let Ok(db) = Connection::open_with_flags(folder.join(FILE_NAME), flags) else {
            salvage.is_cut_short = true;
            return salvage;
        };
        salvage.read_numbers(&db);
        // What is cut short here was so above.
        let _ = each_row(&db, &format!("SELECT {} FROM checkpoints ORDER BY number", row::COLUMNS), |row| {
            salvage.checkpoints.extend(row::read(row));
        });
        for (table, columns, check) in tables() {
            let mut values: Vec<Vec<Value>> = Vec::new();
            let mut lost = 0;
            let ended = each_row(&db, &format!("SELECT {columns} FROM {table}"), |row| match whole(row).filter(|_| check(row)) {
                Some(row) => values.push(row),
                None => lost += 1,
            });
            salvage.is_cut_short |= ended.is_err();
            *if table == "restores" { &mut salvage.lost_steps } else { &mut salvage.lost_rows } += lost;
            salvage.tables.push(Rows { table, columns, values });
        }
        salvage
    }

    fn read_numbers(&mut self, db: &Connection) {
        let sequence = "SELECT seq FROM sqlite_sequence WHERE name = 'checkpoints'";
        self.highest = db.query_row(sequence, [], |row| row.get(0)).unwrap_or(0);
        // Where a page in the middle cannot be read, the others are come by from the end.
        for order in ["ASC", "DESC"] {
            let query = format!("SELECT number, id FROM checkpoints NOT INDEXED ORDER BY number {order}");
            let ended = each_row(db, &query, |row| {
                let Ok(number) = row.get::<_, i64>(0) else { return };
                self.highest = self.highest.max(number);
                if let Ok(id) = row::word(row, 1, "id", |text| CheckpointId::parse(text).ok()) {
                    self.numbers.insert(id, row::unsigned(number));
                }
            });
            if ended.is_ok() {
                return;
            }
            self.is_cut_short = true;
        }
    }

    /// How many steps of undo and redo were saved.
    pub fn steps(&self) -> usize {
        self.tables.iter().filter(|rows| rows.table == "restores").map(|rows| rows.values.len()).sum()
    }
}

impl Store {
    /// Reads every row that the program may ever read; an error if one of them means nothing.
    pub fn read_everything(&self) -> Result<(), StoreError> {
        let read = || -> rusqlite::Result<()> {
            let mut statement = self.db.prepare(&format!("SELECT {} FROM checkpoints", row::COLUMNS))?;
            statement.query_map([], |row| row::read(row).map(|_| ()))?.collect::<rusqlite::Result<()>>()?;
            let mut statement = self.db.prepare(&format!("SELECT {} FROM restores", restores::COLUMNS))?;
            statement.query_map([], |row| restores::read(row).map(|_| ()))?.collect::<rusqlite::Result<()>>()?;
            let mut statement = self.db.prepare(&format!("SELECT {} FROM sessions", sessions::COLUMNS))?;
            statement.query_map([], |row| sessions::read(row).map(|_| ()))?.collect::<rusqlite::Result<()>>()?;
            let mut statement = self.db.prepare(&format!("SELECT {} FROM runs", sessions::RUN_COLUMNS))?;
            statement.query_map([], |row| sessions::read_run(row).map(|_| ()))?.collect::<rusqlite::Result<()>>()?;
            let mut statement = self.db.prepare("SELECT session FROM turns")?;
            let session = |row: &Row<'_>| row::word(row, 0, "session", |text| SessionKey::parse(text).ok()).map(|_| ());
            statement.query_map([], session)?.collect()
        };
        read().map_err(|e| self.error("read", e))
    }

    /// Adds what was saved of a damaged database to a new one, but for the checkpoints: those are made from the refs, with
    /// [`Store::insert_numbered`].
    pub fn take_over(&mut self, salvage: &Salvage) -> Result<(), StoreError> {
        self.require_writable()?;
        let take = |db: &mut Connection| -> rusqlite::Result<()> {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for Rows { table, columns, values } in &salvage.tables {
                let marks = vec!["?"; columns.split(',').count()].join(", ");
                // A row whose parent was lost, or whose key came twice, is left out.
                let mut add = transaction.prepare(&format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"))?;
                for row in values {
                    let _ = add.execute(params_from_iter(row));
                }
            }
            // The rows of the checkpoints are yet to be made.
            transaction.execute("DELETE FROM meta WHERE key = ?1", [INDEXED])?;
            transaction.execute("DELETE FROM sqlite_sequence WHERE name = 'checkpoints'", [])?;
            let sequence = "INSERT INTO sqlite_sequence (name, seq) VALUES ('checkpoints', ?1)";
            transaction.execute(sequence, params![salvage.highest])?;
            transaction.commit()
        };
        take(&mut self.db).map_err(|e| self.error("write to", e))
    }
}

/// Shows every row that can be come by; an error if there may be more.
fn each_row(db: &Connection, query: &str, mut show: impl FnMut(&Row<'_>)) -> rusqlite::Result<()> {
    let mut statement = db.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        show(row);
    }
    Ok(())
}

/// All values of a row; none if one of them cannot be read.
fn whole(row: &Row<'_>) -> Option<Vec<Value>> {
    (0..row.as_ref().column_count()).map(|at| row.get(at).ok()).collect()
}
