//! What every operation works on: the repository and its database.

use std::path::Path;

use super::Error;
use crate::git::Repo;
use crate::store::Store;

/// An open repository with its database.
pub struct Context {
    /// The repository, seen from the current worktree.
    pub repo: Repo,
    /// The database.
    pub store: Store,
}

impl Context {
    /// Opens the repository around `directory` and its database.
    pub fn open(directory: &Path) -> Result<Context, Error> {
        let repo = Repo::open(directory)?;
        let store = Store::open(&repo.shared_dir())?;
        Ok(Context { repo, store })
    }
}
