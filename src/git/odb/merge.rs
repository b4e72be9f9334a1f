//! Puts small packs and loose objects together, so that they do not pile up.
//!
//! What git has open stays readable, and what it looks for next it finds in the new pack: a pack that vanished makes it look at
//! the folder again (`packfile.c:reprepare_packed_git`). A `git gc` that runs meanwhile drops only packs that it knew when it
//! began. So nothing that is needed is ever without a pack, and no lock is needed but one between programs like this.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use gix::ObjectId;
use gix::odb::pack::{data, index, multi_index};

use super::folder::ObjectFolder;
use super::loose::{self, sync_directory};
use super::pack::{self, Packed};
use super::sink::Packer;
use crate::git::GitError;

/// A pack above this size in bytes stays as it is: rewriting it would cost more than it brings.
const LARGEST: u64 = 16 << 20;

/// What became of packs and objects that were to be put together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The new pack, if there was more than one to make it from.
    pub(crate) pack: Option<String>,
    /// What is gone, or is better left alone.
    pub(crate) done: Vec<String>,
}

/// Puts `names` together: packs in `<objects>/pack`, and loose objects by their ids. Packs that a multi-pack-index refers to
/// are left to git.
pub(crate) fn merge(folder: &ObjectFolder, names: &[String]) -> Result<Merged, GitError> {
    let (objects, hash) = (folder.path.as_path(), folder.hash);
    let directory = objects.join("pack");
    if directory.join("multi-pack-index.d").exists() {
        return Ok(Merged::default());
    }
    pack::release_old(objects);
    drop_broken_index(&directory);
    let indexed = indexed_packs(&directory);
    let (mut entries, mut seen, mut sources) = (Vec::new(), HashSet::new(), Vec::new());
    for name in names {
        let found = match ObjectId::from_hex(name.as_bytes()) {
            Ok(id) => loose_object(objects, id).map(|object| vec![object]),
            Err(_) if indexed.contains(name) => None,
            Err(_) => read(&directory.join(name), hash),
        };
        if let Some(objects) = found {
            entries.extend(objects.into_iter().filter(|entry| seen.insert(entry.id)));
            sources.push(name);
        }
    }
    if sources.len() < 2 {
        let done = names.iter().filter(|name| !sources.contains(name)).cloned().collect();
        return Ok(Merged { pack: None, done });
    }
    let new = pack::write(folder, &entries)?;
    pack::release(objects, &new);
    if !holds_all(&directory.join(&new), hash, &seen) {
        return Err(GitError::other("put packs together", "the new pack does not hold what it should"));
    }
    for name in sources.into_iter().filter(|name| **name != new) {
        if let Ok(id) = ObjectId::from_hex(name.as_bytes()) {
            let _ = fs::remove_file(loose::path(objects, &id));
            continue;
        }
        // The index first: without it nobody opens the pack (`packfile.c:unlink_pack_path`).
        for extension in ["idx", "rev", "pack"] {
            let _ = fs::remove_file(with(&directory.join(name), extension));
        }
    }
    drop_broken_index(&directory);
    sync_directory(&directory)?;
    Ok(Merged { pack: Some(new), done: names.to_vec() })
}

/// The names of the packs that a multi-pack-index knows (gitformat-pack(5)): those are for git to put together.
fn indexed_packs(directory: &Path) -> HashSet<String> {
    let Ok(index) = multi_index::File::at(directory.join("multi-pack-index"), None) else { return HashSet::new() };
    let stem = |name: &PathBuf| Some(name.file_stem()?.to_str()?.to_owned());
    index.index_names().iter().filter_map(stem).collect()
}

/// Removes a multi-pack-index that knows packs which are gone, as git does when it removes packs
/// (`midx.c:clear_midx_file`): git was making it while they were put together, and would look for objects in them. What it
/// speeds up works without it.
pub(crate) fn drop_broken_index(directory: &Path) {
    let is_gone = |name: &String| !with(&directory.join(name), "pack").exists();
    if indexed_packs(directory).iter().any(is_gone) {
        let _ = fs::remove_file(directory.join("multi-pack-index"));
    }
}

/// The objects of a pack as they lie in it; none if it is gone, large, damaged, or not one of whole objects that nobody else
/// has a mark on.
fn read(path: &Path, hash: gix::hash::Kind) -> Option<Vec<Packed>> {
    let marked = ["keep", "promisor", "mtimes", "bitmap"].iter().any(|extension| with(path, extension).exists());
    if marked || with(path, "pack").metadata().ok()?.len() > LARGEST {
        return None;
    }
    let index = index::File::at(with(path, "idx"), hash).ok()?;
    let data = data::File::at(with(path, "pack"), hash).ok()?;
    let mut placed: Vec<index::Entry> = index.iter().collect();
    placed.sort_unstable_by_key(|entry| entry.pack_offset);
    let ends = placed.iter().skip(1).map(|entry| entry.pack_offset).chain([data.pack_end() as u64]);
    placed.iter().zip(ends).map(|(entry, end)| whole(&data, entry, end)).collect()
}

/// A loose object, if it is whole.
fn loose_object(objects: &Path, id: ObjectId) -> Option<Packed> {
    let file =
        fs::File::open(loose::path(objects, &id)).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.len() <= LARGEST))?;
    let mut bytes = Vec::new();
    ZlibDecoder::new(file).read_to_end(&mut bytes).ok()?;
    let (kind, size, header) = gix::objs::decode::loose_header(&bytes).ok()?;
    let content = bytes.get(header..).filter(|content| content.len() as u64 == size)?;
    let is_whole = gix::objs::compute_hash(id.kind(), kind, content).is_ok_and(|found| found == id);
    is_whole.then(|| Packer::new().entry(id, kind, content).ok()).flatten()
}

/// The object that lies between its offset and `end`, if it is no delta and its checksum is right.
fn whole(data: &data::File, entry: &index::Entry, end: u64) -> Option<Packed> {
    let bytes = data.entry_slice(entry.pack_offset..end)?;
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let header = data.entry(entry.pack_offset).ok()?;
    let content = usize::try_from(header.data_offset - entry.pack_offset).ok()?;
    (entry.crc32 == Some(crc.sum())).then_some(())?;
    let kind = header.header.as_kind()?;
    Some(Packed { id: entry.oid, kind, size: header.decompressed_size, deflated: bytes.get(content..)?.to_owned() })
}

fn holds_all(path: &Path, hash: gix::hash::Kind, ids: &HashSet<ObjectId>) -> bool {
    index::File::at(with(path, "idx"), hash).is_ok_and(|index| ids.iter().all(|id| index.lookup(id).is_some()))
}

fn with(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension)
}

#[cfg(test)]
mod tests {
    use gix::objs::Kind;

    use super::*;
    use crate::git::odb::{Keep, ObjectSink};
    use crate::git::testing::TestRepo;

    /// Writes a pack of blobs and returns its name.
    fn pack_of(repo: &TestRepo, letter: char) -> String {
        let contents: Vec<String> = (0..9).map(|n| format!("{letter}{n}").repeat(1 + n * 999)).collect();
        let names = written(repo, &contents.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(names.len(), 1);
        names[0].clone()
    }

    /// Writes blobs and returns what they went into.
    fn written(repo: &TestRepo, contents: &[&str]) -> Vec<String> {
        let repo = repo.open();
        let sink = ObjectSink::new(&repo, Keep::Objects);
        let mut writer = sink.writer(&repo.gix());
        for content in contents {
            writer.add(Kind::Blob, content.as_bytes()).unwrap();
        }
        drop(writer);
        sink.flush().unwrap();
        sink.written()
    }

    fn packs(repo: &TestRepo) -> Vec<String> {
        let listing = repo.path(".git/objects/pack").read_dir().unwrap().map(|item| item.unwrap().path());
        let packs = listing.filter(|path| path.extension().is_some_and(|extension| extension == "pack"));
        packs.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    fn merge_in(repo: &TestRepo, names: &[String]) -> Merged {
        merge(&ObjectFolder::of(&repo.open()), names).unwrap()
    }

    #[test]
    fn packs_become_one_with_all_their_objects() {
        let repo = TestRepo::new();
        let names = [pack_of(&repo, 'a'), pack_of(&repo, 'b'), pack_of(&repo, 'c')];
        let all = repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);

        let merged = merge_in(&repo, &names);

        assert_eq!(packs(&repo), [merged.pack.unwrap()]);
        assert_eq!(merged.done, names);
        assert_eq!(repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]), all);
        repo.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_others_have_a_mark_on_stays() {
        let repo = TestRepo::new();
        let names = [pack_of(&repo, 'a'), pack_of(&repo, 'b'), pack_of(&repo, 'c')];
        repo.write(&format!(".git/objects/pack/{}.keep", names[0]), "");
        repo.write(&format!(".git/objects/pack/{}.pack", "pack-gone"), "");

        let merged = merge_in(&repo, &[names[0].clone(), names[1].clone(), "pack-gone".into(), names[2].clone()]);
        assert!(packs(&repo).contains(&names[0]) && packs(&repo).contains(merged.pack.as_ref().unwrap()));
        assert!(!packs(&repo).contains(&names[1]));

        repo.git(&["multi-pack-index", "write"]);
        let others = [merged.pack.unwrap(), pack_of(&repo, 'd'), pack_of(&repo, 'e')];
        let merged = merge_in(&repo, &others);
        assert!(packs(&repo).contains(&others[0]) && !packs(&repo).contains(&others[1]));
        assert!(merged.pack.is_some() && repo.exists(".git/objects/pack/multi-pack-index"));

        std::fs::remove_file(repo.path(&format!(".git/objects/pack/{}.pack", others[0]))).unwrap();
        drop_broken_index(&repo.path(".git/objects/pack"));
        assert!(!repo.exists(".git/objects/pack/multi-pack-index"));
    }

    #[test]
    fn a_damaged_pack_is_left_alone() {
        let repo = TestRepo::new();
        let names = [pack_of(&repo, 'a'), pack_of(&repo, 'b')];
        let path = repo.path(&format!(".git/objects/pack/{}.pack", names[0]));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[14] ^= 1;
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();

        let merged = merge_in(&repo, &names);

        assert_eq!(merged, Merged { pack: None, done: vec![names[0].clone()] });
        assert_eq!(packs(&repo).len(), 2);
    }

    #[test]
    fn loose_objects_go_into_the_pack_and_damaged_ones_stay() {
        let repo = TestRepo::new();
        let mut names = written(&repo, &["one", "two", "three"]);
        names.push(pack_of(&repo, 'a'));
        let bad = written(&repo, &["bad"]).pop().unwrap();
        let all = repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
        let path = format!(".git/objects/{}/{}", &bad[..2], &bad[2..]);
        let good = std::fs::read(repo.path(&path)).unwrap();
        std::fs::remove_file(repo.path(&path)).unwrap();
        std::fs::write(repo.path(&path), "no object").unwrap();
        names.push(bad);

        let merged = merge_in(&repo, &names);

        assert_eq!((packs(&repo), merged.done), (vec![merged.pack.unwrap()], names));
        assert!(repo.git(&["count-objects"]).starts_with("1 objects"));
        std::fs::write(repo.path(&path), good).unwrap();
        assert_eq!(repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]), all);
        repo.git(&["fsck", "--strict"]);
    }
}
