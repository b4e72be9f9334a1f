//! The checkpoints as the screen of `browse` shows them: more than a summary, less than a row.

use rusqlite::{Row, params_from_iter};

use super::row::{skipped, unsigned, word};
use super::{Filter, Store, StoreError};
use crate::model::{Boundary, Kind, Stat, TimelineEntry};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str = "number, kind, session, step, turn, agent, subject, created_at, worktree, origin, skipped, files, \
     insertions, deletions, boundary";

impl Store {
    /// The checkpoints that pass `filter`, in its order. No jumps are told: those are among the restores.
    pub fn timeline(&self, filter: &Filter) -> Result<Vec<TimelineEntry>, StoreError> {
        let (clauses, values) = filter.clauses();
        let found = (|| {
            let mut names = self.all_names()?;
            let mut statement = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoints {clauses}"))?;
            let mut entries = Vec::new();
            for entry in statement.query_map(params_from_iter(values), read)? {
                let mut entry = entry?;
                entry.names = names.remove(&entry.number).unwrap_or_default();
                entries.push(entry);
            }
            Ok(entries)
        })();
        found.map_err(|e| self.error("read", e))
    }

    /// A number that differs from the one before if another process, or another connection, changed the database meanwhile.
    pub fn change_mark(&self) -> Result<i64, StoreError> {
        self.db.query_row("PRAGMA data_version", [], |row| row.get(0)).map_err(|e| self.error("read", e))
    }
}

/// Reads a row of [`COLUMNS`]. Names are not part of it.
fn read(row: &Row<'_>) -> rusqlite::Result<TimelineEntry> {
    let files: Option<i64> = row.get(11)?;
    let stat = match files {
        Some(files) => {
            Some(Stat { files: unsigned(files), insertions: unsigned(row.get(12)?), deletions: unsigned(row.get(13)?) })
        }
        None => None,
    };
    Ok(TimelineEntry {
        number: unsigned(row.get(0)?),
        kind: word(row, 1, "kind", Kind::parse)?,
        session: row.get(2)?,
        step: row.get(3)?,
        turn: row.get(4)?,
        agent: row.get(5)?,
        prompt: row.get_ref(14)?.as_str_or_null()?.and_then(Boundary::from_line).and_then(|boundary| boundary.prompt),
        subject: row.get(6)?,
        created_at: row.get(7)?,
        worktree: row.get(8)?,
        origin: row.get(9)?,
        skipped: skipped(row, 10)?.len(),
        names: Vec::new(),
        stat,
        jump: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Checkpoint, SkipReason, Skipped};
    use crate::store::testing::{Fixture, sample};

    #[test]
    fn an_entry_tells_the_same_as_the_checkpoint() {
        let mut fixture = Fixture::new();
        let full = Checkpoint {
            kind: Kind::Turn,
            turn: Some(3),
            agent: Some("claude".into()),
            step: Some("build".into()),
            names: vec!["a".into(), "b".into()],
            origin: Some("laptop x7".into()),
            boundary: Some(crate::model::sample_boundary()),
            skipped: vec![Skipped { path: "s".into(), reason: SkipReason::Special, size: None }],
            stat: Some(Stat { files: 3, insertions: 2, deletions: 1 }),
            ..sample(2)
        };
        fixture.store.insert_all(&[sample(1), full.clone()]).unwrap();

        let entries = fixture.store.timeline(&Filter::default()).unwrap();

        let expected = TimelineEntry {
            number: 2,
            kind: Kind::Turn,
            session: "main-1".into(),
            step: Some("build".into()),
            turn: Some(3),
            agent: Some("claude".into()),
            prompt: full.boundary.unwrap().prompt,
            subject: "sample 2".into(),
            created_at: 2000,
            worktree: "main".into(),
            origin: Some("laptop x7".into()),
            skipped: 1,
            names: vec!["a".into(), "b".into()],
            stat: full.stat,
            jump: None,
        };
        assert!(expected.prompt.is_some());
        assert_eq!(entries[0], expected);
        assert_eq!((entries[1].number, entries[1].stat, &entries[1].prompt), (1, None, &None));
    }

    #[test]
    fn the_mark_changes_with_what_another_connection_writes() {
        let fixture = Fixture::new();
        let mut other = Store::open(fixture.folder.path(), Default::default()).unwrap();
        let before = fixture.store.change_mark().unwrap();
        assert_eq!(fixture.store.change_mark().unwrap(), before);

        other.insert(&sample(1)).unwrap();

        assert_ne!(fixture.store.change_mark().unwrap(), before);
    }
}
