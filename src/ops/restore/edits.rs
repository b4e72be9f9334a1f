//! What `--keep-edits` keeps: paths whose content is not what was recorded last.

use std::collections::BTreeSet;

use gix::bstr::{BStr, ByteSlice};

use crate::git::diff::{Change, tree_changes};
use crate::git::ignore::Ignore;
use crate::git::restore::{KeepReason, Kept};
use crate::git::snapshot::Snapshot;
use crate::git::{Objects, index};
use crate::model::{BString, Checkpoint, Kind, ObjectId};
use crate::ops::{Context, Error};

/// The paths that were edited since the last checkpoint of the worktree.
#[derive(Debug, Default)]
pub(super) struct Edits(BTreeSet<BString>);

impl Edits {
    /// Finds them. What only a restore recorded, to have a way back, nobody has asked to be kept, so it stays an edit. Without a
    /// checkpoint of this worktree there is nothing to tell edits by.
    pub(super) fn since_the_last_checkpoint(context: &Context, snapshot: &Snapshot) -> Result<Edits, Error> {
        let worktree = context.repo.worktree_id();
        let Some(newest) = context.store.newest_asked_for(worktree)? else {
            let message = "`--keep-edits` tells edits by the last checkpoint of this worktree, and there is none";
            return Err(Error::Usage(message.to_owned()));
        };
        let objects = snapshot.objects(&context.repo);
        let changes: Vec<Change> = tree_changes(&objects, &newest.tree, &snapshot.tree)?;
        let gone: BTreeSet<BString> =
            changes.iter().filter(|change| change.new.is_none()).map(|change| change.path.clone()).collect();
        let mut edited: BTreeSet<BString> = changes.into_iter().map(|change| change.path).collect();
        // What restores have written since is in the checkpoints that they brought back.
        for row in context.store.restores(worktree)?.iter().filter(|row| row.created_at >= newest.created_at) {
            let target = context.store.by_id(&row.target)?.filter(|target| target.kind != Kind::PreRestore);
            if let Some(target) = target {
                let differs = changed(&objects, &target, snapshot)?;
                let absent: Vec<&BString> = edited.difference(&differs).filter(|path| gone.contains(*path)).collect();
                let removed = not_removed_by_it(context, &objects, &target, &absent)?;
                edited.retain(|path| differs.contains(path) || removed.contains(path));
            }
        }
        Ok(Edits(edited))
    }

    /// True if a restore of `path` would undo an edit: of the path itself, of a file in whose place it would put a directory,
    /// or of one in the directory that it would replace.
    pub(super) fn concern(&self, path: &BStr) -> bool {
        let below: BString = [path.as_bytes(), b"/"].concat().into();
        self.0.contains(path)
            || path.find_iter("/").any(|at| self.0.contains(&path[..at]))
            || self.0.range(below.clone()..).next().is_some_and(|edited| edited.starts_with(&below))
    }

    /// True if one of them has rules for how files are written.
    pub(super) fn have_attributes(&self) -> bool {
        self.0.iter().any(|path| path.ends_with_str(".gitattributes"))
    }

    /// What of them differs from `target`, within `includes`.
    pub(super) fn kept(
        &self,
        objects: &Objects,
        now: &ObjectId,
        target: &ObjectId,
        includes: &dyn Fn(&BStr) -> bool,
    ) -> Result<Vec<Kept>, Error> {
        let changes = tree_changes(objects, now, target)?.into_iter().map(|change| change.path);
        let kept = changes.filter(|path| includes(path.as_bstr()) && self.concern(path.as_bstr()));
        Ok(kept.map(|path| Kept { path, reason: KeepReason::Edited }).collect())
    }
}

/// Those of `absent`, which neither the checkpoint nor the worktree has, that a restore of it kept because they were ignored: whoever
/// removed them since, it was not the restore.
fn not_removed_by_it(
    context: &Context,
    objects: &Objects,
    target: &Checkpoint,
    absent: &[&BString],
) -> Result<BTreeSet<BString>, Error> {
    if absent.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut now = Ignore::worktree(&context.repo, &index::load(&context.repo, objects)?)?;
    let mut then = Ignore::of_tree(&context.repo, objects, &target.tree, absent.iter().map(|path| path.as_bstr()))?;
    let mut kept = BTreeSet::new();
    for path in absent {
        if now.is_ignored(path.as_bstr(), false)? || then.is_ignored(path.as_bstr(), false)? {
            kept.insert((*path).clone());
        }
    }
    Ok(kept)
}

fn changed(objects: &Objects, recorded: &Checkpoint, snapshot: &Snapshot) -> Result<BTreeSet<BString>, Error> {
    let changes: Vec<Change> = tree_changes(objects, &recorded.tree, &snapshot.tree)?;
    Ok(changes.into_iter().map(|change| change.path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_concerns_what_would_replace_it() {
        let edits = Edits(["a/b", "file"].map(BString::from).into());

        for (path, concerned) in
            [("a/b", true), ("a/b/c", true), ("a", true), ("a/c", false), ("file", true), ("file2", false), ("fil", false)]
        {
            assert_eq!(edits.concern(path.into()), concerned, "{path}");
        }
    }
}
