//! The private stat cache: what the last capture of this worktree saw, in a form that needs no decoding.
//!
//! It holds every file that was captured, tracked or not, with its stat and object id, and every directory that was read.
//! Directories are in pre-order, the files of each sorted by name. Integers are little-endian. The file is thrown away, never
//! repaired, when anything about it is in doubt: the index is then the only source.

use std::cmp::Ordering;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::hash::Kind as HashKind;
use gix::objs::tree::{EntryKind, EntryMode};
use gix::{ObjectId, oid};

use crate::git::index::IndexSignature;
use crate::git::stat::FileStat;

const MAGIC: &[u8; 8] = b"gcpstat1";
const HEADER_LEN: usize = 512;
const DIR_LEN: usize = 96;
/// Length of a file record without its object id.
const FILE_FIXED_LEN: usize = 44;

/// Bits of the header's ninth byte.
const UNMERGED: u8 = 1;
const INDEX_RULES: u8 = 2;

/// What a file record stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    File,
    Executable,
    Link,
    /// A submodule or other nested repository with a commit.
    Gitlink,
    /// Something that is there but not captured, to be judged anew each time.
    Uncaptured,
    /// An ignored `.gitignore` or `.gitattributes`: not captured, but a change of it changes what is.
    IgnoredRules,
}

impl RecordKind {
    const ALL: [RecordKind; 6] = [
        RecordKind::File,
        RecordKind::Executable,
        RecordKind::Link,
        RecordKind::Gitlink,
        RecordKind::Uncaptured,
        RecordKind::IgnoredRules,
    ];

    /// The mode in a tree, for what is captured.
    pub(super) fn mode(self) -> Option<EntryMode> {
        let kind = match self {
            RecordKind::File => EntryKind::Blob,
            RecordKind::Executable => EntryKind::BlobExecutable,
            RecordKind::Link => EntryKind::Link,
            RecordKind::Gitlink => EntryKind::Commit,
            RecordKind::Uncaptured | RecordKind::IgnoredRules => return None,
        };
        Some(kind.into())
    }
}

/// The file is in the index.
pub(super) const TRACKED: u8 = 1;
/// The index asks not to look for the file (skip-worktree, assume-unchanged): if it is absent its entry stands.
pub(super) const KEEP_IF_ABSENT: u8 = 2;
/// The stat comes from the index, which keeps 32 bits of inode and size.
pub(super) const INDEX_STAT: u8 = 4;
/// The path must be judged anew whatever its stat says.
pub(super) const RECHECK: u8 = 8;

/// A file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) name: BString,
    pub(super) kind: RecordKind,
    pub(super) flags: u8,
    pub(super) stat: FileStat,
    pub(super) id: ObjectId,
}

/// Stamps of a directory; all zero if its names are not known to be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DirStat {
    pub(super) ino: u64,
    pub(super) mtime_ns: i64,
    pub(super) ctime_ns: i64,
}

/// What the whole cache depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// The wall clock before the scan that filled the cache.
    pub(super) stamp_ns: i64,
    /// The index file.
    pub(super) index: IndexSignature,
    /// Hash of the configuration and of the files outside the worktree that decide what is captured and how.
    pub(super) rules: [u8; 32],
    /// The snapshot.
    pub(super) tree: ObjectId,
    /// The tree of the index; none if it is unmerged.
    pub(super) index_tree: Option<ObjectId>,
    /// The commit that holds every object named here, and its ref: while they are there, so are the objects.
    pub(super) anchor: ObjectId,
    pub(super) anchor_ref: String,
    /// Paths that are intent-to-add in the index.
    pub(super) intent_to_add: Vec<BString>,
}

/// A cache in memory, as it lies on disk.
pub(super) struct StatCache {
    bytes: Vec<u8>,
    hash: HashKind,
    dirs: usize,
    files: usize,
    names_at: usize,
}

impl StatCache {
    /// Takes over the bytes of a cache file, if they are one for objects named by `hash` and whole. `boot` identifies the
    /// running system: bytes written since it started cannot be torn by a crash, others are checked.
    pub(super) fn from_bytes(bytes: Vec<u8>, hash: HashKind, boot: u64) -> Option<StatCache> {
        if bytes.len() < HEADER_LEN || &bytes[..8] != MAGIC || bytes[8] as usize != hash.len_in_bytes() {
            return None;
        }
        let (dirs, files, names) = (u32_at(&bytes, 12) as usize, u32_at(&bytes, 16) as usize, u32_at(&bytes, 20) as usize);
        let names_at = HEADER_LEN + dirs * DIR_LEN + files * (FILE_FIXED_LEN + hash.len_in_bytes());
        if dirs == 0 || names_at + names + u32_at(&bytes, 28) as usize != bytes.len() {
            return None;
        }
        if u64_at(&bytes, 32) != boot && checksum(&bytes) != u32_at(&bytes, 24) {
            return None;
        }
        Some(StatCache { bytes, hash, dirs, files, names_at })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn hash(&self) -> HashKind {
        self.hash
    }

    /// True if the index may have rule files (`.gitignore`, `.gitattributes`) that are not on disk, so that it must be asked.
    pub(super) fn index_has_rules(&self) -> bool {
        self.bytes[9] & INDEX_RULES != 0
    }

    /// Reads the header.
    pub(super) fn header(&self) -> Option<Header> {
        let b = &self.bytes;
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
        let ref_len = b[240] as usize;
        let tail = &b[self.names_at + u32_at(b, 20) as usize..];
        Some(Header {
            stamp_ns: i64_at(b, 40),
            index: IndexSignature { stat: stat(48), trailer: id(208) },
            rules,
            tree: id(112),
            index_tree: (b[9] & UNMERGED == 0).then(|| id(144)),
            anchor: id(176),
            anchor_ref: b.get(241..241 + ref_len)?.to_str().ok()?.to_owned(),
            intent_to_add: tail.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(BString::from).collect(),
        })
    }

    pub(super) fn dir_count(&self) -> u32 {
        self.dirs as u32
    }

    pub(super) fn dir(&self, index: u32) -> DirRef<'_> {
        debug_assert!((index as usize) < self.dirs);
        DirRef { cache: self, at: HEADER_LEN + index as usize * DIR_LEN, index }
    }

    /// The directory at `path`, if it is known.
    pub(super) fn find_dir(&self, path: &BStr) -> Option<u32> {
        let (mut low, mut high) = (0u32, self.dirs as u32);
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

    fn file_len(&self) -> usize {
        FILE_FIXED_LEN + self.hash.len_in_bytes()
    }

    fn files_at(&self) -> usize {
        HEADER_LEN + self.dirs * DIR_LEN
    }
}

/// The order of directories in the cache: component by component, so that a directory comes right before what it holds.
fn compare_paths(a: &BStr, b: &BStr) -> Ordering {
    let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// A directory in a cache.
#[derive(Clone, Copy)]
pub(super) struct DirRef<'a> {
    cache: &'a StatCache,
    at: usize,
    index: u32,
}

impl<'a> DirRef<'a> {
    fn u32(&self, offset: usize) -> u32 {
        u32_at(&self.cache.bytes, self.at + offset)
    }

    /// Path from the top of the worktree; empty for the top itself.
    pub(super) fn path(&self) -> &'a BStr {
        let start = self.cache.names_at + self.u32(0) as usize;
        self.cache.bytes[start..start + self.u32(4) as usize].as_bstr()
    }

    /// The last component of the path.
    pub(super) fn name(&self) -> &'a BStr {
        let path = self.path();
        path.rfind_byte(b'/').map_or(path, |at| path[at + 1..].as_bstr())
    }

    /// The first directory after all that lie in this one.
    pub(super) fn end(&self) -> u32 {
        self.u32(8)
    }

    /// The directories directly in this one, in order of name.
    pub(super) fn children(&self) -> impl Iterator<Item = u32> + use<'a> {
        let cache = self.cache;
        let (first, end) = (self.index + 1, self.end());
        std::iter::successors((first < end).then_some(first), move |child| {
            let next = cache.dir(*child).end();
            (next < end).then_some(next)
        })
    }

    pub(super) fn file_count(&self) -> u32 {
        self.u32(16)
    }

    pub(super) fn stat(&self) -> DirStat {
        let b = &self.cache.bytes;
        DirStat { ino: u64_at(b, self.at + 32), mtime_ns: i64_at(b, self.at + 40), ctime_ns: i64_at(b, self.at + 48) }
    }

    /// The tree of this directory; none if it is not known. The empty tree if nothing in it is captured.
    pub(super) fn tree(&self) -> Option<ObjectId> {
        let id = self.cache.bytes[self.at + 56..].get(..self.cache.hash.len_in_bytes())?;
        let id = ObjectId::from_bytes_or_panic(id);
        (!id.is_null()).then_some(id)
    }

    /// The `index`th file by name.
    pub(super) fn file(&self, index: u32) -> FileRef<'a> {
        let at = self.cache.files_at() + (self.u32(12) + index) as usize * self.cache.file_len();
        FileRef { cache: self.cache, at, names: self.cache.names_at + self.u32(20) as usize }
    }

    pub(super) fn files(self) -> impl Iterator<Item = FileRef<'a>> {
        (0..self.file_count()).map(move |index| self.file(index))
    }

    /// The file called `name`, by its place.
    pub(super) fn find_file(&self, name: &BStr) -> Option<u32> {
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
pub(super) struct FileRef<'a> {
    cache: &'a StatCache,
    at: usize,
    names: usize,
}

impl<'a> FileRef<'a> {
    pub(super) fn name(&self) -> &'a BStr {
        let b = &self.cache.bytes;
        let start = self.names + u32_at(b, self.at) as usize;
        b[start..start + u16_at(b, self.at + 4) as usize].as_bstr()
    }

    pub(super) fn kind(&self) -> RecordKind {
        RecordKind::ALL.get(self.cache.bytes[self.at + 6] as usize).copied().unwrap_or(RecordKind::Uncaptured)
    }

    pub(super) fn flags(&self) -> u8 {
        self.cache.bytes[self.at + 7]
    }

    pub(super) fn stat(&self) -> FileStat {
        let b = &self.cache.bytes;
        FileStat {
            ino: u64_at(b, self.at + 8),
            size: u64_at(b, self.at + 16),
            mtime_ns: i64_at(b, self.at + 24),
            ctime_ns: i64_at(b, self.at + 32),
            mode: u32_at(b, self.at + 40),
        }
    }

    pub(super) fn id(&self) -> &'a oid {
        let start = self.at + FILE_FIXED_LEN;
        oid::from_bytes_unchecked(&self.cache.bytes[start..start + self.cache.hash.len_in_bytes()])
    }

    pub(super) fn to_record(self) -> Record {
        Record {
            name: self.name().to_owned(),
            kind: self.kind(),
            flags: self.flags(),
            stat: self.stat(),
            id: self.id().to_owned(),
        }
    }
}

/// Builds a cache, directory by directory in pre-order.
pub(super) struct StatCacheWriter {
    hash: HashKind,
    dirs: Vec<u8>,
    files: Vec<u8>,
    file_count: u32,
    names: Vec<u8>,
    current: usize,
    index_rules: bool,
}

impl StatCacheWriter {
    pub(super) fn new(hash: HashKind, like: Option<&StatCache>) -> Self {
        let room = like.map_or(0, |cache| cache.bytes.len() + cache.bytes.len() / 16);
        let (dirs, files) = like.map_or((0, 0), |cache| (cache.dirs * DIR_LEN, cache.files * cache.file_len()));
        StatCacheWriter {
            hash,
            dirs: Vec::with_capacity(dirs + 4096),
            files: Vec::with_capacity(files + 4096),
            file_count: 0,
            names: Vec::with_capacity(room.saturating_sub(dirs + files)),
            current: 0,
            index_rules: false,
        }
    }

    /// Begins the directory at `path`; the files that follow are in it. Returns its place.
    pub(super) fn begin_dir(&mut self, path: &BStr, stat: DirStat) -> u32 {
        let index = (self.dirs.len() / DIR_LEN) as u32;
        self.current = self.dirs.len();
        for value in
            [self.names.len() as u32, path.len() as u32, 0, self.file_count, 0, (self.names.len() + path.len()) as u32, 0, 0]
        {
            self.dirs.extend_from_slice(&value.to_le_bytes());
        }
        self.dirs.extend_from_slice(&stat.ino.to_le_bytes());
        self.dirs.extend_from_slice(&stat.mtime_ns.to_le_bytes());
        self.dirs.extend_from_slice(&stat.ctime_ns.to_le_bytes());
        self.dirs.resize(self.current + DIR_LEN, 0);
        self.names.extend_from_slice(path);
        index
    }

    /// Notes that the index may have rule files that are not on disk.
    pub(super) fn note_index_rules(&mut self) {
        self.index_rules = true;
    }

    fn names_base(&self) -> usize {
        u32_at(&self.dirs, self.current + 20) as usize
    }

    fn count_files(&mut self, count: u32) {
        self.file_count += count;
        let total = u32_at(&self.dirs, self.current + 16) + count;
        self.dirs[self.current + 16..self.current + 20].copy_from_slice(&total.to_le_bytes());
    }

    /// Adds a file to the directory begun last; files come in order of name.
    pub(super) fn file(&mut self, name: &BStr, kind: RecordKind, flags: u8, stat: &FileStat, id: &oid) {
        let name_at = (self.names.len() - self.names_base()) as u32;
        self.names.extend_from_slice(name);
        self.files.extend_from_slice(&name_at.to_le_bytes());
        self.files.extend_from_slice(&(name.len() as u16).to_le_bytes());
        let kind = RecordKind::ALL.iter().position(|other| *other == kind).unwrap_or_default() as u8;
        self.files.extend_from_slice(&[kind, flags]);
        for value in [stat.ino, stat.size, stat.mtime_ns as u64, stat.ctime_ns as u64] {
            self.files.extend_from_slice(&value.to_le_bytes());
        }
        self.files.extend_from_slice(&stat.mode.to_le_bytes());
        self.files.extend_from_slice(id.as_bytes());
        self.index_rules |= flags & KEEP_IF_ABSENT != 0;
        self.count_files(1);
    }

    /// Adds all files of a directory of another cache as they are.
    pub(super) fn copy_files(&mut self, from: DirRef<'_>) {
        let cache = from.cache;
        let (first, count) = (from.u32(12) as usize, from.file_count());
        if count == 0 {
            return;
        }
        let start = cache.files_at() + first * cache.file_len();
        self.files.extend_from_slice(&cache.bytes[start..start + count as usize * cache.file_len()]);
        let last = from.file(count - 1);
        let names_from = cache.names_at + from.u32(20) as usize;
        let names_to = names_from + u32_at(&cache.bytes, last.at) as usize + last.name().len();
        self.names.extend_from_slice(&cache.bytes[names_from..names_to]);
        self.count_files(count);
    }

    /// Ends the directory at place `index` after all that lie in it, and gives it its tree.
    pub(super) fn end_dir(&mut self, index: u32, tree: Option<&oid>) {
        let at = index as usize * DIR_LEN;
        let end = (self.dirs.len() / DIR_LEN) as u32;
        self.dirs[at + 8..at + 12].copy_from_slice(&end.to_le_bytes());
        if let Some(tree) = tree {
            self.dirs[at + 56..at + 56 + tree.as_bytes().len()].copy_from_slice(tree.as_bytes());
        }
    }

    /// Puts the parts together.
    pub(super) fn finish(self, header: &Header, boot: u64) -> StatCache {
        let StatCacheWriter { hash, dirs, files, file_count, names, index_rules, .. } = self;
        let mut bytes = Vec::with_capacity(HEADER_LEN + dirs.len() + files.len() + names.len());
        bytes.resize(HEADER_LEN, 0);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8] = hash.len_in_bytes() as u8;
        bytes[9] = if index_rules { INDEX_RULES } else { 0 };
        let dir_count = dirs.len() / DIR_LEN;
        for (at, value) in [(12, dir_count as u32), (16, file_count), (20, names.len() as u32)] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        for part in [dirs, files, names] {
            bytes.extend_from_slice(&part);
        }
        let names_at = bytes.len() - u32_at(&bytes, 20) as usize;
        let mut cache = StatCache { bytes, hash, dirs: dir_count, files: file_count as usize, names_at };
        cache.set_header(header, boot);
        cache
    }
}

impl StatCache {
    /// Replaces the header whole, with the intent-to-add paths behind the names.
    pub(super) fn set_header(&mut self, header: &Header, boot: u64) {
        self.bytes.truncate(self.names_at + u32_at(&self.bytes, 20) as usize);
        for path in &header.intent_to_add {
            self.bytes.extend_from_slice(path);
            self.bytes.push(0);
        }
        let tail_len = header.intent_to_add.iter().map(|path| path.len() as u32 + 1).sum::<u32>();
        let b = &mut self.bytes;
        let unmerged = if header.index_tree.is_none() { UNMERGED } else { 0 };
        b[9] = (b[9] & INDEX_RULES) | unmerged;
        let mut put = |at: usize, value: &[u8]| b[at..at + value.len()].copy_from_slice(value);
        put(28, &tail_len.to_le_bytes());
        put(32, &boot.to_le_bytes());
        put(40, &header.stamp_ns.to_le_bytes());
        put(48, &header.index.stat.ino.to_le_bytes());
        put(56, &header.index.stat.size.to_le_bytes());
        put(64, &header.index.stat.mtime_ns.to_le_bytes());
        put(72, &header.index.stat.ctime_ns.to_le_bytes());
        put(208, header.index.trailer.as_bytes());
        put(80, &header.rules);
        put(112, header.tree.as_bytes());
        put(144, header.index_tree.unwrap_or(ObjectId::null(self.hash)).as_bytes());
        put(176, header.anchor.as_bytes());
        let name = &header.anchor_ref.as_bytes()[..header.anchor_ref.len().min(255)];
        put(240, &[name.len() as u8]);
        put(241, name);
        let sum = checksum(&self.bytes);
        self.bytes[24..28].copy_from_slice(&sum.to_le_bytes());
    }
}

/// CRC-32 of all but the place where it stands.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[..24]);
    crc.update(&bytes[28..]);
    crc.sum()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    u64_at(bytes, at) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            stamp_ns: 77,
            index: IndexSignature {
                stat: FileStat { ino: 1, size: 2, mtime_ns: 3, ctime_ns: 4, mode: 0 },
                trailer: ObjectId::empty_blob(HashKind::Sha1),
            },
            rules: [9; 32],
            tree: ObjectId::empty_tree(HashKind::Sha1),
            index_tree: None,
            anchor: ObjectId::empty_blob(HashKind::Sha1),
            anchor_ref: "refs/checkpoints/a/b".into(),
            intent_to_add: vec!["x".into(), "y/z".into()],
        }
    }

    fn record(name: &str) -> Record {
        let stat = FileStat { ino: 5, size: 6, mtime_ns: 7, ctime_ns: 8, mode: 0o100644 };
        Record {
            name: name.into(),
            kind: RecordKind::Link,
            flags: TRACKED | RECHECK,
            stat,
            id: ObjectId::empty_blob(HashKind::Sha1),
        }
    }

    fn sample() -> StatCache {
        let mut writer = StatCacheWriter::new(HashKind::Sha1, None);
        let put = |writer: &mut StatCacheWriter, name: &str| {
            let r = record(name);
            writer.file(r.name.as_ref(), r.kind, r.flags, &r.stat, &r.id);
        };
        let top = writer.begin_dir("".into(), DirStat { ino: 1, mtime_ns: 2, ctime_ns: 3 });
        put(&mut writer, "b");
        put(&mut writer, "file");
        let a = writer.begin_dir("a".into(), DirStat::default());
        put(&mut writer, "x");
        let deep = writer.begin_dir("a/d".into(), DirStat::default());
        writer.end_dir(deep, None);
        writer.end_dir(a, Some(&ObjectId::empty_tree(HashKind::Sha1)));
        let dash = writer.begin_dir("a-b".into(), DirStat::default());
        writer.end_dir(dash, None);
        writer.end_dir(top, None);
        writer.finish(&header(), 42)
    }

    #[test]
    fn what_was_written_is_read_back() {
        let cache = StatCache::from_bytes(sample().bytes().to_vec(), HashKind::Sha1, 42).unwrap();

        assert_eq!(cache.header().unwrap(), header());
        assert_eq!(cache.dir_count(), 4);
        assert_eq!(cache.dir(0).stat(), DirStat { ino: 1, mtime_ns: 2, ctime_ns: 3 });
        assert_eq!(cache.dir(0).children().map(|c| cache.dir(c).path().to_string()).collect::<Vec<_>>(), ["a", "a-b"]);
        assert_eq!(cache.dir(0).file(1).to_record(), record("file"));
        assert_eq!(cache.dir(0).find_file("file".into()), Some(1));
        assert_eq!(cache.dir(0).find_file("c".into()), None);
        assert_eq!(cache.dir(1).tree(), Some(ObjectId::empty_tree(HashKind::Sha1)));
        assert_eq!(cache.dir(2).tree(), None);
        assert_eq!(cache.dir(2).name(), "d");
        for path in ["", "a", "a/d", "a-b"] {
            assert_eq!(cache.find_dir(path.into()).map(|i| cache.dir(i).path().to_string()), Some(path.to_string()));
        }
        assert_eq!(cache.find_dir("a/c".into()), None);
    }

    #[test]
    fn a_replaced_header_is_read_back_whole() {
        let mut cache = sample();
        for replaced in [
            Header { index_tree: Some(ObjectId::empty_tree(HashKind::Sha1)), intent_to_add: vec!["later".into()], ..header() },
            Header { index_tree: None, intent_to_add: Vec::new(), stamp_ns: 78, ..header() },
        ] {
            cache.set_header(&replaced, 42);

            let read = StatCache::from_bytes(cache.bytes().to_vec(), HashKind::Sha1, 42).unwrap();
            assert_eq!(read.header().unwrap(), replaced);
            assert_eq!(read.dir(0).find_file("file".into()), Some(1));
        }
    }

    #[test]
    fn files_can_be_copied_from_another_cache() {
        let old = sample();
        let mut writer = StatCacheWriter::new(HashKind::Sha1, Some(&old));
        let top = writer.begin_dir("".into(), DirStat::default());
        writer.copy_files(old.dir(0));
        writer.end_dir(top, None);

        let new = writer.finish(&header(), 42);

        assert_eq!(new.dir(0).files().map(FileRef::to_record).collect::<Vec<_>>(), [record("b"), record("file")]);
    }

    #[test]
    fn a_cache_that_may_be_torn_is_not_used() {
        let mut bytes = sample().bytes().to_vec();
        *bytes.last_mut().unwrap() ^= 1;

        assert!(StatCache::from_bytes(bytes.clone(), HashKind::Sha1, 42).is_some(), "written since the system started");
        assert!(StatCache::from_bytes(bytes.clone(), HashKind::Sha1, 43).is_none(), "written before: the sum is checked");
        assert!(StatCache::from_bytes(bytes[..bytes.len() - 1].to_vec(), HashKind::Sha1, 42).is_none());
        assert!(StatCache::from_bytes(bytes, HashKind::Sha256, 42).is_none());
        assert!(StatCache::from_bytes(Vec::new(), HashKind::Sha1, 42).is_none());
    }
}
