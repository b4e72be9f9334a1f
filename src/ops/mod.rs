//! Operations: one file each. An operation takes a request, works on a [`Context`] and returns a value; it prints nothing.

mod branch;
mod candidates;
mod context;
mod diff;
pub mod doctor;
mod error;
pub mod handoff;
pub mod hook;
pub mod hooks;
mod list;
pub mod memory;
mod name;
pub mod remote;
pub mod restore;
pub mod retention;
pub mod run;
pub mod save;
mod select;
pub mod session;
mod show;
pub mod status;
mod tidy;
mod time;
mod timeline;
mod turn_side;
pub mod undo;

pub use branch::branch;
pub use candidates::{Candidate, candidates, name_candidates, session_candidates};
pub use context::Context;
pub use diff::{DiffRequest, add_stats, change_of, diff, stat_of, touches};
pub use error::{Error, causes};
pub use list::{ListRequest, current, list, summarize};
pub use name::{Named, delete_name, name};
pub use select::select;
pub use show::base_tree;
pub use time::{Edge, parse_time};
pub use timeline::{count_some, timeline};
pub use turn_side::{TurnSide, turn_side};

#[cfg(test)]
pub(crate) mod testing;
