//! The renames that a restore is made of: exchange two files, or move one to where nothing is.
//!
//! None of them deletes or overwrites anything. Where the file system lacks an operation, it is composed of others that keep to
//! that rule.

use std::io;

use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, linkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::sys::fault;

/// A name in a directory.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) dir: BorrowedFd<'a>,
    pub(super) name: &'a [u8],
}

/// What [`exchange`] did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    Done,
    /// The file system cannot do it; nothing was changed.
    Unsupported,
}

/// Lets the files at `a` and `b` change places in one step.
pub(super) fn exchange(a: At<'_>, b: At<'_>) -> io::Result<Exchange> {
    if fault::only_plain_renames() {
        return Ok(Exchange::Unsupported);
    }
    fault::point()?;
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(a.dir, a.name, b.dir, b.name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(Exchange::Done),
            Err(error) if is_unsupported(error) => Ok(Exchange::Unsupported),
            Err(error) => Err(error.into()),
        }
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = (a, b);
        Ok(Exchange::Unsupported)
    }
}

/// Moves the file at `from` to `to`, where nothing may be.
pub(super) fn move_new(from: At<'_>, to: At<'_>) -> io::Result<()> {
    fault::point()?;
    if fault::only_plain_renames() {
        return move_new_by_link(from, to);
    }
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(from.dir, from.name, to.dir, to.name, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    move_new_by_link(from, to)
}

/// As [`move_new`], to a folder in which nobody else makes files. Without the operation for it, no second name will do: what others
/// put in place of the file meanwhile would be removed for it.
pub(super) fn move_aside(from: At<'_>, to: At<'_>) -> io::Result<()> {
    fault::point()?;
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    if !fault::only_plain_renames() {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(from.dir, from.name, to.dir, to.name, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    rename_if_free(from, to)
}

fn rename_if_free(from: At<'_>, to: At<'_>) -> io::Result<()> {
    match statat(to.dir, to.name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(renameat(from.dir, from.name, to.dir, to.name)?),
        Ok(_) => Err(Errno::EXIST.into()),
        Err(error) => Err(error.into()),
    }
}

/// As [`move_new`], by a second name that is there for a moment.
fn move_new_by_link(from: At<'_>, to: At<'_>) -> io::Result<()> {
    match linkat(from.dir, from.name, to.dir, to.name, AtFlags::empty()) {
        Ok(()) => {
            fault::point()?;
            Ok(unlinkat(from.dir, from.name, AtFlags::empty())?)
        }
        Err(error) if is_unsupported(error) || matches!(error, Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK) => {
            rename_if_free(from, to)
        }
        Err(error) => Err(error.into()),
    }
}

fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd;
    use std::fs;

    fn files(names: &[&str]) -> (tempfile::TempDir, fs::File) {
        let root = tempfile::TempDir::new().unwrap();
        names.iter().for_each(|name| fs::write(root.path().join(name), name).unwrap());
        let dir = fs::File::open(root.path()).unwrap();
        (root, dir)
    }

    #[test]
    fn exchanged_files_keep_their_inodes() {
        let (root, dir) = files(&["a", "b"]);
        let at = |name| At { dir: dir.as_fd(), name };

        assert_eq!(exchange(at(b"a"), at(b"b")).unwrap(), Exchange::Done);

        assert_eq!(fs::read_to_string(root.path().join("a")).unwrap(), "b");
        assert_eq!(fs::read_to_string(root.path().join("b")).unwrap(), "a");
    }

    #[test]
    fn a_move_never_replaces_what_is_there() {
        let (root, dir) = files(&["a", "b"]);
        let at = |name| At { dir: dir.as_fd(), name };

        for moved in [move_new, move_aside, move_new_by_link, rename_if_free].map(|moved| moved(at(b"a"), at(b"b"))) {
            assert_eq!(moved.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(root.path().join("b")).unwrap(), "b");
        }
        move_new_by_link(at(b"a"), at(b"c")).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("c")).unwrap(), "a");
        assert!(!root.path().join("a").exists());
    }
}
