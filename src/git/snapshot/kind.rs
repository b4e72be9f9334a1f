//! What a file is recorded as.

use rustix::fs::FileType;

use super::resolve::{Shared, Task};
use super::seed::kind_of;
use super::stat_cache::{RecordKind, TRACKED};
use crate::git::stat::FileStat;
use crate::git::{GitError, Repo};

/// What the file system tells of files: where it does not, by `core.fileMode` and `core.symlinks`, the index says.
pub(super) struct Kinds {
    has_modes: bool,
    has_symlinks: bool,
}

impl Kinds {
    pub(super) fn of(repo: &Repo) -> Kinds {
        let gix = repo.gix();
        let config = gix.config_snapshot();
        let is_set = |key: &str| config.boolean(key).unwrap_or(true);
        Kinds { has_modes: is_set("core.fileMode"), has_symlinks: is_set("core.symlinks") }
    }

    /// What the file of `task`, which has `stat`, is recorded as (`read-cache.c:ce_mode_from_stat`).
    pub(super) fn kind(&self, shared: &Shared<'_>, task: &Task, stat: &FileStat) -> Result<RecordKind, GitError> {
        if stat.file_type() == FileType::Symlink {
            return Ok(RecordKind::Link);
        }
        let known = if self.has_modes && self.has_symlinks { None } else { in_index(shared, task)? };
        if known == Some(RecordKind::Link) && !self.has_symlinks {
            return Ok(RecordKind::Link);
        }
        let executable = match self.has_modes {
            true => stat.mode & 0o100 != 0,
            false => known == Some(RecordKind::Executable),
        };
        Ok(if executable { RecordKind::Executable } else { RecordKind::File })
    }
}

/// What the index has at the path. What the cache knows is what the last capture found there, which may be something else; it
/// counts only for unmerged paths, for which it was taken from the index.
fn in_index(shared: &Shared<'_>, task: &Task) -> Result<Option<RecordKind>, GitError> {
    let Some(known) = task.known.as_ref().filter(|known| known.flags & TRACKED != 0) else { return Ok(None) };
    let index = shared.index.get()?;
    let entry = index.entry_by_path(task.path.as_ref());
    Ok(Some(entry.map_or(known.kind, |entry| kind_of(entry.mode))))
}
