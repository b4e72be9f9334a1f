//! The lock that lets one capture or restore at a time work on a worktree.
//!
//! It is an advisory lock on a file (`flock(2)`), so it goes away with the process that holds it, however that ends. Who has the
//! lock is noted in the file, and taken out again by who lets go of it: a note that is found tells of a process that died.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{GitError, Repo, leftovers};
use crate::sys;

/// Lets one process at a time put together what captures left in the repository, or take checkpoints away, whatever worktree
/// they were in.
pub struct RepositoryLock {
    _file: File,
}

impl RepositoryLock {
    /// The file that is locked. It stays; its name must not look like that of a lock that git left.
    pub fn path(repo: &Repo) -> PathBuf {
        repo.shared_dir().join("repository-lock")
    }

    /// Takes the lock if it is free.
    pub fn try_acquire(repo: &Repo) -> Result<Option<RepositoryLock>, GitError> {
        Self::acquire(repo, Duration::ZERO)
    }

    /// Waits for the lock; none if it is not free within `limit`.
    pub fn acquire(repo: &Repo, limit: Duration) -> Result<Option<RepositoryLock>, GitError> {
        let path = Self::path(repo);
        let file = repo.sharing().open_lasting(OpenOptions::new().truncate(false).write(true), &path);
        let file = file.map_err(|source| GitError::io("open", &path, source))?;
        let is_taken = wait_for(&file, limit).map_err(|source| GitError::io("lock", &path, source))?;
        Ok(is_taken.then_some(RepositoryLock { _file: file }))
    }
}

/// Held while it lives.
pub struct WorktreeLock {
    file: File,
    /// The file tells who has the lock.
    is_noted: bool,
}

/// A process that has, or had, the lock of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    /// Its number.
    pub(super) pid: u32,
    /// When it took the lock, in nanoseconds since the Unix epoch.
    pub(super) since_ns: i64,
}

impl Holder {
    fn read(path: &Path) -> Option<Holder> {
        let text = fs::read_to_string(path).ok()?;
        let (pid, since) = text.trim().split_once(' ')?;
        Some(Holder { pid: pid.parse().ok()?, since_ns: since.trim().parse().ok()? })
    }

    /// Always of the same length, so that it can be written over another.
    fn note(self) -> String {
        format!("{:>10} {:>20}\n", self.pid, self.since_ns)
    }
}

impl WorktreeLock {
    /// Waits for the lock of `repo`'s worktree; none if it is not free within `limit`.
    pub fn acquire(repo: &Repo, limit: Option<Duration>) -> Result<Option<WorktreeLock>, GitError> {
        let path = repo.private_dir().join("lock");
        Ok(lock(repo, &path, limit)?.map(|file| WorktreeLock::taken(repo, file, &path)))
    }

    /// The same for another worktree of the repository, with this private folder. What others left there stays, and so does what
    /// they noted.
    pub fn acquire_in(repo: &Repo, directory: &Path, limit: Option<Duration>) -> Result<Option<WorktreeLock>, GitError> {
        let file = lock(repo, &directory.join("lock"), limit)?;
        Ok(file.map(|file| WorktreeLock { file, is_noted: false }))
    }

    /// Clears away what others left, and notes who has the lock now. Where no note can be written, more is
    /// left behind by a death; nothing else depends on it.
    fn taken(repo: &Repo, file: File, path: &Path) -> WorktreeLock {
        leftovers::clear(repo, Holder::read(path));
        let holder = Holder { pid: std::process::id(), since_ns: sys::now_nanos() };
        let _ = file.write_all_at(holder.note().as_bytes(), 0);
        WorktreeLock { file, is_noted: true }
    }
}

/// Opens the file at `path` and locks it; none if it is not free within `limit`.
fn lock(repo: &Repo, path: &Path, limit: Option<Duration>) -> Result<Option<File>, GitError> {
    let directory = path.parent().unwrap_or(path);
    repo.sharing().create_dir_all(directory).map_err(|source| GitError::io("create", directory, source))?;
    let file = repo.sharing().open_lasting(OpenOptions::new().truncate(false).write(true), path);
    let file = file.map_err(|source| GitError::io("open", path, source))?;
    let failed = |source: Errno| GitError::io("lock", path, source);
    let Some(limit) = limit else {
        flock(&file, FlockOperation::LockExclusive).map_err(failed)?;
        return Ok(Some(file));
    };
    Ok(wait_for(&file, limit).map_err(failed)?.then_some(file))
}

/// Locks `file`; false if it is not free within `limit`.
fn wait_for(file: &File, limit: Duration) -> Result<bool, Errno> {
    let until = Instant::now() + limit;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(false),
            Err(source) => return Err(source),
        }
    }
}

impl Drop for WorktreeLock {
    fn drop(&mut self) {
        if self.is_noted {
            let _ = self.file.set_len(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn what_a_holder_left_that_died_is_cleared_away_and_nothing_else() {
        let test = TestRepo::new();
        let repo = test.open();
        let (lock, objects) = (repo.private_dir().join("lock"), repo.common_dir().join("objects"));
        fs::create_dir_all(objects.join("pack")).unwrap();
        let died = Holder { pid: 77, since_ns: 0x500 };
        let left = ["tmp_obj_77_500_0", "pack/tmp_pack_77_600_0", "pack/tmp_idx_77_7ff_3"];
        let of_others = ["tmp_obj_78_600_0", "tmp_obj_77_4ff_0", "tmp_obj_AbCdEf", "pack/tmp_pack_x_y"];
        drop(WorktreeLock::acquire(&repo, None).unwrap());
        assert_eq!(fs::read_to_string(&lock).unwrap(), "", "nothing is noted of one that let go");

        for note in [String::new(), "no note".to_owned(), died.note()] {
            left.iter().chain(&of_others).for_each(|name| fs::write(objects.join(name), "x").unwrap());
            fs::write(repo.private_dir().join("stat.tmp77"), "x").unwrap();
            fs::write(&lock, &note).unwrap();

            let held = WorktreeLock::acquire(&repo, Some(Duration::ZERO)).unwrap();

            assert_eq!(Holder::read(&lock).map(|holder| holder.pid), Some(std::process::id()));
            drop(held);
            let is_cleared = note == died.note();
            assert!(left.iter().all(|name| objects.join(name).exists() != is_cleared), "{note}");
            assert!(!repo.private_dir().join("stat.tmp77").exists());
            assert!(of_others.iter().all(|name| objects.join(name).exists()), "{note}");
        }
    }
}
