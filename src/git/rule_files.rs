//! Files of ignore rules and attributes that must not be opened as they are.
//!
//! The library beneath opens `.gitignore` and `.gitattributes` wherever it comes to them. A FIFO of that name would hang it,
//! and one that may not be read makes it give up. For git both are as if they were not there, apart from a warning. So the
//! directories above a path are looked at first; where something is odd, the rules are gathered here and given to the library
//! as if they came from an index.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stat};
use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;

use super::GitError;
use super::beneath::{open_file, open_top};

/// Looks after the rule files of one name.
pub(super) struct RuleFiles {
    name: &'static str,
    top_path: PathBuf,
    top: OwnedFd,
    /// Directories that were looked at, each with a slash at the end.
    seen: HashSet<BString>,
}

/// Rules that were gathered from the worktree: the library finds their files in the index, and their content in the
/// repository, which holds it in memory.
pub(super) struct Gathered {
    pub(super) index: gix::index::State,
    pub(super) repo: gix::Repository,
}

impl RuleFiles {
    /// Those called `name` in the worktree with this top.
    pub(super) fn new(top: &Path, name: &'static str) -> Result<RuleFiles, GitError> {
        Ok(RuleFiles { name, top_path: top.to_owned(), top: open_top(top)?, seen: HashSet::new() })
    }

    /// True if every rule file that the library would open for `path` can be opened, or is not there.
    pub(super) fn are_sound(&mut self, path: &BStr) -> bool {
        let parents = path.find_iter(b"/").map(|slash| path[..=slash].as_bstr());
        for directory in std::iter::once(BStr::new("")).chain(parents) {
            if self.seen.contains(directory) {
                continue;
            }
            if self.is_odd(directory) {
                return false;
            }
            self.seen.insert(directory.to_owned());
        }
        true
    }

    fn is_odd(&self, directory: &BStr) -> bool {
        let folder = directory.strip_suffix(b"/").map(|folder| statat(&self.top, folder, AtFlags::SYMLINK_NOFOLLOW));
        if folder.is_some_and(|stat| stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)) {
            // What a link leads to has no say in the worktree, and may lie outside of it.
            return true;
        }
        let path = [directory.as_bytes(), self.name.as_bytes()].concat();
        match statat(&self.top, path.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(_) => false,
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    matches!(open_file(self.top.as_fd(), path.as_bstr()), Err(Errno::ACCESS | Errno::PERM | Errno::IO))
                }
                FileType::Symlink | FileType::Directory => false,
                _ => true,
            },
        }
    }

    /// Gathers the rule files of the whole worktree that can be read, and those of the index that are not to be on disk.
    pub(super) fn gather(&self, gix: &gix::Repository) -> Result<Gathered, GitError> {
        let gix = gix.clone().with_object_memory();
        let mut index = gix::index::State::new(gix.object_hash());
        let mut add = |path: &BStr, content: &[u8]| -> Result<(), GitError> {
            let id = gix.write_blob(content).map_err(|source| GitError::other("keep rules", source))?.detach();
            index.dangerously_push_entry(Stat::default(), id, Flags::empty(), Mode::FILE, path);
            Ok(())
        };
        let mut folders = vec![BString::default()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(self.top_path.join(super::os_path(folder.as_bstr()))) else { continue };
            for entry in entries.flatten() {
                let name = super::path_bytes(entry.file_name().as_ref());
                let path = BString::from([folder.as_bytes(), name.as_bytes()].concat());
                match entry.file_type() {
                    Ok(kind)
                        if kind.is_dir() && name != ".git" && !super::snapshot::is_repository(&self.top_path, path.as_bstr()) =>
                    {
                        folders.push([path.as_bytes(), b"/"].concat().into());
                    }
                    Ok(kind) if kind.is_file() && name == self.name => {
                        let mut content = Vec::new();
                        let opened = open_file(self.top.as_fd(), path.as_bstr()).map(File::from);
                        if opened.is_ok_and(|mut file| file.read_to_end(&mut content).is_ok()) {
                            add(path.as_bstr(), &content)?;
                        }
                    }
                    _ => {}
                }
            }
        }
        let state = gix.index_or_empty().map_err(|source| GitError::other("read the index", source))?;
        for entry in state.entries().iter().filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE)) {
            let path = entry.path(&state);
            let is_rules = path.rsplit_once_str("/").map_or(path == self.name, |(_, name)| name == self.name.as_bytes());
            if is_rules && matches!(statat(&self.top, path.as_bytes(), AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT)) {
                index.dangerously_push_entry(Stat::default(), entry.id, Flags::empty(), Mode::FILE, path);
            }
        }
        index.sort_entries();
        Ok(Gathered { index, repo: gix })
    }
}
