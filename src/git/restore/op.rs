//! One change of a restore, and where its parts are kept aside.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::{EntryKind, EntryMode};
use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::journal::text;

/// One path that a restore changes. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Op {
    /// Relative to the top.
    #[serde(with = "text::path")]
    pub(super) path: BString,
    /// The file that the capture saw there.
    pub(super) old: Option<Identity>,
    /// When the inode of that file last changed; moving it aside changes it again.
    pub(super) old_ctime_ns: Option<i64>,
    /// The blob that the capture has for it.
    #[serde(with = "text::optional_id")]
    pub(super) old_blob: Option<ObjectId>,
    /// The blob that the bytes of that file would make without filters, where that is known.
    #[serde(default, with = "text::optional_id")]
    pub(super) old_content: Option<ObjectId>,
    /// What is to be there.
    pub(super) new: Option<NewFile>,
    /// Which of the places set apart holds its parts.
    pub(super) area: usize,
    /// The number of its parts there.
    pub(super) slot: usize,
}

/// The new side of an [`Op`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NewFile {
    /// Mode as in the tree.
    pub(super) mode: u16,
    /// The blob.
    #[serde(with = "text::id")]
    pub(super) id: ObjectId,
    /// The blob that the bytes of the file would make without filters. Known once they are there.
    #[serde(with = "text::optional_id")]
    pub(super) content: Option<ObjectId>,
    /// The file itself, once it is there.
    pub(super) file: Option<Identity>,
}

/// What an [`Op`] does, told by its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Nothing is there, a file is to be.
    Add,
    /// A file is to be replaced by another, or by itself with another mode.
    Replace,
    /// A file is to go.
    Delete,
}

impl Op {
    pub(super) fn kind(&self) -> OpKind {
        match (&self.old, &self.new) {
            (None, _) => OpKind::Add,
            (Some(_), Some(_)) => OpKind::Replace,
            (Some(_), None) => OpKind::Delete,
        }
    }

    /// The name of the new file while it is kept aside.
    pub(super) fn new_slot(&self) -> String {
        self.slot.to_string()
    }

    /// The name of the old file while it is kept aside, unless it changed places with the new one.
    pub(super) fn old_slot(&self) -> String {
        format!("{}.old", self.slot)
    }
}

impl NewFile {
    pub(super) fn new(mode: EntryMode, id: ObjectId) -> NewFile {
        NewFile { mode: mode.value(), id, content: None, file: None }
    }

    pub(super) fn is_link(&self) -> bool {
        self.mode == EntryKind::Link as u16
    }

    pub(super) fn is_executable(&self) -> bool {
        self.mode == EntryKind::BlobExecutable as u16
    }
}

impl OpKind {
    /// The word used in JSON and in plans.
    pub fn as_str(self) -> &'static str {
        match self {
            OpKind::Add => "add",
            OpKind::Replace => "replace",
            OpKind::Delete => "delete",
        }
    }
}
