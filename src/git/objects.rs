//! Reading objects, including those of a snapshot that was never written.

use std::collections::HashMap;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;

use super::GitError;

/// Objects that exist in memory only.
pub type Overlay = HashMap<ObjectId, (Kind, Vec<u8>)>;

/// A reader of objects. Cheap to clone: each thread takes its own.
#[derive(Clone)]
pub struct Objects {
    repo: gix::Repository,
    overlay: Arc<Overlay>,
}

impl Objects {
    /// A reader over the repository's objects and, before them, those in `overlay`.
    pub fn new(repo: gix::Repository, overlay: Arc<Overlay>) -> Self {
        Objects { repo, overlay }
    }

    /// The hash that names objects here.
    pub fn hash_kind(&self) -> gix::hash::Kind {
        self.repo.object_hash()
    }

    /// The repository behind the reader.
    pub fn repo(&self) -> &gix::Repository {
        &self.repo
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
        use gix::objs::Find;
        match self.repo.objects.try_find(id, buffer) {
            Ok(Some(found)) => Ok(found.kind),
            Ok(None) => Err(GitError::ObjectMissing(id.to_owned())),
            Err(source) => Err(GitError::other(format!("read object {id}"), source)),
        }
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
