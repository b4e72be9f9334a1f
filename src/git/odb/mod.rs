//! Writing objects: durable, few files, nothing visible before it is whole.
//!
//! The objects of one capture are gathered and then written together: a handful as loose objects, more as one small pack.
//! gix neither writes packs of this kind nor flushes what it writes to disk.

mod cruft;
mod folder;
mod loose;
mod merge;
mod pack;
mod present;
mod sink;

pub(crate) use folder::ObjectFolder;
pub(crate) use loose::{remove_temporary, sync_directory};
pub(crate) use merge::{drop_broken_index, merge};
pub(crate) use pack::{marks_without_pack, release_of_dead};
pub use sink::Keep;
pub(crate) use sink::{ObjectSink, ObjectWriter};
