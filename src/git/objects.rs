//! Reading objects, including those of a snapshot that was never written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::read::ZlibDecoder;
use gix::ObjectId;
use gix::objs::Kind;

use super::GitError;
use super::packs::{PackList, PackReader};

/// Objects that exist in memory only.
pub type Overlay = HashMap<ObjectId, (Kind, Vec<u8>)>;

/// A reader of objects. Cheap to clone: each thread takes its own.
pub struct Objects {
    repo: gix::Repository,
    overlay: Arc<Overlay>,
    packs: Arc<PackList>,
    pack_reader: RefCell<PackReader>,
}

/// Content above this size in bytes is not held in memory where that can be helped.
pub(crate) const LARGE: u64 = 32 << 20;

/// A blob for reading piece by piece.
pub struct LargeBlob<'a> {
    /// Its size in bytes.
    pub size: u64,
    /// Its content.
    pub content: Box<dyn Read + 'a>,
}

impl Clone for Objects {
    fn clone(&self) -> Self {
        let (repo, overlay, packs) = (self.repo.clone(), self.overlay.clone(), self.packs.clone());
        Objects { repo, overlay, packs, pack_reader: PackReader::new().into() }
    }
}

impl Objects {
    /// A reader over the repository's objects and, before them, those in `overlay`.
    pub fn new(repo: gix::Repository, overlay: Arc<Overlay>) -> Self {
        Objects { repo, overlay, packs: Arc::default(), pack_reader: PackReader::new().into() }
    }

    /// The hash that names objects here.
    pub fn hash_kind(&self) -> gix::hash::Kind {
        self.repo.object_hash()
    }

    /// The repository behind the reader.
    pub fn repo(&self) -> &gix::Repository {
        &self.repo
    }

    /// Does without the cache of whole objects, which costs more than it saves where each is read once.
    pub(crate) fn forget_each_object(&mut self) {
        self.repo.object_cache_size(None);
    }

    /// The objects that exist in memory only.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Reads the object `id` into `buffer` and returns its kind.
    pub fn read(&self, id: &gix::oid, buffer: &mut Vec<u8>) -> Result<Kind, GitError> {
        if let Some((kind, data)) = self.overlay.get(id) {
            buffer.clear();
            buffer.extend_from_slice(data);
            return Ok(*kind);
        }
        if id.is_empty_tree() {
            buffer.clear();
            return Ok(Kind::Tree);
        }
        if let Some((kind, data)) = self.read_packed(id) {
            buffer.clear();
            buffer.extend_from_slice(&data);
            return Ok(kind);
        }
        use gix::objs::Find;
        match self.repo.objects.try_find(id, buffer) {
            Ok(Some(found)) => Ok(found.kind),
            Ok(None) => Err(GitError::ObjectMissing(id.to_owned())),
            Err(source) => Err(GitError::other(format!("read object {id}"), source)),
        }
    }

    /// The blob `id`, shared with whoever else wants it. One above `most` bytes is not read: the answer is its size.
    pub fn blob(&self, id: &gix::oid, most: u64) -> Result<Result<Arc<Vec<u8>>, u64>, GitError> {
        if let Some((_, data)) = self.read_packed(id).filter(|(_, data)| data.len() as u64 <= most) {
            return Ok(Ok(data));
        }
        let size = self.size(id)?;
        if size > most {
            return Ok(Err(size));
        }
        let mut data = Vec::new();
        self.read(id, &mut data)?;
        Ok(Ok(Arc::new(data)))
    }

    /// The blob `id`, if it is large and lies whole in one place.
    pub fn large_blob(&self, id: &gix::oid) -> Result<Option<LargeBlob<'_>>, GitError> {
        if self.overlay.contains_key(id) {
            return Ok(None);
        }
        if self.packs.contains(&self.repo, id) == Some(true) {
            let found = self.packs.blob_stream(&self.repo, id).filter(|(size, _)| *size > LARGE);
            return Ok(found.map(|(size, content)| LargeBlob { size, content: Box::new(content) }));
        }
        let store = self.repo.objects.store_ref();
        let hex = id.to_string();
        let folders = std::iter::once(store.path().to_owned()).chain(store.alternate_db_paths().unwrap_or_default());
        let file = folders.map(|folder| folder.join(&hex[..2]).join(&hex[2..])).find_map(|path| File::open(path).ok());
        // Nothing is compressed by more than that (RFC 1951).
        let may_be_large = |file: &File| file.metadata().is_ok_and(|found| found.len() > LARGE / 1032);
        let loose = file.filter(may_be_large).and_then(|file| loose_blob(file).transpose());
        let loose = loose.transpose().map_err(|source| GitError::other(format!("read object {id}"), source))?;
        Ok(loose.filter(|(size, _)| *size > LARGE).map(|(size, content)| LargeBlob { size, content: Box::new(content) }))
    }

    fn read_packed(&self, id: &gix::oid) -> Option<(Kind, Arc<Vec<u8>>)> {
        if self.overlay.contains_key(id) {
            return None;
        }
        self.pack_reader.borrow_mut().read(&self.packs, &self.repo, id)
    }

    /// The size of the object `id` in bytes, without reading it whole.
    pub fn size(&self, id: &gix::oid) -> Result<u64, GitError> {
        if let Some((_, data)) = self.overlay.get(id) {
            return Ok(data.len() as u64);
        }
        use gix::objs::FindHeader;
        match self.repo.objects.try_header(id) {
            Ok(Some(header)) => Ok(header.size),
            Ok(None) => Err(GitError::ObjectMissing(id.to_owned())),
            Err(source) => Err(GitError::other(format!("read object {id}"), source)),
        }
    }

    /// True if `id` is there to be read.
    pub fn contains(&self, id: &gix::oid) -> bool {
        use gix::objs::Exists;
        id.is_empty_tree() || self.overlay.contains_key(id) || self.repo.objects.exists(id)
    }
}

/// The size and the content of the blob in `file`; none if it is no blob.
fn loose_blob(file: File) -> io::Result<Option<(u64, impl Read)>> {
    let mut content = ZlibDecoder::new(BufReader::with_capacity(1 << 17, file));
    let (mut header, mut byte) = (Vec::new(), [0]);
    while header.last() != Some(&0) && header.len() < 64 {
        content.read_exact(&mut byte)?;
        header.push(byte[0]);
    }
    let (kind, size, _) = gix::objs::decode::loose_header(&header).map_err(io::Error::other)?;
    Ok((kind == Kind::Blob).then_some((size, content)))
}
