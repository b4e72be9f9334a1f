//! Our private folders in all worktrees of a repository, and which worktrees git still knows.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::lock::WorktreeLock;
use super::restore::Journaled;
use super::{GitError, Repo, restore};
use crate::model::WorktreeId;

/// Whether git knows the worktree: a linked one as long as `git worktree list` shows it, wherever its files are.
pub fn is_known(repo: &Repo, worktree: &WorktreeId) -> bool {
    worktree.linked_name().is_none_or(|name| repo.common_dir().join("worktrees").join(name).is_dir())
}

/// The private folders that are there: of each worktree, and of each directory that its git directory was put to work on.
pub fn private_dirs(repo: &Repo) -> Vec<PathBuf> {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let linked = list(repo.common_dir().join("worktrees"));
    let mut found = Vec::new();
    for own in [repo.common_dir().to_owned()].into_iter().chain(linked).map(|git_dir| git_dir.join("checkpoint")) {
        let is_placed = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"at-"));
        found.extend(list(own.clone()).filter(|path| is_placed(path) && path.is_dir()));
        if own.is_dir() {
            found.push(own);
        }
    }
    found.sort();
    found
}

/// The locks of all worktrees but this one, where a capture was ever made; or the one that is not free in time. Whoever holds them
/// and that of this worktree knows that no capture and no restore is at work anywhere in the repository.
pub fn lock_others(repo: &Repo, limit: Duration) -> Result<Result<Vec<WorktreeLock>, PathBuf>, GitError> {
    let until = Instant::now() + limit;
    let mut locks = Vec::new();
    let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let own = real(&repo.private_dir());
    for folder in private_dirs(repo).into_iter().filter(|folder| real(folder) != own) {
        if folder.join("lock").exists() {
            match WorktreeLock::acquire_in(repo, &folder, Some(until.saturating_duration_since(Instant::now())))? {
                Some(lock) => locks.push(lock),
                None => return Ok(Err(folder.join("lock"))),
            }
        }
    }
    Ok(Ok(locks))
}

/// What the journals of restores name, in all worktrees, that began and did not end.
pub fn journaled(repo: &Repo) -> Vec<Journaled> {
    private_dirs(repo).iter().filter_map(|folder| restore::journaled_in(folder)).collect()
}
