//! Which differences a restore leaves alone on purpose.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::oid;

use super::conversions::is_there_already;
use super::dirs::{ancestors, is_directory};
use super::plan::{KeepReason, Obstacle, Planner, Target, Write};
use crate::git::diff::Side;
use crate::git::ignore::Ignore;
use crate::git::index_edit::Source;
use crate::git::snapshot::{is_bare_repository, rules_not_checked_out};
use crate::git::sparse::Sparse;
use crate::git::tree_path::{TreePaths, is_in, side_of};
use crate::git::{GitError, Objects, index};
use crate::model::{SkipReason, Skipped};

/// Takes out of the plan what is to stay as it is.
pub(super) fn decide(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    keep_uncaptured(planner, objects, target)?;
    keep_bare_repositories(planner);
    look_behind_the_capture(planner, objects, target)?;
    keep_absent(planner, objects, target)?;
    keep_outside(planner, objects, target)?;
    take_away_absent(planner, target)?;
    bring_back_present(planner, objects, target)?;
    settle_unlooked(planner, objects, target)?;
    keep_ignored(planner, objects, target)
}

/// A path in the manifest of either side: one of the trees does not know what is there.
fn keep_uncaptured(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    let then = Manifest::of(&target.skipped);
    let now = Manifest::of(planner.now.skipped);
    let deletes = std::mem::take(&mut planner.deletes);
    for path in deletes {
        if then.covers(path.as_bstr()) || now.covers(path.as_bstr()) {
            planner.keep(path, KeepReason::NotCaptured);
        } else {
            planner.deletes.insert(path);
        }
    }
    let writes = std::mem::take(&mut planner.writes);
    for (path, write) in writes {
        if then.covers(path.as_bstr()) {
            planner.keep(path, KeepReason::NotCaptured);
            continue;
        }
        if now.covers(path.as_bstr()) {
            if is_there_already(planner, objects, target, path.as_bstr())? {
                continue;
            }
            if write.replaces {
                planner.object(Obstacle::NotCaptured, path.as_bstr());
            }
        }
        planner.writes.insert(path, write);
    }
    Ok(())
}

/// Of a bare repository no file goes alone: git needs its empty directories too, which no tree holds.
fn keep_bare_repositories(planner: &mut Planner<'_>) {
    let mut known: BTreeMap<BString, bool> = BTreeMap::new();
    let top = planner.repo.top().to_owned();
    let mut is_bare = |folder: &BStr| *known.entry(folder.to_owned()).or_insert_with(|| is_bare_repository(&top, folder));
    let deletes = std::mem::take(&mut planner.deletes);
    for path in deletes {
        if ancestors(path.as_bstr()).any(&mut is_bare) {
            planner.keep(path, KeepReason::Repository);
        } else {
            planner.deletes.insert(path);
        }
    }
}

/// What the capture could not take in stands in its tree as the index has it, or not at all, so a difference to the target does
/// not show. Where the target has something there, it cannot be brought back without losing what is; elsewhere it stays.
fn look_behind_the_capture(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    let then = Manifest::of(&target.skipped);
    for skipped in planner.now.skipped {
        let path = skipped.path.as_bstr();
        let decided = planner.writes.contains_key(path) || planner.plan.kept.iter().any(|kept| kept.path == path);
        if decided || then.covers(path) || !(planner.scope.includes)(path) {
            continue;
        }
        match skipped.reason {
            SkipReason::DirtySubmodule | SkipReason::NestedRepository => planner.keep(path.to_owned(), KeepReason::Repository),
            _ if !is_in(objects, &target.tree, path)? => planner.keep(path.to_owned(), KeepReason::NotCaptured),
            SkipReason::Special => planner.object(Obstacle::SpecialFile, path),
            _ if is_there_already(planner, objects, target, path)? => {}
            _ => planner.object(Obstacle::NotCaptured, path),
        }
    }
    Ok(())
}

/// A path that the index keeps although there is no file: outside a sparse checkout it stays so. Elsewhere there is nothing to
/// delete, and what is written replaces nothing.
fn keep_absent(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    let is_absent = |path: &BString| (planner.now.seen)(path.as_bstr()).is_none();
    let absent: Vec<BString> = planner.deletes.iter().filter(|path| is_absent(path)).cloned().collect();
    let replaced = planner.writes.iter().filter(|(_, write)| write.replaces);
    let unseen: Vec<BString> = replaced.map(|(path, _)| path).filter(|path| is_absent(path)).cloned().collect();
    if absent.is_empty() && unseen.is_empty() {
        return Ok(());
    }
    let outside = Source::read(&planner.repo.index_path(), planner.repo.hash_kind())?.skip_worktree()?;
    let sparse = Sparse::of(planner.repo)?;
    let reason_of = |path: &BStr| match &sparse {
        _ if in_sparse_directory(&outside, path) => Some(KeepReason::OutsideSparseCheckout),
        _ if !outside.contains(path) => None,
        Some(sparse) if !sparse.includes(path) => Some(KeepReason::OutsideSparseCheckout),
        _ => Some(KeepReason::SkipWorktree),
    };
    for path in absent.into_iter() {
        if planner.stat(path.as_bstr())?.is_some() {
            continue;
        }
        planner.deletes.remove(&path);
        if let Some(reason) = reason_of(path.as_bstr()) {
            planner.keep(path, reason);
        }
    }
    for path in unseen {
        if planner.stat(path.as_bstr())?.is_some() {
            continue;
        }
        let Some(write) = planner.writes.get_mut(&path) else { continue };
        write.replaces = false;
        // A file that differed from the index when the target was captured must have been there.
        let in_index = target.index_tree.map(|tree| side_of(objects, &tree, path.as_bstr())).transpose()?.flatten();
        if let Some(reason) = reason_of(path.as_bstr()).filter(|_| in_index == Some(write.new)) {
            planner.writes.remove(&path);
            planner.keep(path, reason);
        }
    }
    Ok(())
}

/// A path that the index does not have, and that the sparse checkout leaves out: the index gets it, the disk does not, as when
/// git switches branches. What differed from the index when the target was captured was on disk, and comes back to it.
fn keep_outside(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    let (Some(then), Some(now)) = (target.index_tree, planner.now.index_tree) else { return Ok(()) };
    let Some(sparse) = Sparse::of(planner.repo)? else { return Ok(()) };
    let new = planner.writes.iter().filter(|(path, write)| !write.replaces && !sparse.includes(path.as_bstr()));
    let new: Vec<(BString, Side)> = new.map(|(path, write)| (path.clone(), write.new)).collect();
    for (path, side) in new {
        let is_indexed = |tree: &oid| side_of(objects, tree, path.as_bstr());
        if is_indexed(&then)? == Some(side) && is_indexed(&now)?.is_none() && planner.stat(path.as_bstr())?.is_none() {
            planner.writes.remove(&path);
            planner.keep(path, KeepReason::OutsideSparseCheckout);
        }
    }
    Ok(())
}

/// A path that the target has in its tree, but had not on disk: what a restore has put there goes again.
fn take_away_absent(planner: &mut Planner<'_>, target: &Target) -> Result<(), GitError> {
    for (path, _) in target.marks.iter().filter(|(_, mark)| mark.absent) {
        if !(planner.scope.includes)(path.as_bstr()) {
            continue;
        }
        planner.writes.remove(path);
        // That there is no file is how it was.
        planner.plan.kept.retain(|kept| kept.path != *path);
        if planner.stat(path.as_bstr())?.is_some_and(|stat| !is_directory(&stat)) {
            planner.deletes.insert(path.clone());
        }
    }
    Ok(())
}

/// A path that the target had on disk, and whose entry asks not to look for it: a capture takes it for unchanged though it is
/// gone.
fn bring_back_present(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    for (path, _) in target.marks.iter().filter(|(_, mark)| !mark.absent) {
        let is_seen = planner.writes.contains_key(path) || (planner.now.seen)(path.as_bstr()).is_some();
        if is_seen || !(planner.scope.includes)(path.as_bstr()) || planner.stat(path.as_bstr())?.is_some() {
            continue;
        }
        if let Some(new) = side_of(objects, &target.tree, path.as_bstr())?.filter(|side| !side.mode.is_commit()) {
            planner.plan.kept.retain(|kept| kept.path != *path);
            planner.writes.insert(path.clone(), Write { new, replaces: false });
        }
    }
    Ok(())
}

/// A path whose file the index asks not to look for, and that is gone: a capture takes it to be there, so no difference shows. One
/// that is taken to be unchanged comes back; one that need not be there is named among what is kept. Neither if the target is
/// known to have been without it. That of a sparse checkout is left to where it is kept.
fn settle_unlooked(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    if !planner.now.index_has_rules {
        return Ok(());
    }
    let marked = Source::read(&planner.repo.index_path(), planner.repo.hash_kind())?.marked()?;
    let unlooked = marked.into_iter().filter(|(_, entry)| entry.assume_unchanged || entry.skip_worktree);
    let sparse = Sparse::of(planner.repo)?;
    let is_left_to_sparse = |path: &BStr| path.ends_with(b"/") || sparse.as_ref().is_some_and(|sparse| !sparse.includes(path));
    let mut in_target = TreePaths::new(objects, &target.tree);
    for (path, entry) in unlooked {
        if entry.skip_worktree && is_left_to_sparse(path.as_bstr()) {
            continue;
        }
        let is_kept = planner.plan.kept.iter().any(|kept| kept.path == path);
        let is_settled = is_kept || planner.writes.contains_key(&path) || target.marks.is_absent(path.as_bstr());
        if is_settled || !(planner.scope.includes)(path.as_bstr()) || planner.stat(path.as_bstr())?.is_some() {
            continue;
        }
        let side = in_target.entry(path.as_bstr())?.filter(|side| !side.mode.is_tree() && !side.mode.is_commit());
        match side {
            Some(_) if entry.skip_worktree => planner.keep(path, KeepReason::SkipWorktree),
            Some(new) => drop(planner.writes.insert(path, Write { new, replaces: false })),
            None => {}
        }
    }
    Ok(())
}

fn in_sparse_directory(outside: &BTreeSet<BString>, path: &BStr) -> bool {
    ancestors(path).any(|directory| outside.contains(&BString::from([directory.as_bytes(), b"/"].concat())))
}

/// A path that is ignored, by the rules in force or by those of the target, is not deleted. Of a state before a restore every rule
/// is known.
fn keep_ignored(planner: &mut Planner<'_>, objects: &Objects, target: &Target) -> Result<(), GitError> {
    if planner.deletes.is_empty() {
        return Ok(());
    }
    let rules = match planner.now.index_has_rules {
        true => rules_not_checked_out(&index::load(planner.repo, objects)?),
        false => gix::index::State::new(objects.hash_kind()),
    };
    let mut now = Ignore::worktree(planner.repo, &rules)?;
    let mut then = Ignore::of_tree(planner.repo, objects, &target.tree, planner.deletes.iter().map(|path| path.as_bstr()))?;
    let paths = || planner.deletes.iter().map(|path| path.as_bstr());
    let past = target.rules.as_ref().map(|rules| rules.with_tree(planner.repo, objects, &target.tree, paths()));
    let mut past = past.transpose()?;
    let deletes = std::mem::take(&mut planner.deletes);
    for path in deletes {
        let ignored = now.is_ignored(path.as_bstr(), false)?
            || then.is_ignored(path.as_bstr(), false)?
            || past.as_mut().map_or(Ok(false), |past| past.is_ignored(path.as_bstr(), false))?;
        if ignored && !planner.scope.deletable.contains(&path) && !target.marks.is_absent(path.as_bstr()) {
            planner.keep(path, KeepReason::Ignored);
        } else {
            planner.deletes.insert(path);
        }
    }
    Ok(())
}

/// Paths that a capture left out, each with everything below it.
struct Manifest<'a>(BTreeSet<&'a BStr>);

impl<'a> Manifest<'a> {
    fn of(skipped: &'a [Skipped]) -> Manifest<'a> {
        Manifest(skipped.iter().map(|skipped| skipped.path.as_bstr()).collect())
    }

    fn covers(&self, path: &BStr) -> bool {
        !self.0.is_empty() && (self.0.contains(path) || ancestors(path).any(|directory| self.0.contains(directory)))
    }
}
