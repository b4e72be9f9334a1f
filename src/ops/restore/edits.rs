//! What `--keep-edits` keeps: paths whose content is not what was recorded last.

use std::collections::BTreeSet;

use gix::bstr::{BStr, ByteSlice};

use crate::git::Objects;
use crate::git::diff::{Change, tree_changes};
use crate::git::restore::{KeepReason, Kept};
use crate::git::snapshot::Snapshot;
use crate::model::{BString, Checkpoint, ObjectId};
use crate::ops::{Context, Error};

/// The paths that were edited since the last checkpoint of the worktree.
#[derive(Debug, Default)]
pub(super) struct Edits(BTreeSet<BString>);

impl Edits {
    /// Finds them. Without a checkpoint of this worktree there is nothing to tell edits by.
    pub(super) fn since_the_last_checkpoint(context: &Context, snapshot: &Snapshot) -> Result<Edits, Error> {
        let worktree = context.repo.worktree_id();
        let Some(newest) = context.store.newest(worktree)? else {
            let message = "`--keep-edits` tells edits by the last checkpoint of this worktree, and there is none";
            return Err(Error::Usage(message.to_owned()));
        };
        let objects = snapshot.objects(&context.repo);
        let mut edited = changed(&objects, &newest, snapshot)?;
        // What a restore wrote is in the checkpoint that it brought back, not in the one that it made.
        for row in context.store.restores(worktree)? {
            let is_last = row.pre_restore == newest.id || row.undone_by.as_ref() == Some(&newest.id);
            let states = [Some(&row.target), Some(&row.pre_restore), row.undone_by.as_ref(), row.redone_to.as_ref()];
            for id in states.into_iter().flatten().filter(|_| is_last) {
                if let Some(recorded) = context.store.by_id(id)? {
                    let differs = changed(&objects, &recorded, snapshot)?;
                    edited.retain(|path| differs.contains(path));
                }
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
