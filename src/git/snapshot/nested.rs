//! Whether a repository inside the worktree has changes of its own, which a checkpoint does not hold.

use std::path::Path;

use super::{Keep, take};
use crate::git::Repo;

/// True if the repository in `directory` has uncommitted or untracked files. Nothing of it is written.
pub(super) fn is_dirty(directory: &Path) -> bool {
    let Ok(repo) = Repo::open_nested(directory) else { return false };
    let Ok(snapshot) = take(&repo, Keep::Memory, &[]) else { return false };
    snapshot.tree != snapshot.head.tree || snapshot.index_tree != Some(snapshot.head.tree)
}
