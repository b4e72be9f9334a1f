//! Names that people give to checkpoints. Each names one checkpoint; a checkpoint may have several.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::{Store, StoreError};
use crate::model::CheckpointId;

impl Store {
    /// Gives `name` to a checkpoint. Returns the checkpoint that had it before, if it was another.
    pub fn set_name(&mut self, name: &str, id: &CheckpointId) -> Result<Option<CheckpointId>, StoreError> {
        self.require_fillable()?;
        let moved = (|| {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let owner = "SELECT c.id FROM names n JOIN checkpoints c ON c.number = n.checkpoint WHERE n.name = ?1";
            let before: Option<String> = transaction.query_row(owner, [name], |row| row.get(0)).optional()?;
            let number: i64 =
                transaction.query_row("SELECT number FROM checkpoints WHERE id = ?1", [id.as_str()], |row| row.get(0))?;
            transaction.execute("INSERT OR REPLACE INTO names (name, checkpoint) VALUES (?1, ?2)", params![name, number])?;
            transaction.commit()?;
            Ok(before)
        })();
        let before = moved.map_err(|e| self.error("write to", e))?;
        Ok(before.and_then(|text| CheckpointId::parse(&text).ok()).filter(|before| before != id))
    }

    /// Takes `name` away. Returns the checkpoint that had it.
    pub fn delete_name(&mut self, name: &str) -> Result<Option<CheckpointId>, StoreError> {
        self.require_writable()?;
        let delete = "DELETE FROM names WHERE name = ?1 \
                      RETURNING (SELECT id FROM checkpoints WHERE number = names.checkpoint)";
        let owner: Option<String> =
            self.db.query_row(delete, [name], |row| row.get(0)).optional().map_err(|e| self.error("write to", e))?;
        Ok(owner.and_then(|text| CheckpointId::parse(&text).ok()))
    }

    /// All names with the number of the checkpoint each names, sorted by name.
    pub fn names(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let names: rusqlite::Result<_> = (|| {
            let mut statement = self.db.prepare_cached("SELECT name, checkpoint FROM names ORDER BY name")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, super::row::unsigned(row.get(1)?))))?;
            rows.collect()
        })();
        names.map_err(|e| self.error("read", e))
    }
}

#[cfg(test)]
mod tests {
    use crate::store::testing::{Fixture, sample};

    #[test]
    fn a_name_moves_and_tells_from_where() {
        let mut fixture = Fixture::new();
        let (a, b) = (sample(1), sample(2));
        fixture.store.insert(&a).unwrap();
        fixture.store.insert(&b).unwrap();

        assert_eq!(fixture.store.set_name("x", &a.id).unwrap(), None);
        assert_eq!(fixture.store.set_name("x", &a.id).unwrap(), None);
        assert_eq!(fixture.store.set_name("x", &b.id).unwrap(), Some(a.id.clone()));
        assert_eq!(fixture.store.by_name("x").unwrap().unwrap().id, b.id);
        assert_eq!(fixture.store.by_id(&a.id).unwrap().unwrap().names, Vec::<String>::new());
    }

    #[test]
    fn a_deleted_name_tells_whose_it_was() {
        let mut fixture = Fixture::new();
        let a = sample(1);
        fixture.store.insert(&a).unwrap();
        fixture.store.set_name("x", &a.id).unwrap();

        assert_eq!(fixture.store.delete_name("x").unwrap(), Some(a.id));
        assert_eq!(fixture.store.delete_name("x").unwrap(), None);
        assert_eq!(fixture.store.by_name("x").unwrap(), None);
    }

    #[test]
    fn names_go_with_their_checkpoint() {
        let mut fixture = Fixture::new();
        let a = sample(1);
        fixture.store.insert(&a).unwrap();
        fixture.store.set_name("x", &a.id).unwrap();

        assert!(fixture.store.delete(&a.id).unwrap());
        assert_eq!(fixture.store.names().unwrap(), []);
    }
}
