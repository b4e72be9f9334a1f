//! Comparing checkpoints with each other, with commits, and with the worktree.

use super::{Context, Error, base_tree, select};
use crate::git::diff::{Comparison, limit, tree_changes};
use crate::git::{Objects, snapshot};
use crate::model::{BString, Checkpoint, ObjectId, Stat};

/// What to compare, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffRequest {
    /// Nothing: the newest checkpoint with the worktree. One: that with the worktree. Two: the first with the second.
    /// Checkpoints, or whatever git takes for a commit or tree.
    pub sides: Vec<String>,
    /// Only these paths.
    pub pathspecs: Vec<BString>,
}

/// Compares what `request` asks for.
pub fn diff(context: &Context, request: &DiffRequest) -> Result<Comparison, Error> {
    let repo = &context.repo;
    let old = tree_named(context, request.sides.first().map_or("@", String::as_str))?;
    let (new, objects) = match request.sides.get(1) {
        Some(text) => (tree_named(context, text)?, reader(context)),
        None => {
            let snapshot = snapshot::take(repo, snapshot::Keep::Memory, &[])?;
            (snapshot.tree, snapshot.objects(repo))
        }
    };
    Ok(Comparison::new(repo, objects, (old, new), request.pathspecs.clone())?)
}

/// What `checkpoint` changed: compares it with what came before it.
pub fn change_of(context: &Context, checkpoint: &Checkpoint) -> Result<Comparison, Error> {
    let old = base_tree(context, checkpoint)?;
    Ok(Comparison::new(&context.repo, reader(context), (old, checkpoint.tree), Vec::new())?)
}

/// How much `checkpoint` changed. Trees never change, so the answer is kept.
pub fn stat_of(context: &mut Context, checkpoint: &Checkpoint) -> Result<Stat, Error> {
    if let Some(stat) = checkpoint.stat {
        return Ok(stat);
    }
    let old = base_tree(context, checkpoint)?;
    let known = context.store.diff_stat(&old, &checkpoint.tree)?;
    let stat = match known {
        Some(stat) => stat,
        None => Comparison::new(&context.repo, reader(context), (old, checkpoint.tree), Vec::new())?.stat()?,
    };
    if context.store.is_writable() {
        if known.is_none() {
            context.store.put_diff_stat(&old, &checkpoint.tree, stat)?;
        }
        context.store.set_stat(&checkpoint.id, stat)?;
    }
    Ok(stat)
}

/// True if `checkpoint` changed one of the paths.
pub fn touches(context: &Context, checkpoint: &Checkpoint, pathspecs: &[BString]) -> Result<bool, Error> {
    let old = base_tree(context, checkpoint)?;
    let mut changes = tree_changes(&reader(context), &old, &checkpoint.tree)?;
    limit(&context.repo, pathspecs, &mut changes)?;
    Ok(!changes.is_empty())
}

fn reader(context: &Context) -> Objects {
    Objects::new(context.repo.gix(), Default::default())
}

/// The tree of the checkpoint that `text` selects, else of the commit that it names for git.
fn tree_named(context: &Context, text: &str) -> Result<ObjectId, Error> {
    match select(&context.repo, &context.store, text) {
        Ok(checkpoint) => Ok(checkpoint.tree),
        Err(error @ (Error::UnknownSelector { .. } | Error::Selector(_))) => context.repo.tree_named(text).ok_or(error),
        Err(error) => Err(error),
    }
}
