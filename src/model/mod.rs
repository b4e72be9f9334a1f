//! Values and rules that need no input or output: what a checkpoint is, how it is named, and why a restore is refused.

mod blocker;
mod boundary;
mod checkpoint;
mod id;
mod kind;
mod memory;
mod memory_copy;
pub mod retention;
mod selector;
mod session;
mod summary;
mod timeline;
pub mod trailers;

pub use blocker::{Blocker, BlockerCode, Override};
pub use boundary::{Boundary, BoundaryState, TurnEnd, excerpt};
pub use checkpoint::{Checkpoint, SkipReason, Skipped, Stat, WorktreeRef};
pub use gix::ObjectId;
pub use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
pub use id::{CheckpointId, InvalidId, SessionKey, WorktreeId, validate_name};
pub use kind::Kind;
pub use memory::{MemoryChange, Thread, What};
pub use memory_copy::MemoryCopy;
pub use selector::{Selector, SelectorError};
pub use session::SessionState;
pub use summary::Summary;
pub use timeline::{Jump, TimelineEntry};

/// Milliseconds since the Unix epoch, UTC: the one form in which times are kept.
pub type Millis = i64;

#[cfg(test)]
pub(crate) use boundary::tests::sample as sample_boundary;
