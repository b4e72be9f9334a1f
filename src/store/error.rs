//! What can go wrong with the database.

use std::path::PathBuf;

/// A failure of the database. Texts say what was attempted; causes are in `source`.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant is its documentation")]
pub enum StoreError {
    #[error("the database `{}` has version {found}, newer than this program knows ({known})", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the database `{}` is damaged", path.display())]
    Corrupt {
        path: PathBuf,
        #[source]
        source: Cause,
    },
    #[error("the database `{}` cannot be written", path.display())]
    ReadOnly {
        path: PathBuf,
        #[source]
        source: Option<Cause>,
    },
    #[error("the database `{}` is locked by another process", path.display())]
    Busy {
        path: PathBuf,
        #[source]
        source: Cause,
    },
    #[error("cannot {action} the database `{}`", path.display())]
    Failed {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: Cause,
    },
    #[error("cannot tell whether the database `{}` was written", path.display())]
    Uncertain {
        path: PathBuf,
        #[source]
        source: Cause,
    },
}

/// An error of SQLite or of a value in the database.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A value in a row that means nothing.
#[derive(Debug, thiserror::Error)]
#[error("the column `{column}` holds `{value}`")]
pub(super) struct BadValue {
    pub(super) column: &'static str,
    pub(super) value: String,
}

impl StoreError {
    /// Sorts an error of SQLite by what a person can do about it.
    pub(super) fn new(action: &'static str, path: &std::path::Path, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt { path, source: error.into() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path, source: error.into() },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path, source: Some(error.into()) },
            _ if matches!(error, rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)) => {
                StoreError::Corrupt { path, source: error.into() }
            }
            _ => StoreError::Failed { action, path, source: error.into() },
        }
    }
}
