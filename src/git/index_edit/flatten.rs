//! An index in several parts, or with directories as single entries, made into a plain one.

use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::hash::Kind;
use gix::index::entry::Flags;
use gix::objs::TreeRefIter;
use gix::oid;

use super::entry::{Entries, Entry, StatData, Version, Writer};
use super::extension;
use crate::git::{GitError, Objects};

/// The split index at `path` as one.
pub(super) fn join_split(path: &Path, hash: Kind) -> Result<Vec<u8>, GitError> {
    let options = gix::index::decode::Options::default();
    let file =
        gix::index::File::at(path, hash, true, options).map_err(|source| GitError::other("read the split index", source))?;
    let mut writer = Writer::new(Version::V2, hash, 0);
    for entry in file.entries() {
        let mut raw = Entry::new(entry.path(&file));
        raw.stat = stat_data(&entry.stat).with_mode(entry.mode.bits());
        raw.id = entry.id.as_slice();
        raw.set_stage(u16::try_from(entry.stage_raw()).unwrap_or_default());
        raw.set_intent_to_add(entry.flags.contains(Flags::INTENT_TO_ADD));
        if entry.flags.contains(Flags::SKIP_WORKTREE) {
            raw.set_skip_worktree(true);
        }
        if entry.flags.contains(Flags::ASSUME_VALID) {
            raw.set_assume_unchanged(true);
        }
        writer.push(&raw);
    }
    let mut extensions = Vec::new();
    if file.is_sparse() {
        extension::push(&mut extensions, b"sdir", &[]);
    }
    writer.finish(&extensions, true)
}

fn stat_data(stat: &gix::index::entry::Stat) -> StatData {
    StatData::from_fields([
        stat.ctime.secs,
        stat.ctime.nsecs,
        stat.mtime.secs,
        stat.mtime.nsecs,
        stat.dev,
        stat.ino,
        0,
        stat.uid,
        stat.gid,
        stat.size,
    ])
}

/// The index in `bytes` with every entry that is a directory replaced by the entries of what the directory holds.
pub(super) fn expand_sparse(bytes: &[u8], hash: Kind, objects: &Objects) -> Result<Vec<u8>, GitError> {
    let mut entries = Entries::read(bytes, hash)?;
    let mut writer = Writer::new(entries.version(), hash, bytes.len());
    while let Some(entry) = entries.next()? {
        if entry.is_directory() {
            let prefix = entry.path.trim_end_with(|c| c == '/').as_bstr();
            expand(objects, &entry.id(), prefix, &mut writer)?;
        } else {
            writer.push(&entry);
        }
    }
    writer.finish(&[], bytes[bytes.len() - hash.len_in_bytes()..].iter().any(|byte| *byte != 0))
}

fn expand(objects: &Objects, tree: &oid, prefix: &BStr, writer: &mut Writer) -> Result<(), GitError> {
    let mut data = Vec::new();
    objects.read(tree, &mut data)?;
    for entry in TreeRefIter::from_bytes(&data, objects.hash_kind()) {
        let entry = entry.map_err(|source| GitError::other(format!("read tree {tree}"), source))?;
        let path: BString = [prefix.as_bytes(), b"/", entry.filename.as_bytes()].concat().into();
        if entry.mode.is_tree() {
            expand(objects, entry.oid, path.as_bstr(), writer)?;
            continue;
        }
        let mut raw = Entry::new(path.as_bstr());
        raw.stat = StatData::default().with_mode(entry.mode.value().into());
        raw.id = entry.oid.as_bytes();
        raw.set_skip_worktree(true);
        writer.push(&raw);
    }
    Ok(())
}
