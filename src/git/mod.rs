//! Everything that names `gix`, the worktree's files and git's own files.

pub(crate) mod beneath;
pub mod branch;
pub mod bundle;
pub mod commit;
mod config;
mod date;
pub mod diff;
mod encoded;
mod encoding;
pub mod error;
pub mod facts;
pub mod filter;
mod fsmonitor;
mod ident;
pub mod ignore;
pub(crate) mod index;
pub mod index_edit;
mod leftovers;
pub mod lock;
pub mod objects;
mod odb;
mod open;
pub mod pack_refs;
mod packs;
mod path_names;
pub mod pathspec;
mod ref_marks;
pub mod refs;
pub mod restore;
mod rule_files;
pub mod snapshot;
mod sparse;
pub mod stat;
mod terminal;
#[cfg(test)]
pub(crate) mod testing;
mod tree_path;

pub use config::{Config, MainWorktree, parse_duration, unknown_settings};
pub use date::parse_date;
pub use error::GitError;
pub use objects::Objects;
pub(crate) use odb::{ObjectFolder, drop_broken_index, merge as merge_packs};
pub use open::{Repo, os_path, path_bytes, shared_dir_around};
pub use terminal::TerminalConfig;
