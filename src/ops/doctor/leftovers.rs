//! What processes left behind that died.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{ProblemCode, Report};
use crate::git::{Repo, marks_without_pack, refs};
use crate::ops::Error;
use crate::ops::restore::interrupted;

/// The lock of a ref is held for milliseconds; nobody holds one that is older than this.
const LONGEST_LOCK: Duration = Duration::from_secs(600);

pub(super) fn examine(repo: &Repo, fix: bool, report: &mut Report) -> Result<(), Error> {
    // Looking for it clears away what a restore left that had changed nothing yet.
    if let Some(blocker) = interrupted(repo)? {
        report.by_hand(ProblemCode::RestoreInterrupted, blocker.message, blocker.hint);
    }
    let stale = |path: &PathBuf| is_older(path, LONGEST_LOCK);
    let below = [refs::CHECKPOINTS, refs::NAMES, refs::ORIGINALS, refs::MEMORY]
        .map(|prefix| files_below(&repo.common_dir().join(prefix)));
    for lock in below.into_iter().flatten().filter(|path| path.extension().is_some_and(|end| end == "lock")).filter(stale) {
        let message = format!("the lock `{}` was left by a process that died", lock.display());
        report.mendable(fix, (ProblemCode::StaleLock, message), ("removes it", "removed"), || remove(&lock))?;
    }
    let is_scratch = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("stat.tmp") || (name.starts_with('.') && name.ends_with(".tmp"))
    };
    let own = [repo.shared_dir(), repo.private_dir()];
    let mut scratch: Vec<PathBuf> = own.iter().flat_map(|folder| files_in(folder)).filter(is_scratch).filter(stale).collect();
    scratch.extend(marks_without_pack(&repo.common_dir().join("objects")).into_iter().filter(stale));
    scratch.sort();
    scratch.dedup();
    for file in scratch {
        let message = format!("the scratch file `{}` was left by a process that died", file.display());
        report.mendable(fix, (ProblemCode::ScratchFile, message), ("removes it", "removed"), || remove(&file))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(crate::git::GitError::io("remove", path, error).into()),
        _ => Ok(()),
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = path.symlink_metadata().and_then(|found| found.modified());
    changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|since| since > age))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path()).collect()
}

/// All files in a folder and the folders in it.
pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = files_in(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        found.extend(files_below(&entry.path()));
    }
    found.sort();
    found
}
