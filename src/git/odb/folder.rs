//! Where objects are written, and how.

use std::path::PathBuf;

use crate::git::Repo;
use crate::sys::sharing::Sharing;

/// The folder of a repository's objects.
#[derive(Debug, Clone)]
pub(crate) struct ObjectFolder {
    pub(super) path: PathBuf,
    pub(super) hash: gix::hash::Kind,
    pub(super) sharing: Sharing,
}

impl ObjectFolder {
    /// That of `repo`.
    pub(crate) fn of(repo: &Repo) -> ObjectFolder {
        ObjectFolder { path: repo.common_dir().join("objects"), hash: repo.hash_kind(), sharing: repo.sharing() }
    }
}
