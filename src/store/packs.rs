//! The small packs and loose objects that captures wrote, until they are put together.

use rusqlite::params;

use super::{Store, StoreError};

impl Store {
    /// Remembers a pack, or a loose object by its id. `tier` says how often what is in it was put together with others.
    pub fn note_pack(&mut self, name: &str, tier: u8) -> Result<(), StoreError> {
        self.require_writable()?;
        let noted = self.db.execute("INSERT OR REPLACE INTO packs (name, tier) VALUES (?1, ?2)", params![name, tier]);
        noted.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// The packs of a tier, oldest first.
    pub fn packs(&self, tier: u8) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.db.prepare_cached("SELECT name FROM packs WHERE tier = ?1 ORDER BY rowid")?;
            statement.query_map([tier], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.error("read", e))
    }

    /// Forgets packs that are gone, or no business of ours any more.
    pub fn forget_packs(&mut self, names: &[String]) -> Result<(), StoreError> {
        self.require_writable()?;
        let forget = || -> rusqlite::Result<()> {
            let mut statement = self.db.prepare_cached("DELETE FROM packs WHERE name = ?1")?;
            names.iter().try_for_each(|name| statement.execute([name]).map(|_| ()))
        };
        forget().map_err(|e| self.error("write to", e))
    }
}

#[cfg(test)]
mod tests {
    use crate::store::testing::Fixture;

    #[test]
    fn packs_are_remembered_by_tier_until_they_are_forgotten() {
        let mut fixture = Fixture::new();
        for (name, tier) in [("b", 0), ("a", 0), ("c", 1), ("a", 0)] {
            fixture.store.note_pack(name, tier).unwrap();
        }

        assert_eq!(fixture.store.packs(0).unwrap(), ["b", "a"]);
        fixture.store.forget_packs(&["b".into(), "unknown".into()]).unwrap();

        assert_eq!((fixture.store.packs(0).unwrap(), fixture.store.packs(1).unwrap()), (vec!["a".into()], vec!["c".into()]));
    }
}
