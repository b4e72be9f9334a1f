//! Making a cache.

use gix::bstr::BStr;
use gix::hash::Kind as HashKind;
use gix::{ObjectId, oid};

use super::read::{DirRef, StatCache, u32_at};
use super::{DIR_LEN, DirStat, HEADER_LEN, Header, INDEX_RULES, KEEP_IF_ABSENT, MAGIC, RecordKind, UNMERGED};
use crate::git::fsmonitor::LONGEST_TOKEN;
use crate::git::stat::FileStat;

/// Builds a cache, directory by directory in pre-order.
pub(in crate::git::snapshot) struct StatCacheWriter {
    hash: HashKind,
    dirs: Vec<u8>,
    files: Vec<u8>,
    file_count: u32,
    names: Vec<u8>,
    current: usize,
    index_rules: bool,
}

impl StatCacheWriter {
    pub(in crate::git::snapshot) fn new(hash: HashKind, like: Option<&StatCache>) -> Self {
        let (dirs, files, names) = like.map_or((0, 0, 0), |cache| (cache.dirs.len(), cache.files.len(), cache.names.len()));
        StatCacheWriter {
            hash,
            dirs: Vec::with_capacity(dirs + 4096),
            files: Vec::with_capacity(files + 4096),
            file_count: 0,
            names: Vec::with_capacity(names + 4096),
            current: 0,
            index_rules: false,
        }
    }

    /// Begins the directory at `path`; the files that follow are in it. Returns its place.
    pub(in crate::git::snapshot) fn begin_dir(&mut self, path: &BStr, stat: DirStat) -> u32 {
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
    pub(in crate::git::snapshot) fn note_index_rules(&mut self) {
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
    pub(in crate::git::snapshot) fn file(&mut self, name: &BStr, kind: RecordKind, flags: u8, stat: &FileStat, id: &oid) {
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
    pub(in crate::git::snapshot) fn copy_files(&mut self, from: DirRef<'_>) {
        let cache = from.cache;
        let (first, count) = (from.u32(12) as usize, from.file_count());
        if count == 0 {
            return;
        }
        let start = first * cache.file_len();
        self.files.extend_from_slice(&cache.files[start..start + count as usize * cache.file_len()]);
        let last = from.file(count - 1);
        let names_from = from.u32(20) as usize;
        let names_to = names_from + u32_at(&cache.files, last.at) as usize + last.name().len();
        self.names.extend_from_slice(&cache.names[names_from..names_to]);
        self.count_files(count);
    }

    /// Ends the directory at place `index` after all that lie in it, and gives it its tree.
    pub(in crate::git::snapshot) fn end_dir(&mut self, index: u32, tree: Option<&oid>) {
        let at = index as usize * DIR_LEN;
        let end = (self.dirs.len() / DIR_LEN) as u32;
        self.dirs[at + 8..at + 12].copy_from_slice(&end.to_le_bytes());
        if let Some(tree) = tree {
            self.dirs[at + 56..at + 56 + tree.as_bytes().len()].copy_from_slice(tree.as_bytes());
        }
    }

    /// Puts the parts together.
    pub(in crate::git::snapshot) fn finish(self, header: &Header) -> StatCache {
        let StatCacheWriter { hash, dirs, files, file_count, names, index_rules, .. } = self;
        let mut start = vec![0; HEADER_LEN];
        start[..8].copy_from_slice(MAGIC);
        start[8] = hash.len_in_bytes() as u8;
        start[9] = if index_rules { INDEX_RULES } else { 0 };
        for (at, value) in [(12, (dirs.len() / DIR_LEN) as u32), (16, file_count), (20, names.len() as u32)] {
            start[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let mut cache = StatCache { hash, header: start, dirs, files, names, tail: Vec::new() };
        cache.put_header(header);
        cache
    }
}

impl StatCache {
    /// Gives the file with this number other flags.
    pub(in crate::git::snapshot) fn set_flags(&mut self, file: u32, flags: u8) {
        let at = file as usize * self.file_len();
        self.files[at + 7] = flags;
    }

    /// Replaces the header and seals the cache, so that it can be written.
    pub(in crate::git::snapshot) fn set_header(&mut self, header: &Header) {
        self.put_header(header);
        let sum = self.checksum();
        self.header[24..28].copy_from_slice(&sum.to_le_bytes());
    }

    /// Replaces the header whole, with the intent-to-add paths at the end.
    fn put_header(&mut self, header: &Header) {
        self.tail.clear();
        for path in &header.intent_to_add {
            self.tail.extend_from_slice(path);
            self.tail.push(0);
        }
        let b = &mut self.header;
        let unmerged = if header.index_tree.is_none() { UNMERGED } else { 0 };
        b[9] = (b[9] & INDEX_RULES) | unmerged;
        let mut put = |at: usize, value: &[u8]| b[at..at + value.len()].copy_from_slice(value);
        put(28, &(self.tail.len() as u32).to_le_bytes());
        put(32, &header.taken.boot.to_le_bytes());
        put(40, &header.taken.wall_ns.to_le_bytes());
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
        // Half a token would ask for something else.
        let token = Some(header.monitor.as_bytes()).filter(|token| token.len() <= LONGEST_TOKEN).unwrap_or_default();
        put(512, &[token.len() as u8]);
        put(513, token);
        put(496, &header.taken.up_ns.to_le_bytes());
    }
}
