//! Handles of directories below the top of a worktree.
//!
//! Everything that a restore does to files is done relative to such a handle. No symbolic link is ever followed on the way to
//! one, so nothing outside the worktree can be reached, whatever is swapped for a link meanwhile.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::Path;
use std::rc::Rc;

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The top of a worktree. Not shared between threads: each opens its own.
pub(super) struct Top {
    fd: Rc<OwnedFd>,
    /// The directory that was asked for last: paths come sorted.
    last: RefCell<Option<(BString, Rc<OwnedFd>)>>,
    has_openat2: Cell<bool>,
}

impl Top {
    /// Opens the directory `path`.
    pub(super) fn open(path: &Path) -> io::Result<Top> {
        let fd = openat(CWD, path, DIRECTORY, Mode::empty())?;
        Ok(Top { fd: Rc::new(fd), last: RefCell::new(None), has_openat2: Cell::new(true) })
    }

    /// The directory at `path` relative to the top; the empty path is the top.
    pub(super) fn directory(&self, path: &BStr) -> io::Result<Rc<OwnedFd>> {
        if path.is_empty() {
            return Ok(self.fd.clone());
        }
        if let Some((last, fd)) = &*self.last.borrow()
            && last == path
        {
            return Ok(fd.clone());
        }
        let fd = Rc::new(self.open_below(path)?);
        *self.last.borrow_mut() = Some((path.to_owned(), fd.clone()));
        Ok(fd)
    }

    /// The directory that `path` lies in, and the name it has there.
    pub(super) fn parent<'p>(&self, path: &'p BStr) -> io::Result<(Rc<OwnedFd>, &'p [u8])> {
        let (parent, name) = split(path);
        Ok((self.directory(parent)?, name))
    }

    /// What stands at `path`; none if nothing does, or if something on the way is no directory.
    pub(super) fn stat(&self, path: &BStr) -> io::Result<Option<Stat>> {
        let found = self.parent(path).and_then(|(parent, name)| Ok(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the file at `path` for reading; never waits, whatever stands there.
    pub(super) fn open_file(&self, path: &BStr) -> io::Result<File> {
        let (parent, name) = self.parent(path)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&*parent, name, flags, Mode::empty())?))
    }

    /// True if a directory stands at `path` and nothing is in it.
    pub(super) fn is_empty_directory(&self, path: &BStr) -> bool {
        let readable = |handle: Rc<OwnedFd>| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Dir::new(openat(&*handle, ".", flags, Mode::empty())?)?)
        };
        let is_name = |entry: &DirEntry| !matches!(entry.file_name().to_bytes(), b"." | b"..");
        let entries = self.directory(path).and_then(readable);
        entries.is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| !is_name(&entry))))
    }

    /// Forgets the handle kept for the next call: a directory was made or removed.
    pub(super) fn forget(&self) {
        self.last.borrow_mut().take();
    }

    #[cfg(target_os = "linux")]
    fn open_below(&self, path: &BStr) -> io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};
        if self.has_openat2.get() {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match openat2(&*self.fd, path.as_bytes(), DIRECTORY, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => self.has_openat2.set(false),
                // A rename somewhere in the system got in the way of the check; the slow way needs no check.
                Err(Errno::AGAIN) => {}
                other => return Ok(other?),
            }
        }
        self.open_by_components(path)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_below(&self, path: &BStr) -> io::Result<OwnedFd> {
        self.open_by_components(path)
    }

    fn open_by_components(&self, path: &BStr) -> io::Result<OwnedFd> {
        let mut current = self.fd.try_clone()?;
        for name in path.split_str("/") {
            if matches!(name, b"" | b"." | b"..") {
                return Err(Errno::INVAL.into());
            }
            current = openat(current.as_fd(), name, DIRECTORY, Mode::empty())?;
        }
        Ok(current)
    }
}

/// The directory part of `path`, empty at the top, and its last component.
pub(super) fn split(path: &BStr) -> (&BStr, &[u8]) {
    match path.rfind_byte(b'/') {
        Some(at) => (path[..at].as_bstr(), &path[at + 1..]),
        None => (b"".as_bstr(), path),
    }
}

/// The directories above `path`, nearest first, without the top.
pub(super) fn ancestors(path: &BStr) -> impl Iterator<Item = &BStr> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = split(rest).0;
        (!rest.is_empty()).then_some(rest)
    })
}

/// True if `path` lies below the directory `directory`.
pub(super) fn is_below(path: &BStr, directory: &BStr) -> bool {
    path.strip_prefix(directory.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// True if `error` says that there is nothing at a path.
pub(super) fn is_absent(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV))
}

/// True if `stat` is that of a directory.
pub(super) fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_way_leads_through_a_link_or_out_of_the_top() {
        let root = tempfile::TempDir::new().unwrap();
        std::fs::create_dir_all(root.path().join("top/a/b")).unwrap();
        std::fs::create_dir(root.path().join("out")).unwrap();
        symlink("../out", root.path().join("top/link")).unwrap();
        symlink("b", root.path().join("top/a/inside")).unwrap();

        for openat2 in [true, false] {
            let top = Top::open(&root.path().join("top")).unwrap();
            top.has_openat2.set(openat2);
            assert!(top.directory("a/b".into()).is_ok());
            for path in ["link", "link/x", "a/inside", "..", "a/../../out", "none"] {
                assert!(top.directory(path.into()).is_err(), "{path} {openat2}");
            }
            assert!(top.stat("link/x".into()).unwrap().is_none());
            assert!(top.stat("link".into()).unwrap().is_some());
        }
    }

    #[test]
    fn ancestors_are_listed_from_the_nearest() {
        let found: Vec<_> = ancestors("a/b/c".into()).collect();
        assert_eq!(found, ["a/b", "a"]);
        assert!(is_below("a/b".into(), "a".into()));
        assert!(!is_below("ab".into(), "a".into()));
    }
}
