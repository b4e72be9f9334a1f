//! One entry after the other: reading and writing.

use gix::bstr::{BStr, ByteSlice};
use gix::hash::Kind;
use gix::{ObjectId, oid};

use super::{HEADER_LEN, SIGNATURE, malformed};
use crate::git::GitError;

const STAT_LEN: usize = 40;
const ASSUME_UNCHANGED: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const NAME_LEN: u16 = 0x0fff;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
const DIRECTORY_MODE: u32 = 0o040_000;

/// The version of an index that has one of the supported forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// No extended flags.
    V2,
    /// Extended flags.
    V3,
    /// Extended flags and shared prefixes of paths.
    V4,
}

impl Version {
    fn number(self) -> u32 {
        match self {
            Version::V2 => 2,
            Version::V3 => 3,
            Version::V4 => 4,
        }
    }
}

/// The stat data of an entry: ten big-endian numbers, among them the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatData {
    bytes: [u8; STAT_LEN],
}

impl Default for StatData {
    fn default() -> Self {
        StatData { bytes: [0; STAT_LEN] }
    }
}

impl StatData {
    const MTIME_S: usize = 2;
    const MODE: usize = 6;
    const SIZE: usize = 9;

    /// What git would record of a file with this `stat(2)`. Numbers are cut to 32 bits, as git cuts them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the format keeps the low 32 bits")]
    pub fn of(stat: &rustix::fs::Stat) -> StatData {
        let fields = [
            stat.st_ctime as u32,
            stat.st_ctime_nsec as u32,
            stat.st_mtime as u32,
            stat.st_mtime_nsec as u32,
            stat.st_dev as u32,
            stat.st_ino as u32,
            0,
            stat.st_uid,
            stat.st_gid,
            stat.st_size as u32,
        ];
        StatData::from_fields(fields)
    }

    pub(super) fn from_fields(fields: [u32; 10]) -> StatData {
        let mut data = StatData::default();
        fields.iter().enumerate().for_each(|(place, value)| data.set(place, *value));
        data
    }

    fn get(&self, place: usize) -> u32 {
        number(&self.bytes[4 * place..])
    }

    fn set(&mut self, place: usize, value: u32) {
        self.bytes[4 * place..][..4].copy_from_slice(&value.to_be_bytes());
    }

    pub(super) fn with_mode(mut self, mode: u32) -> StatData {
        self.set(Self::MODE, mode);
        self
    }

    /// Makes git compare the file's content the next time (`read-cache.c:ce_smudge_racily_clean_entry`).
    pub(super) fn forget_size(&mut self) {
        self.set(Self::SIZE, 0);
    }
}

/// One entry.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) stat: StatData,
    pub(super) id: &'a [u8],
    pub(super) path: &'a BStr,
    flags: u16,
    extended: u16,
    /// All of it as it was read; empty if that depends on the entry before.
    raw: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(super) fn new(path: &'a BStr) -> Entry<'a> {
        Entry { stat: StatData::default(), id: &[], path, flags: 0, extended: 0, raw: &[] }
    }

    pub(super) fn id(&self) -> ObjectId {
        oid::try_from_bytes(self.id).map_or_else(|_| ObjectId::null(Kind::default()), ToOwned::to_owned)
    }

    pub(super) fn mode(&self) -> u32 {
        self.stat.get(StatData::MODE)
    }

    pub(super) fn stage(&self) -> u16 {
        (self.flags & STAGE) >> 12
    }

    pub(super) fn is_directory(&self) -> bool {
        self.mode() == DIRECTORY_MODE
    }

    /// True if `other` says the same, apart from stat data.
    pub(super) fn is_same_content(&self, other: &Entry<'_>) -> bool {
        let content = |entry: &Entry<'_>| (entry.mode(), entry.flags, entry.extended);
        self.path == other.path && self.id == other.id && content(self) == content(other)
    }

    pub(super) fn is_skip_worktree(&self) -> bool {
        self.extended & SKIP_WORKTREE != 0
    }

    pub(super) fn is_assume_unchanged(&self) -> bool {
        self.flags & ASSUME_UNCHANGED != 0
    }

    /// True if a flag says something of its path that its content does not.
    pub(super) fn is_marked(&self) -> bool {
        self.is_assume_unchanged() || self.extended & (SKIP_WORKTREE | INTENT_TO_ADD) != 0
    }

    pub(super) fn set_intent_to_add(&mut self, on: bool) {
        self.extended = if on { self.extended | INTENT_TO_ADD } else { self.extended & !INTENT_TO_ADD };
    }

    pub(super) fn set_skip_worktree(&mut self, on: bool) {
        self.extended = if on { self.extended | SKIP_WORKTREE } else { self.extended & !SKIP_WORKTREE };
    }

    pub(super) fn set_assume_unchanged(&mut self, on: bool) {
        self.flags = if on { self.flags | ASSUME_UNCHANGED } else { self.flags & !ASSUME_UNCHANGED };
    }

    pub(super) fn set_stage(&mut self, stage: u16) {
        self.flags = (self.flags & !STAGE) | ((stage << 12) & STAGE);
    }

    /// True if the file was changed in the second that the index was written in, or later.
    pub(super) fn is_as_young_as(&self, index_modified_s: i64) -> bool {
        let is_file = self.mode() & 0o170_000 == 0o100_000 || self.mode() & 0o170_000 == 0o120_000;
        let seconds = self.stat.get(StatData::MTIME_S);
        is_file && seconds != 0 && i64::from(seconds) >= index_modified_s
    }
}

/// Reads entries in order. Paths live until the next entry is read.
pub(super) struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    left: u32,
    version: Version,
    hash_len: usize,
    path: Vec<u8>,
}

impl<'a> Entries<'a> {
    pub(super) fn read(bytes: &'a [u8], hash: Kind) -> Result<Entries<'a>, GitError> {
        let hash_len = hash.len_in_bytes();
        if bytes.len() < HEADER_LEN + hash_len || &bytes[..4] != SIGNATURE {
            return Err(malformed("it does not begin as an index"));
        }
        let version = match number(&bytes[4..]) {
            2 => Version::V2,
            3 => Version::V3,
            4 => Version::V4,
            other => return Err(malformed(&format!("version {other}"))),
        };
        let (left, end) = (number(&bytes[8..]), bytes.len() - hash_len);
        Ok(Entries { bytes, at: HEADER_LEN, end, left, version, hash_len, path: Vec::new() })
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// The next entry, none after the last.
    pub(super) fn next(&mut self) -> Result<Option<Entry<'_>>, GitError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let start = self.at;
        let bytes = self.bytes;
        let mut stat = StatData::default();
        stat.bytes.copy_from_slice(self.take(STAT_LEN)?);
        let hash_len = self.hash_len;
        let id = self.take(hash_len)?;
        let all_flags = short(self.take(2)?);
        let extended = if all_flags & EXTENDED != 0 && self.version != Version::V2 { short(self.take(2)?) } else { 0 };
        let flags = all_flags & (ASSUME_UNCHANGED | STAGE);
        if self.version == Version::V4 {
            self.take_rest_of_path()?;
            return Ok(Some(Entry { stat, id, path: self.path.as_bstr(), flags, extended, raw: &[] }));
        }
        let path = match all_flags & NAME_LEN {
            NAME_LEN => self.take_to_zero()?,
            len => self.take(usize::from(len))?,
        };
        self.at = start + padded(self.at - start);
        let raw = bytes[..self.end].get(start..self.at).ok_or_else(|| malformed("it is cut off"))?;
        Ok(Some(Entry { stat, id, path: path.as_bstr(), flags, extended, raw }))
    }

    /// A path of version 4: how much of the one before it goes, and what comes in its place.
    fn take_rest_of_path(&mut self) -> Result<(), GitError> {
        let strip = self.take_varint()?;
        let kept = self.path.len().checked_sub(strip).ok_or_else(|| malformed("a path takes back more than there is"))?;
        let name = self.take_to_zero()?;
        self.path.truncate(kept);
        self.path.extend_from_slice(name);
        self.at += 1;
        Ok(())
    }

    /// What there is before the next zero byte.
    fn take_to_zero(&mut self) -> Result<&'a [u8], GitError> {
        let len = self.bytes[self.at..self.end].find_byte(0).ok_or_else(|| malformed("a path does not end"))?;
        self.take(len)
    }

    /// What follows the entries: the extensions, without the trailing hash. Only after the last entry.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..self.end]
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], GitError> {
        let bytes = self.bytes[..self.end].get(self.at..self.at + len).ok_or_else(|| malformed("it is cut off"))?;
        self.at += len;
        Ok(bytes)
    }

    /// A number as `varint.c` encodes it: seven bits at a time, most significant first, each further byte adding one.
    fn take_varint(&mut self) -> Result<usize, GitError> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = self.take(1)?[0];
            if value > usize::MAX >> 8 {
                return Err(malformed("a number is too large"));
            }
            value = ((value + 1) << 7) + usize::from(byte & 127);
        }
        Ok(value)
    }
}

/// Writes entries, which must come in order.
pub(super) struct Writer {
    out: Vec<u8>,
    version: Version,
    hash: Kind,
    count: u32,
    has_extended: bool,
    last_path: Vec<u8>,
}

impl Writer {
    pub(super) fn new(version: Version, hash: Kind, expected_len: usize) -> Writer {
        let mut out = Vec::with_capacity(expected_len + 4096);
        out.extend_from_slice(SIGNATURE);
        out.extend_from_slice(&[0; 8]);
        Writer { out, version, hash, count: 0, has_extended: false, last_path: Vec::new() }
    }

    pub(super) fn push(&mut self, entry: &Entry<'_>) {
        let start = self.out.len();
        self.count += 1;
        self.out.extend_from_slice(&entry.stat.bytes);
        self.out.extend_from_slice(entry.id);
        let name_len = u16::try_from(entry.path.len()).unwrap_or(NAME_LEN).min(NAME_LEN);
        let extended = if entry.extended == 0 { 0 } else { EXTENDED };
        self.out.extend_from_slice(&(entry.flags | extended | name_len).to_be_bytes());
        if extended != 0 {
            self.has_extended = true;
            self.out.extend_from_slice(&entry.extended.to_be_bytes());
        }
        if self.version == Version::V4 {
            let common = entry.path.iter().zip(&self.last_path).take_while(|(a, b)| a == b).count();
            push_varint(&mut self.out, self.last_path.len() - common);
            self.out.extend_from_slice(&entry.path[common..]);
            self.out.push(0);
            self.last_path.clear();
            self.last_path.extend_from_slice(entry.path);
        } else {
            self.out.extend_from_slice(entry.path);
            let len = self.out.len() - start;
            self.out.resize(start + padded(len), 0);
        }
    }

    /// Writes an entry that was read and not changed.
    pub(super) fn copy(&mut self, entry: &Entry<'_>) {
        if self.version == Version::V4 || entry.raw.is_empty() {
            return self.push(entry);
        }
        self.count += 1;
        self.has_extended |= entry.extended != 0;
        self.out.extend_from_slice(entry.raw);
    }

    /// The whole index: entries, `extensions`, and the trailing hash or zeros in its place.
    pub(super) fn finish(mut self, extensions: &[u8], hashed: bool) -> Result<Vec<u8>, GitError> {
        let version = match (self.version, self.has_extended) {
            (Version::V2, true) => Version::V3,
            (version, _) => version,
        };
        self.out[4..8].copy_from_slice(&version.number().to_be_bytes());
        self.out[8..12].copy_from_slice(&self.count.to_be_bytes());
        self.out.extend_from_slice(extensions);
        let trailer = if hashed {
            let mut hasher = gix::hash::hasher(self.hash);
            hasher.update(&self.out);
            hasher.try_finalize().map_err(|source| GitError::other("hash the index", source))?
        } else {
            ObjectId::null(self.hash)
        };
        self.out.extend_from_slice(trailer.as_slice());
        Ok(self.out)
    }
}

/// Entries of versions 2 and 3 end in one to eight zeros so that the next begins at a multiple of eight.
fn padded(len: usize) -> usize {
    (len + 8) & !7
}

fn push_varint(out: &mut Vec<u8>, mut value: usize) {
    let mut bytes = vec![low_bits(value)];
    while value >> 7 != 0 {
        value = (value >> 7) - 1;
        bytes.push(128 | low_bits(value));
    }
    out.extend(bytes.iter().rev());
}

fn low_bits(value: usize) -> u8 {
    u8::try_from(value & 127).unwrap_or_default()
}

pub(super) fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn short(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_prefixes_are_read_back_as_written() {
        for value in [0, 1, 127, 128, 129, 16_511, 16_512, 2_113_663, 2_113_664] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, value);
            let end = bytes.len();
            let mut entries =
                Entries { bytes: &bytes, at: 0, end, left: 0, version: Version::V4, hash_len: 20, path: Vec::new() };
            assert_eq!(entries.take_varint().unwrap(), value);
            assert_eq!(entries.at, end, "{value}");
        }
    }
}
