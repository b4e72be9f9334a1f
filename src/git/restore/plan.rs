//! What a restore does to the worktree, worked out from two trees and the files that stand in the way.
//!
//! Only paths in which the two trees differ are ever looked at, so ignored files, nested repositories and everything else that
//! is in neither tree cannot be touched. Nothing is changed here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind;
use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use super::conversions;
use super::dirs::{Top, ancestors, is_below, is_directory};
use super::identity::Identity;
use super::in_the_way;
use super::index::Seen;
use super::journal::text;
use super::keep;
use super::marks::Marks;
use super::op::{NewFile, Op, OpKind};
use super::past_rules::PastRules;
use super::stage::Attributes;
use crate::git::diff::{Change, Side, tree_changes};
use crate::git::path_names::PathNames;
use crate::git::{GitError, Objects, Repo};
use crate::model::Skipped;

/// The worktree as the capture before the restore saw it.
pub struct Now<'a> {
    /// The tree of the capture.
    pub tree: ObjectId,
    /// That of its index; none if it has unmerged entries.
    pub index_tree: Option<ObjectId>,
    /// What the capture left out.
    pub skipped: &'a [Skipped],
    /// The index may have rule files that are not on disk.
    pub index_has_rules: bool,
    /// What the capture saw at a path; none if there is no file.
    pub seen: &'a Seen<'a>,
}

/// What the worktree is to be.
#[derive(Debug, Clone)]
pub struct Target {
    /// The tree of the files.
    pub tree: ObjectId,
    /// The tree of the index; none if it had unmerged entries.
    pub index_tree: Option<ObjectId>,
    /// HEAD when the target was captured.
    pub head: Option<ObjectId>,
    /// Paths that were intent-to-add.
    pub intent_to_add: Vec<BString>,
    /// What the target does not hold.
    pub skipped: Vec<Skipped>,
    /// What its index noted of paths; empty unless a restore kept it.
    pub marks: Marks,
    /// Ignore rules that it had and that are not in its tree; none unless a restore kept them.
    pub rules: Option<PastRules>,
    /// A restore left this state: an undo or a redo goes to it. It kept every flag of its index in `marks`.
    pub is_step: bool,
    /// Files whose blob does not lead back to their bytes: the blob, and the hash of the bytes that a restore kept.
    pub exact: BTreeMap<BString, (ObjectId, ObjectId)>,
}

/// Which paths a restore is about, and what else it must know of them.
pub struct Scope<'a> {
    /// True for a path that the restore is about.
    pub includes: &'a dyn Fn(&BStr) -> bool,
    /// Paths that an earlier restore created: an undo takes them back, ignored or not.
    pub deletable: BTreeSet<BString>,
    /// Whose rules for conversions hold when the restore is done.
    pub attributes: Attributes,
    /// The directory that the person stands in, relative to the top; it is not removed just because it became empty.
    pub standing_in: Option<BString>,
}

/// Why a path that differs is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeepReason {
    /// Ignored by the rules now, or by those of the checkpoint.
    Ignored,
    /// A submodule or another repository.
    Repository,
    /// The checkpoint or the capture before the restore does not hold it.
    NotCaptured,
    /// Outside the sparse checkout.
    OutsideSparseCheckout,
    /// Edited since the last checkpoint, and the restore is to keep edits.
    Edited,
    /// There is no file, and its entry in the index says that there need not be one (`git update-index --skip-worktree`).
    SkipWorktree,
}

/// A path that differs and is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Relative to the top.
    pub path: BString,
    /// Why.
    pub reason: KeepReason,
}

/// What makes a plan impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A directory that may not be written.
    Unwritable,
    /// A file system is mounted where something must go or change.
    MountPoint,
    /// A file that must go or change is immutable or append-only.
    Marked,
    /// A FIFO, socket or device where a file must go.
    SpecialFile,
    /// A repository, or another worktree, where a file must go.
    Repository,
    /// A file that would be overwritten cannot be captured first.
    NotCaptured,
    /// The checkpoint has a path that git lets no repository have, such as one in `.git`.
    ForbiddenPath,
    /// A blob of the checkpoint is not in the repository.
    ObjectMissing,
    /// A filter failed on the content of a file.
    Filter,
}

/// A directory that is to be removed once it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DropDir {
    #[serde(with = "text::path")]
    pub(super) path: BString,
    /// Its permissions, for taking the restore back.
    pub(super) mode: u32,
    /// A file must go where it stands.
    pub(super) required: bool,
}

/// One line of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// What is done.
    pub kind: OpKind,
    /// To which path.
    pub path: &'a BStr,
}

/// What a restore does.
#[derive(Debug, Default)]
pub struct Plan {
    pub(super) ops: Vec<Op>,
    /// Parents first.
    pub(super) make_dirs: Vec<BString>,
    /// Children first.
    pub(super) drop_dirs: Vec<DropDir>,
    /// What differs and is left alone, sorted.
    pub kept: Vec<Kept>,
    /// Files in the way that the capture has to take in first; the plan holds only if this is empty.
    pub to_capture: Vec<BString>,
    /// What makes the plan impossible, sorted.
    pub obstacles: BTreeMap<Obstacle, BTreeSet<BString>>,
}

impl Plan {
    /// Works out how to get from `now` to `target`.
    pub fn make(repo: &Repo, objects: &Objects, now: &Now<'_>, target: &Target, scope: &Scope<'_>) -> Result<Plan, GitError> {
        let changes = tree_changes(objects, &now.tree, &target.tree)?;
        let changes = changes.into_iter().filter(|change| (scope.includes)(change.path.as_bstr()));
        let changes: Vec<Change> = changes.collect();
        let changed: BTreeSet<BString> = changes.iter().map(|change| change.path.clone()).collect();
        let mut planner = Planner::empty(repo, now, scope)?;
        changes.into_iter().for_each(|change| planner.sort_in(change));
        conversions::settle(&mut planner, objects, target, &changed)?;
        keep::decide(&mut planner, objects, target)?;
        in_the_way::examine(&mut planner)?;
        planner.check_objects(objects);
        planner.finish()
    }

    /// Files in the way that are still not captured make the plan impossible.
    pub fn refuse_uncaptured(mut self) -> Plan {
        if !self.to_capture.is_empty() {
            let paths = std::mem::take(&mut self.to_capture);
            self.obstacles.entry(Obstacle::NotCaptured).or_default().extend(paths);
        }
        self
    }

    /// Files that would be overwritten or deleted whose captured content cannot be read from the repository.
    /// `is_made` is true for objects that the capture before the restore has just made.
    pub fn not_held(&self, objects: &Objects, is_made: &dyn Fn(&ObjectId) -> bool) -> Vec<BString> {
        let is_lost = |op: &&Op| op.old_blob.is_some_and(|blob| !is_made(&blob) && objects.size(&blob).is_err());
        self.ops.iter().filter(is_lost).map(|op| op.path.clone()).collect()
    }

    /// The steps, sorted by path.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.ops.iter().map(|op| Step { kind: op.kind(), path: op.path.as_bstr() })
    }

    /// How many files are written and deleted.
    pub fn counts(&self) -> (usize, usize) {
        let deleted = self.ops.iter().filter(|op| op.kind() == OpKind::Delete).count();
        (self.ops.len() - deleted, deleted)
    }

    /// True if the worktree is what it is to be.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.make_dirs.is_empty() && self.drop_dirs.is_empty()
    }
}

/// A plan in the making.
pub(super) struct Planner<'a> {
    pub(super) repo: &'a Repo,
    pub(super) top: Top,
    pub(super) now: &'a Now<'a>,
    pub(super) scope: &'a Scope<'a>,
    names: PathNames,
    /// Files to be written.
    pub(super) writes: BTreeMap<BString, Write>,
    /// Files to be deleted.
    pub(super) deletes: BTreeSet<BString>,
    /// Submodules that are to be there as empty directories if nothing else is.
    pub(super) gitlinks: BTreeSet<BString>,
    /// Empty directories of submodules that are not to be there.
    empty_gitlinks: BTreeSet<BString>,
    pub(super) make_dirs: BTreeSet<BString>,
    /// Directories in whose place a file must go.
    pub(super) cleared_dirs: BTreeMap<BString, u32>,
    pub(super) plan: Plan,
}

/// A file to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    pub(super) new: Side,
    /// The capture saw a file there.
    pub(super) replaces: bool,
}

impl<'a> Planner<'a> {
    fn empty(repo: &'a Repo, now: &'a Now<'a>, scope: &'a Scope<'a>) -> Result<Planner<'a>, GitError> {
        let top = Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))?;
        Ok(Planner {
            repo,
            top,
            now,
            scope,
            names: PathNames::of(repo),
            writes: BTreeMap::new(),
            deletes: BTreeSet::new(),
            gitlinks: BTreeSet::new(),
            empty_gitlinks: BTreeSet::new(),
            make_dirs: BTreeSet::new(),
            cleared_dirs: BTreeMap::new(),
            plan: Plan::default(),
        })
    }

    fn sort_in(&mut self, change: Change) {
        let is_link = |side: &Side| side.mode.kind() == EntryKind::Commit;
        let Change { path, old, new } = change;
        let had_repository = old.as_ref().is_some_and(is_link);
        if new.is_some_and(|side| !self.names.allow_path(path.as_bstr(), side.mode)) {
            return self.object(Obstacle::ForbiddenPath, path.as_bstr());
        }
        match new {
            Some(side) if is_link(&side) => {
                if had_repository {
                    self.keep(path, KeepReason::Repository);
                    return;
                }
                if old.is_some() {
                    self.deletes.insert(path.clone());
                }
                self.gitlinks.insert(path);
            }
            Some(new) => {
                self.writes.insert(path, Write { new, replaces: old.is_some() && !had_repository });
            }
            // A submodule without files is an empty directory, in the index or not.
            None if had_repository && self.top.is_empty_directory(path.as_bstr()) => {
                self.empty_gitlinks.insert(path);
            }
            None if had_repository => self.keep(path, KeepReason::Repository),
            None => {
                self.deletes.insert(path);
            }
        }
    }

    pub(super) fn keep(&mut self, path: BString, reason: KeepReason) {
        self.plan.kept.push(Kept { path, reason });
    }

    /// Deletes a captured file that was to be kept: it is in the way.
    pub(super) fn delete_after_all(&mut self, path: &BStr) {
        self.plan.kept.retain(|kept| kept.path != path);
        self.deletes.insert(path.to_owned());
    }

    pub(super) fn object(&mut self, obstacle: Obstacle, path: &BStr) {
        self.plan.obstacles.entry(obstacle).or_default().insert(path.to_owned());
    }

    pub(super) fn stat(&self, path: &BStr) -> Result<Option<Stat>, GitError> {
        self.top.stat(path).map_err(|source| self.failed("look at", path, source))
    }

    pub(super) fn failed(&self, action: &'static str, path: &BStr, source: io::Error) -> GitError {
        GitError::io(action, self.repo.top().join(crate::git::os_path(path)), source)
    }

    /// True if a file is to be written below `directory`.
    pub(super) fn writes_below(&self, directory: &BStr) -> bool {
        let prefix = BString::from([directory.as_bytes(), b"/"].concat());
        self.writes.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    fn check_objects(&mut self, objects: &Objects) {
        let missing: Vec<BString> =
            self.writes.iter().filter(|(_, write)| !objects.contains(&write.new.id)).map(|(path, _)| path.clone()).collect();
        missing.iter().for_each(|path| self.object(Obstacle::ObjectMissing, path.as_bstr()));
    }

    fn finish(mut self) -> Result<Plan, GitError> {
        let mut paths: BTreeSet<BString> = self.writes.keys().cloned().collect();
        paths.extend(self.deletes.iter().cloned());
        let mut ops = Vec::with_capacity(paths.len());
        for path in paths {
            let write = self.writes.get(&path).copied();
            let has_old = write.is_none_or(|write| write.replaces);
            let seen = if has_old { (self.now.seen)(path.as_bstr()) } else { None };
            if has_old && seen.is_none() {
                self.object(Obstacle::NotCaptured, path.as_bstr());
                continue;
            }
            let new = write.map(|write| NewFile::new(write.new.mode, write.new.id));
            ops.push(Op {
                path,
                old: seen.map(|seen| Identity::of_seen(&seen.stat)),
                old_ctime_ns: seen.map(|seen| seen.stat.ctime_ns),
                old_blob: seen.map(|seen| seen.id),
                old_content: None,
                new,
                area: 0,
                slot: ops.len(),
            });
        }
        let drop_dirs = self.drop_dirs()?;
        let mut plan = self.plan;
        plan.kept.sort();
        plan.ops = ops;
        plan.make_dirs = self.make_dirs.into_iter().collect();
        plan.drop_dirs = drop_dirs;
        Ok(plan)
    }

    fn is_stood_in(&self, directory: &BStr) -> bool {
        let here = self.scope.standing_in.as_ref();
        here.is_some_and(|here| here == directory || is_below(here.as_bstr(), directory))
    }

    /// Directories that lose a file and get none, and those in whose place a file must go.
    fn drop_dirs(&self) -> Result<Vec<DropDir>, GitError> {
        let mut emptied: BTreeMap<&BStr, (u32, bool)> = BTreeMap::new();
        for path in &self.deletes {
            for directory in ancestors(path.as_bstr()) {
                let holds_gitlink = self.gitlinks.iter().any(|link| link == directory || is_below(link.as_bstr(), directory));
                if emptied.contains_key(directory) || self.writes_below(directory) || self.is_stood_in(directory) || holds_gitlink
                {
                    break;
                }
                if let Some(stat) = self.stat(directory)?.filter(is_directory) {
                    emptied.insert(directory, (stat.st_mode, false));
                }
            }
        }
        for path in self.empty_gitlinks.iter().filter(|path| !self.is_stood_in(path.as_bstr())) {
            if let Some(stat) = self.stat(path.as_bstr())?.filter(is_directory) {
                emptied.insert(path.as_bstr(), (stat.st_mode, false));
            }
        }
        emptied.extend(self.cleared_dirs.iter().map(|(path, mode)| (path.as_bstr(), (*mode, true))));
        let sorted = emptied.into_iter().rev();
        Ok(sorted.map(|(path, (mode, required))| DropDir { path: path.to_owned(), mode: mode & 0o7777, required }).collect())
    }
}

/// The type of a file.
pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
