//! A new index made from the bytes of the old one (gitformat-index(5)).
//!
//! Entries that do not change are copied byte for byte, so that everything git keeps in them survives: stat data, skip-worktree,
//! assume-unchanged. Versions 2, 3 and 4 are edited as they are; a split index becomes a whole one, and a sparse one is expanded
//! where an edit reaches into a directory that is one entry.
//!
//! What a later index time stamp would hide is made visible here: an entry as young as the old index may belong to a file that
//! was changed in the same second. git compares such a file again as long as the index is as old as the entry, and no longer
//! afterwards (`Documentation/technical/racy-git`). [`Edits::apply`] therefore takes the proof away from it, as git does.

mod entry;
mod extension;
mod flatten;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::{ObjectId, oid};

use super::{GitError, Objects};
use entry::{Entries, Entry, Writer};
pub use entry::{StatData, Version};

const SIGNATURE: &[u8; 4] = b"DIRC";
const HEADER_LEN: usize = 12;

/// What is to become of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The path leaves the index.
    Remove,
    /// The path is in the index with this content. Flags set by `git update-index` stay if it was there before.
    Put(Put),
    /// Content and flags stay. If the content is this blob, the stat data is this, else git has to look into the file.
    Refresh {
        /// What the file is known to hold.
        id: ObjectId,
        /// Its stat data.
        stat: StatData,
    },
}

/// The content of an index entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Mode as in a tree.
    pub mode: u32,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
    /// The entry only announces the path (`git add -N`).
    pub intent_to_add: bool,
    /// The entry stands for a file that is not to be in the worktree.
    pub skip_worktree: bool,
    /// The file is taken to be unchanged.
    pub assume_unchanged: bool,
    /// What the entry says of these two beyond that is taken from it; else it goes on saying so.
    pub exact_flags: bool,
    /// Stat data of the file if it has this content; all zero otherwise.
    pub stat: StatData,
}

/// Edits by path.
#[derive(Debug, Default)]
pub struct Edits {
    map: BTreeMap<BString, Edit>,
}

impl Edits {
    /// Sets what is to become of `path`; the last word counts.
    pub fn set(&mut self, path: BString, edit: Edit) {
        self.map.insert(path, edit);
    }

    /// What is to become of `path`, if anything.
    pub fn get(&self, path: &BStr) -> Option<&Edit> {
        self.map.get(path)
    }

    /// True if nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The bytes of the index that follows from `source` and the edits.
    ///
    /// `is_current(path, id, mode)` tells whether the file at `path` is known to have that content; it is asked for entries
    /// that are as young as the old index only.
    pub fn apply(
        &self,
        source: &Source,
        objects: &Objects,
        is_current: &mut dyn FnMut(&BStr, &oid, u32) -> bool,
    ) -> Result<Vec<u8>, GitError> {
        let flat;
        let mut bytes = source.bytes.as_slice();
        if self.reach_into_sparse_directories(bytes, source.hash)? {
            flat = flatten::expand_sparse(bytes, source.hash, objects)?;
            bytes = &flat;
        }
        let mut entries = Entries::read(bytes, source.hash)?;
        let mut writer = Writer::new(entries.version(), source.hash, bytes.len());
        let mut edits = self.map.iter().peekable();
        while let Some(mut entry) = entries.next()? {
            while let Some((path, edit)) = edits.next_if(|(path, _)| path.as_bstr() < entry.path) {
                put_new(&mut writer, path, edit);
            }
            // An unmerged path has several entries in a row; an edit replaces them all.
            let edit = match edits.peek() {
                Some((path, edit)) if path.as_bstr() == entry.path && entry.stage() != 0 => {
                    if !matches!(edit, Edit::Refresh { .. }) {
                        continue;
                    }
                    None
                }
                Some((path, _)) if path.as_bstr() == entry.path => edits.next().map(|(_, edit)| edit),
                _ => None,
            };
            match edit {
                Some(Edit::Remove) => {}
                Some(Edit::Put(put)) => writer.push(&edited(entry, put)),
                Some(Edit::Refresh { id, stat }) if entry.id == id.as_slice() => {
                    entry.stat = stat.with_mode(entry.mode());
                    writer.push(&entry);
                }
                // The stat data are those of a file that is gone. Git takes another size for another content without looking;
                // no size makes it look (`read-cache.c:ie_modified`).
                Some(Edit::Refresh { .. }) => {
                    entry.stat.forget_size();
                    writer.push(&entry);
                }
                None if entry.is_as_young_as(source.modified_s) && !is_current(entry.path, &entry.id(), entry.mode()) => {
                    entry.stat.forget_size();
                    writer.push(&entry);
                }
                None => writer.copy(&entry),
            }
        }
        for (path, edit) in edits {
            put_new(&mut writer, path, edit);
        }
        let extensions = extension::carry_over(entries.rest(), &self.map, source.hash)?;
        writer.finish(&extensions, source.is_hashed())
    }

    /// True if an edit is about a path inside a directory that the index holds as one entry.
    fn reach_into_sparse_directories(&self, bytes: &[u8], hash: gix::hash::Kind) -> Result<bool, GitError> {
        let mut entries = Entries::read(bytes, hash)?;
        if !extension::is_sparse(bytes, hash)? {
            return Ok(false);
        }
        while let Some(entry) = entries.next()? {
            let from = (Bound::Included(entry.path), Bound::<&BStr>::Unbounded);
            if entry.is_directory()
                && self.map.range::<BStr, _>(from).next().is_some_and(|(path, _)| path.starts_with(entry.path))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn put_new(writer: &mut Writer, path: &BString, edit: &Edit) {
    if let Edit::Put(put) = edit {
        writer.push(&edited(Entry::new(path.as_bstr()), put));
    }
}

fn edited<'a>(mut entry: Entry<'a>, put: &'a Put) -> Entry<'a> {
    entry.stat = put.stat.with_mode(put.mode);
    entry.id = put.id.as_slice();
    entry.set_intent_to_add(put.intent_to_add);
    if put.skip_worktree || put.exact_flags {
        entry.set_skip_worktree(put.skip_worktree);
    }
    if put.assume_unchanged || put.exact_flags {
        entry.set_assume_unchanged(put.assume_unchanged);
    }
    entry
}

/// An entry that has a flag: one of these, or that it only announces its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    /// Mode as in a tree; that of an announced path is the one it had then.
    pub mode: u32,
    /// It stands for a file that is not to be in the worktree.
    pub skip_worktree: bool,
    /// Its file is taken to be unchanged.
    pub assume_unchanged: bool,
}

/// The index as it is on disk, whole.
pub struct Source {
    bytes: Vec<u8>,
    hash: gix::hash::Kind,
    modified_s: i64,
}

impl Source {
    /// Reads the index at `path`; a missing one is empty.
    pub fn read(path: &Path, hash: gix::hash::Kind) -> Result<Source, GitError> {
        let failed = |source| GitError::io("read", path, source);
        let bytes = match std::fs::read(path) {
            Ok(bytes) if !bytes.is_empty() => bytes,
            Ok(_) => Vec::new(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        if bytes.is_empty() {
            let bytes = Writer::new(Version::V2, hash, 0).finish(&[], true)?;
            return Ok(Source { bytes, hash, modified_s: 0 });
        }
        let modified_s = rustix::fs::stat(path).map_err(|error| failed(error.into()))?.st_mtime;
        let bytes = if extension::is_split(&bytes, hash)? { flatten::join_split(path, hash)? } else { bytes };
        #[expect(clippy::useless_conversion, reason = "the field types of stat(2) differ between platforms")]
        Ok(Source { bytes, hash, modified_s: modified_s.into() })
    }

    /// True if the other index has the same entries, whatever it knows of their files.
    pub fn has_entries_of(&self, other: &Source) -> Result<bool, GitError> {
        let mut ours = Entries::read(&self.bytes, self.hash)?;
        let mut theirs = Entries::read(&other.bytes, other.hash)?;
        loop {
            match (ours.next()?, theirs.next()?) {
                (None, None) => return Ok(true),
                (Some(a), Some(b)) if a.is_same_content(&b) => {}
                _ => return Ok(false),
            }
        }
    }

    /// Paths whose entries stand for files that are not to be in the worktree, directories of a sparse index among them (those
    /// end in `/`).
    pub fn skip_worktree(&self) -> Result<BTreeSet<BString>, GitError> {
        Ok(self.marked()?.into_iter().filter(|(_, entry)| entry.skip_worktree).map(|(path, _)| path).collect())
    }

    /// Paths whose entries have a flag, directories of a sparse index among them (those end in `/`).
    pub fn marked(&self) -> Result<BTreeMap<BString, Marked>, GitError> {
        let mut found = BTreeMap::new();
        let mut entries = Entries::read(&self.bytes, self.hash)?;
        while let Some(entry) = entries.next()? {
            if entry.is_marked() {
                let (skip_worktree, assume_unchanged) = (entry.is_skip_worktree(), entry.is_assume_unchanged());
                found.insert(entry.path.to_owned(), Marked { mode: entry.mode(), skip_worktree, assume_unchanged });
            }
        }
        Ok(found)
    }

    /// True unless `index.skipHash` left the trailing hash empty.
    fn is_hashed(&self) -> bool {
        let trailer = &self.bytes[self.bytes.len() - self.hash.len_in_bytes()..];
        trailer.iter().any(|byte| *byte != 0)
    }
}

fn malformed(what: &str) -> GitError {
    GitError::UnsupportedIndex(what.to_owned())
}

#[cfg(test)]
mod tests;
