//! Marks by which the lock of a ref can be told to be that of a process of ours that died.
//!
//! git's locks say nothing of who made them, and one that a dead process left bars the way for good. So a lock is made as a second
//! name of a file of ours, beside a note that says which ref it is for and that is locked (`flock(2)`) as long as its process
//! lives. Whoever finds a note that nobody holds, and a lock that is the file beside it, may remove both; any other lock is
//! someone else's and stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};

use super::Repo;

/// How often a note is made anew that somebody took for one of the dead.
const ATTEMPTS: usize = 10;

/// The mark of one lock; it goes when this is dropped.
pub(super) struct Mark {
    note: File,
    note_path: PathBuf,
    own: PathBuf,
}

impl Mark {
    /// Makes the note for the ref `name`, and the file that is to become its lock.
    pub(super) fn make(repo: &Repo, name: &str) -> io::Result<(Mark, File)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (sharing, folder) = (repo.sharing(), folder(repo));
        sharing.create_dir_all(&folder)?;
        for _ in 0..ATTEMPTS {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let note_path = folder.join(format!("{}-{:x}-{number}", std::process::id(), crate::sys::now_nanos()));
            let note = match sharing.create_new(OpenOptions::new().write(true), &note_path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            flock(&note, FlockOperation::LockExclusive)?;
            if note.metadata()?.nlink() == 0 {
                continue;
            }
            let mut mark = Mark { note, own: file_of(&note_path), note_path };
            mark.note.write_all(name.as_bytes())?;
            let file = sharing.create_new(OpenOptions::new().write(true), &mark.own)?;
            return Ok((mark, file));
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Makes the lock at `path`, where nothing may be.
    pub(super) fn link(&self, path: &Path) -> io::Result<()> {
        fs::hard_link(&self.own, path)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.own);
        let _ = fs::remove_file(&self.note_path);
    }
}

/// Removes the locks that processes left which died while they held them.
pub(super) fn clear_dead(repo: &Repo) {
    for entry in fs::read_dir(folder(repo)).into_iter().flatten().flatten() {
        let path = entry.path();
        // A file whose note is gone marks nothing.
        if path.extension().is_some() {
            if !path.with_extension("").exists() {
                let _ = fs::remove_file(path);
            }
            continue;
        }
        let Ok(mut note) = File::open(&path) else { continue };
        if flock(&note, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut name = String::new();
        let own = file_of(&path);
        if note.read_to_string(&mut name).is_ok() && super::refs::is_ours(&name) {
            let lock = super::refs::lock_path(repo, &name);
            let inode = |path: &Path| path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()));
            if inode(&lock).is_some() && inode(&lock) == inode(&own) {
                let _ = fs::remove_file(lock);
            }
        }
        // The note last: it is what the file is found by.
        let _ = fs::remove_file(own);
        let _ = fs::remove_file(path);
    }
}

fn folder(repo: &Repo) -> PathBuf {
    repo.shared_dir().join("ref-locks")
}

fn file_of(note: &Path) -> PathBuf {
    note.with_extension("lock")
}
