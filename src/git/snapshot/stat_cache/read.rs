//! A cache as it lies on disk, read in place.

use std::cmp::Ordering;
use std::io::{Read, Write};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::hash::Kind as HashKind;
use gix::{ObjectId, oid};

use super::{DIR_LEN, DirStat, FILE_FIXED_LEN, HEADER_LEN, Header, INDEX_RULES, MAGIC, Record, RecordKind, UNMERGED};
use crate::git::index::IndexSignature;
use crate::git::stat::FileStat;
use crate::sys::Moment;

/// A cache in memory, as it lies on disk: its parts follow each other there.
pub(in crate::git::snapshot) struct StatCache {
    pub(super) hash: HashKind,
    /// [`HEADER_LEN`] bytes.
    pub(super) header: Vec<u8>,
    pub(super) dirs: Vec<u8>,
    pub(super) files: Vec<u8>,
    pub(super) names: Vec<u8>,
    /// The paths that are intent-to-add, each with a NUL.
    pub(super) tail: Vec<u8>,
}

impl StatCache {
    /// Reads a cache of `len` bytes, if it is one for objects named by `hash` and whole.
    pub(in crate::git::snapshot) fn read(from: &mut impl Read, len: u64, hash: HashKind) -> Option<StatCache> {
        let mut part = |len: usize| {
            let mut bytes = vec![0; len];
            from.read_exact(&mut bytes).ok().map(|()| bytes)
        };
        let header = part(HEADER_LEN)?;
        if &header[..8] != MAGIC || header[8] as usize != hash.len_in_bytes() {
            return None;
        }
        let count = |at: usize| u32_at(&header, at) as usize;
        let parts = [count(12) * DIR_LEN, count(16) * (FILE_FIXED_LEN + hash.len_in_bytes()), count(20), count(28)];
        if parts[0] == 0 || (HEADER_LEN + parts.iter().sum::<usize>()) as u64 != len {
            return None;
        }
        let (dirs, files, names, tail) = (part(parts[0])?, part(parts[1])?, part(parts[2])?, part(parts[3])?);
        let cache = StatCache { hash, header, dirs, files, names, tail };
        // Nothing else is checked where it is read: places that point outside would be a panic, another id a wrong tree.
        (cache.checksum() == u32_at(&cache.header, 24)).then_some(cache)
    }

    /// Writes the cache as [`StatCache::read`] wants it.
    pub(in crate::git::snapshot) fn write(&self, to: &mut impl Write) -> std::io::Result<()> {
        [&self.header, &self.dirs, &self.files, &self.names, &self.tail].into_iter().try_for_each(|part| to.write_all(part))
    }

    /// CRC-32 of all but the place where it stands.
    pub(super) fn checksum(&self) -> u32 {
        let mut crc = libdeflater::Crc::new();
        crc.update(&self.header[..24]);
        crc.update(&self.header[28..]);
        [&self.dirs, &self.files, &self.names, &self.tail].into_iter().for_each(|part| crc.update(part));
        crc.sum()
    }

    pub(in crate::git::snapshot) fn hash(&self) -> HashKind {
        self.hash
    }

    /// True if the index may have rule files (`.gitignore`, `.gitattributes`) that are not on disk, so that it must be asked.
    pub(in crate::git::snapshot) fn index_has_rules(&self) -> bool {
        self.header[9] & INDEX_RULES != 0
    }

    /// Reads the header.
    pub(in crate::git::snapshot) fn header(&self) -> Option<Header> {
        let b = &self.header;
        let id = |at: usize| ObjectId::from_bytes_or_panic(&b[at..at + self.hash.len_in_bytes()]);
        let stat = |at: usize| FileStat {
            ino: u64_at(b, at),
            size: u64_at(b, at + 8),
            mtime_ns: i64_at(b, at + 16),
            ctime_ns: i64_at(b, at + 24),
            mode: 0,
        };
        let mut rules = [0; 32];
        rules.copy_from_slice(&b[80..112]);
        let text = |at: usize| b.get(at + 1..at + 1 + b[at] as usize)?.to_str().ok().map(str::to_owned);
        Some(Header {
            taken: Moment { boot: u64_at(b, 32), wall_ns: i64_at(b, 40), up_ns: i64_at(b, 496) },
            index: IndexSignature { stat: stat(48), trailer: id(208) },
            rules,
            tree: id(112),
            index_tree: (b[9] & UNMERGED == 0).then(|| id(144)),
            anchor: id(176),
            anchor_ref: text(240)?,
            monitor: text(512)?,
            intent_to_add: self.tail.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(BString::from).collect(),
        })
    }

    pub(in crate::git::snapshot) fn dir_count(&self) -> u32 {
        (self.dirs.len() / DIR_LEN) as u32
    }

    pub(in crate::git::snapshot) fn file_count(&self) -> u32 {
        (self.files.len() / self.file_len()) as u32
    }

    pub(in crate::git::snapshot) fn dir(&self, index: u32) -> DirRef<'_> {
        debug_assert!(index < self.dir_count());
        DirRef { cache: self, at: index as usize * DIR_LEN, index }
    }

    /// The directory at `path`, if it is known.
    pub(in crate::git::snapshot) fn find_dir(&self, path: &BStr) -> Option<u32> {
        let (mut low, mut high) = (0u32, self.dir_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare_paths(self.dir(middle).path(), path) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn file_len(&self) -> usize {
        FILE_FIXED_LEN + self.hash.len_in_bytes()
    }
}

/// The order of directories in the cache: component by component, so that a directory comes right before what it holds.
fn compare_paths(a: &BStr, b: &BStr) -> Ordering {
    let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// A directory in a cache.
#[derive(Clone, Copy)]
pub(in crate::git::snapshot) struct DirRef<'a> {
    pub(super) cache: &'a StatCache,
    at: usize,
    index: u32,
}

impl<'a> DirRef<'a> {
    pub(super) fn u32(&self, offset: usize) -> u32 {
        u32_at(&self.cache.dirs, self.at + offset)
    }

    /// The cache that it is in.
    pub(in crate::git::snapshot) fn cache(&self) -> &'a StatCache {
        self.cache
    }

    /// Path from the top of the worktree; empty for the top itself.
    pub(in crate::git::snapshot) fn path(&self) -> &'a BStr {
        let start = self.u32(0) as usize;
        self.cache.names[start..start + self.u32(4) as usize].as_bstr()
    }

    /// The last component of the path.
    pub(in crate::git::snapshot) fn name(&self) -> &'a BStr {
        let path = self.path();
        path.rfind_byte(b'/').map_or(path, |at| path[at + 1..].as_bstr())
    }

    /// The first directory after all that lie in this one.
    pub(in crate::git::snapshot) fn end(&self) -> u32 {
        self.u32(8)
    }

    /// The directories directly in this one, in order of name.
    pub(in crate::git::snapshot) fn children(&self) -> impl Iterator<Item = u32> + use<'a> {
        let cache = self.cache;
        let (first, end) = (self.index + 1, self.end());
        std::iter::successors((first < end).then_some(first), move |child| {
            let next = cache.dir(*child).end();
            (next < end).then_some(next)
        })
    }

    pub(in crate::git::snapshot) fn file_count(&self) -> u32 {
        self.u32(16)
    }

    pub(in crate::git::snapshot) fn stat(&self) -> DirStat {
        let b = &self.cache.dirs;
        DirStat { ino: u64_at(b, self.at + 32), mtime_ns: i64_at(b, self.at + 40), ctime_ns: i64_at(b, self.at + 48) }
    }

    /// The tree of this directory; none if it is not known. The empty tree if nothing in it is captured.
    pub(in crate::git::snapshot) fn tree(&self) -> Option<ObjectId> {
        let id = self.cache.dirs[self.at + 56..].get(..self.cache.hash.len_in_bytes())?;
        let id = ObjectId::from_bytes_or_panic(id);
        (!id.is_null()).then_some(id)
    }

    /// The `index`th file by name.
    pub(in crate::git::snapshot) fn file(&self, index: u32) -> FileRef<'a> {
        let at = (self.u32(12) + index) as usize * self.cache.file_len();
        FileRef { cache: self.cache, at, names: self.u32(20) as usize }
    }

    pub(in crate::git::snapshot) fn files(self) -> impl Iterator<Item = FileRef<'a>> {
        (0..self.file_count()).map(move |index| self.file(index))
    }

    /// The file called `name`, by its place.
    pub(in crate::git::snapshot) fn find_file(&self, name: &BStr) -> Option<u32> {
        let (mut low, mut high) = (0u32, self.file_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.file(middle).name().cmp(name) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A file in a cache.
#[derive(Clone, Copy)]
pub(in crate::git::snapshot) struct FileRef<'a> {
    cache: &'a StatCache,
    pub(super) at: usize,
    names: usize,
}

impl<'a> FileRef<'a> {
    /// Its number among the files of all directories.
    pub(in crate::git::snapshot) fn number(&self) -> u32 {
        (self.at / self.cache.file_len()) as u32
    }

    pub(in crate::git::snapshot) fn name(&self) -> &'a BStr {
        let b = &self.cache.files;
        let start = self.names + u32_at(b, self.at) as usize;
        self.cache.names[start..start + u16_at(b, self.at + 4) as usize].as_bstr()
    }

    pub(in crate::git::snapshot) fn kind(&self) -> RecordKind {
        RecordKind::ALL.get(self.cache.files[self.at + 6] as usize).copied().unwrap_or(RecordKind::Uncaptured)
    }

    pub(in crate::git::snapshot) fn flags(&self) -> u8 {
        self.cache.files[self.at + 7]
    }

    pub(in crate::git::snapshot) fn stat(&self) -> FileStat {
        let b = &self.cache.files;
        FileStat {
            ino: u64_at(b, self.at + 8),
            size: u64_at(b, self.at + 16),
            mtime_ns: i64_at(b, self.at + 24),
            ctime_ns: i64_at(b, self.at + 32),
            mode: u32_at(b, self.at + 40),
        }
    }

    pub(in crate::git::snapshot) fn id(&self) -> &'a oid {
        let start = self.at + FILE_FIXED_LEN;
        oid::from_bytes_unchecked(&self.cache.files[start..start + self.cache.hash.len_in_bytes()])
    }

    pub(in crate::git::snapshot) fn to_record(self) -> Record {
        Record {
            name: self.name().to_owned(),
            kind: self.kind(),
            flags: self.flags(),
            stat: self.stat(),
            id: self.id().to_owned(),
        }
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

pub(super) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    u64_at(bytes, at) as i64
}
