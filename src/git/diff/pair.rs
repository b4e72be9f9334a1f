//! What became of a file.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::{EntryKind, EntryMode};

use super::tree::Change;

/// A file of one of the two trees: a regular file, a symbolic link or a submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path relative to the top.
    pub path: BString,
    /// Mode as in the tree.
    pub mode: EntryMode,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
}

impl File {
    /// True for a regular file, executable or not.
    pub fn is_regular(&self) -> bool {
        matches!(self.mode.kind(), EntryKind::Blob | EntryKind::BlobExecutable)
    }

    /// True if both are regular files, both links or both submodules.
    pub fn has_type_of(&self, other: &File) -> bool {
        self.is_regular() && other.is_regular() || self.mode.kind() == other.mode.kind()
    }
}

/// A file before and after. At least one side is there; with both, the paths differ only for a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Before; none if the file was added.
    pub old: Option<File>,
    /// After; none if the file was deleted.
    pub new: Option<File>,
    /// How much of a renamed file stayed the same, of [`Pair::MAX_SCORE`].
    pub score: u16,
}

/// What happened, in one letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Only the new tree has the file.
    Added,
    /// Only the old tree has it.
    Deleted,
    /// Content or permission differ.
    Modified,
    /// A file became a link, or the like.
    TypeChanged,
    /// It has another path, and maybe other content.
    Renamed,
}

impl Status {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Status::Added => "added",
            Status::Deleted => "deleted",
            Status::Modified => "modified",
            Status::TypeChanged => "type-changed",
            Status::Renamed => "renamed",
        }
    }

    /// The letter that git uses.
    pub fn letter(self) -> char {
        match self {
            Status::Added => 'A',
            Status::Deleted => 'D',
            Status::Modified => 'M',
            Status::TypeChanged => 'T',
            Status::Renamed => 'R',
        }
    }
}

impl Pair {
    /// The score of a file that was renamed and not changed.
    pub const MAX_SCORE: u16 = 60_000;

    /// What happened to the file.
    pub fn status(&self) -> Status {
        match (&self.old, &self.new) {
            (None, _) => Status::Added,
            (_, None) => Status::Deleted,
            (Some(old), Some(new)) if old.path != new.path => Status::Renamed,
            (Some(old), Some(new)) if !old.has_type_of(new) => Status::TypeChanged,
            _ => Status::Modified,
        }
    }

    /// The file in the new tree, or the old one if it was deleted.
    pub fn newest(&self) -> &File {
        self.new.as_ref().or(self.old.as_ref()).expect("a pair has at least one side")
    }

    /// The file in the old tree, or the new one if it was added.
    pub fn oldest(&self) -> &File {
        self.old.as_ref().or(self.new.as_ref()).expect("a pair has at least one side")
    }

    /// How much of a renamed file stayed the same, in percent.
    pub fn similarity(&self) -> u32 {
        u32::from(self.score) * 100 / u32::from(Self::MAX_SCORE)
    }

    /// True if the content of the two sides may differ.
    pub fn content_differs(&self) -> bool {
        self.old.as_ref().map(|file| file.id) != self.new.as_ref().map(|file| file.id)
    }
}

impl From<Change> for Pair {
    fn from(change: Change) -> Pair {
        let Change { path, old, new } = change;
        let file = |side: super::Side| File { path: path.clone(), mode: side.mode, id: side.id };
        Pair { old: old.map(file), new: new.map(file), score: 0 }
    }
}
