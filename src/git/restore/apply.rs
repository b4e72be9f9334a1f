//! Changing the worktree, and changing it back.
//!
//! Every step is a rename that keeps both files: the new one comes from where it was kept aside, the old one goes there. Nothing
//! is deleted before the whole restore is done, so taking it back is the same renames in reverse, with every inode, time stamp
//! and hard link as before. Each step begins by looking at what is there, so that both directions can be gone again after a crash
//! at any point.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, Mode, Stat, chmodat, mkdirat, unlinkat};
use rustix::io::Errno;

use super::area::Areas;
use super::dirs::{Top, is_absent, is_directory, split};
use super::identity::Identity;
use super::op::{Op, OpKind};
use super::plan::DropDir;
use super::proof::{is_captured, stat_at};
use super::swap::{At, Exchange, exchange, move_new};
use crate::git::stat::FileStat;
use crate::git::{GitError, Repo, os_path};
use crate::sys::fault;

/// Why the worktree could not be changed as planned.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The paths are not what the capture saw any more.
    Changed(Vec<BString>),
    /// The file system failed at the path.
    Failed(GitError),
}

/// What is changed.
pub(super) struct Work<'a> {
    pub(super) repo: &'a Repo,
    pub(super) top: Top,
    pub(super) areas: &'a Areas,
    pub(super) ops: &'a [Op],
    pub(super) make_dirs: &'a [BString],
    pub(super) drop_dirs: &'a [DropDir],
    pub(super) moved: &'a Moved,
}

/// When the inodes of the old files last changed, by slot, as far as it was this process that moved them aside.
pub(super) type Moved = RefCell<HashMap<usize, i64>>;

/// Where the file of an op is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The old file (or nothing) is at the path, as the capture saw it.
    Before,
    /// The old file is aside, and the new one is not there yet.
    Between,
    /// The new file (or nothing) is at the path.
    After,
    /// Something else is at the path.
    Other,
}

impl Work<'_> {
    /// Brings every path to its new state. Paths that are there already are left.
    pub(super) fn forward(&self) -> Result<(), Stopped> {
        for op in self.ops.iter().filter(|op| op.kind() == OpKind::Delete) {
            self.forward_one(op)?;
        }
        self.remove_directories()?;
        for path in self.make_dirs {
            self.make_directory(path.as_bstr(), None).map_err(|error| self.stopped(path.as_bstr(), error))?;
        }
        for op in self.ops.iter().filter(|op| op.kind() != OpKind::Delete) {
            self.forward_one(op)?;
        }
        Ok(())
    }

    /// Brings every path back to its old state. Returns the paths that others changed meanwhile, which are left as they are.
    pub(super) fn backward(&self) -> Result<Vec<BString>, GitError> {
        let mut left = Vec::new();
        let mut first_failure = None;
        let mut note = |path: &BStr, result: io::Result<bool>| match result {
            Ok(true) => {}
            Ok(false) => left.push(path.to_owned()),
            Err(error) => {
                first_failure.get_or_insert_with(|| GitError::io("bring back", self.full(path), error));
            }
        };
        for op in self.ops.iter().rev().filter(|op| op.kind() != OpKind::Delete) {
            note(op.path.as_bstr(), self.backward_one(op));
        }
        for path in self.make_dirs.iter().rev() {
            // A directory in which others made something stays.
            let _ = self.remove_directory(path.as_bstr());
        }
        for directory in self.drop_dirs.iter().rev() {
            let made = self.make_directory(directory.path.as_bstr(), Some(Mode::from_raw_mode(directory.mode)));
            note(directory.path.as_bstr(), made.map(|()| true));
        }
        for op in self.ops.iter().rev().filter(|op| op.kind() == OpKind::Delete) {
            note(op.path.as_bstr(), self.backward_one(op));
        }
        match first_failure {
            Some(error) => Err(error),
            None => Ok(left),
        }
    }

    /// The paths that others changed, so that they cannot be brought to their new state.
    pub(super) fn find_changed(&self) -> Result<Vec<BString>, GitError> {
        let mut changed = Vec::new();
        for op in self.ops {
            let is_changed = match self.state(op) {
                Ok(State::Other) => Ok(true),
                Ok(State::Before) => self.is_untouched(op).map(|untouched| !untouched),
                Ok(State::Between | State::After) => Ok(false),
                Err(error) => Err(error),
            };
            if is_changed.map_err(|error| GitError::io("look at", self.full(op.path.as_bstr()), error))? {
                changed.push(op.path.clone());
            }
        }
        Ok(changed)
    }

    /// The paths whose old file was written to after it was moved aside: by a process that had it open.
    pub(super) fn find_late_writes(&self) -> Vec<BString> {
        let written = |op: &&Op| {
            let Some(old) = &op.old else { return false };
            let slots = [op.old_slot(), op.new_slot()];
            let aside = slots.iter().find_map(|name| Some((self.slot(op, name), self.aside(op, name).ok().flatten()?)));
            aside.is_some_and(|(at, stat)| stat.st_ino == old.inode() && !is_captured(op, at, &stat, self.moved_at(op)))
        };
        self.ops.iter().filter(written).map(|op| op.path.clone()).collect()
    }

    /// True if the new file is aside and is not what it was when it was written, or is nowhere.
    pub(super) fn is_damaged_aside(&self, op: &Op) -> bool {
        let Some(new) = &op.new else { return false };
        if !matches!(self.state(op), Ok(State::Before | State::Between)) {
            return false;
        }
        let found = self.aside(op, &op.new_slot()).ok().flatten();
        !found.is_some_and(|stat| new.file.is_some_and(|file| file.is(&stat)))
    }

    fn forward_one(&self, op: &Op) -> Result<(), Stopped> {
        let stopped = |error| self.stopped(op.path.as_bstr(), error);
        let changed = || Stopped::Changed(vec![op.path.clone()]);
        let mut state = self.state(op).map_err(stopped)?;
        match state {
            State::After => return Ok(()),
            State::Other => return Err(changed()),
            State::Before if !self.is_untouched(op).map_err(stopped)? => return Err(changed()),
            State::Before | State::Between => {}
        }
        let Some(parent) = self.parent(op).map_err(stopped)? else { return Err(changed()) };
        let at = At { dir: parent.as_fd(), name: split(op.path.as_bstr()).1 };
        let (new_name, old_name) = (op.new_slot(), op.old_slot());
        let slot = |name: &'_ str| -> io::Result<()> { move_new(self.slot(op, name), at) };
        if state == State::Before && op.kind() == OpKind::Replace {
            match exchange(self.slot(op, &new_name), at).map_err(stopped)? {
                Exchange::Done => return self.check_came_out(op, &new_name, at),
                Exchange::Unsupported => {}
            }
        }
        if state == State::Before && op.old.is_some() {
            self.clear_second_name(op, &old_name).map_err(stopped)?;
            move_new(at, self.slot(op, &old_name)).map_err(stopped)?;
            if !self.has_come_out(op, &old_name).map_err(stopped)? {
                slot(&old_name).map_err(stopped)?;
                return Err(changed());
            }
            state = State::Between;
        }
        if op.new.is_some() && (state == State::Between || op.old.is_none() && state == State::Before) {
            slot(&new_name).map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::EXIST) => changed(),
                _ => stopped(error),
            })?;
        }
        Ok(())
    }

    /// After an exchange: what came out must be the file that the capture saw, else it goes back.
    fn check_came_out(&self, op: &Op, slot: &str, at: At<'_>) -> Result<(), Stopped> {
        let stopped = |error| self.stopped(op.path.as_bstr(), error);
        if self.has_come_out(op, slot).map_err(stopped)? {
            return Ok(());
        }
        exchange(self.slot(op, slot), at).map_err(stopped)?;
        Err(Stopped::Changed(vec![op.path.clone()]))
    }

    /// True if the file that was just moved to `slot` is the one that was looked at before.
    fn has_come_out(&self, op: &Op, slot: &str) -> io::Result<bool> {
        let Some(stat) = self.aside(op, slot)?.filter(|stat| op.old.is_some_and(|old| old.is(stat))) else { return Ok(false) };
        self.moved.borrow_mut().insert(op.slot, FileStat::of(&stat).ctime_ns);
        Ok(true)
    }

    /// When the inode of the old file changed by being moved aside, if this process moved it.
    fn moved_at(&self, op: &Op) -> Option<i64> {
        self.moved.borrow().get(&op.slot).copied()
    }

    /// Returns false if others changed the path, which is then left as it is.
    fn backward_one(&self, op: &Op) -> io::Result<bool> {
        let state = self.state(op)?;
        if state == State::Before {
            return Ok(true);
        }
        let Some(parent) = self.parent(op)? else { return Ok(false) };
        let at = At { dir: parent.as_fd(), name: split(op.path.as_bstr()).1 };
        let (new_name, old_name) = (op.new_slot(), op.old_slot());
        let is_new = |stat: &Stat| op.new.as_ref().and_then(|new| new.file).is_some_and(|file| file.is(stat));
        if state == State::After && op.new.is_some() {
            let swapped = op.old.is_some() && self.aside(op, &old_name)?.is_none();
            if swapped && exchange(self.slot(op, &new_name), at)? == Exchange::Done {
                // What came out must be the file that the restore put there: nobody else's work goes.
                if self.aside(op, &new_name)?.is_some_and(|stat| is_new(&stat)) {
                    return Ok(true);
                }
                exchange(self.slot(op, &new_name), at)?;
                return Ok(false);
            }
            self.clear_second_name(op, &new_name)?;
            move_new(at, self.slot(op, &new_name))?;
            if !self.aside(op, &new_name)?.is_some_and(|stat| is_new(&stat)) {
                move_new(self.slot(op, &new_name), at)?;
                return Ok(false);
            }
        }
        if state == State::Other {
            return Ok(false);
        }
        if op.old.is_none() {
            return Ok(true);
        }
        match move_new(self.slot(op, &old_name), at) {
            Ok(()) => Ok(true),
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::EXIST | Errno::NOENT)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// True if the old file at the path of `op`, or the absence of one, is proven to be what the capture saw.
    fn is_untouched(&self, op: &Op) -> io::Result<bool> {
        if op.old.is_none() {
            return Ok(true);
        }
        let Some(stat) = self.top.stat(op.path.as_bstr())? else { return Ok(false) };
        let (parent, name) = self.top.parent(op.path.as_bstr())?;
        Ok(is_captured(op, At { dir: parent.as_fd(), name }, &stat, op.old_ctime_ns))
    }

    fn state(&self, op: &Op) -> io::Result<State> {
        let is = |identity: Option<&Identity>, stat: &Stat| identity.is_some_and(|identity| identity.is(stat));
        let (old, new) = (op.old.as_ref(), op.new.as_ref().and_then(|new| new.file.as_ref()));
        let found = self.top.stat(op.path.as_bstr())?;
        Ok(match found {
            Some(stat) if is(new, &stat) => State::After,
            Some(stat) if is(old, &stat) => State::Before,
            // A directory that the restore is yet to remove, or made already.
            Some(stat) if is_directory(&stat) && op.new.is_none() && self.make_dirs.binary_search(&op.path).is_ok() => {
                State::After
            }
            Some(_) => State::Other,
            None if old.is_none() => State::Before,
            None => match self.aside(op, &op.old_slot())? {
                Some(_) if op.new.is_some() => State::Between,
                // Gone by the restore, or by someone else: that is how it was to be.
                _ if op.new.is_none() => State::After,
                _ => State::Other,
            },
        })
    }

    fn parent(&self, op: &Op) -> io::Result<Option<std::rc::Rc<rustix::fd::OwnedFd>>> {
        match self.top.parent(op.path.as_bstr()) {
            Ok((parent, _)) => Ok(Some(parent)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn slot<'s>(&'s self, op: &Op, name: &'s str) -> At<'s> {
        At { dir: self.areas.of(op), name: name.as_bytes() }
    }

    fn aside(&self, op: &Op, name: &str) -> io::Result<Option<Stat>> {
        stat_at(self.slot(op, name))
    }

    /// A move that was made of two steps may have died between them: the file is at the path and aside.
    fn clear_second_name(&self, op: &Op, name: &str) -> io::Result<()> {
        let (aside, there) = (self.aside(op, name)?, self.top.stat(op.path.as_bstr())?);
        if let (Some(aside), Some(there)) = (aside, there)
            && aside.st_ino == there.st_ino
        {
            unlinkat(self.areas.of(op), name, AtFlags::empty())?;
        }
        Ok(())
    }

    fn remove_directories(&self) -> Result<(), Stopped> {
        for directory in self.drop_dirs {
            let path = directory.path.as_bstr();
            match self.remove_directory(path) {
                Ok(()) => {}
                Err(error) if !directory.required => drop(error),
                Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOTEMPTY | Errno::EXIST)) => {
                    return Err(Stopped::Changed(vec![path.to_owned()]));
                }
                // On a second run the new file or link may be there already, here or above.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(self.stopped(path, error)),
            }
        }
        Ok(())
    }

    fn remove_directory(&self, path: &BStr) -> io::Result<()> {
        fault::point()?;
        self.top.forget();
        let removed = self.top.parent(path).and_then(|(parent, name)| Ok(unlinkat(&*parent, name, AtFlags::REMOVEDIR)?));
        match removed {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOENT) => Ok(()),
            other => other,
        }
    }

    /// Makes a directory as git would, or with the permissions that it had before.
    fn make_directory(&self, path: &BStr, exact: Option<Mode>) -> io::Result<()> {
        fault::point()?;
        let (parent, name) = self.top.parent(path)?;
        match mkdirat(&*parent, name, exact.unwrap_or(Mode::from_raw_mode(0o777))) {
            Ok(()) => match exact {
                Some(mode) => Ok(chmodat(&*parent, name, mode, AtFlags::empty())?),
                None => Ok(()),
            },
            Err(Errno::EXIST) if self.top.stat(path)?.as_ref().is_some_and(is_directory) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn full(&self, path: &BStr) -> std::path::PathBuf {
        self.repo.top().join(os_path(path))
    }

    fn stopped(&self, path: &BStr, error: io::Error) -> Stopped {
        Stopped::Failed(GitError::io("restore", self.full(path), error))
    }
}
