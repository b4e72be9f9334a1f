//! A restore whose process died: finishing it, or taking it back.

use super::apply::Stopped;
use super::area::{folders, remove_folder};
use super::index_lock::{IndexLock, Taken, remove_stale};
use super::journal::{Found, Journal, Phase, Purpose};
use super::op::Op;
use super::originals::Originals;
use super::plan::Obstacle;
use super::rescue::{self, Ended, Left};
use super::session::{Applied, ApplyError, Parts, change, finish_change, is_published, old_index};
use super::stage::{Failures, Sink, Stager};
use super::unreadable::Unreadable;
use crate::git::index_edit::Source;
use crate::git::lock::WorktreeLock;
use crate::git::{GitError, Objects, Repo, os_path};
use crate::model::Millis;
use crate::sys::fault;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A restore that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its process still runs.
    pub live: bool,
    /// The number of that process.
    pub pid: u32,
    /// When it began.
    pub began_at: Millis,
    /// What it was for; empty as long as nothing was changed.
    pub purpose: Purpose,
    /// Its journal cannot be read: nothing else is known of it.
    pub unreadable: Option<Unreadable>,
}

/// The restore of this worktree that has begun and not ended, if there is one. What a process left that died before it changed
/// anything is cleared away.
pub fn pending(repo: &Repo) -> Result<Option<Pending>, GitError> {
    let journal = match Journal::find(repo) {
        Found::Journal(journal) => *journal,
        Found::Unreadable(unreadable) => {
            let purpose = Purpose::default();
            return Ok(Some(Pending { live: false, pid: 0, began_at: Millis::default(), purpose, unreadable: Some(unreadable) }));
        }
        Found::None => {
            // Whoever has the lock clears away what is left.
            if !Journal::concluded(repo).is_empty() && WorktreeLock::acquire(repo, Some(Duration::ZERO))?.is_some() {
                sweep(repo);
            }
            return Ok(None);
        }
    };
    let live = journal.process.is_alive();
    if !live && journal.phase == Phase::Preparing {
        return match WorktreeLock::acquire(repo, Some(Duration::ZERO))? {
            Some(_lock) => clear_prepared(repo).map(|()| None),
            // Whoever has the lock is busy with it.
            None => Ok(None),
        };
    }
    Ok(Some(Pending { live, pid: journal.process.pid, began_at: journal.began_at, purpose: journal.purpose, unreadable: None }))
}

fn clear_prepared(repo: &Repo) -> Result<(), GitError> {
    if let Some(journal) = Journal::read(repo)?
        && journal.phase == Phase::Preparing
        && !journal.process.is_alive()
    {
        remove_stale(repo, &journal)?;
        let in_worktree = journal.areas.iter().map(|path| repo.top().join(os_path(path)));
        for folder in in_worktree.chain([journal.folder(repo)]) {
            let _ = remove_folder(&folder);
        }
        Journal::remove(repo)?;
        sweep(repo);
    }
    Ok(())
}

/// Removes what restores left that ended before they had a journal, or that are over. The caller holds the worktree's lock, and
/// there is no journal of a restore that is not over.
pub(super) fn sweep(repo: &Repo) {
    let _ = std::fs::remove_file(Journal::unfinished_path(&Journal::path(repo)));
    for path in Journal::concluded(repo) {
        match Journal::read_at(&path).map(|journal| journal.map(|journal| Parts::of_dead(repo, journal))) {
            Ok(Some(Ok(parts))) => drop(parts.clean(repo)),
            Ok(_) => {}
            // Nothing is known any more of what is aside.
            Err(_) => drop(std::fs::remove_file(&path)),
        }
    }
    if Journal::concluded(repo).is_empty() {
        for folder in folders(repo) {
            let _ = if rescue::holds_parts(&folder) { rescue::whole(repo, &folder).is_ok() } else { remove_folder(&folder) };
        }
    }
}

/// A dead restore, to be finished or taken back by the holder of the worktree's lock.
pub struct Recovery {
    parts: Parts,
}

/// What a process that died left of its restore.
pub enum Dead {
    /// Nothing, by now.
    Nothing,
    /// It has changed something.
    Restore(Box<Recovery>),
    /// Its journal cannot be read.
    Unreadable(Unreadable),
}

/// How taking a restore back ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aborted {
    /// Paths that others changed meanwhile.
    pub left: Left,
    /// The index was changed by others meanwhile, and is as those left it.
    pub index_left: bool,
}

impl Recovery {
    /// The dead restore of this worktree, if it has changed anything. The caller holds the worktree's lock.
    pub fn open(repo: &Repo) -> Result<Dead, GitError> {
        match Journal::find(repo) {
            Found::None => {
                sweep(repo);
                Ok(Dead::Nothing)
            }
            Found::Unreadable(unreadable) => Ok(Dead::Unreadable(unreadable)),
            Found::Journal(journal) if journal.phase == Phase::Preparing => {
                clear_prepared(repo)?;
                Ok(Dead::Nothing)
            }
            Found::Journal(journal) => Ok(Dead::Restore(Box::new(Recovery { parts: Parts::of_dead(repo, *journal)? }))),
        }
    }

    /// What the restore was for.
    pub fn purpose(&self) -> &Purpose {
        &self.parts.journal.purpose
    }

    /// How many files it writes and deletes.
    pub fn counts(&self) -> (usize, usize) {
        let written = self.parts.journal.ops.iter().filter(|op| op.new.is_some()).count();
        (written, self.parts.journal.ops.len() - written)
    }

    /// Finishes the restore.
    pub fn resume(mut self, repo: &Repo, objects: &Objects, limit: Duration) -> Result<Applied, ApplyError> {
        let stuck = ApplyError::Interrupted;
        let published = is_published_after_crash(repo, &self.parts.journal).map_err(stuck)?;
        let lock = if published || self.parts.journal.index.is_none() {
            None
        } else {
            let taken = take_over_lock(repo, &mut self.parts, limit).map_err(stuck)?;
            let lock = taken.ok_or(ApplyError::IndexLocked)?;
            self.parts.index_left = is_index_of_others(repo, &self.parts).map_err(stuck)?;
            Some(lock)
        };
        // Everything that stands in the way is told at once, before anything is done.
        let changed = self.parts.work(repo).and_then(|work| work.find_changed()).map_err(stuck)?;
        let result = if changed.is_empty() {
            self.stage_again(repo, objects).map_err(stuck)?;
            change(repo, objects, &self.parts, lock, &|_| None)
        } else {
            drop(lock);
            Err(Stopped::Changed(changed))
        };
        remove_stale(repo, &self.parts.journal).map_err(stuck)?;
        match result {
            Ok((verified, written)) => finish_change(repo, self.parts, Ok((verified, written || published))),
            // It was interrupted before and still is: to take it back is the person's decision.
            Err(Stopped::Failed(error)) => Err(ApplyError::Interrupted(error)),
            Err(Stopped::Changed(paths)) => {
                Err(ApplyError::Changed(Left { paths, rescued: std::mem::take(&mut self.parts.rescued) }))
            }
        }
    }

    /// Waits until the old index can be put back, if it has to be; false if others hold its lock for as long as `limit`. Nothing is
    /// changed.
    pub fn wait_for_index(&self, repo: &Repo, limit: Duration) -> Result<bool, GitError> {
        let until = Instant::now() + limit;
        let (lock, old) = (IndexLock::path(repo), old_index(&self.parts.journal.folder(repo)));
        while is_published_after_crash(repo, &self.parts.journal)?
            && lock.symlink_metadata().is_ok()
            && !is_same_file(&lock, &old)
        {
            if Instant::now() >= until {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(true)
    }

    /// Takes the restore back.
    pub fn take_back(self, repo: &Repo) -> Result<Aborted, GitError> {
        take_back(repo, self.parts)
    }

    /// Contents that a crash of the machine damaged, or that are gone, are made again.
    fn stage_again(&mut self, repo: &Repo, objects: &Objects) -> Result<(), GitError> {
        let journal = &mut self.parts.journal;
        let Some(tree) = journal.tree else { return Ok(()) };
        let damaged: Vec<usize> = {
            let work = self.parts.work(repo)?;
            (0..work.ops.len()).filter(|at| work.is_damaged_aside(&work.ops[*at])).collect()
        };
        if damaged.is_empty() {
            return Ok(());
        }
        let mut again: Vec<Op> = damaged.iter().map(|at| self.parts.journal.ops[*at].clone()).collect();
        for op in &again {
            let rescued = self.parts.work(repo)?.clear_new_slot(&self.parts.journal.key, op)?;
            self.parts.rescued.extend(rescued);
        }
        let journal = &mut self.parts.journal;
        let areas = self.parts.areas.as_ref().expect("the folders are there until the restore ends");
        let originals = &Originals::of(repo, &journal.purpose.target)?;
        let stager = Stager { repo, tree, attributes: journal.attributes, sink: Sink::Areas(areas), originals };
        if let Some(error) = first_failure(stager.run(objects, &mut again)?) {
            return Err(error);
        }
        for (at, op) in damaged.into_iter().zip(again) {
            journal.ops[at] = op;
        }
        journal.write(repo)
    }
}

fn first_failure(failures: Failures) -> Option<GitError> {
    let (path, obstacle) = failures.into_iter().next()?;
    let why = if obstacle == Obstacle::Filter { "a filter failed" } else { "its content is missing" };
    Some(GitError::other(format!("write `{path}`"), why))
}

fn is_published_after_crash(repo: &Repo, journal: &Journal) -> Result<bool, GitError> {
    if journal.index.is_none() {
        return Ok(false);
    }
    // As long as the lock is there, it was not made the index.
    let lock_is_ours = IndexLock::path(repo).symlink_metadata().is_ok_and(|found| Some(found.ino()) == journal.lock_inode);
    if lock_is_ours {
        return Ok(false);
    }
    // An empty file: the lock was removed by hand before the index was written into it.
    let folder = journal.folder(repo);
    let is_written = folder.join("index").metadata().is_ok_and(|found| found.len() > 0);
    if !is_written { Ok(false) } else { is_published(repo, &folder) }
}

/// A lock of this process in place of the dead one's; none if others hold it all the time.
fn take_over_lock(repo: &Repo, parts: &mut Parts, limit: Duration) -> Result<Option<IndexLock>, GitError> {
    let folder = parts.journal.folder(repo);
    remove_stale(repo, &parts.journal)?;
    let _ = std::fs::remove_file(folder.join("index"));
    let lock = IndexLock::prepare(repo, &folder)?;
    parts.journal.lock_inode = Some(lock.inode());
    parts.journal.write(repo)?;
    match lock.take(limit)? {
        Taken::Ours(lock) => Ok(Some(lock)),
        Taken::Busy => Ok(None),
    }
}

/// Brings files and index back to what they were, and ends the restore.
pub(super) fn take_back(repo: &Repo, parts: Parts) -> Result<Aborted, GitError> {
    let work = parts.work(repo)?;
    let paths = work.backward()?;
    let mut aborted = Aborted { left: Left { paths, rescued: Vec::new() }, index_left: false };
    drop(work);
    if is_published_after_crash(repo, &parts.journal)? {
        aborted.index_left = !put_old_index_back(repo, &parts)?;
    } else {
        aborted.index_left = is_index_of_others(repo, &parts)?;
    }
    remove_stale(repo, &parts.journal)?;
    aborted.left.rescued = parts.end(repo, Ended::Backward)?;
    Ok(aborted)
}

/// True if the index holds something else than before the restore.
fn is_index_of_others(repo: &Repo, parts: &Parts) -> Result<bool, GitError> {
    let old = Source::read(&old_index(&parts.journal.folder(repo)), repo.hash_kind())?;
    Ok(!Source::read(&repo.index_path(), repo.hash_kind())?.has_entries_of(&old)?)
}

/// Makes the old index the index again, under the lock that every git command respects.
fn put_old_index_back(repo: &Repo, parts: &Parts) -> Result<bool, GitError> {
    let (lock, old, index) = (IndexLock::path(repo), old_index(&parts.journal.folder(repo)), repo.index_path());
    let failed = |source| GitError::io("bring back", &index, source);
    fault::point().map_err(failed)?;
    if !old.exists() {
        // There was no index before.
        return std::fs::remove_file(&index).map(|()| true).map_err(failed);
    }
    match std::fs::hard_link(&old, &lock) {
        Ok(()) => std::fs::rename(&lock, &index).map(|()| true).map_err(failed),
        // Another process that took this restore back died here.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && is_same_file(&old, &lock) => {
            std::fs::rename(&lock, &index).map(|()| true).map_err(failed)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(failed(source)),
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let inode = |path: &Path| path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()));
    inode(a).is_some() && inode(a) == inode(b)
}
