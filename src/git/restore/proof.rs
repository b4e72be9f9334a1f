//! Proof that a file is still what the capture saw, or what the restore wrote.
//!
//! Size and modification time are none: both can be given back to a file that was edited. The time at which the inode changed
//! cannot, but it also changes when a file is renamed, or when another of its names is. Where it differs, the content tells.

use std::fs::File;
use std::io;

use gix::oid;
use rustix::fs::{AtFlags, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::op::{NewFile, Op};
use super::stage::{is_blob, is_blob_in};
use super::swap::At;
use crate::git::stat::FileStat;

/// What stands at `at`; none if nothing does.
pub(super) fn stat_at(at: At<'_>) -> io::Result<Option<Stat>> {
    match statat(at.dir, at.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// True if the file at `at`, which has `stat`, is the old file of `op` with the content that was captured. `ctime_ns` is when its
/// inode had last changed when that was known to be so.
pub(super) fn is_captured(op: &Op, at: At<'_>, stat: &Stat, ctime_ns: Option<i64>) -> bool {
    op.old.is_some_and(|old| old.is(stat))
        && (ctime_ns == Some(FileStat::of(stat).ctime_ns) || op.old_content.is_some_and(|content| holds(at, &content)))
}

/// True if the file at `at`, which has `stat`, is the one that the restore made, with what it wrote into it.
pub(super) fn is_written(new: &NewFile, at: At<'_>, stat: &Stat) -> bool {
    new.file.is_some_and(|file| file.is(stat)) && new.content.is_some_and(|content| holds(at, &content))
}

/// True if the bytes of the file or link at `at` are those of the blob `content`. One that cannot be read proves nothing.
fn holds(at: At<'_>, content: &oid) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(at.dir, at.name, flags, Mode::empty()) {
        Ok(file) => is_blob_in(File::from(file), content).unwrap_or(false),
        Err(Errno::LOOP) => readlinkat(at.dir, at.name, Vec::new()).is_ok_and(|target| is_blob(target.as_bytes(), content)),
        Err(_) => false,
    }
}
