//! Changing the worktree back: the renames of a restore in reverse.

use std::io;

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fd::AsFd;
use rustix::fs::{Mode, Stat};
use rustix::io::Errno;

use super::apply::{State, Work, is_in_use};
use super::dirs::{is_absent, split};
use super::op::{Op, OpKind};
use super::proof::is_written;
use super::swap::{At, Exchange, exchange, move_aside, move_new};
use crate::git::GitError;

impl Work<'_> {
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
            match self.remove_directory(path.as_bstr()) {
                // A directory in which others made something stays; and on a second run the old file may be there, or above.
                Err(error) if is_in_use(&error) || is_absent(&error) => {}
                result => note(path.as_bstr(), result.map(|()| true)),
            }
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

    /// Returns false if others changed the path, which is then left as it is.
    fn backward_one(&self, op: &Op) -> io::Result<bool> {
        let state = self.state(op)?;
        match state {
            State::Before => return Ok(true),
            State::Other => return Ok(false),
            State::Between | State::After => {}
        }
        let Some(parent) = self.parent(op)? else { return Ok(false) };
        let at = At { dir: parent.as_fd(), name: split(op.path.as_bstr()).1 };
        if state == State::After && op.new.is_some() {
            // The new file is all there is if the old one is nowhere.
            if op.old.is_some() && self.old_aside(op)?.is_none() {
                return Ok(false);
            }
            let new_name = op.new_slot();
            if self.aside(op, &new_name)?.is_some_and(|stat| is_old(op, &stat)) {
                match exchange(self.slot(op, &new_name), at) {
                    // What came out must be the file that the restore put there: nobody else's work goes.
                    Ok(Exchange::Done) if self.is_new_aside(op)? => return Ok(true),
                    Ok(Exchange::Done) => return self.exchange_back(op, at, |stat| is_old(op, stat)).map(|()| false),
                    Ok(Exchange::Unsupported) => {}
                    // Gone by now.
                    Err(error) if is(&error, Errno::NOENT) => return self.put_old_back(op, at),
                    Err(error) => return Err(error),
                }
            }
            self.clear_second_name(op, &new_name)?;
            match move_aside(at, self.slot(op, &new_name)) {
                Ok(()) if self.is_new_aside(op)? => {}
                Ok(()) => return self.move_back(op, &new_name, at).map(|_| false),
                Err(error) if is(&error, Errno::NOENT) => {}
                Err(error) if is(&error, Errno::EXIST) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.put_old_back(op, at)
    }

    /// Brings the old file back to its path, where nothing is. False if others put something there, or if it is not aside.
    fn put_old_back(&self, op: &Op, at: At<'_>) -> io::Result<bool> {
        if op.old.is_none() {
            return Ok(true);
        }
        match self.old_aside(op)? {
            Some(slot) => self.move_back(op, &slot, at),
            None => Ok(false),
        }
    }

    /// Under which name the old file is aside.
    fn old_aside(&self, op: &Op) -> io::Result<Option<String>> {
        let (old_name, new_name) = (op.old_slot(), op.new_slot());
        if self.aside(op, &old_name)?.is_some() {
            return Ok(Some(old_name));
        }
        Ok(self.aside(op, &new_name)?.filter(|stat| is_old(op, stat)).map(|_| new_name))
    }

    /// Moves what is aside to its path. False if others put something there meanwhile: then it stays aside, and is kept.
    pub(super) fn move_back(&self, op: &Op, slot: &str, at: At<'_>) -> io::Result<bool> {
        match move_new(self.slot(op, slot), at) {
            Ok(()) => Ok(true),
            Err(error) if is(&error, Errno::EXIST) || is(&error, Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes an exchange with the new file's name aside back, since something unexpected came out. If others put yet another file
    /// at the path meanwhile, that is the latest and stays there, and what came out first is kept aside.
    pub(super) fn exchange_back(&self, op: &Op, at: At<'_>, is_expected: impl Fn(&Stat) -> bool) -> io::Result<()> {
        let slot = op.new_slot();
        let swap = || match exchange(self.slot(op, &slot), at) {
            // Others removed the path meanwhile.
            Err(error) if is(&error, Errno::NOENT) => Ok(false),
            other => other.map(|_| true),
        };
        if swap()? && !self.aside(op, &slot)?.is_some_and(|stat| is_expected(&stat)) {
            swap()?;
        }
        Ok(())
    }

    /// True if the new file is aside, as the restore wrote it.
    fn is_new_aside(&self, op: &Op) -> io::Result<bool> {
        let slot = op.new_slot();
        let stat = self.aside(op, &slot)?;
        Ok(stat.is_some_and(|stat| op.new.as_ref().is_some_and(|new| is_written(new, self.slot(op, &slot), &stat))))
    }
}

/// True for the old file, also after it was written to. The new one may have got its inode, if others removed the old one
/// before the new one was made.
fn is_old(op: &Op, stat: &Stat) -> bool {
    let is_new = op.new.as_ref().and_then(|new| new.file).is_some_and(|new| new.is(stat));
    op.old.is_some_and(|old| old.inode() == stat.st_ino) && !is_new
}

fn is(error: &io::Error, errno: Errno) -> bool {
    Errno::from_io_error(error) == Some(errno)
}
