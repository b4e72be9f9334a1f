//! What the file system says of a file, and when that is proof that its content is unchanged.

use gix::objs::tree::{EntryKind, EntryMode};
use rustix::fs::{FileType, Stat};

/// Time stamps of a file or directory can lag behind the clock by a tick of the kernel; what is younger than this when a
/// scan begins may change again without its stamps changing.
const SLACK_NS: i64 = 20_000_000;
/// The same where the file system keeps whole seconds only, if not every other one.
const SLACK_WHOLE_SECONDS_NS: i64 = 2_000_000_000 + SLACK_NS;

/// The part of `stat(2)` that tells whether a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStat {
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last modification of the content, nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since the Unix epoch.
    pub ctime_ns: i64,
    /// Type and permissions as in `st_mode`.
    pub mode: u32,
}

impl FileStat {
    /// Takes the interesting part of a `stat(2)` result.
    pub fn of(stat: &Stat) -> FileStat {
        FileStat {
            ino: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
            mode: stat.st_mode,
        }
    }

    /// The type of the file.
    pub fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    /// The mode a tree gives to this file, if it can hold it.
    pub fn entry_mode(&self) -> Option<EntryMode> {
        let kind = match self.file_type() {
            FileType::RegularFile if self.mode & 0o100 != 0 => EntryKind::BlobExecutable,
            FileType::RegularFile => EntryKind::Blob,
            FileType::Symlink => EntryKind::Link,
            FileType::Directory => EntryKind::Tree,
            _ => return None,
        };
        Some(kind.into())
    }

    /// True if a later equal stat proves that nothing changed, given that this one was taken after `scan_start_ns`. A file
    /// changed within the same tick of the clock keeps its stamps (`Documentation/technical/racy-git`).
    pub fn is_settled(&self, scan_start_ns: i64) -> bool {
        settled(self.mtime_ns, self.ctime_ns, scan_start_ns)
    }
}

pub(super) fn settled(mtime_ns: i64, ctime_ns: i64, scan_start_ns: i64) -> bool {
    let whole_seconds = mtime_ns % 1_000_000_000 == 0 && ctime_ns % 1_000_000_000 == 0;
    let slack = if whole_seconds { SLACK_WHOLE_SECONDS_NS } else { SLACK_NS };
    mtime_ns.max(ctime_ns) < scan_start_ns.saturating_sub(slack)
}

#[expect(clippy::unnecessary_cast, reason = "the field types of stat(2) differ between architectures")]
fn nanos(seconds: impl TryInto<i64>, nanoseconds: impl TryInto<i64>) -> i64 {
    let seconds = seconds.try_into().unwrap_or_default() as i64;
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_stamp_proves_nothing_and_an_old_one_does() {
        let at = |ns| FileStat { mtime_ns: ns, ctime_ns: ns, ..FileStat::default() };
        let start = 1_700_000_000_123_456_789;

        assert!(!at(start - 1_000_000).is_settled(start));
        assert!(at(start - 50_000_001).is_settled(start));
        assert!(!at(start + 5).is_settled(start), "a clock that was set back");
        assert!(!at(1_699_999_999_000_000_000).is_settled(start), "whole seconds need two of them");
        assert!(!at(1_699_999_998_000_000_000).is_settled(1_700_000_000_010_000_000), "and a tick");
        assert!(at(1_699_999_990_000_000_000).is_settled(start));
        let restored = FileStat { mtime_ns: 1_699_999_999_000_000_000, ctime_ns: start - 50_000_001, ..FileStat::default() };
        assert!(restored.is_settled(start), "a time that was set by hand, where the file system keeps fractions");
    }
}
