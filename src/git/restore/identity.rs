//! Telling one file from another, and from itself after a change.

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::git::stat::FileStat;

/// What stays the same of a file as long as nobody changes it, also when it is renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    ino: u64,
    size: u64,
    mtime_ns: i64,
    mode: u32,
}

impl Identity {
    pub(super) fn of(stat: &Stat) -> Identity {
        Identity::of_seen(&FileStat::of(stat))
    }

    pub(super) fn of_seen(stat: &FileStat) -> Identity {
        Identity { ino: stat.ino, size: stat.size, mtime_ns: stat.mtime_ns, mode: stat.mode }
    }

    pub(super) fn is(&self, stat: &Stat) -> bool {
        *self == Identity::of(stat)
    }

    pub(super) fn is_link(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Symlink
    }

    /// Type and permissions.
    pub(super) fn mode(&self) -> u32 {
        self.mode
    }

    pub(super) fn inode(&self) -> u64 {
        self.ino
    }
}
