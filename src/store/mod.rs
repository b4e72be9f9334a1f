//! The database: an index of the refs, plus numbers and the undo history.

use std::path::Path;

/// A failure of the database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Placeholder until the tables are there.
    #[error("cannot {action} the database")]
    Sqlite {
        /// What was attempted.
        action: String,
        /// The cause.
        #[source]
        source: rusqlite::Error,
    },
}

/// An open database.
pub struct Store {}

impl Store {
    /// Opens or creates `<directory>/checkpoints.db`.
    pub fn open(_directory: &Path) -> Result<Store, StoreError> {
        Ok(Store {})
    }
}
