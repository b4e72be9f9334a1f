//! What stands where a file must go, and whether directories can be written.
//!
//! A file that no capture holds is never overwritten: it is either taken into the capture before the restore, or an obstacle.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, Stat, accessat, openat};
use rustix::io::Errno;

use super::dirs::{is_directory, split};
use super::held_fast::{hold_on, is_marked};
use super::plan::{Obstacle, Planner, file_type};
use crate::git::GitError;
use crate::git::snapshot::{is_bare_repository, is_repository};

/// Looks at every path that is written, and at the directories above everything that changes.
pub(super) fn examine(planner: &mut Planner<'_>) -> Result<(), GitError> {
    let mut examiner = Examiner { known: BTreeMap::new(), planner };
    let writes: Vec<(BString, bool)> =
        examiner.planner.writes.iter().map(|(path, write)| (path.clone(), write.replaces)).collect();
    for (path, replaces) in &writes {
        examiner.examine_write(path.as_bstr(), *replaces)?;
    }
    let gitlinks: Vec<BString> = examiner.planner.gitlinks.iter().cloned().collect();
    for path in &gitlinks {
        examiner.examine_gitlink(path.as_bstr())?;
    }
    let deletes: Vec<BString> = examiner.planner.deletes.iter().cloned().collect();
    for path in writes.iter().map(|(path, _)| path).chain(&deletes) {
        examiner.check_writable(path.as_bstr())?;
        examiner.check_movable(path.as_bstr());
    }
    let cleared: Vec<BString> = examiner.planner.cleared_dirs.keys().cloned().collect();
    cleared.iter().for_each(|directory| examiner.check_movable(directory.as_bstr()));
    planner.plan.to_capture.sort();
    planner.plan.to_capture.dedup();
    Ok(())
}

/// What is known of a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is there, and may be written or not.
    There { writable: bool, sticky_for_others: bool },
    /// It will be made.
    ToBeMade,
    /// It cannot be reached or made; an obstacle says why.
    Blocked,
}

struct Examiner<'p, 'a> {
    planner: &'p mut Planner<'a>,
    known: BTreeMap<BString, Place>,
}

impl Examiner<'_, '_> {
    fn examine_write(&mut self, path: &BStr, replaces: bool) -> Result<(), GitError> {
        let place = self.place(split(path).0, true)?;
        if replaces || !matches!(place, Place::There { .. }) {
            return Ok(());
        }
        let Some(stat) = self.planner.stat(path)? else { return Ok(()) };
        match file_type(&stat) {
            FileType::Directory => self.clear_directory(path, &stat),
            _ => {
                self.take_in(path, &stat);
                Ok(())
            }
        }
    }

    /// A submodule without files is an empty directory; where anything is, it stays.
    fn examine_gitlink(&mut self, path: &BStr) -> Result<(), GitError> {
        let place = self.place(split(path).0, true)?;
        let goes = self.planner.deletes.contains(path);
        if place == Place::ToBeMade || (matches!(place, Place::There { .. }) && (goes || self.planner.stat(path)?.is_none())) {
            self.planner.make_dirs.insert(path.to_owned());
        }
        Ok(())
    }

    /// Something that is not planned to go stands where something is to be written. A file that is captured goes; others have to
    /// be captured first.
    fn take_in(&mut self, path: &BStr, stat: &Stat) {
        if (self.planner.now.seen)(path).is_some() {
            self.planner.delete_after_all(path);
            return;
        }
        match file_type(stat) {
            FileType::RegularFile | FileType::Symlink => self.planner.plan.to_capture.push(path.to_owned()),
            _ => self.planner.object(Obstacle::SpecialFile, path),
        }
    }

    /// Everything in the directory has to go, and so has the directory.
    fn clear_directory(&mut self, path: &BStr, stat: &Stat) -> Result<(), GitError> {
        if is_repository(self.planner.repo.top(), path) || is_bare_repository(self.planner.repo.top(), path) {
            self.planner.object(Obstacle::Repository, path);
            return Ok(());
        }
        let names = match self.names_in(path) {
            Ok(names) => names,
            Err(Errno::ACCESS | Errno::PERM) => {
                self.planner.object(Obstacle::NotCaptured, path);
                return Ok(());
            }
            Err(error) => return Err(self.planner.failed("read", path, error.into())),
        };
        self.planner.cleared_dirs.insert(path.to_owned(), stat.st_mode);
        for name in names {
            let child = BString::from([path.as_bytes(), b"/", name.as_bytes()].concat());
            let Some(stat) = self.planner.stat(child.as_bstr())? else { continue };
            if is_directory(&stat) {
                self.clear_directory(child.as_bstr(), &stat)?;
            } else if !self.planner.deletes.contains(&child) {
                self.take_in(child.as_bstr(), &stat);
            }
        }
        // The files in it are moved out of it.
        self.place(path, false)?;
        self.check_writable([path.as_bytes(), b"/x"].concat().as_bstr())
    }

    fn names_in(&self, path: &BStr) -> Result<BTreeSet<BString>, Errno> {
        let handle = self.planner.top.directory(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let readable = openat(&*handle, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut names = BTreeSet::new();
        for entry in Dir::new(readable)? {
            let name = BString::from(entry?.file_name().to_bytes());
            if name != "." && name != ".." {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// What is known of `directory`. With `make`, it is planned to be made where it is not there.
    fn place(&mut self, directory: &BStr, make: bool) -> Result<Place, GitError> {
        if let Some(place) = self.known.get(directory) {
            return Ok(*place);
        }
        let place = self.look(directory, make)?;
        if place == Place::ToBeMade && make {
            self.planner.make_dirs.insert(directory.to_owned());
        }
        self.known.insert(directory.to_owned(), place);
        Ok(place)
    }

    fn look(&mut self, directory: &BStr, make: bool) -> Result<Place, GitError> {
        if !directory.is_empty() {
            match self.place(split(directory).0, make)? {
                Place::There { .. } => {}
                other => return Ok(other),
            }
            let Some(stat) = self.planner.stat(directory)? else { return Ok(Place::ToBeMade) };
            if !is_directory(&stat) {
                return Ok(self.replace_by_directory(directory, &stat));
            }
            if make && is_repository(self.planner.repo.top(), directory) {
                self.planner.object(Obstacle::Repository, directory);
                return Ok(Place::Blocked);
            }
        }
        let handle = match self.planner.top.directory(directory) {
            Ok(handle) => handle,
            Err(error) => return Err(self.planner.failed("open", directory, error)),
        };
        let may_write = accessat(&*handle, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
        let writable = may_write && !is_marked(&*handle);
        let stat = rustix::fs::fstat(&*handle).map_err(|error| self.planner.failed("look at", directory, error.into()))?;
        let me = rustix::process::geteuid();
        let sticky = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
        Ok(Place::There { writable, sticky_for_others: sticky && !me.is_root() && stat.st_uid != me.as_raw() })
    }

    /// Something that is no directory stands where one must be.
    fn replace_by_directory(&mut self, path: &BStr, stat: &Stat) -> Place {
        if !self.planner.deletes.contains(path) {
            self.take_in(path, stat);
        }
        Place::ToBeMade
    }

    /// What stands at `path` must let itself be moved.
    fn check_movable(&mut self, path: &BStr) {
        if let Some(obstacle) = hold_on(&self.planner.top, path) {
            self.planner.object(obstacle, path);
        }
    }

    /// The directory that holds `path` must let entries come and go.
    fn check_writable(&mut self, path: &BStr) -> Result<(), GitError> {
        let mut directory = split(path).0;
        loop {
            match self.place(directory, false)? {
                Place::There { writable: false, .. } => {
                    self.planner.object(Obstacle::Unwritable, path);
                    return Ok(());
                }
                Place::There { sticky_for_others: true, .. } => {
                    let owner = self.planner.stat(path)?.map(|stat| stat.st_uid);
                    if owner.is_some_and(|owner| owner != rustix::process::geteuid().as_raw()) {
                        self.planner.object(Obstacle::Unwritable, path);
                    }
                    return Ok(());
                }
                Place::There { .. } | Place::Blocked => return Ok(()),
                Place::ToBeMade => directory = split(directory).0,
            }
        }
    }
}
