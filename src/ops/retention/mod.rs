//! Taking checkpoints away: those that a person names, and those that the limits of the configuration let go.
//!
//! Order: lock the repository and all its worktrees, decide, take out the rows and note their refs in one transaction, delete the
//! refs, then what else is kept for them. Up to the transaction nothing has changed; from there on a process that dies leaves
//! notes by which the next one finishes. Objects are left to `git gc`.

mod auto;
mod drop;
mod prune;
mod removal;
mod survey;

pub(super) use auto::after_save;
pub use drop::{DropOutcome, DropRequest, DropStatus, choose, drop};
pub(super) use drop::{needed, removal_of};
pub use prune::{KeptCounts, PruneOutcome, PruneRequest, prune};
pub(super) use removal::{Guard, remove};
