//! Which paths differ between two trees.
//!
//! Only directories that differ are read. Each is a task of its own; once there are many, all cores work on them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gix::bstr::BString;
use gix::objs::tree::{EntryKind, EntryMode, EntryRef};
use gix::objs::{TreeRef, TreeRefIter};
use gix::{ObjectId, oid};

use super::parallel;
use crate::git::{GitError, Objects};

/// One side of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Mode as in the tree: file, executable, link or commit; never a tree.
    pub mode: EntryMode,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
}

/// A path that differs between two trees. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path relative to the top.
    pub path: BString,
    /// What the old tree has there.
    pub old: Option<Side>,
    /// What the new tree has there.
    pub new: Option<Side>,
}

/// The paths that differ between the trees `old` and `new`, sorted by path as bytes. A file that became a directory is the
/// removal of the file and the addition of what is in the directory.
pub fn tree_changes(objects: &Objects, old: &oid, new: &oid) -> Result<Vec<Change>, GitError> {
    let mut walker = Walker::new(objects.clone());
    let mut tasks = vec![Task { dir: BString::default(), old: Some(old.to_owned()), new: Some(new.to_owned()) }];
    while let Some(task) = tasks.pop() {
        walker.compare(&task, &mut tasks)?;
        if tasks.len() >= ENOUGH_FOR_ALL {
            walker.share(std::mem::take(&mut tasks))?;
        }
    }
    let mut changes = walker.changes;
    changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// With so many directories waiting, it pays to start threads.
const ENOUGH_FOR_ALL: usize = 24;

/// A directory to compare; a side is none where only the other tree has it.
struct Task {
    /// Its path with a slash at the end; empty for the top.
    dir: BString,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

/// Compares directories one by one.
struct Walker {
    objects: Objects,
    old_data: Vec<u8>,
    new_data: Vec<u8>,
    changes: Vec<Change>,
}

impl Walker {
    fn new(objects: Objects) -> Self {
        Walker { objects, old_data: Vec::new(), new_data: Vec::new(), changes: Vec::new() }
    }

    /// Adds what differs in one directory to the changes, and the directories in it that differ to `tasks`.
    fn compare(&mut self, task: &Task, tasks: &mut Vec<Task>) -> Result<(), GitError> {
        if task.old == task.new {
            return Ok(());
        }
        let old = read_tree(&self.objects, task.old.as_deref(), &mut self.old_data)?;
        let new = read_tree(&self.objects, task.new.as_deref(), &mut self.new_data)?;
        let (mut left, mut right) = (old.entries.iter().peekable(), new.entries.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => a.cmp(b),
            };
            let old = if order.is_le() { left.next() } else { None };
            let new = if order.is_ge() { right.next() } else { None };
            let Some(any) = old.or(new) else { continue };
            if let (Some(a), Some(b)) = (old, new)
                && a.oid == b.oid
                && a.mode == b.mode
            {
                continue;
            }
            let mut path = Vec::with_capacity(task.dir.len() + any.filename.len() + 1);
            path.extend_from_slice(&task.dir);
            path.extend_from_slice(any.filename);
            // Entries that compare equal are both trees or both none: a tree sorts as if its name ended with a slash.
            if any.mode.is_tree() {
                path.push(b'/');
                let id = |entry: Option<&EntryRef<'_>>| entry.map(|entry| entry.oid.to_owned());
                tasks.push(Task { dir: path.into(), old: id(old), new: id(new) });
            } else {
                self.changes.push(Change { path: path.into(), old: side(old), new: side(new) });
            }
        }
    }

    /// Does all `tasks` and those that come of them, with all cores.
    fn share(&mut self, tasks: Vec<Task>) -> Result<(), GitError> {
        let threads = parallel::threads_for(tasks.len(), ENOUGH_FOR_ALL / 8);
        let pool = Pool::new(tasks, threads);
        let walkers: Vec<Walker> = (1..threads).map(|_| Walker::new(self.objects.clone())).collect();
        std::thread::scope(|scope| {
            let pool = &pool;
            let threads: Vec<_> = walkers
                .into_iter()
                .map(|mut walker| {
                    scope.spawn(move || {
                        pool.work(&mut walker);
                        walker.changes
                    })
                })
                .collect();
            pool.work(self);
            for thread in threads {
                match thread.join() {
                    Ok(changes) => self.changes.extend(changes),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        match pool.state.into_inner().unwrap_or_else(PoisonError::into_inner).error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn side(entry: Option<&EntryRef<'_>>) -> Option<Side> {
    entry.filter(|entry| entry.mode.kind() != EntryKind::Tree).map(|entry| Side { mode: entry.mode, id: entry.oid.to_owned() })
}

/// Tasks that several threads share. Each works on tasks of its own and gives some away when another has none.
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// Threads that wait for a task.
    waiting: AtomicUsize,
}

struct State {
    tasks: Vec<Task>,
    /// Threads that have tasks, from which more may come.
    busy: usize,
    error: Option<GitError>,
}

impl Pool {
    fn new(tasks: Vec<Task>, threads: usize) -> Self {
        let state = Mutex::new(State { tasks, busy: threads, error: None });
        Pool { state, changed: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    fn work(&self, walker: &mut Walker) {
        let mut own = Vec::new();
        while let Some(task) = own.pop().or_else(|| self.take()) {
            let result = walker.compare(&task, &mut own);
            if let Err(error) = result {
                self.lock().error = Some(error);
                own.clear();
            }
            if own.len() > 1 && self.waiting.load(Ordering::Relaxed) > 0 {
                self.lock().tasks.extend(own.drain(..own.len() / 2));
                self.changed.notify_all();
            }
        }
    }

    /// A task for a thread that has none left, once there is one; none when all are done.
    fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        state.busy -= 1;
        loop {
            if state.busy == 0 && state.tasks.is_empty() || state.error.is_some() {
                self.changed.notify_all();
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some(task);
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_tree<'a>(objects: &Objects, id: Option<&oid>, data: &'a mut Vec<u8>) -> Result<TreeRef<'a>, GitError> {
    let Some(id) = id else { return Ok(TreeRef::empty()) };
    objects.read(id, data)?;
    let entries = TreeRefIter::from_bytes(data, objects.hash_kind()).collect::<Result<Vec<_>, _>>();
    let entries = entries.map_err(|source| GitError::other(format!("read tree {id}"), source))?;
    Ok(TreeRef { entries })
}
