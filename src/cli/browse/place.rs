//! Where the screen was opened: the threads behind it come back to the same worktree, or say that it is gone.

use std::path::PathBuf;

use crate::git::MainWorktree;
use crate::model::Blocker;
use crate::ops::{Context, Error, causes};

/// A worktree of a repository.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Where the person stands.
    pub(super) directory: PathBuf,
    /// The top of the worktree.
    pub(super) top: PathBuf,
    git_dir: PathBuf,
    /// It is the main worktree, and to be named when it is restored.
    pub(super) names_main: bool,
}

impl Place {
    /// The place that `context` was opened at.
    pub(super) fn of(context: &Context, directory: PathBuf) -> Place {
        let repo = &context.repo;
        let names_main = repo.worktree_id().is_main() && repo.config().main_worktree != MainWorktree::Allow;
        Place { directory, top: repo.top().to_owned(), git_dir: repo.git_dir().to_owned(), names_main }
    }

    /// Opens it again, with the configuration as it is by now.
    pub(super) fn open(&self) -> Result<Context, String> {
        self.check()?;
        let context = Context::open(&self.directory).map_err(|error| in_words(&error))?;
        // With the repository gone, one that lies around it would be found instead.
        if context.repo.top() != self.top || context.repo.git_dir() != self.git_dir {
            return Err(self.gone());
        }
        Ok(context)
    }

    /// An error if it is not there any more.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.git_dir.is_dir() && self.top.is_dir() { Ok(()) } else { Err(self.gone()) }
    }

    fn gone(&self) -> String {
        format!("the repository `{}` is gone", self.top.display())
    }
}

/// A failure with what led to it.
pub(super) fn in_words(error: &Error) -> String {
    let mut text = std::iter::once(error.to_string()).chain(causes(error)).collect::<Vec<_>>().join(": ");
    if let Error::Refused(blockers) = error {
        for Blocker { message, hint, .. } in blockers {
            text.push_str(&format!("; {message}; {hint}"));
        }
    }
    text
}
