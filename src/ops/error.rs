//! What an operation can end with other than its result.

use crate::agents::settings::SettingsError;
use crate::git::GitError;
use crate::git::restore::Left;
use crate::model::{Blocker, InvalidId, SelectorError};
use crate::store::StoreError;

/// What led to `error`, nearest first. A cause that says the same again, as those of SQLite do, is left out.
pub fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for cause in std::iter::successors(error.source(), |cause| cause.source()) {
        let text = cause.to_string();
        if !texts.last().is_some_and(|last| text.ends_with(last.as_str())) {
            texts.push(text);
        }
    }
    texts
}

/// Why an operation did not do its work. The command line turns each into words, hints and an exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The repository or its files failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Refused before anything changed.
    #[error("refused: nothing was changed")]
    Refused(Vec<Blocker>),
    /// No checkpoint answers to the selector.
    #[error("no checkpoint matches `{selector}`")]
    UnknownSelector {
        /// What was typed.
        selector: String,
        /// What may have been meant, each a selector that works.
        candidates: Vec<String>,
    },
    /// Several checkpoints answer to the selector.
    #[error("`{selector}` matches several checkpoints")]
    AmbiguousSelector {
        /// What was typed.
        selector: String,
        /// The ids of those that match.
        candidates: Vec<String>,
    },
    /// No session has this key; without one, no session owns this worktree yet.
    #[error("{}", unknown_session(.key.as_deref()))]
    UnknownSession {
        /// What was typed.
        key: Option<String>,
        /// The keys that there are.
        candidates: Vec<String>,
    },
    /// The selector has no known form.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// The settings of an agent were left as they are.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A name or key breaks its rules.
    #[error(transparent)]
    Invalid(#[from] InvalidId),
    /// A lock was not free in time.
    #[error("timed out waiting for `{0}`")]
    LockTimeout(String),
    /// No file, in the worktree or in the checkpoint, has such a path.
    #[error("`{0}` matches no file, here or in the checkpoint")]
    NoSuchPath(String),
    /// The request contradicts itself.
    #[error("{0}")]
    Usage(String),
    /// A restore failed half-way and was taken back.
    #[error("the restore failed and was taken back")]
    TakenBack {
        /// What failed.
        #[source]
        source: Box<Error>,
        /// What others changed meanwhile. Everything else is as before.
        left: Left,
    },
    /// A restore began and could neither be finished nor taken back; `restore --continue` and `--abort` are open.
    #[error("the restore was interrupted and can be finished or taken back")]
    Interrupted(#[source] Box<Error>),
}

fn unknown_session(key: Option<&str>) -> String {
    key.map_or_else(|| "no session owns this worktree yet".to_owned(), |key| format!("no session has the key `{key}`"))
}
