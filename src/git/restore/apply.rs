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
use super::swap::{At, Exchange, exchange, move_aside, move_new};
use crate::git::stat::FileStat;
use crate::git::{GitError, Repo, os_path};
use crate::sys::fault;
use crate::sys::progress::{self, Phase};

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
    /// Another process began it, and who sees to its end may have moved files away to let it go on.
    pub(super) resumed: bool,
}

/// When the inodes of the old files last changed, by slot, as far as it was this process that moved them aside.
pub(super) type Moved = RefCell<HashMap<usize, i64>>;

/// Where the file of an op is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The old file (or nothing) is at the path, as the capture saw it.
    Before,
    /// Nothing is at the path, and the new file is to be there.
    Between,
    /// The new file (or nothing) is at the path.
    After,
    /// Something else is at the path.
    Other,
}

impl Work<'_> {
    /// Brings every path to its new state. Paths that are there already are left.
    pub(super) fn forward(&self) -> Result<(), Stopped> {
        progress::begin(Phase::Apply, self.ops.len());
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

    /// The paths that others changed, so that they cannot be brought to their new state.
    pub(super) fn find_changed(&self) -> Result<Vec<BString>, GitError> {
        let mut changed = Vec::new();
        for op in self.ops {
            let is_changed = match self.state(op) {
                Ok(State::Other) => self.is_directory_to_go(op).map(|to_go| !to_go),
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

    /// True if a directory is at the path, which is removed before the new file comes.
    fn is_directory_to_go(&self, op: &Op) -> io::Result<bool> {
        let is_to_go = self.drop_dirs.iter().any(|directory| directory.path == op.path);
        Ok(is_to_go && self.top.stat(op.path.as_bstr())?.as_ref().is_some_and(is_directory))
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
        progress::add_files(1);
        let stopped = |error| self.stopped(op.path.as_bstr(), error);
        let changed = || Stopped::Changed(vec![op.path.clone()]);
        let mut state = self.state(op).map_err(stopped)?;
        match state {
            State::After => return Ok(()),
            State::Other => return Err(changed()),
            State::Between if !self.resumed => return Err(changed()),
            State::Before if !self.is_untouched(op).map_err(stopped)? => return Err(changed()),
            State::Before | State::Between => {}
        }
        let Some(parent) = self.parent(op).map_err(stopped)? else { return Err(changed()) };
        let at = At { dir: parent.as_fd(), name: split(op.path.as_bstr()).1 };
        let (new_name, old_name) = (op.new_slot(), op.old_slot());
        if state == State::Before && op.kind() == OpKind::Replace {
            match exchange(self.slot(op, &new_name), at).map_err(stopped)? {
                Exchange::Done if self.has_come_out(op, &new_name).map_err(stopped)? => return Ok(()),
                Exchange::Done => {
                    let made = op.new.as_ref().and_then(|new| new.file);
                    self.exchange_back(op, at, |stat| made.is_some_and(|file| file.is(stat))).map_err(stopped)?;
                    return Err(changed());
                }
                Exchange::Unsupported => {}
            }
        }
        if state == State::Before && op.old.is_some() {
            self.clear_second_name(op, &old_name).map_err(stopped)?;
            move_aside(at, self.slot(op, &old_name)).map_err(stopped)?;
            if !self.has_come_out(op, &old_name).map_err(stopped)? {
                self.move_back(op, &old_name, at).map_err(stopped)?;
                return Err(changed());
            }
            state = State::Between;
        }
        if op.new.is_some() && (state == State::Between || op.old.is_none() && state == State::Before) {
            move_new(self.slot(op, &new_name), at).map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::EXIST) => changed(),
                _ => stopped(error),
            })?;
        }
        Ok(())
    }

    /// True if the file that was just moved to `slot` is the one that was looked at before.
    fn has_come_out(&self, op: &Op, slot: &str) -> io::Result<bool> {
        let Some(stat) = self.aside(op, slot)?.filter(|stat| op.old.is_some_and(|old| old.is(stat))) else { return Ok(false) };
        self.moved.borrow_mut().insert(op.slot, FileStat::of(&stat).ctime_ns);
        Ok(true)
    }

    /// When the inode of the old file changed by being moved aside, if this process moved it.
    pub(super) fn moved_at(&self, op: &Op) -> Option<i64> {
        self.moved.borrow().get(&op.slot).copied()
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

    pub(super) fn state(&self, op: &Op) -> io::Result<State> {
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
            // Gone by the restore, or by someone else: that is how it was to be.
            None if op.new.is_none() => State::After,
            None if old.is_none() => State::Before,
            None => State::Between,
        })
    }

    pub(super) fn parent(&self, op: &Op) -> io::Result<Option<std::rc::Rc<rustix::fd::OwnedFd>>> {
        match self.top.parent(op.path.as_bstr()) {
            Ok((parent, _)) => Ok(Some(parent)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn slot<'s>(&'s self, op: &Op, name: &'s str) -> At<'s> {
        At { dir: self.areas.of(op), name: name.as_bytes() }
    }

    pub(super) fn aside(&self, op: &Op, name: &str) -> io::Result<Option<Stat>> {
        stat_at(self.slot(op, name))
    }

    /// A move that was made of two steps may have died between them: the file is at the path and aside.
    pub(super) fn clear_second_name(&self, op: &Op, name: &str) -> io::Result<()> {
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
                // Others have a use for it, or do not let go of it.
                Err(error) if !directory.required && (is_in_use(&error) || is_denied(&error)) => {}
                Err(error) if is_filled(&error) => {
                    return Err(Stopped::Changed(vec![path.to_owned()]));
                }
                // On a second run the new file or link may be there already, here or above.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(self.stopped(path, error)),
            }
        }
        Ok(())
    }

    pub(super) fn remove_directory(&self, path: &BStr) -> io::Result<()> {
        fault::point()?;
        self.top.forget();
        let removed = self.top.parent(path).and_then(|(parent, name)| Ok(unlinkat(&*parent, name, AtFlags::REMOVEDIR)?));
        match removed {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOENT) => Ok(()),
            other => other,
        }
    }

    /// Makes a directory as git would, or with the permissions that it had before.
    pub(super) fn make_directory(&self, path: &BStr, exact: Option<Mode>) -> io::Result<()> {
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

    pub(super) fn full(&self, path: &BStr) -> std::path::PathBuf {
        self.repo.top().join(os_path(path))
    }

    fn stopped(&self, path: &BStr, error: io::Error) -> Stopped {
        Stopped::Failed(GitError::io("restore", self.full(path), error))
    }
}

/// True if a directory was not removed since something is in it.
fn is_filled(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOTEMPTY | Errno::EXIST))
}

/// True if a directory was not removed since others made something in it, or mounted something there.
pub(super) fn is_in_use(error: &io::Error) -> bool {
    is_filled(error) || Errno::from_io_error(error) == Some(Errno::BUSY)
}

fn is_denied(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM))
}
