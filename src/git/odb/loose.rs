//! Loose objects (gitrepository-layout(5), `objects/xx/`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::{Kind, encode::loose_header};
use libdeflater::{CompressionLvl, Compressor};

use super::folder::ObjectFolder;
use crate::git::GitError;
use crate::sys::sharing::Sharing;

/// A temporary file that is removed unless it is moved into place. git prunes what is left behind under these names.
pub(super) struct TempFile {
    pub(super) file: File,
    path: PathBuf,
    sharing: Sharing,
    kept: bool,
}

impl TempFile {
    /// Creates `<directory>/<prefix><something unique>`, read-only as git's objects are: only this process writes to it, through
    /// the handle it has.
    pub(super) fn create(sharing: Sharing, directory: &Path, prefix: &str) -> Result<TempFile, GitError> {
        for attempt in 0..100u32 {
            let path = directory.join(format!("{prefix}{}_{:x}_{attempt}", std::process::id(), crate::sys::now_nanos()));
            match OpenOptions::new().read(true).write(true).create_new(true).mode(0o444).open(&path) {
                Ok(file) => return Ok(TempFile { file, path, sharing, kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < 3 => {
                    sharing.create_dir_all(directory).map_err(|source| GitError::io("create", directory, source))?;
                }
                Err(source) => return Err(GitError::io("create a file in", directory, source)),
            }
        }
        Err(GitError::io("create a file in", directory, io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    /// Flushes the file and moves it to `target`.
    pub(super) fn keep_as(&mut self, target: &Path) -> Result<(), GitError> {
        let failed = |source| GitError::io("write", target, source);
        self.sharing.apply(&self.file).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        fs::rename(&self.path, target).map_err(failed)?;
        self.kept = true;
        Ok(())
    }
}

/// Removes the temporary files below `objects` of which `is_left` says so, by the process that made each and the time it did.
pub(crate) fn remove_temporary(objects: &Path, is_left: impl Fn(u32, i64) -> bool) {
    let maker = |name: &str| -> Option<(u32, i64)> {
        let mut parts = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?.split('_');
        Some((parts.next()?.parse().ok()?, i64::from_str_radix(parts.next()?, 16).ok()?))
    };
    for directory in [objects, &objects.join("pack")] {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_name().to_str().and_then(maker).is_some_and(|(pid, made_ns)| is_left(pid, made_ns)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// How the names of temporary files begin, as those of git do.
const PREFIXES: [&str; 3] = ["tmp_obj_", "tmp_pack_", "tmp_idx_"];

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing refers to it; if it cannot be removed now, `git gc` will.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a rename inside `directory` durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), GitError> {
    File::open(directory).and_then(|file| file.sync_all()).map_err(|source| GitError::io("flush", directory, source))
}

/// The file that holds `id` if it is loose.
pub(super) fn path(objects: &Path, id: &ObjectId) -> PathBuf {
    let hex = id.to_string();
    objects.join(&hex[..2]).join(&hex[2..])
}

/// How often something is written anew that a `git gc` took away before it was in place.
const ATTEMPTS: u32 = 5;

/// Calls `write` again as long as what it writes vanishes under it: git prunes temporary files and empty directories
/// (`builtin/prune.c:remove_temporary_files`).
pub(super) fn persist<T>(mut write: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
    let mut attempt = 1;
    loop {
        match write() {
            Err(GitError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

/// Writes an object from memory.
pub(super) fn write(objects: &ObjectFolder, id: &ObjectId, kind: Kind, data: &[u8]) -> Result<(), GitError> {
    let failed = |source| GitError::io("write an object to", &objects.path, source);
    let whole = [loose_header(kind, data.len() as u64).as_slice(), data].concat();
    let mut compressor = Compressor::new(CompressionLvl::fastest());
    let mut deflated = vec![0; compressor.zlib_compress_bound(whole.len())];
    let len = compressor.zlib_compress(&whole, &mut deflated);
    deflated.truncate(len.map_err(|source| GitError::other("compress an object", source))?);
    persist(|| {
        let temp = TempFile::create(objects.sharing, &objects.path, "tmp_obj_")?;
        (&temp.file).write_all(&deflated).map_err(failed)?;
        place(temp, objects, id)
    })
}

/// Writes a blob of exactly `size` bytes from a stream, without holding it in memory. Returns its id, or none if the stream
/// ended early or went on.
pub(super) fn write_stream(objects: &ObjectFolder, size: u64, mut content: impl Read) -> Result<Option<ObjectId>, GitError> {
    let temp = TempFile::create(objects.sharing, &objects.path, "tmp_obj_")?;
    let failed = |source| GitError::io("write an object to", &objects.path, source);
    let header = loose_header(Kind::Blob, size);
    let mut hasher = gix::hash::hasher(objects.hash);
    hasher.update(&header);
    let mut encoder = ZlibEncoder::new(io::BufWriter::with_capacity(1 << 18, &temp.file), Compression::fast());
    encoder.write_all(&header).map_err(failed)?;
    let mut buffer = vec![0; 1 << 18];
    let mut seen = 0u64;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(GitError::io("read", "a large file", source)),
        };
        seen += count as u64;
        if seen > size {
            return Ok(None);
        }
        hasher.update(&buffer[..count]);
        encoder.write_all(&buffer[..count]).map_err(failed)?;
    }
    if seen != size {
        return Ok(None);
    }
    encoder.finish().and_then(|mut inner| inner.flush()).map_err(failed)?;
    let id = hasher.try_finalize().map_err(|source| GitError::other("hash a file", source))?;
    place(temp, objects, &id)?;
    Ok(Some(id))
}

fn place(mut temp: TempFile, objects: &ObjectFolder, id: &ObjectId) -> Result<(), GitError> {
    let target = path(&objects.path, id);
    let directory = target.parent().unwrap_or(&objects.path);
    persist(|| {
        if !directory.is_dir() {
            let made = objects.sharing.create_dir_all(directory);
            made.map_err(|source| GitError::io("create", directory, source))?;
            sync_directory(&objects.path)?;
        }
        temp.keep_as(&target)
    })?;
    sync_directory(directory)
}
