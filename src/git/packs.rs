//! A fast way to objects in packs, for work that reads very many of them.
//!
//! It differs from the general reader of `gix` in what it takes for granted: a whole object is inflated at once into a buffer of
//! known size, and what was read is kept, as the other version of a file is most often its delta or its base
//! (gitformat-pack(5)). Whatever is out of the ordinary here, a loose object or a damaged one, is left to the general reader:
//! the answer is then none.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use flate2::read::ZlibDecoder;
use gix::objs::Kind;
use gix::odb::pack::{data, index};
use gix::oid;
use libdeflater::Decompressor;

/// The packs of a repository; shared by all threads.
#[derive(Default)]
pub(super) struct PackList(OnceLock<Option<Vec<Pack>>>);

struct Pack {
    index: index::File,
    /// None if it cannot be read.
    data: OnceLock<Option<data::File>>,
}

/// With more packs than this, looking through them one by one does not pay.
const MOST_PACKS: usize = 50;
/// Larger objects are left to the general reader.
const LARGEST: usize = 64 << 20;

impl PackList {
    fn get(&self, repo: &gix::Repository) -> Option<&[Pack]> {
        self.0.get_or_init(|| open(repo)).as_deref()
    }

    /// The size in bytes and the content of the blob `id`, if a pack has it whole.
    pub(super) fn blob_stream<'s>(&'s self, repo: &gix::Repository, id: &oid) -> Option<(u64, impl Read + use<'s>)> {
        let (pack, offset) = self.get(repo)?.iter().find_map(|pack| Some((pack, pack.offset(id)?)))?;
        let data = pack.data()?;
        let entry = data.entry(offset).ok().filter(|entry| entry.header.as_kind() == Some(Kind::Blob))?;
        let compressed = data.entry_slice(entry.data_offset..data.pack_end() as u64)?;
        Some((entry.decompressed_size, ZlibDecoder::new(compressed)))
    }

    /// True if a pack has the object `id`; none if only the general reader can tell.
    pub(super) fn contains(&self, repo: &gix::Repository, id: &oid) -> Option<bool> {
        Some(self.get(repo)?.iter().any(|pack| pack.index.lookup(id).is_some()))
    }
}

/// Opens the indices of all packs; none if objects are replaced by others (git-replace(1)) or there are too many packs.
fn open(repo: &gix::Repository) -> Option<Vec<Pack>> {
    let store = repo.objects.store_ref();
    if store.replacements().next().is_some() {
        return None;
    }
    let mut packs = Vec::new();
    for dir in std::iter::once(store.path().to_owned()).chain(store.alternate_db_paths().ok()?) {
        for entry in std::fs::read_dir(dir.join("pack")).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "idx") {
                packs.push(Pack { index: index::File::at(&path, repo.object_hash()).ok()?, data: OnceLock::new() });
            }
        }
    }
    (packs.len() <= MOST_PACKS).then_some(packs)
}

impl Pack {
    fn data(&self) -> Option<&data::File> {
        let open = |index: &Path| data::File::at(index.with_extension("pack"), self.index.object_hash()).ok();
        self.data.get_or_init(|| open(self.index.path())).as_ref()
    }
}

/// An object as it was read.
pub(super) type Found = (Kind, Arc<Vec<u8>>);

/// Reads objects from packs, for one thread.
pub(super) struct PackReader {
    decompressor: Decompressor,
    /// What was read, by pack and offset.
    kept: HashMap<(usize, u64), Found>,
    kept_bytes: usize,
    /// Where the last object was found.
    last_pack: usize,
}

/// So many bytes of objects are kept. The versions of a file are read one after the other, so there need not be many; new
/// memory costs more than it is worth.
const MOST_KEPT: usize = 6 << 20;

impl PackReader {
    pub(super) fn new() -> Self {
        PackReader { decompressor: Decompressor::new(), kept: HashMap::new(), kept_bytes: 0, last_pack: 0 }
    }

    /// The object `id`, if it is in one of the packs and nothing is unusual about it.
    pub(super) fn read(&mut self, list: &PackList, repo: &gix::Repository, id: &oid) -> Option<Found> {
        let packs = list.get(repo)?;
        let order = (self.last_pack..packs.len()).chain(0..self.last_pack);
        let (number, offset) = order.into_iter().find_map(|number| Some((number, packs.get(number)?.offset(id)?)))?;
        self.last_pack = number;
        self.decode(number, &packs[number], offset)
    }

    /// Inflates the object at `offset`. A delta is applied to its base, which may be one itself.
    fn decode(&mut self, number: usize, pack: &Pack, offset: u64) -> Option<Found> {
        let data = pack.data()?;
        let mut deltas = Vec::new();
        let mut at = offset;
        let (kind, mut content) = loop {
            if let Some(found) = self.kept.get(&(number, at)) {
                break found.clone();
            }
            let entry = data.entry(at).ok()?;
            if let Some(kind) = entry.header.as_kind() {
                let found = (kind, Arc::new(self.inflate(data, &entry)?));
                self.keep(number, at, &found);
                break found;
            }
            let base = match entry.header {
                data::entry::Header::OfsDelta { base_distance } => entry.checked_base_pack_offset(base_distance)?,
                data::entry::Header::RefDelta { base_id } => pack.offset(&base_id)?,
                _ => return None,
            };
            // Offsets shrink or the chain is a circle; by name it may go either way, so its length is limited too.
            if deltas.len() > 4095 {
                return None;
            }
            deltas.push((at, entry));
            at = base;
        };
        while let Some((at, entry)) = deltas.pop() {
            let delta = self.inflate(data, &entry)?;
            content = Arc::new(apply(&content, &delta)?);
            self.keep(number, at, &(kind, content.clone()));
        }
        Some((kind, content))
    }

    fn inflate(&mut self, data: &data::File, entry: &data::Entry) -> Option<Vec<u8>> {
        let size = usize::try_from(entry.decompressed_size).ok().filter(|&size| size <= LARGEST)?;
        let mut out = vec![0; size];
        let compressed = data.entry_slice(entry.data_offset..data.pack_end() as u64)?;
        let written = self.decompressor.zlib_decompress(compressed, &mut out).ok()?;
        (written == size).then_some(out)
    }

    fn keep(&mut self, number: usize, offset: u64, found: &Found) {
        let size = found.1.len();
        if size > MOST_KEPT / 4 {
            return;
        }
        if self.kept_bytes + size > MOST_KEPT {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += size;
        self.kept.insert((number, offset), found.clone());
    }
}

impl Pack {
    fn offset(&self, id: &oid) -> Option<u64> {
        self.index.lookup(id).map(|at| self.index.pack_offset_at_index(at))
    }
}

/// Applies a delta: sizes of base and result, then instructions that copy from the base or bring their own bytes.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    if take_size(&mut rest)? != base.len() {
        return None;
    }
    let size = take_size(&mut rest).filter(|&size| size <= LARGEST)?;
    let mut out = Vec::with_capacity(size);
    while let Some((&instruction, after)) = rest.split_first() {
        rest = after;
        if instruction & 0x80 == 0 {
            // Zero is reserved.
            let (bytes, after) = rest.split_at_checked(usize::from(instruction)).filter(|(bytes, _)| !bytes.is_empty())?;
            out.extend_from_slice(bytes);
            rest = after;
            continue;
        }
        let mut number = |bits: std::ops::Range<u32>| {
            let mut value = 0;
            for (place, bit) in bits.enumerate() {
                if instruction >> bit & 1 == 1 {
                    let (&byte, after) = rest.split_first()?;
                    value |= usize::from(byte) << (8 * place);
                    rest = after;
                }
            }
            Some(value)
        };
        let start = number(0..4)?;
        let length = match number(4..7)? {
            0 => 0x10000,
            length => length,
        };
        out.extend_from_slice(base.get(start..start.checked_add(length)?)?);
    }
    (out.len() == size).then_some(out)
}

/// A size in seven bits a byte, the lowest first.
fn take_size(rest: &mut &[u8]) -> Option<usize> {
    let mut size = 0;
    for place in 0..9 {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        size |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Objects;
    use crate::git::diff::testing::{Dice, TwoCommits, write};
    use crate::ops::testing::git;

    #[test]
    fn a_delta_copies_and_inserts() {
        // 5 bytes become 9: copy 3 from 1, insert "xy", copy 4 from 0.
        let delta = [5, 9, 0x91, 1, 3, 2, b'x', b'y', 0x90, 4];
        assert_eq!(apply(b"abcde", &delta).unwrap(), b"bcdxyabcd");
        for (base, delta) in [
            (&b"abcd"[..], &delta[..]),
            (b"abcde", &delta[..8]),
            (b"abcde", &[5, 9, 0x91, 4, 3]),
            (b"abcde", &[5, 1, 0]),
            (b"abcde", &[5]),
            (b"abcde", &[0x80; 12]),
        ] {
            assert_eq!(apply(base, delta), None, "{delta:?}");
        }
    }

    #[test]
    fn every_object_of_a_pack_reads_as_git_reads_it() {
        let mut dice = Dice::new(3);
        let file = dice.lines(300);
        let edited = dice.edited(&file, 4);
        let commits = TwoCommits::new(
            |folder| (0..20).for_each(|n| write(folder, &format!("f{n}"), dice.bytes(&file[n..]))),
            |folder| write(folder, "f0", edited.join("\n")),
        );
        let path = commits.folder.path();
        git(path, &["repack", "-adq", "--depth=50", "--window=50"]);
        let repo = commits.repo.gix();
        let (list, mut reader) = (PackList::default(), PackReader::new());
        let ids = git(path, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(deltabase)"]);
        assert!(ids.lines().filter(|line| !line.ends_with("00000000")).count() > 5, "no deltas: {ids}");

        for line in ids.lines() {
            let id: gix::ObjectId = line.split(' ').next().unwrap().parse().unwrap();
            let (kind, data) = reader.read(&list, &repo, &id).unwrap();

            let mut expected = Vec::new();
            let expected_kind = gix::objs::Find::try_find(&repo.objects, &id, &mut expected).unwrap().unwrap().kind;
            assert_eq!((kind, &*data), (expected_kind, &expected), "{id}");
        }
    }

    #[test]
    fn loose_and_damaged_objects_are_left_to_the_general_reader() {
        let commits = TwoCommits::of_file(b"one\n", b"two\n");
        let path = commits.folder.path();
        let id: gix::ObjectId = git(path, &["rev-parse", "new:file"]).parse().unwrap();
        let read = || PackReader::new().read(&PackList::default(), &commits.repo.gix(), &id);
        assert!(read().is_none());

        git(path, &["repack", "-adq"]);
        assert!(read().is_some());
        let pack = std::fs::read_dir(path.join(".git/objects/pack")).unwrap().flatten().map(|entry| entry.path());
        let pack = pack.into_iter().find(|path| path.extension().is_some_and(|e| e == "pack")).unwrap();
        let mut bytes = std::fs::read(&pack).unwrap();
        let end = bytes.len() - 20;
        bytes[12..end].fill(0x5a);
        git(path, &["config", "core.bare", "false"]);
        std::fs::remove_file(&pack).unwrap();
        std::fs::write(&pack, bytes).unwrap();

        assert!(read().is_none());
        let objects = Objects::new(commits.repo.gix(), Default::default());
        assert!(objects.read(&id, &mut Vec::new()).is_err());
    }
}
