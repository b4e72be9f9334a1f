//! Which objects the repository has already.
//!
//! A capture asks for each object it makes, and most are new. So the answer "it is not there" has to be cheap: packs are looked
//! through by their indices, which stay open, and folders of loose objects are listed once instead of trying a file each.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gix::ObjectId;
use gix::objs::Exists;

use super::cruft::CruftPacks;
use super::loose;
use crate::git::packs::PackList;

/// From so many questions on, folders are listed.
const FEW: usize = 64;

/// What is there; shared by all threads of a capture. What others add meanwhile may not be seen; then it is written once more.
pub(super) struct Present {
    objects: PathBuf,
    hash: gix::hash::Kind,
    packs: PackList,
    cruft: OnceLock<CruftPacks>,
    /// Other repositories may have objects too (`objects/info/alternates`).
    borrows: bool,
    loose: Mutex<Loose>,
}

#[derive(Default)]
struct Loose {
    asked: usize,
    /// The objects in a folder, by the first byte of their ids.
    folders: HashMap<u8, HashSet<ObjectId>>,
}

impl Present {
    pub(super) fn new(objects: &Path, hash: gix::hash::Kind) -> Present {
        let borrows = std::env::var_os("GIT_ALTERNATE_OBJECT_DIRECTORIES").is_some() || objects.join("info/alternates").exists();
        Present {
            objects: objects.to_owned(),
            hash,
            packs: PackList::default(),
            cruft: OnceLock::new(),
            borrows,
            loose: Mutex::default(),
        }
    }

    /// True if there is an object `id`.
    pub(super) fn has(&self, repo: &gix::Repository, id: &ObjectId) -> bool {
        match self.packs.contains(repo, id) {
            Some(true) => true,
            Some(false) if !self.borrows => self.may_be_loose(id) && is_whole(loose::path(&self.objects, id).metadata()),
            _ => repo.objects.exists(id),
        }
    }

    /// As [`Present::has`]. A loose object is made young again, as git does, so that a `git gc` running now does not prune it
    /// before the checkpoint's ref holds it (`object-file.c:freshen_loose_object`). One that only a cruft pack has is not taken
    /// to be there: that pack may go.
    pub(super) fn has_for_long(&self, repo: &gix::Repository, id: &ObjectId) -> bool {
        let may_be_loose = self.may_be_loose(id);
        let is_elsewhere = match self.packs.contains(repo, id) {
            Some(false) if !self.borrows => false,
            Some(true) => true,
            _ => repo.objects.exists(id),
        };
        if !is_elsewhere && !may_be_loose {
            return false;
        }
        let file = may_be_loose.then(|| File::open(loose::path(&self.objects, id)));
        match file {
            Some(Ok(file)) => is_whole(file.metadata()) && file.set_modified(std::time::SystemTime::now()).is_ok(),
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => false,
            _ => is_elsewhere && !self.cruft.get_or_init(|| CruftPacks::find(&self.objects, self.hash)).contains(id),
        }
    }

    fn may_be_loose(&self, id: &ObjectId) -> bool {
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        loose.asked += 1;
        if loose.asked < FEW {
            return true;
        }
        let folder = id.first_byte();
        loose.folders.entry(folder).or_insert_with(|| list(&self.objects, folder)).contains(id)
    }
}

/// False for an empty file, as a crash of the machine leaves it in place of an object.
fn is_whole(file: std::io::Result<std::fs::Metadata>) -> bool {
    file.is_ok_and(|file| file.len() > 0)
}

/// The loose objects whose ids begin with `first`.
fn list(objects: &Path, first: u8) -> HashSet<ObjectId> {
    let folder = format!("{first:02x}");
    let names = std::fs::read_dir(objects.join(&folder)).into_iter().flatten().flatten();
    let id = |name: std::ffi::OsString| ObjectId::from_hex(format!("{folder}{}", name.to_str()?).as_bytes()).ok();
    names.filter_map(|entry| id(entry.file_name())).collect()
}
