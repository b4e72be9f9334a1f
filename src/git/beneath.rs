//! Opening files and directories of the worktree so that no symbolic link can lead out of it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use gix::bstr::{BStr, ByteSlice};
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::Errno;

use super::GitError;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the top of a worktree.
pub(crate) fn open_top(top: &Path) -> Result<OwnedFd, GitError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(top, flags, Mode::empty()).map_err(|source| GitError::io("open", top, source))
}

/// Opens the directory at `path` below `top` (`top` itself if it is empty). No component may be a symbolic link.
pub(crate) fn open_directory(top: BorrowedFd<'_>, path: &BStr) -> Result<OwnedFd, Errno> {
    open_beneath(top, if path.is_empty() { BStr::new(".") } else { path }, DIRECTORY)
}

/// Opens the file at `path` below `top` for reading, without waiting for the other end of a FIFO.
pub(crate) fn open_file(top: BorrowedFd<'_>, path: &BStr) -> Result<OwnedFd, Errno> {
    open_beneath(top, path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC)
}

fn open_beneath(top: BorrowedFd<'_>, path: &BStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let path: &[u8] = path;
    match openat2(top, path, flags, Mode::empty(), resolve) {
        // Another process renaming a directory makes the kernel ask for another try.
        Err(Errno::AGAIN) => open_by_component(top, path.as_bstr(), flags),
        Err(Errno::NOSYS) => open_by_component(top, path.as_bstr(), flags),
        result => result,
    }
}

/// The same for kernels before Linux 5.6.
fn open_by_component(top: BorrowedFd<'_>, path: &BStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut parent: Option<OwnedFd> = None;
    let mut names = path.split_str("/").peekable();
    while let Some(name) = names.next() {
        if name == b".." {
            return Err(Errno::XDEV);
        }
        let at = parent.as_ref().map_or(top, |fd| fd.as_fd());
        let wanted = if names.peek().is_some() { DIRECTORY } else { flags };
        parent = Some(openat(at, name, wanted, Mode::empty())?);
    }
    parent.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_leads_out_of_the_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/b/file"), "x").unwrap();
        std::fs::create_dir(dir.path().join("outside")).unwrap();
        std::os::unix::fs::symlink("../outside", top.join("link")).unwrap();
        std::os::unix::fs::symlink("a", top.join("inner")).unwrap();
        let fd = open_top(&top).unwrap();

        for opener in [open_beneath, open_by_component] {
            assert!(opener(fd.as_fd(), "a/b".into(), DIRECTORY).is_ok());
            assert!(opener(fd.as_fd(), "a/b/file".into(), OFlags::RDONLY | OFlags::NOFOLLOW).is_ok());
            for path in ["link", "inner/b", "../outside", "a/../../outside"] {
                assert!(opener(fd.as_fd(), path.into(), DIRECTORY).is_err(), "{path}");
            }
            assert_eq!(opener(fd.as_fd(), "none".into(), DIRECTORY).unwrap_err(), Errno::NOENT);
        }
    }
}
