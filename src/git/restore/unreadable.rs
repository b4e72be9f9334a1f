//! A journal that cannot be read: nothing can be finished or taken back by it, but nothing is lost either.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::area::{folders, is_area};
use super::index_lock::IndexLock;
use super::journal::Journal;
use super::rescue;
use crate::git::{GitError, Repo, path_bytes};

/// A restore that has begun and not ended, of which no more is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The journal.
    pub journal: PathBuf,
    /// What is wrong with it.
    pub why: String,
    /// Where it set files aside.
    pub folders: Vec<PathBuf>,
    /// A newer version of this program wrote it, and can read it.
    pub newer: bool,
}

impl Unreadable {
    pub(super) fn new(repo: &Repo, why: String, newer: bool) -> Unreadable {
        let mut folders = folders(repo);
        find_in_worktree(repo, repo.top(), &mut folders);
        Unreadable { journal: Journal::path(repo), why, folders, newer }
    }

    /// Ends the restore without touching a file of the worktree. All that it had set aside is kept; returns where. The caller holds
    /// the worktree's lock.
    pub fn give_up(self, repo: &Repo) -> Result<Vec<PathBuf>, GitError> {
        if self.newer {
            return Err(GitError::io("understand the restore journal", &self.journal, io::Error::other(self.why)));
        }
        for folder in &self.folders {
            remove_lock_of(repo, folder)?;
        }
        // Those in the worktree are told by those in the git directory, which therefore go last.
        let places = self.folders.iter().rev().map(|folder| rescue::whole(repo, folder)).collect::<Result<_, _>>()?;
        Journal::remove(repo)?;
        Ok(places)
    }
}

/// Removes `index.lock` if it is a second name of the file that the restore of `folder` made for it.
fn remove_lock_of(repo: &Repo, folder: &Path) -> Result<(), GitError> {
    let lock = IndexLock::path(repo);
    let stat = |path: &Path| path.symlink_metadata().map(|meta| (meta.dev(), meta.ino())).ok();
    if stat(&lock).is_some_and(|found| Some(found) == stat(&folder.join("index"))) {
        std::fs::remove_file(&lock).map_err(|source| GitError::io("remove", &lock, source))?;
    }
    Ok(())
}

/// Adds the folders below `directory` in which a restore set files aside that are on another file system than the git directory.
fn find_in_worktree(repo: &Repo, directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name() == ".git" || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if is_area(repo, path_bytes(Path::new(&entry.file_name())).as_ref()) {
            found.push(entry.path());
        } else {
            find_in_worktree(repo, &entry.path(), found);
        }
    }
}
