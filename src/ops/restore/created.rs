//! What a restore created: an undo takes that away again, ignored or not.

use std::collections::BTreeSet;

use gix::bstr::ByteSlice;

use super::RestoreOutcome;
use super::run::{TakenBack, Task};
use crate::git::diff::{Change, tree_changes};
use crate::git::ignore::Ignore;
use crate::git::restore::OpKind;
use crate::model::BString;
use crate::ops::{Context, Error};

/// What the restore that is taken back has created, which goes even if it is ignored; and what of it a capture has to be told of,
/// since it is ignored now.
pub(super) fn created_before(context: &Context, task: &Task<'_>) -> Result<(BTreeSet<BString>, Vec<BString>), Error> {
    let repo = &context.repo;
    let objects = crate::git::Objects::new(repo.gix(), std::sync::Arc::default());
    let is_new = |change: &Change| change.old.is_none() && change.new.is_some_and(|side| !side.mode.is_commit());
    let created: BTreeSet<BString> = match &task.taken_back {
        None => return Ok(Default::default()),
        Some(TakenBack::Created(paths)) => paths.iter().cloned().collect(),
        Some(TakenBack::Trees(from, to)) => {
            let Ok(changes) = tree_changes(&objects, from, to) else { return Ok(Default::default()) };
            changes.into_iter().filter(is_new).map(|change| change.path).collect()
        }
    };
    let mut ignore = Ignore::worktree(repo, &crate::git::index::load(repo, &objects)?)?;
    let mut ignored = Vec::new();
    for path in &created {
        if ignore.is_ignored(path.as_bstr(), false)? {
            ignored.push(path.clone());
        }
    }
    Ok((created, ignored))
}

/// The paths that a restore of some paths creates: a later undo must not take the difference of the whole trees for them.
pub(super) fn created_if_limited(task: &Task<'_>, outcome: &RestoreOutcome) -> Option<Vec<BString>> {
    let created = outcome.plan.iter().filter(|(kind, _)| *kind == OpKind::Add);
    (!task.request.is_whole()).then(|| created.map(|(_, path)| path.clone()).collect())
}
