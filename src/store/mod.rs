//! The database: an index of the refs that makes them quick to list and easy to name, plus numbers and the undo history.
//!
//! It never decides what exists: a ref without a row and a row without a ref are both possible, and all rows can be made
//! again from the refs. Only this room names `rusqlite`.

mod checkpoints;
mod error;
mod filter;
mod meta;
mod names;
mod open;
mod packs;
mod restores;
mod retention;
mod row;
mod salvage;
mod schema;
mod sessions;
mod summaries;
mod timeline;
mod turns;

pub use error::StoreError;
pub use filter::Filter;
pub use open::Store;
pub use restores::{NewRestore, Restore};
pub use retention::{Removal, Retained};
pub use salvage::Salvage;
pub use sessions::{Run, Session, SessionCounts};
pub use turns::Turn;

#[cfg(test)]
pub(crate) mod testing;
