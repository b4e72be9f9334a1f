//! The lock that lets one capture or restore at a time work on a worktree.
//!
//! It is an advisory lock on a file (`flock(2)`), so it goes away with the process that holds it, however that ends.

use std::fs::{File, OpenOptions};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{GitError, Repo};

/// Lets one process at a time put together what captures left in the repository, whatever worktree they were in.
pub struct RepositoryLock {
    _file: File,
}

impl RepositoryLock {
    /// Takes the lock if it is free.
    pub fn try_acquire(repo: &Repo) -> Result<Option<RepositoryLock>, GitError> {
        let path = repo.common_dir().join("checkpoint").join("tidy.lock");
        let file = repo.sharing().open_lasting(OpenOptions::new().truncate(false).write(true), &path);
        let file = file.map_err(|source| GitError::io("open", &path, source))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(RepositoryLock { _file: file })),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(source) => Err(GitError::io("lock", &path, source)),
        }
    }
}

/// Held while it lives.
pub struct WorktreeLock {
    _file: File,
}

impl WorktreeLock {
    /// Waits for the lock of `repo`'s worktree; none if it is not free within `limit`.
    pub fn acquire(repo: &Repo, limit: Option<Duration>) -> Result<Option<WorktreeLock>, GitError> {
        let directory = repo.private_dir();
        repo.sharing().create_dir_all(&directory).map_err(|source| GitError::io("create", &directory, source))?;
        let path = directory.join("lock");
        let file = repo.sharing().open_lasting(OpenOptions::new().truncate(false).write(true), &path);
        let file = file.map_err(|source| GitError::io("open", &path, source))?;
        let failed = |source: Errno| GitError::io("lock", &path, source);
        let Some(limit) = limit else {
            return match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => Ok(Some(WorktreeLock { _file: file })),
                Err(source) => Err(failed(source)),
            };
        };
        let until = Instant::now() + limit;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(WorktreeLock { _file: file })),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(source) => return Err(failed(source)),
            }
        }
    }
}
