//! Turns what the walk found into records: judges names that are not known, and reads, cleans and hashes what changed.
//!
//! Threads share one queue of paths; a directory that is not known adds its names to it.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode};

use super::judge::Judge;
use super::stat_cache::{DirStat, KEEP_IF_ABSENT, Record, StatCache, TRACKED};
use super::walk::Event;
use crate::git::index::{LazyIndex, join};
use crate::git::odb::ObjectSink;
use crate::git::stat::FileStat;
use crate::git::{GitError, Repo};
use crate::model::Skipped;

/// A directory: its place in the cache, or, from the count of those on, among the new ones.
pub(super) type DirKey = u32;

/// A path to be judged.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) dir: DirKey,
    pub(super) name: BString,
    /// The directory's path and the name.
    pub(super) path: BString,
    /// What the cache knows of it.
    pub(super) known: Option<Record>,
    /// Whether being ignored matters: it does not for a path that is tracked or known to be captured.
    pub(super) may_be_ignored: bool,
}

/// What became of a path.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The directory has this record now.
    Put(DirKey, Record),
    /// The directory has no such name any more.
    Drop(DirKey, BString),
}

/// A directory that the cache does not have.
#[derive(Debug)]
pub(super) struct NewDir {
    pub(super) parent: DirKey,
    pub(super) path: BString,
    pub(super) stat: DirStat,
}

/// All that changed against the cache.
#[derive(Default)]
pub(super) struct Delta {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) new_dirs: Vec<NewDir>,
    /// Known directories that are not there any more.
    pub(super) gone: Vec<u32>,
    /// Known directories that are not on disk, and of which something is known all the same.
    pub(super) standing: BTreeSet<u32>,
    /// Known directories that became part of another repository: whatever else was found out about them does not count.
    swallowed: Vec<std::ops::Range<u32>>,
    /// New stamps of known directories.
    pub(super) stats: Vec<(u32, DirStat)>,
    pub(super) skipped: Vec<Skipped>,
    /// A file of ignore rules or attributes changed: the cache does not hold.
    pub(super) rules_changed: bool,
    /// A tracked file of ignore rules or attributes is not on disk: the index is asked for it.
    pub(super) rules_gone: bool,
}

/// Shared by the threads that judge.
pub(super) struct Shared<'a> {
    pub(super) repo: &'a Repo,
    pub(super) top: &'a OwnedFd,
    pub(super) cache: &'a StatCache,
    pub(super) from_cache: bool,
    pub(super) sink: &'a ObjectSink,
    /// The index, read when it is asked for.
    pub(super) index: Arc<LazyIndex>,
    /// What rule files are looked up in where they are not on disk; empty if all are.
    pub(super) rules: OnceLock<Arc<gix::index::State>>,
    /// Paths to capture though they are ignored or large.
    pub(super) forced: &'a BTreeSet<BString>,
    pub(super) threads: usize,
    queue: Mutex<Queue>,
    wake: Condvar,
    rules_changed: AtomicBool,
    new_dirs: Mutex<Vec<NewDir>>,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    active: usize,
    failed: bool,
}

impl<'a> Shared<'a> {
    pub(super) fn new(
        repo: &'a Repo,
        top: &'a OwnedFd,
        cache: &'a StatCache,
        sink: &'a ObjectSink,
        forced: &'a BTreeSet<BString>,
    ) -> Self {
        Shared {
            repo,
            top,
            cache,
            from_cache: false,
            sink,
            index: Arc::new(LazyIndex::new(repo)),
            rules: OnceLock::new(),
            forced,
            threads: 1,
            queue: Mutex::default(),
            wake: Condvar::new(),
            rules_changed: AtomicBool::new(false),
            new_dirs: Mutex::default(),
        }
    }

    /// Judges all that the walk found.
    pub(super) fn run(&self, events: Vec<Event>) -> Result<Delta, GitError> {
        let mut delta = Delta::default();
        let mut tasks = Vec::new();
        for event in events {
            self.sort_event(event, &mut delta, &mut tasks)?;
        }
        delta.gone.retain(|dir| delta.standing.range(*dir..self.cache.dir(*dir).end()).next().is_none());
        let swallowed = std::mem::take(&mut delta.swallowed);
        let inside = |dir: &u32| swallowed.iter().any(|range| range.contains(dir));
        tasks.retain(|task| !inside(&task.dir));
        delta.outcomes.retain(|outcome| {
            let (Outcome::Put(dir, _) | Outcome::Drop(dir, _)) = outcome;
            !inside(dir)
        });
        let count = tasks.len();
        *lock(&self.queue) = Queue { tasks, ..Queue::default() };
        let threads = if count < 8 { 1 } else { self.threads };
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let work = || {
                let result = self.worker();
                lock(&results).push(result);
            };
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        for result in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let (outcomes, skipped) = result?;
            delta.outcomes.extend(outcomes);
            delta.skipped.extend(skipped);
        }
        delta.new_dirs = std::mem::take(&mut *lock(&self.new_dirs));
        delta.rules_changed = self.rules_changed.load(Ordering::Relaxed);
        delta.skipped.sort();
        delta.skipped.dedup();
        Ok(delta)
    }

    fn sort_event(&self, event: Event, delta: &mut Delta, tasks: &mut Vec<Task>) -> Result<(), GitError> {
        let task = |dir: u32, file: u32, recheck: bool| {
            let known = self.cache.dir(dir);
            let record = known.file(file).to_record();
            let may_be_ignored = recheck && record.flags & TRACKED == 0;
            Task {
                dir,
                path: join(known.path(), record.name.as_ref()),
                name: record.name.clone(),
                known: Some(record),
                may_be_ignored,
            }
        };
        match event {
            Event::Changed { dir, file } => tasks.push(task(dir, file, false)),
            Event::Recheck { dir, file } => tasks.push(task(dir, file, true)),
            Event::Gone { dir, file } => {
                self.file_gone(dir, file, delta)?;
            }
            Event::Verified { dir, file, stat } => {
                let record = self.cache.dir(dir).file(file).to_record();
                let flags = record.flags & !super::stat_cache::INDEX_STAT;
                delta.outcomes.push(Outcome::Put(dir, Record { stat, flags, ..record }));
            }
            Event::Unknown { dir, name } => {
                let path = join(self.cache.dir(dir).path(), name.as_ref());
                tasks.push(Task { dir, name, path, known: None, may_be_ignored: true });
            }
            Event::Read { dir, stat } => delta.stats.push((dir, stat)),
            Event::DirGone { dir } => {
                let mut stands = false;
                for file in 0..self.cache.dir(dir).file_count() {
                    stands |= self.file_gone(dir, file, delta)?;
                }
                if stands {
                    delta.standing.insert(dir);
                } else {
                    delta.gone.push(dir);
                }
            }
            Event::HasGit { dir } => self.nested(dir, delta, tasks),
            Event::DirUnreadable { dir } => {
                let path = self.cache.dir(dir).path().to_owned();
                delta.skipped.push(Skipped { path, reason: crate::model::SkipReason::Unreadable, size: None });
                delta.stats.push((dir, super::seed::unread()));
            }
        }
        Ok(())
    }

    /// A known file is not there. If the index asks not to look for it, its entry stands, as in a sparse checkout. Returns
    /// true if there is more to know of the path than that.
    fn file_gone(&self, dir: u32, file: u32, delta: &mut Delta) -> Result<bool, GitError> {
        let directory = self.cache.dir(dir);
        let record = directory.file(file).to_record();
        delta.rules_gone |= is_rules(record.name.as_ref());
        if record.is_absent() {
            return Ok(true);
        }
        if record.flags & KEEP_IF_ABSENT == 0 {
            self.note_rules(record.name.as_ref());
            let is_tracked = record.flags & TRACKED != 0;
            delta.outcomes.push(match is_tracked {
                true => Outcome::Put(dir, record.absent()),
                false => Outcome::Drop(dir, record.name),
            });
            return Ok(is_tracked);
        }
        let path = join(directory.path(), record.name.as_ref());
        let index = self.index.get()?;
        let was_there = record.stat != FileStat::default();
        match index.entry_by_path(path.as_ref()).map(|entry| (entry.id, super::seed::kind_of(entry.mode))) {
            None => {
                delta.outcomes.push(Outcome::Drop(dir, record.name));
                return Ok(false);
            }
            Some((id, kind)) if was_there || id != record.id || kind != record.kind => {
                self.note_rules(record.name.as_ref());
                delta.outcomes.push(Outcome::Put(dir, Record { id, kind, stat: FileStat::default(), ..record }));
            }
            // As it was the last time.
            Some(_) => {}
        }
        Ok(true)
    }

    /// A known directory holds a `.git` now. If it is a repository, and the index has nothing in it, it becomes one entry.
    fn nested(&self, dir: u32, delta: &mut Delta, tasks: &mut Vec<Task>) {
        let directory = self.cache.dir(dir);
        let below = dir..directory.end();
        let tracked = below.clone().any(|d| self.cache.dir(d).files().any(|file| file.flags() & TRACKED != 0));
        if tracked {
            return;
        }
        if !super::nested::is_repository(self.repo.top(), directory.path()) {
            // It may become one without another name in it.
            return delta.stats.push((dir, super::seed::unread()));
        }
        delta.gone.extend(below.clone());
        delta.swallowed.push(below);
        let parent = (0..dir).rev().find(|d| self.cache.dir(*d).end() > dir).unwrap_or(0);
        let name = directory.name().to_owned();
        tasks.push(Task { dir: parent, name, path: directory.path().to_owned(), known: None, may_be_ignored: true });
    }

    /// Remembers that a file with this name changed, if it holds ignore rules or attributes.
    pub(super) fn note_rules(&self, name: &BStr) {
        if self.from_cache && is_rules(name) {
            self.rules_changed.store(true, Ordering::Relaxed);
        }
    }

    /// The index as far as rule files are looked up in it. Decoding it is spared where the cache knows that all of them are on
    /// disk.
    pub(super) fn rules_index(&self) -> Result<Arc<gix::index::State>, GitError> {
        if let Some(state) = self.rules.get() {
            return Ok(state.clone());
        }
        let state = if self.from_cache && !self.cache.index_has_rules() {
            Arc::new(gix::index::State::new(self.cache.hash()))
        } else {
            Arc::new(rules_not_checked_out(&*self.index.get()?))
        };
        Ok(self.rules.get_or_init(|| state).clone())
    }

    /// Adds a directory that the cache does not have.
    pub(super) fn new_dir(&self, dir: NewDir) -> DirKey {
        let mut all = lock(&self.new_dirs);
        all.push(dir);
        self.cache.dir_count() + all.len() as u32 - 1
    }

    /// Adds paths to be judged.
    pub(super) fn push(&self, tasks: Vec<Task>) {
        lock(&self.queue).tasks.extend(tasks);
        self.wake.notify_all();
    }

    fn worker(&self) -> Result<(Vec<Outcome>, Vec<Skipped>), GitError> {
        let mut judge = Judge::new(self);
        while let Some(batch) = self.take_batch() {
            let result = batch.into_iter().try_for_each(|task| judge.judge(task));
            let mut queue = lock(&self.queue);
            queue.active -= 1;
            queue.failed |= result.is_err();
            drop(queue);
            self.wake.notify_all();
            result?;
        }
        Ok(judge.finish())
    }

    /// Some tasks; none when all are done or nothing can be done about them any more.
    fn take_batch(&self) -> Option<Vec<Task>> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.failed || self.rules_changed.load(Ordering::Relaxed) {
                return None;
            }
            if !queue.tasks.is_empty() {
                let size = (queue.tasks.len() / (2 * self.threads)).clamp(1, 32);
                let at = queue.tasks.len() - size;
                queue.active += 1;
                return Some(queue.tasks.split_off(at));
            }
            if queue.active == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An index of the rule files in `index` that are not to be on disk. One that was deleted is not among them: a checkpoint does not have it
/// either, and what is recorded under its rules would not come back.
pub(crate) fn rules_not_checked_out(index: &gix::index::State) -> gix::index::State {
    let mut rules = gix::index::State::new(index.object_hash());
    for entry in index.entries().iter().filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE)) {
        let path = entry.path(index);
        if is_rules(path.rsplit_once_str("/").map_or(path, |(_, name)| name.as_bstr())) {
            // The library overlooks those that are executable; for git the mode makes no difference.
            rules.dangerously_push_entry(entry.stat, entry.id, Flags::SKIP_WORKTREE, Mode::FILE, path);
        }
    }
    rules
}

/// True for the names of files that hold ignore rules or attributes, also where the file system finds them by another case.
pub(super) fn is_rules(name: &BStr) -> bool {
    name.eq_ignore_ascii_case(b".gitignore") || name.eq_ignore_ascii_case(b".gitattributes")
}

/// An id that stands for no object.
pub(super) fn no_object(shared: &Shared<'_>) -> ObjectId {
    ObjectId::null(shared.cache.hash())
}

/// True if some path in `forced` lies below the directory `path`.
pub(super) fn has_forced_below(forced: &BTreeSet<BString>, path: &BStr) -> bool {
    let mut prefix = path.to_owned();
    prefix.push(b'/');
    forced.range(prefix.clone()..).next().is_some_and(|next| next.starts_with(&prefix))
}

/// Keeps the handle of the top at hand.
pub(super) fn top_fd<'a>(shared: &'a Shared<'_>) -> std::os::fd::BorrowedFd<'a> {
    shared.top.as_fd()
}
