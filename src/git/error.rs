//! What can go wrong with a repository and its files.

use std::path::{Path, PathBuf};

use crate::model::BString;

/// A failure in a repository or its files. Texts say what was attempted; causes are in `source`.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant is its documentation")]
pub enum GitError {
    #[error("not a git repository (or any of the parent directories)")]
    NotARepository,
    #[error("this repository is bare: there is no worktree to snapshot")]
    Bare,
    #[error("this must be run in a worktree, not in a git directory")]
    InsideGitDirectory,
    #[error("`{}` is not the top of a worktree of its own: its link to the repository is gone", .0.display())]
    NotWorktreeRoot(PathBuf),
    #[error("the repository at `{}` belongs to someone else and is not listed in `safe.directory`", .0.display())]
    UnsafeOwnership(PathBuf),
    #[error("the repository uses the extension `{0}`, which is not supported")]
    UnsupportedExtension(String),
    #[error("`{}` as a worktree is refused unless `checkpoint.allowHome` is true", .0.display())]
    HomeRefused(PathBuf),
    #[error("bad config value `{value}` for `{key}`")]
    BadConfig { key: String, value: String },
    #[error("missing value for `{0}`")]
    MissingConfigValue(&'static str),
    #[error("the index has a form that is not supported: {0}")]
    UnsupportedIndex(String),
    #[error("a filter failed for `{path}`")]
    Filter {
        path: BString,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("object {0} is missing")]
    ObjectMissing(gix::ObjectId),
    #[error("the bundle is refused: {0}")]
    BadBundle(String),
    #[error("the ref `{0}` exists already")]
    RefExists(String),
    #[error("cannot {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot {action}")]
    Other {
        action: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl GitError {
    /// Wraps a failure of the file system.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: impl Into<std::io::Error>) -> Self {
        GitError::Io { action, path: path.as_ref().to_owned(), source: source.into() }
    }

    /// Wraps any other failure.
    pub fn other(action: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        GitError::Other { action: action.into(), source: source.into() }
    }
}
