//! Facts of a worktree that a checkpoint records beside its files: HEAD, branch, operation in progress.

use std::path::Path;

use gix::ObjectId;
use gix::state::InProgress;

use super::{GitError, Repo};

/// Where HEAD stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit; none on an unborn branch.
    pub id: Option<ObjectId>,
    /// Short name of the branch; none when HEAD is detached.
    pub branch: Option<String>,
    /// The commit's tree; the empty tree on an unborn branch.
    pub tree: ObjectId,
}

impl Head {
    /// Reads HEAD of this worktree.
    pub fn read(repo: &Repo) -> Result<Head, GitError> {
        let gix = repo.gix();
        let head = gix.head().map_err(|source| GitError::other("read HEAD", source))?;
        let branch = head.referent_name().map(|name| name.shorten().to_string());
        let id = head.id().map(gix::Id::detach);
        let tree = match id {
            None => ObjectId::empty_tree(gix.object_hash()),
            Some(id) => tree_of(&gix, id)?,
        };
        Ok(Head { id, branch, tree })
    }
}

/// The tree of the commit `id`.
pub fn tree_of(gix: &gix::Repository, id: ObjectId) -> Result<ObjectId, GitError> {
    let commit = gix.find_commit(id).map_err(|source| GitError::other(format!("read commit {id}"), source))?;
    Ok(commit.tree_id().map_err(|source| GitError::other(format!("read commit {id}"), source))?.detach())
}

/// How many commits `head` has that `base` has not; none if `head` does not descend from `base`, or that cannot be told.
pub fn commits_since(repo: &Repo, head: Option<ObjectId>, base: Option<ObjectId>) -> Result<Option<usize>, GitError> {
    let Some(head) = head else { return Ok(None) };
    let gix = repo.gix();
    let mut walk = gix.rev_walk([head]);
    if let Some(base) = base {
        let common = gix.merge_base(head, base).ok().flatten();
        if common.is_none_or(|common| common != base) {
            return Ok(None);
        }
        walk = walk.with_hidden([base]);
    }
    let Ok(commits) = walk.all() else { return Ok(None) };
    let mut count = 0;
    for commit in commits {
        if commit.is_err() {
            return Ok(None);
        }
        count += 1;
    }
    Ok(Some(count))
}

/// The operation in progress in this worktree, by the word that git uses for it.
pub fn operation(repo: &Repo) -> Option<String> {
    let word = match repo.gix().state()? {
        InProgress::ApplyMailbox | InProgress::ApplyMailboxRebase => "am",
        InProgress::Bisect => "bisect",
        InProgress::CherryPick | InProgress::CherryPickSequence => "cherry-pick",
        InProgress::Merge => "merge",
        InProgress::Rebase | InProgress::RebaseInteractive => "rebase",
        InProgress::Revert | InProgress::RevertSequence => "revert",
    };
    Some(word.to_owned())
}

/// The commit that HEAD of the repository in `directory` points to, if it is a repository with a commit.
pub fn nested_head(directory: &Path) -> Option<ObjectId> {
    let options = gix::open::Options::default().with(gix::sec::Trust::Full);
    let repo = gix::ThreadSafeRepository::open_opts(directory, options).ok()?.to_thread_local();
    repo.head_id().ok().map(gix::Id::detach)
}
