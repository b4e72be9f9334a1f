//! Packs of whole objects with their index (gitformat-pack(5)), without deltas: made in one go, two files however many
//! objects.

use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::Crc;
use gix::ObjectId;
use gix::objs::Kind;

use super::folder::ObjectFolder;
use super::loose::{TempFile, persist, sync_directory};
use crate::git::GitError;
use crate::sys::sharing::Sharing;

/// An object on its way into a pack.
pub(super) struct Packed {
    pub(super) id: ObjectId,
    pub(super) kind: Kind,
    /// Size of the content in bytes before compression.
    pub(super) size: u64,
    /// The content as a zlib stream.
    pub(super) deflated: Vec<u8>,
}

/// Where an object went, for the pack's index.
struct Placed {
    id: ObjectId,
    crc: u32,
    offset: u64,
}

/// How the mark begins that is on a pack which `git repack` and `git gc` must not drop yet (git-repack(1), `.keep`), because nothing
/// refers to it so far. The number of the process follows.
const MARK: &[u8] = b"git-checkpoint";

/// Writes `entries` as one pack with its index into `<objects>/pack`; both are on disk when it returns. Returns the name of the
/// two files. The pack is marked to be kept; [`release`] takes the mark away once a ref holds its objects.
pub(super) fn write(objects: &ObjectFolder, entries: &[Packed]) -> Result<String, GitError> {
    persist(|| write_once(&objects.path.join("pack"), objects.hash, objects.sharing, entries))
}

fn write_once(directory: &Path, hash: gix::hash::Kind, sharing: Sharing, entries: &[Packed]) -> Result<String, GitError> {
    let mut temp = TempFile::create(sharing, directory, "tmp_pack_")?;
    let failed = |source| GitError::io("write a pack to", directory, source);
    let mut out = Hashed { out: BufWriter::with_capacity(1 << 18, &temp.file), hasher: gix::hash::hasher(hash), written: 0 };
    let count = u32::try_from(entries.len()).map_err(|source| GitError::other("count the objects of a pack", source))?;
    out.put(b"PACK\0\0\0\x02").and_then(|()| out.put(&count.to_be_bytes())).map_err(failed)?;
    let mut placed = Vec::with_capacity(entries.len());
    for entry in entries {
        let offset = out.written;
        let header = entry_header(entry.kind, entry.size);
        let mut crc = Crc::new();
        crc.update(&header);
        crc.update(&entry.deflated);
        out.put(&header).and_then(|()| out.put(&entry.deflated)).map_err(failed)?;
        placed.push(Placed { id: entry.id, crc: crc.sum(), offset });
    }
    let trailer = out.finish().map_err(failed)?;
    let mut index = TempFile::create(sharing, directory, "tmp_idx_")?;
    write_index(&index, hash, placed, &trailer).map_err(failed)?;
    // A reader takes a pack to be there when its index is, so the index comes last (`builtin/pack-objects.c`).
    let name = format!("pack-{trailer}");
    let mark = directory.join(&name).with_extension("keep");
    let content = [MARK, format!(" {}\n", std::process::id()).as_bytes()].concat();
    sharing.write(&mark, &content).map_err(|source| GitError::io("write", &mark, source))?;
    temp.keep_as(&directory.join(&name).with_extension("pack"))?;
    index.keep_as(&directory.join(&name).with_extension("idx"))?;
    sync_directory(directory)?;
    Ok(name)
}

/// Takes the mark from the pack `name`, unless somebody else put it there.
pub(super) fn release(objects: &Path, name: &str) {
    let mark = objects.join("pack").join(name).with_extension("keep");
    if is_ours(&mark) {
        let _ = std::fs::remove_file(mark);
    }
}

/// True if a mark is one of ours; also if it is empty and there is no pack: its process died before it could write its name into it.
fn is_ours(mark: &Path) -> bool {
    let is_alone = || !mark.with_extension("pack").exists() && !mark.with_extension("idx").exists();
    std::fs::read(mark).is_ok_and(|content| content.starts_with(MARK) || (content.is_empty() && is_alone()))
}

/// The marks of ours on no pack: what processes left that died over them.
pub(crate) fn marks_without_pack(objects: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten().map(|entry| entry.path());
    let marks = entries.filter(|path| path.extension().is_some_and(|extension| extension == "keep"));
    marks.filter(|mark| !mark.with_extension("pack").exists() && is_ours(mark)).collect()
}

/// Takes the marks away that a process left which died, made at or after `since_ns`, with the packs that have no index yet.
pub(crate) fn release_of_dead(objects: &Path, pid: u32, since_ns: i64) {
    let content = [MARK, format!(" {pid}\n").as_bytes()].concat();
    let is_of_it = |mark: &Path| {
        let made = mark.metadata().map(|meta| meta.mtime() * 1_000_000_000 + meta.mtime_nsec());
        // The clock of a file system may be a tick behind.
        made.is_ok_and(|made_ns| made_ns + TICK_NS >= since_ns) && std::fs::read(mark).is_ok_and(|found| found == content)
    };
    abandon(objects, is_of_it);
}

/// The longest tick of a file system's clock that is reckoned with.
const TICK_NS: i64 = 10_000_000;

/// Takes marks away, and with each the pack if it has no index: its process died before it was whole.
fn abandon(objects: &Path, is_left: impl Fn(&Path) -> bool) {
    for entry in std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
        let mark = entry.path();
        if mark.extension().is_some_and(|extension| extension == "keep")
            && is_left(&mark)
            && let Some(name) = mark.file_stem().and_then(|name| name.to_str())
        {
            if !mark.with_extension("idx").exists() && std::fs::read(&mark).is_ok_and(|content| content.starts_with(MARK)) {
                let _ = std::fs::remove_file(mark.with_extension("pack"));
            }
            release(objects, name);
        }
    }
}

/// Takes the marks away that processes left which died before they had a ref.
pub(super) fn release_old(objects: &Path) {
    let age = |mark: &Path| mark.metadata().ok()?.modified().ok()?.elapsed().ok();
    abandon(objects, |mark| age(mark).is_some_and(|age| age > OLD));
}

/// No capture takes so long from its objects to its ref.
const OLD: std::time::Duration = std::time::Duration::from_secs(3600);

/// Type and size of an entry: four bits of size in the first byte, then seven a byte, least significant first.
fn entry_header(kind: Kind, size: u64) -> Vec<u8> {
    let kind: u8 = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut rest = size >> 4;
    let mut header = vec![(kind << 4) | (size & 0x0f) as u8];
    while rest > 0 {
        *header.last_mut().expect("the header has a first byte") |= 0x80;
        header.push((rest & 0x7f) as u8);
        rest >>= 7;
    }
    header
}

fn write_index(temp: &TempFile, hash: gix::hash::Kind, mut placed: Vec<Placed>, pack: &ObjectId) -> std::io::Result<()> {
    placed.sort_unstable_by_key(|entry| entry.id);
    let mut out = Hashed { out: BufWriter::with_capacity(1 << 18, &temp.file), hasher: gix::hash::hasher(hash), written: 0 };
    out.put(b"\xfftOc\0\0\0\x02")?;
    for first in 0..=255u8 {
        let below = placed.partition_point(|entry| entry.id.as_bytes()[0] <= first) as u32;
        out.put(&below.to_be_bytes())?;
    }
    for entry in &placed {
        out.put(entry.id.as_bytes())?;
    }
    for entry in &placed {
        out.put(&entry.crc.to_be_bytes())?;
    }
    let mut far = Vec::new();
    for entry in &placed {
        let near = match u32::try_from(entry.offset) {
            Ok(offset) if offset < 1 << 31 => offset,
            _ => {
                far.push(entry.offset);
                (1 << 31) | (far.len() - 1) as u32
            }
        };
        out.put(&near.to_be_bytes())?;
    }
    for offset in far {
        out.put(&offset.to_be_bytes())?;
    }
    out.put(pack.as_bytes())?;
    out.finish().map(|_| ())
}

struct Hashed<W: Write> {
    out: W,
    hasher: gix::hash::Hasher,
    written: u64,
}

impl<W: Write> Hashed<W> {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.update(bytes);
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Appends the hash of all that was written.
    fn finish(mut self) -> std::io::Result<ObjectId> {
        let trailer = self.hasher.try_finalize().map_err(std::io::Error::other)?;
        self.out.write_all(trailer.as_bytes())?;
        self.out.flush()?;
        Ok(trailer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_an_entry_holds_its_type_and_size() {
        assert_eq!(entry_header(Kind::Blob, 5), [0x35]);
        assert_eq!(entry_header(Kind::Tree, 16), [0xa0, 0x01]);
        assert_eq!(entry_header(Kind::Commit, 0x1234), [0x94, 0xa3, 0x02]);
    }
}
