//! Files that are aside when a restore ends and that nobody could get back: they are kept, and their place is told.
//!
//! Others may write while a restore is at work: through a file they had opened before, or by putting one of their own where the
//! restore just moved one. What comes aside that way is neither what was captured nor what the restore wrote, and is never removed.

use std::fs::{self, FileTimes};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice};
use rustix::fs::{AtFlags, CWD, Stat, renameat, unlinkat};
use rustix::io::Errno;

use super::apply::Work;
use super::op::Op;
use super::proof::{is_captured, is_written};
use super::swap::{At, move_new};
use crate::git::{GitError, Repo, os_path};
use crate::sys::fault;

/// How many places are tried for one file.
const PLACES: usize = 100;

/// A file that is kept although it has no place in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescued {
    /// The path it belongs to.
    pub path: BString,
    /// Where it is.
    pub place: PathBuf,
}

/// What others did to the paths of a restore that was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Left {
    /// Paths that are as others left them.
    pub paths: Vec<BString>,
    /// Files that could not be put where they belong.
    pub rescued: Vec<Rescued>,
}

/// Which way a restore went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The new files are in place; the old ones are in the checkpoint that was made before.
    Forward,
    /// The old files are in place, as far as they could be put there.
    Backward,
}

impl Work<'_> {
    /// Moves every file that is aside, and that would be lost with the folders, to where nothing removes it. When the restore went
    /// its way, the others are removed, each as soon as it was looked at: somebody may be writing to it.
    pub(super) fn rescue(&self, key: &str, ended: Ended) -> Result<Vec<Rescued>, GitError> {
        let mut rescued = Vec::new();
        for op in self.ops {
            for slot in [op.new_slot(), op.old_slot()] {
                let failed = |error| GitError::io("look at the kept file of", self.full(op.path.as_bstr()), error);
                let Some(stat) = self.aside(op, &slot).map_err(failed)? else { continue };
                if !self.is_dispensable(op, self.slot(op, &slot), &stat, ended).map_err(failed)? {
                    rescued.push(self.rescue_one(key, op, &slot)?);
                } else if ended == Ended::Forward {
                    unlinkat(self.areas.of(op), &slot, AtFlags::empty()).map_err(|error| failed(error.into()))?;
                }
            }
        }
        Ok(rescued)
    }

    /// True if nothing is lost with the file at `at`, which is aside.
    fn is_dispensable(&self, op: &Op, at: At<'_>, stat: &Stat, ended: Ended) -> io::Result<bool> {
        if ended == Ended::Forward && is_captured(op, at, stat, self.moved_at(op)) {
            return Ok(true);
        }
        let is_ours = op.new.as_ref().is_some_and(|new| is_written(new, at, stat) || is_unfinished(op, stat));
        // A move that was made of two steps may have died between them: the file has its place too.
        Ok(is_ours
            || self.top.stat(op.path.as_bstr())?.is_some_and(|there| (there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino)))
    }

    /// Makes room for the new file of `op` to be made again: what is aside under its name is kept.
    pub(super) fn clear_new_slot(&self, key: &str, op: &Op) -> Result<Option<Rescued>, GitError> {
        let failed = |error| GitError::io("write the content of", self.full(op.path.as_bstr()), error);
        let slot = op.new_slot();
        let Some(stat) = self.aside(op, &slot).map_err(failed)? else { return Ok(None) };
        if is_unfinished(op, &stat) {
            return unlinkat(self.areas.of(op), slot, AtFlags::empty()).map(|()| None).map_err(|error| failed(error.into()));
        }
        let old_slot = op.old_slot();
        let is_old = op.old.is_some_and(|old| old.inode() == stat.st_ino);
        if is_old && self.aside(op, &old_slot).map_err(failed)?.is_none() {
            return move_new(self.slot(op, &slot), self.slot(op, &old_slot)).map(|()| None).map_err(failed);
        }
        self.rescue_one(key, op, &slot).map(Some)
    }

    fn rescue_one(&self, key: &str, op: &Op, slot: &str) -> Result<Rescued, GitError> {
        let place = place(self.repo, key, op, slot)?;
        let failed = |error: io::Error| GitError::io("keep a file in", &place, error);
        fault::point().map_err(failed)?;
        match renameat(self.areas.of(op), slot, CWD, &place) {
            Ok(()) => {}
            Err(Errno::XDEV) => move_across(&self.areas.path_of(self.repo, op).join(slot), &place).map_err(failed)?,
            Err(error) => return Err(failed(error.into())),
        }
        Ok(Rescued { path: op.path.clone(), place })
    }
}

/// True for the new file of which a crash of the machine left nothing.
fn is_unfinished(op: &Op, stat: &Stat) -> bool {
    let made = op.new.as_ref().and_then(|new| new.file);
    stat.st_size == 0 && made.is_some_and(|file| file.inode() == stat.st_ino)
}

/// The folder for files that are kept.
pub(super) fn home(repo: &Repo) -> PathBuf {
    repo.private_dir().join("rescued")
}

/// True if there are files in `folder`, that of a restore, which it took from the worktree or was to put there.
pub(super) fn holds_parts(folder: &Path) -> bool {
    let is_part = |name: &str| name.trim_end_matches(".old").bytes().all(|byte| byte.is_ascii_digit());
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| entry.file_name().to_str().is_some_and(is_part))
}

/// Keeps all of `folder`, that of a restore of which nothing is known any more. Returns where.
pub(super) fn whole(repo: &Repo, folder: &Path) -> Result<PathBuf, GitError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let key = name.rsplit('-').next().unwrap_or_default();
    let failed = |source| GitError::io("keep files in", home(repo), source);
    repo.sharing().create_dir_all(&home(repo)).map_err(failed)?;
    let names = std::iter::once(key.to_owned()).chain((1..PLACES).map(|n| format!("{key}.{n}")));
    let free = names.map(|name| home(repo).join(name)).find(|place| place.symlink_metadata().is_err());
    let place = free.ok_or_else(|| failed(io::ErrorKind::AlreadyExists.into()))?;
    match fs::rename(folder, &place) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => move_across(folder, &place).map_err(failed)?,
        other => other.map_err(failed)?,
    }
    Ok(place)
}

/// A place for the part `slot` of `op` where nothing is yet.
fn place(repo: &Repo, key: &str, op: &Op, slot: &str) -> Result<PathBuf, GitError> {
    let named = home(repo).join(key).join(os_path(&op.path));
    // One path may be kept twice, or lie below another one that is a file.
    let numbered = (1..PLACES).map(|n| home(repo).join(format!("{key}.{n}")).join(slot));
    let mut failure = io::Error::from(io::ErrorKind::AlreadyExists);
    for place in std::iter::once(named.clone()).chain(numbered) {
        let made =
            place.parent().map_or(Ok(()), |parent| repo.sharing().create_dir_all(parent)).and_then(|()| place.symlink_metadata());
        match made {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(place),
            Err(error) => failure = error,
            Ok(_) => {}
        }
    }
    Err(GitError::io("keep a file in", named, failure))
}

/// Moves a file, link or folder to another file system.
pub(super) fn move_across(from: &Path, to: &Path) -> io::Result<()> {
    let meta = from.symlink_metadata()?;
    if meta.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if meta.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            move_across(&entry.path(), &to.join(entry.file_name()))?;
        }
        return fs::remove_dir(from);
    } else if meta.is_file() {
        fs::copy(from, to)?;
        let copy = fs::File::open(to)?;
        copy.set_times(FileTimes::new().set_modified(meta.modified()?))?;
        copy.sync_all()?;
    } else {
        return Err(io::ErrorKind::Unsupported.into());
    }
    fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_is_moved_across_with_all_that_is_in_it() {
        let root = tempfile::TempDir::new().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("d")).unwrap();
        fs::write(from.join("d/x"), "x").unwrap();
        fs::set_permissions(from.join("d/x"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("nowhere", from.join("link")).unwrap();

        move_across(&from, &to).unwrap();

        assert!(!from.exists());
        assert_eq!(fs::read_to_string(to.join("d/x")).unwrap(), "x");
        assert_eq!(to.join("d/x").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("nowhere"));
    }
}
