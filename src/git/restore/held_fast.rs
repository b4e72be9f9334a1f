//! What the system lets nobody rename or remove, whatever the permissions are.
//!
//! A mount point is busy, and a file that is marked immutable or append-only (chattr(1)) keeps its name. A file system that does not
//! tell is taken to hold nothing: the restore then finds out when it gets there, and is taken back.

use gix::bstr::BStr;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

use super::dirs::Top;
use super::plan::Obstacle;

const MARKS: StatxAttributes = StatxAttributes::IMMUTABLE.union(StatxAttributes::APPEND);

/// Why what stands at `path` cannot be moved away, if it cannot.
pub(super) fn hold_on(top: &Top, path: &BStr) -> Option<Obstacle> {
    let (parent, name) = top.parent(path).ok()?;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let attributes = statx(&*parent, name, flags, StatxFlags::TYPE).ok()?.stx_attributes;
    if attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Some(Obstacle::MountPoint);
    }
    attributes.intersects(MARKS).then_some(Obstacle::Marked)
}

/// True if entries of a directory cannot come and go.
pub(super) fn is_marked(directory: impl AsFd) -> bool {
    statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE).is_ok_and(|found| found.stx_attributes.intersects(MARKS))
}
