//! A restore from its first lock to its end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::bstr::BString;
use gix::{ObjectId, oid};

use super::apply::{Moved, Stopped, Work};
use super::area::Areas;
use super::dirs::Top;
use super::index::{self, IndexEdit, Seen};
use super::index_lock::{IndexLock, Taken};
use super::journal::{Journal, Phase, Purpose};
use super::marks;
use super::originals::{self, Originals};
use super::past_rules;
use super::plan::Plan;
use super::recover::sweep;
use super::rescue::{Ended, Left, Rescued};
use super::stage::{Attributes, Failures, Sink, Stager};
use super::verify;
use crate::git::index_edit::Source;
use crate::git::{GitError, Objects, Repo};
use crate::model::Millis;
use crate::sys::fault;

/// Where contents come from.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The tree that is written.
    pub tree: ObjectId,
    /// The tree that was captured before.
    pub before: ObjectId,
    /// How contents are filtered.
    pub attributes: Attributes,
    /// What is known of files beyond their blobs.
    pub originals: &'a Originals,
    /// The `.gitignore` files that the capture left out.
    pub ignored_rules: &'a [BString],
}

/// How [`Session::begin`] ended.
pub enum Begun {
    /// Nothing else can change the index now.
    Session(Box<Session>),
    /// Another process kept `index.lock` all the time.
    IndexLocked,
}

/// A restore that has not changed anything yet. Dropped, it leaves nothing behind.
pub struct Session {
    parts: Parts,
    lock: IndexLock,
    plan: Plan,
    attributes: Attributes,
}

/// A restore whose files and index are in place.
pub struct Applied {
    parts: Parts,
    top: PathBuf,
    /// True if everything that was written was read back.
    pub verified: bool,
    /// True if a new index was written.
    pub index_written: bool,
    /// True if the index was changed by others since an interruption, and was left as it is.
    pub index_left: bool,
}

/// Why [`Session::apply`] did not do what was planned.
#[derive(Debug)]
pub enum ApplyError {
    /// Others changed these paths meanwhile; everything else is as before.
    Changed(Left),
    /// It failed, and everything is as before but for these paths, which others changed meanwhile.
    Failed(GitError, Left),
    /// It failed, and could not be taken back. The journal is there.
    Interrupted(GitError),
    /// Others held `index.lock` all the time; nothing was done.
    IndexLocked,
}

/// The journal with the folders it tells of. Dropped before the first change, it removes both.
pub(super) struct Parts {
    pub(super) journal: Journal,
    pub(super) areas: Option<Areas>,
    journal_path: PathBuf,
    top: PathBuf,
    kept: bool,
    moved: Moved,
    /// Another process began it.
    resumed: bool,
    /// The index was changed by others since the restore was interrupted: it stays as those left it.
    pub(super) index_left: bool,
    /// Files that were found aside and had to make room.
    pub(super) rescued: Vec<Rescued>,
}

impl Session {
    /// Prepares a restore and takes `index.lock`, waiting for it as long as `limit`. The caller holds the worktree's lock.
    pub fn begin(repo: &Repo, began_at: Millis, limit: Duration) -> Result<Begun, GitError> {
        let key = ulid::Ulid::new().to_string().to_ascii_lowercase();
        let private = repo.private_dir();
        repo.sharing().create_dir_all(&private).map_err(|source| GitError::io("create", &private, source))?;
        if Journal::read(repo)?.is_none() {
            sweep(repo);
        }
        let mut journal = Journal::new(key, began_at);
        let areas = Areas::create(repo, journal.folder(repo))?;
        let folder = journal.folder(repo);
        let (journal_path, top) = (Journal::path(repo), repo.top().to_owned());
        let lock = match IndexLock::prepare(repo, &folder) {
            Ok(lock) => lock,
            Err(error) => {
                areas.discard(&top);
                return Err(error);
            }
        };
        journal.lock_inode = Some(lock.inode());
        let parts = Parts {
            journal,
            areas: Some(areas),
            journal_path,
            top,
            kept: false,
            moved: Moved::default(),
            resumed: false,
            index_left: false,
            rescued: Vec::new(),
        };
        parts.journal.write(repo)?;
        match lock.take(limit)? {
            Taken::Busy => Ok(Begun::IndexLocked),
            Taken::Ours(lock) => {
                let session = Session { parts, lock, plan: Plan::default(), attributes: Attributes::Target };
                Ok(Begun::Session(Box::new(session)))
            }
        }
    }

    /// Makes the new contents of `plan`, aside. Returns what could not be made; then the restore cannot go on.
    pub fn stage(
        &mut self,
        repo: &Repo,
        objects: &Objects,
        mut plan: Plan,
        contents: &Contents<'_>,
    ) -> Result<Failures, GitError> {
        let Contents { tree, before, attributes, originals, ignored_rules } = *contents;
        let top = open_top(repo)?;
        let Parts { journal, areas, .. } = &mut self.parts;
        let areas = areas.as_mut().expect("the folders are there until the restore ends");
        let key = journal.key.clone();
        areas.assign(repo, &top, &key, &mut plan.ops, &mut |path| {
            journal.areas.push(path.to_owned());
            journal.write(repo)
        })?;
        let stager = Stager { repo, tree, attributes, sink: Sink::Areas(areas), originals };
        let failures = stager.run(objects, &mut plan.ops)?;
        if failures.is_empty() {
            let folder = self.parts.journal.folder(repo);
            originals::gather(repo, objects, &before, &mut plan.ops, &folder)?;
            past_rules::gather(repo, ignored_rules, &folder)?;
        }
        self.parts.journal.ops.clone_from(&plan.ops);
        self.parts.journal.tree = Some(tree);
        self.plan = plan;
        self.attributes = attributes;
        Ok(failures)
    }

    /// The plan that was staged.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Changes the worktree and the index. `seen` tells what the capture saw at a path.
    pub fn apply(
        mut self,
        repo: &Repo,
        objects: &Objects,
        purpose: Purpose,
        edits: Option<Vec<IndexEdit>>,
        seen: &Seen<'_>,
    ) -> Result<Applied, ApplyError> {
        let unchanged = |error| ApplyError::Failed(error, Left::default());
        let journal = &mut self.parts.journal;
        journal.phase = Phase::Applying;
        journal.purpose = purpose;
        journal.make_dirs = std::mem::take(&mut self.plan.make_dirs);
        journal.drop_dirs = std::mem::take(&mut self.plan.drop_dirs);
        journal.index = edits;
        journal.attributes = self.attributes;
        keep_old_index(repo, &journal.folder(repo)).map_err(unchanged)?;
        originals::publish(repo, &journal.folder(repo), &journal.purpose.pre_restore).map_err(unchanged)?;
        let (source, edits) = (self.lock.source(repo).map_err(unchanged)?, journal.index.as_deref().unwrap_or_default());
        marks::gather(repo, source, &journal.ops, edits, &journal.folder(repo)).map_err(unchanged)?;
        journal.write(repo).map_err(unchanged)?;
        self.parts.kept = true;
        let result = change(repo, objects, &self.parts, Some(self.lock), seen);
        finish_change(repo, self.parts, result)
    }
}

/// What is between the journal and the end of all changes.
pub(super) fn change(
    repo: &Repo,
    objects: &Objects,
    parts: &Parts,
    lock: Option<IndexLock>,
    seen: &Seen<'_>,
) -> Result<(bool, bool), Stopped> {
    let work = parts.work(repo).map_err(Stopped::Failed)?;
    work.forward()?;
    let ops = &parts.journal.ops;
    let verified = repo.config().verify;
    let lock = lock.filter(|_| !parts.index_left);
    let (differences, bytes) = std::thread::scope(|scope| {
        let verifying = verified.then(|| scope.spawn(|| verify::find_differences(repo, ops)));
        let bytes = lock.as_ref().map_or(Ok(None), |lock| new_index(repo, objects, parts, lock, seen));
        let differences = verifying.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (differences.unwrap_or_else(|| Ok(Vec::new())), bytes)
    });
    let differences = differences.map_err(Stopped::Failed)?;
    if !differences.is_empty() {
        return Err(Stopped::Changed(differences));
    }
    // A process that went on writing for as long as an interruption lasts is not waited for: what it wrote is kept at the end.
    let written_late = if parts.resumed { Vec::new() } else { work.find_late_writes() };
    if !written_late.is_empty() {
        return Err(Stopped::Changed(written_late));
    }
    let (Some(lock), Some(bytes)) = (lock, bytes.map_err(Stopped::Failed)?) else { return Ok((verified, false)) };
    lock.publish(repo, &bytes).map_err(Stopped::Failed)?;
    Ok((verified, true))
}

/// The bytes of the new index; none if it is to stay as it is.
fn new_index(
    repo: &Repo,
    objects: &Objects,
    parts: &Parts,
    lock: &IndexLock,
    seen: &Seen<'_>,
) -> Result<Option<Vec<u8>>, GitError> {
    let Some(edits) = &parts.journal.index else { return Ok(None) };
    index::bytes(repo, objects, lock.source(repo)?, (edits, &parts.journal.ops), seen)
}

/// Takes everything back if the change failed.
pub(super) fn finish_change(repo: &Repo, parts: Parts, result: Result<(bool, bool), Stopped>) -> Result<Applied, ApplyError> {
    let top = repo.top().to_owned();
    let stopped = match result {
        Ok((verified, index_written)) => {
            let index_left = parts.index_left;
            return Ok(Applied { parts, top, verified, index_written, index_left });
        }
        Err(stopped) => stopped,
    };
    let work = match parts.work(repo) {
        Ok(work) => work,
        Err(error) => return Err(ApplyError::Interrupted(error)),
    };
    let left = match work.backward() {
        Ok(left) => left,
        Err(error) => return Err(ApplyError::Interrupted(error)),
    };
    drop(work);
    let rescued = match parts.end(repo, Ended::Backward) {
        Ok(rescued) => rescued,
        Err(error) => return Err(ApplyError::Interrupted(error)),
    };
    Err(match stopped {
        Stopped::Failed(error) => ApplyError::Failed(error, Left { paths: left, rescued }),
        Stopped::Changed(mut paths) => {
            paths.extend(left);
            paths.sort();
            paths.dedup();
            ApplyError::Changed(Left { paths, rescued })
        }
    })
}

impl Applied {
    /// Ends the restore: from here on it cannot be taken back but by an undo. Returns what others wrote to files that were aside.
    pub fn finish(self, repo: &Repo) -> Result<Vec<Rescued>, GitError> {
        let journal = &self.parts.journal;
        originals::settle(repo, &journal.folder(repo), &journal.purpose.pre_restore)?;
        self.parts.end(repo, Ended::Forward)
    }

    /// Takes everything back, the index too.
    pub fn take_back(self, repo: &Repo) -> Result<Left, GitError> {
        debug_assert_eq!(self.top, repo.top());
        super::recover::take_back(repo, self.parts).map(|aborted| aborted.left)
    }
}

impl Parts {
    /// The parts of a restore by a process that died.
    pub(super) fn of_dead(repo: &Repo, journal: Journal) -> Result<Parts, GitError> {
        let areas = Areas::reopen(repo, journal.folder(repo), &journal.areas)?;
        Ok(Parts {
            journal,
            areas: Some(areas),
            journal_path: Journal::path(repo),
            top: repo.top().to_owned(),
            kept: true,
            moved: Moved::default(),
            resumed: true,
            index_left: false,
            rescued: Vec::new(),
        })
    }

    pub(super) fn work<'a>(&'a self, repo: &'a Repo) -> Result<Work<'a>, GitError> {
        let areas = self.areas.as_ref().expect("the folders are there until the restore ends");
        let Journal { ops, make_dirs, drop_dirs, .. } = &self.journal;
        Ok(Work { repo, top: open_top(repo)?, areas, ops, make_dirs, drop_dirs, moved: &self.moved, resumed: self.resumed })
    }

    /// Ends the restore, and then removes what is aside. Returns what could not go with it.
    pub(super) fn end(mut self, repo: &Repo, ended: Ended) -> Result<Vec<Rescued>, GitError> {
        if ended == Ended::Backward {
            let rescued = self.work(repo)?.rescue(&self.journal.key, ended)?;
            self.rescued.extend(rescued);
        }
        self.journal.conclude(repo)?;
        Ok(self.clean(repo))
    }

    /// Clears away what is aside when the restore is over. Where that fails, the next command tries again.
    pub(super) fn clean(mut self, repo: &Repo) -> Vec<Rescued> {
        // As late as can be: others may have a file open that is aside.
        if let Ok(rescued) = self.work(repo).and_then(|work| work.rescue(&self.journal.key, Ended::Forward)) {
            self.rescued.extend(rescued);
            if self.areas.take().is_some_and(|areas| areas.discard(&self.top)) {
                let _ = std::fs::remove_file(self.journal.concluded_path(repo));
            }
        }
        std::mem::take(&mut self.rescued)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // The journal last: it tells of the folders.
        if self.areas.take().is_none_or(|areas| areas.discard(&self.top)) {
            for path in [&self.journal_path, &Journal::unfinished_path(&self.journal_path)] {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Looks for contents of `plan` that cannot be made, without keeping any.
pub fn check(repo: &Repo, objects: &Objects, plan: &mut Plan, tree: &oid, attributes: Attributes) -> Result<Failures, GitError> {
    let originals = &Originals::default();
    Stager { repo, tree: tree.to_owned(), attributes, sink: Sink::Nowhere, originals }.run(objects, &mut plan.ops)
}

pub(super) fn old_index(folder: &Path) -> PathBuf {
    folder.join("index.old")
}

/// Keeps the index as it is, to be put back if the restore is taken back: git replaces the file, it never writes into it.
fn keep_old_index(repo: &Repo, folder: &Path) -> Result<(), GitError> {
    let (index, kept) = (repo.index_path(), old_index(folder));
    let failed = |source| GitError::io("keep a copy of", &index, source);
    fault::point().map_err(failed)?;
    match std::fs::hard_link(&index, &kept) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) => std::fs::copy(&index, &kept).map(|_| ()).map_err(failed),
    }
}

fn open_top(repo: &Repo) -> Result<Top, GitError> {
    Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))
}

/// True if the index is the one that a restore wrote into `folder`, whatever git has learned of files since.
pub(super) fn is_published(repo: &Repo, folder: &Path) -> Result<bool, GitError> {
    let ours = Source::read(&folder.join("index"), repo.hash_kind())?;
    Source::read(&repo.index_path(), repo.hash_kind())?.has_entries_of(&ours)
}

/// Adds `failures` to the obstacles of `plan`.
pub fn add_failures(plan: &mut Plan, failures: Failures) {
    for (path, obstacle) in failures {
        plan.obstacles.entry(obstacle).or_default().insert(path);
    }
}
