//! Where the objects of one capture gather until they are written together.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gix::ObjectId;
use gix::objs::Kind;
use libdeflater::{CompressionLvl, Compressor};

use super::folder::ObjectFolder;
use super::loose;
use super::pack::{self, Packed};
use super::present::Present;
use crate::git::objects::Overlay;
use crate::git::{GitError, Repo};

/// At most this many objects are written as loose ones.
const MOST_LOOSE: usize = 4;
/// Objects above this size in bytes are compressed at once instead of waiting for the choice between loose and packed.
const RAW_LIMIT: usize = 1 << 18;
/// When this many compressed bytes have gathered they are written as a pack, to bound memory.
const GATHERED_LIMIT: usize = 64 << 20;

/// What becomes of a snapshot's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// They are written to the repository when the checkpoint is recorded.
    Objects,
    /// They stay in memory: the repository is not changed at all.
    Memory,
}

/// Gathers objects from several threads.
pub(crate) struct ObjectSink {
    keep: Keep,
    folder: ObjectFolder,
    present: Present,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    raw: Vec<(ObjectId, Kind, Vec<u8>)>,
    packed: Vec<Packed>,
    bytes: usize,
    known: HashSet<ObjectId>,
    overlay: Overlay,
    /// The names of packs and the ids of loose objects that were written.
    written: Vec<String>,
    /// The loose objects that were written.
    loose: Vec<(ObjectId, Kind, Vec<u8>)>,
}

impl ObjectSink {
    pub(crate) fn new(repo: &Repo, keep: Keep) -> ObjectSink {
        let folder = ObjectFolder::of(repo);
        ObjectSink { keep, present: Present::new(&folder.path, folder.hash), folder, state: Mutex::default() }
    }

    /// A way in for one thread.
    pub(crate) fn writer(&self, repo: &gix::Repository) -> ObjectWriter<'_> {
        let mut repo = repo.clone();
        // A new object is usually not there: looking at the disk again for each of them would cost more than writing it.
        repo.objects.refresh_never();
        ObjectWriter { sink: self, repo, packer: Packer::new() }
    }

    /// The objects that can be read from memory only: all of them with [`Keep::Memory`], else the trees.
    pub(crate) fn overlay(&self) -> Overlay {
        self.state().overlay.clone()
    }

    /// True if the object was made by this capture, which has looked whether it is there or is going to write it.
    pub(crate) fn has_made(&self, id: &ObjectId) -> bool {
        self.state().known.contains(id)
    }

    /// Writes what has gathered; it is on disk when this returns.
    pub(crate) fn flush(&self) -> Result<(), GitError> {
        if self.keep == Keep::Memory {
            return Ok(());
        }
        let (raw, packed) = {
            let mut state = self.state();
            (std::mem::take(&mut state.raw), std::mem::take(&mut state.packed))
        };
        if packed.is_empty() && raw.len() <= MOST_LOOSE {
            raw.iter().try_for_each(|(id, kind, data)| loose::write(&self.folder, id, *kind, data))?;
            let mut state = self.state();
            state.written.extend(raw.iter().map(|(id, ..)| id.to_string()));
            state.loose = raw;
            return Ok(());
        }
        let mut packer = Packer::new();
        let raw = raw.into_iter().map(|(id, kind, data)| packer.entry(id, kind, &data));
        let raw = raw.collect::<Result<Vec<_>, _>>()?;
        self.write_pack(&raw.into_iter().chain(packed).collect::<Vec<_>>())
    }

    /// To be called when a ref holds the objects: until then a `git gc` may take a pack or an object for garbage. What one has
    /// taken nevertheless is written again.
    pub(crate) fn held_by_ref(&self) -> Result<(), GitError> {
        let loose = std::mem::take(&mut self.state().loose);
        let gone = loose.iter().filter(|(id, ..)| !loose::path(&self.folder.path, id).exists());
        gone.into_iter().try_for_each(|(id, kind, data)| loose::write(&self.folder, id, *kind, data))?;
        self.release();
        Ok(())
    }

    fn release(&self) {
        for name in self.written().iter().filter(|name| name.starts_with("pack-")) {
            pack::release(&self.folder.path, name);
        }
    }

    /// The names of packs and the ids of loose objects that were written so far.
    pub(crate) fn written(&self) -> Vec<String> {
        self.state().written.clone()
    }

    fn write_pack(&self, entries: &[Packed]) -> Result<(), GitError> {
        let name = pack::write(&self.folder, entries)?;
        self.state().written.push(name);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        self.release();
    }
}

/// One thread's way into an [`ObjectSink`].
pub(crate) struct ObjectWriter<'a> {
    sink: &'a ObjectSink,
    repo: gix::Repository,
    packer: Packer,
}

impl ObjectWriter<'_> {
    /// Adds an object and returns its id.
    pub(crate) fn add(&mut self, kind: Kind, data: &[u8]) -> Result<ObjectId, GitError> {
        let id = gix::objs::compute_hash(self.sink.folder.hash, kind, data)
            .map_err(|source| GitError::other("hash an object", source))?;
        let in_memory = self.sink.keep == Keep::Memory;
        if !self.sink.state().known.insert(id) {
            return Ok(id);
        }
        let (present, repo) = (&self.sink.present, &self.repo);
        let is_there = if in_memory { present.has(repo, &id) } else { present.has_for_long(repo, &id) };
        if is_there {
            return Ok(id);
        }
        if in_memory || kind == Kind::Tree {
            self.sink.state().overlay.insert(id, (kind, data.to_owned()));
        }
        if in_memory {
            return Ok(id);
        }
        if data.len() <= RAW_LIMIT {
            let mut state = self.sink.state();
            if state.raw.len() < MOST_LOOSE + 1 {
                state.raw.push((id, kind, data.to_owned()));
                return Ok(id);
            }
        }
        let entry = self.packer.entry(id, kind, data)?;
        let full = {
            let mut state = self.sink.state();
            state.bytes += entry.deflated.len();
            state.packed.push(entry);
            (state.bytes > GATHERED_LIMIT).then(|| {
                state.bytes = 0;
                std::mem::take(&mut state.packed)
            })
        };
        if let Some(entries) = full {
            self.sink.write_pack(&entries)?;
        }
        Ok(id)
    }

    /// Adds a blob of `size` bytes from a stream; none if the stream has another length.
    pub(crate) fn add_stream(&mut self, size: u64, mut content: impl std::io::Read) -> Result<Option<ObjectId>, GitError> {
        match self.sink.keep {
            Keep::Objects => loose::write_stream(&self.sink.folder, size, content),
            Keep::Memory => {
                let mut data = Vec::new();
                content.read_to_end(&mut data).map_err(|source| GitError::other("read a file", source))?;
                if data.len() as u64 == size { self.add(Kind::Blob, &data).map(Some) } else { Ok(None) }
            }
        }
    }
}

/// Compresses objects for a pack, one after the other.
pub(super) struct Packer {
    compressor: Compressor,
    buffer: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> Packer {
        // As fast as can be: what is kept for long is compressed better by git's own maintenance.
        Packer { compressor: Compressor::new(CompressionLvl::fastest()), buffer: Vec::new() }
    }

    pub(super) fn entry(&mut self, id: ObjectId, kind: Kind, data: &[u8]) -> Result<Packed, GitError> {
        let most = self.compressor.zlib_compress_bound(data.len());
        if self.buffer.len() < most {
            self.buffer.resize(most, 0);
        }
        let deflated = self.compressor.zlib_compress(data, &mut self.buffer);
        let len = deflated.map_err(|source| GitError::other("compress an object", source))?;
        Ok(Packed { id, kind, size: data.len() as u64, deflated: self.buffer[..len].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(directory)
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn put(repo: &Repo, contents: &[&str]) {
        let gix = repo.gix();
        let sink = ObjectSink::new(repo, Keep::Objects);
        let mut writer = sink.writer(&gix);
        for content in contents {
            writer.add(Kind::Blob, content.as_bytes()).unwrap();
        }
        drop(writer);
        sink.flush().unwrap();
    }

    #[test]
    fn few_objects_become_loose_and_many_one_pack_that_git_accepts() {
        let directory = tempfile::tempdir().unwrap();
        git(directory.path(), &["init", "-q"]);
        let repo = Repo::open_nested(directory.path()).unwrap();

        put(&repo, &["a", "b"]);
        let many: Vec<String> = (0..100).map(|n| format!("content {n}\n")).collect();
        put(&repo, &many.iter().map(String::as_str).collect::<Vec<_>>());

        let counts = git(directory.path(), &["count-objects", "-v"]);
        assert!(counts.contains("count: 2\n") && counts.contains("in-pack: 100\n") && counts.contains("packs: 1\n"), "{counts}");
        git(directory.path(), &["fsck", "--strict"]);
        let listed = git(directory.path(), &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectsize)"]);
        assert_eq!(listed.lines().filter(|line| line.starts_with("blob")).count(), 102);
    }

    #[test]
    fn an_object_that_only_a_cruft_pack_has_is_written_again() {
        let directory = tempfile::tempdir().unwrap();
        git(directory.path(), &["init", "-q"]);
        let repo = Repo::open_nested(directory.path()).unwrap();
        put(&repo, &["unreachable"]);
        git(directory.path(), &["repack", "-q", "--cruft", "-d"]);

        put(&repo, &["unreachable"]);

        let counts = git(directory.path(), &["count-objects", "-v"]);
        assert!(counts.contains("count: 1\n") && counts.contains("in-pack: 1\n"), "{counts}");
    }

    /// Objects that no ref holds yet, as a capture has them for a moment, and git tidying up beside it.
    #[test]
    fn what_no_ref_holds_yet_survives_a_repack_and_a_prune() {
        let directory = tempfile::tempdir().unwrap();
        git(directory.path(), &["init", "-q"]);
        git(directory.path(), &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"]);
        let repo = Repo::open_nested(directory.path()).unwrap();
        for count in [2, 100] {
            let sink = ObjectSink::new(&repo, Keep::Objects);
            let mut writer = sink.writer(&repo.gix());
            let contents = (0..count).map(|n| format!("{count} {n}"));
            let ids: Vec<_> = contents.map(|content| writer.add(Kind::Blob, content.as_bytes()).unwrap()).collect();
            drop(writer);
            sink.flush().unwrap();

            git(directory.path(), &["repack", "-adq"]);
            git(directory.path(), &["prune", "--expire=now"]);
            sink.held_by_ref().unwrap();

            for id in ids {
                git(directory.path(), &["cat-file", "-e", &id.to_string()]);
            }
            let packs = directory.path().join(".git/objects/pack");
            let mut names = packs.read_dir().unwrap().map(|item| item.unwrap().file_name().into_string().unwrap());
            assert!(!names.any(|name| name.ends_with(".keep")), "the mark stays");
        }
    }
}
