//! `index.lock`: while it is there, no other git command changes the index.
//!
//! It is made as a second name of a file of ours, so that it can be told from anyone else's by its inode, also by a process that
//! comes after this one died. A lock that is not ours is never removed.

use std::cell::OnceCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::journal::Journal;
use crate::git::index_edit::Source;
use crate::git::{GitError, Repo};
use crate::sys::fault;

/// Held while it lives; removed when dropped, unless [`IndexLock::publish`] made it the index.
pub(super) struct IndexLock {
    lock: PathBuf,
    own: PathBuf,
    file: File,
    inode: u64,
    held: bool,
    source: OnceCell<Source>,
}

/// How taking the lock ended.
pub(super) enum Taken {
    /// It is ours.
    Ours(IndexLock),
    /// Another process kept it all the time.
    Busy,
}

impl IndexLock {
    /// The path of the lock of `repo`'s index.
    pub(super) fn path(repo: &Repo) -> PathBuf {
        repo.git_dir().join("index.lock")
    }

    /// Makes the file that is to become the lock, in `folder`.
    pub(super) fn prepare(repo: &Repo, folder: &Path) -> Result<IndexLock, GitError> {
        let own = folder.join("index");
        let made = fault::point().and_then(|()| repo.sharing().create_new(OpenOptions::new().write(true), &own));
        let file = made.map_err(|source| GitError::io("create", &own, source))?;
        let failed = |source| GitError::io("look at", &own, source);
        let inode = file.metadata().map_err(failed)?.ino();
        Ok(IndexLock { lock: Self::path(repo), own, file, inode, held: false, source: OnceCell::new() })
    }

    /// The inode by which the lock is known.
    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    /// Takes the lock, waiting for another process to let go of it for as long as `limit`.
    pub(super) fn take(mut self, limit: Duration) -> Result<Taken, GitError> {
        let until = Instant::now() + limit;
        let mut pause = Duration::from_millis(2);
        loop {
            match fault::point().and_then(|()| std::fs::hard_link(&self.own, &self.lock)) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if self.is_ours() {
                        break;
                    }
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(Taken::Busy);
                    }
                    std::thread::sleep(pause.min(left));
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
                Err(source) => return Err(GitError::io("create", &self.lock, source)),
            }
        }
        self.held = true;
        Ok(Taken::Ours(self))
    }

    fn is_ours(&self) -> bool {
        self.lock.symlink_metadata().is_ok_and(|found| found.ino() == self.inode)
    }

    /// The index as it is while the lock is held; read once.
    pub(super) fn source(&self, repo: &Repo) -> Result<&Source, GitError> {
        if let Some(source) = self.source.get() {
            return Ok(source);
        }
        let source = Source::read(&repo.index_path(), repo.hash_kind())?;
        Ok(self.source.get_or_init(|| source))
    }

    /// Writes `bytes` into the lock and makes it the index.
    pub(super) fn publish(mut self, repo: &Repo, bytes: &[u8]) -> Result<(), GitError> {
        let failed = |source| GitError::io("write", repo.index_path(), source);
        fault::point().map_err(failed)?;
        self.file.write_all(bytes).map_err(failed)?;
        if repo.config().sync_index {
            self.file.sync_all().map_err(failed)?;
        }
        fault::point().map_err(failed)?;
        std::fs::rename(&self.lock, repo.index_path()).map_err(failed)?;
        self.held = false;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if self.held && self.is_ours() {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

/// Removes the lock that a restore which died left behind.
pub(super) fn remove_stale(repo: &Repo, journal: &Journal) -> Result<(), GitError> {
    let lock = IndexLock::path(repo);
    let Some(inode) = journal.lock_inode else { return Ok(()) };
    match lock.symlink_metadata() {
        Ok(found) if found.ino() == inode => std::fs::remove_file(&lock).map_err(|source| GitError::io("remove", &lock, source)),
        _ => Ok(()),
    }
}
