//! What a restore that began and did not end relies on, seen from any worktree.

use std::path::{Path, PathBuf};

use super::journal::{Journal, Phase};

/// What the journal of such a restore tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journaled {
    /// The journal.
    pub journal: PathBuf,
    /// The ids of the checkpoints that it names; none if it cannot be read, so that nobody knows what it relies on.
    pub checkpoints: Option<Vec<String>>,
}

/// What the journal in `folder`, the private folder of a worktree, tells, if there is one of a restore that has changed anything:
/// one that died before is cleared away by whoever comes next.
pub fn journaled_in(folder: &Path) -> Option<Journaled> {
    let path = folder.join(Journal::NAME);
    let checkpoints = match Journal::read_at(&path) {
        Ok(None) => return None,
        Ok(Some(journal)) if journal.phase == Phase::Preparing => return None,
        Ok(Some(journal)) => Some(vec![journal.purpose.target, journal.purpose.pre_restore]),
        Err(_) => None,
    };
    Some(Journaled { journal: path, checkpoints })
}
