//! The contents of the new files, written aside before anything in the worktree changes.
//!
//! A missing object, a failing filter or a full disk is found here, where nothing has to be taken back.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::{ObjectId, oid};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fchmod, fchown, fstat, openat, statat, symlinkat};
use serde::{Deserialize, Serialize};

use super::area::{Areas, nearest_directory};
use super::dirs::Top;
use super::identity::Identity;
use super::op::{NewFile, Op};
use super::originals::{Exact, Originals};
use super::plan::Obstacle;
use super::shares::in_shares;
use super::swap::At;
use crate::git::filter::Filters;
use crate::git::stat::FileStat;
use crate::git::{GitError, Objects, Repo, index};
use crate::sys::fault;
use crate::sys::progress::{self, Phase};

/// Which attribute files decide how contents are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attributes {
    /// Those of the tree that is written.
    Target,
    /// Those in the worktree: only some of the tree's paths are written.
    Worktree,
}

/// Where contents go.
#[derive(Clone, Copy)]
pub(super) enum Sink<'a> {
    /// Aside, into files.
    Areas(&'a Areas),
    /// Nowhere: only failures are looked for.
    Nowhere,
    /// Under their own paths in a directory, whose subdirectories are there.
    InPlace(&'a Path),
}

/// What is needed to make contents.
#[derive(Clone, Copy)]
pub(super) struct Stager<'a> {
    pub(super) repo: &'a Repo,
    pub(super) tree: ObjectId,
    pub(super) attributes: Attributes,
    pub(super) sink: Sink<'a>,
    /// Files that are more than their blobs.
    pub(super) originals: &'a Originals,
}

/// Paths whose content cannot be made, with what went wrong.
pub(super) type Failures = Vec<(BString, Obstacle)>;

impl Stager<'_> {
    /// Makes the new contents of `ops`.
    pub(super) fn run(&self, objects: &Objects, ops: &mut [Op]) -> Result<Failures, GitError> {
        let mut writes: Vec<&mut Op> = ops.iter_mut().filter(|op| op.new.is_some()).collect();
        progress::begin(Phase::Stage, writes.len());
        let index = match self.attributes {
            Attributes::Worktree => Arc::new(index::load(self.repo, objects)?),
            Attributes::Target => Arc::new(gix::index::State::new(objects.hash_kind())),
        };
        let results = in_shares(objects, &mut writes, |objects, share| self.work(objects, index.clone(), share));
        let mut failures = Failures::new();
        for result in results {
            failures.extend(result?);
        }
        Ok(failures)
    }

    fn work(&self, objects: &Objects, index: Arc<gix::index::State>, ops: &mut [&mut Op]) -> Result<Failures, GitError> {
        let mut filters = match self.attributes {
            Attributes::Worktree => Filters::new(self.repo, index)?,
            Attributes::Target => Filters::of_tree(self.repo, objects, &self.tree, ops.iter().map(|op| op.path.as_bstr()))?,
        };
        let top = Top::open(self.repo.top()).map_err(|source| GitError::io("open", self.repo.top(), source))?;
        let mut births = Births::new(&top);
        let target = match self.sink {
            Sink::InPlace(directory) => Some(Top::open(directory).map_err(|source| GitError::io("open", directory, source))?),
            Sink::Areas(_) | Sink::Nowhere => None,
        };
        let symlinks = self.repo.gix().config_snapshot().boolean("core.symlinks").unwrap_or(true);
        let (mut blob, mut filtered) = (Vec::new(), Vec::new());
        let mut failures = Failures::new();
        for op in ops {
            let slot = op.new_slot();
            let Some(new) = &mut op.new else { continue };
            progress::add_files(1);
            let exact = self.originals.get(objects, op.path.as_bstr(), &new.id);
            let content = match content(objects, &mut filters, op.path.as_bstr(), new, &mut blob, &mut filtered) {
                Ok(content) => content.or_exact(exact.as_ref()),
                Err(GitError::ObjectMissing(_)) => {
                    failures.push((op.path.clone(), Obstacle::ObjectMissing));
                    continue;
                }
                Err(GitError::Filter { .. }) => {
                    failures.push((op.path.clone(), Obstacle::Filter));
                    continue;
                }
                Err(error) => return Err(error),
            };
            new.content = Some(match content.bytes.whole().filter(|_| content.filtered) {
                Some(bytes) => hash_blob(objects.hash_kind(), bytes)?,
                None => new.id,
            });
            let path = op.path.as_bstr();
            let write = |at: At<'_>, birth: &Birth| write(at, new, &content, symlinks, birth);
            let written = match (self.sink, &target) {
                (Sink::Areas(areas), _) => write(At { dir: areas.folder_of(op.area), name: slot.as_bytes() }, &births.of(path)),
                (_, Some(target)) => target.parent(path).and_then(|(parent, name)| {
                    write(At { dir: parent.as_fd(), name }, &Birth { directory: None, group: Group::AsMade })
                }),
                (_, None) => continue,
            };
            let stat = written.map_err(|source| GitError::io("write the content of", self.full(path), source))?;
            new.file = Some(Identity::of(&stat));
        }
        Ok(failures)
    }

    fn full(&self, path: &BStr) -> std::path::PathBuf {
        self.repo.top().join(crate::git::os_path(path))
    }
}

struct Content<'a> {
    bytes: Bytes<'a>,
    filtered: bool,
    /// Permissions that differ from those of a new file.
    mode: Option<u32>,
}

/// The bytes of a file, or where they are.
#[derive(Clone, Copy)]
enum Bytes<'a> {
    Whole(&'a [u8]),
    /// Those of a blob that is too large to be held in memory.
    Large(&'a Objects, ObjectId),
}

impl Bytes<'_> {
    /// All of them.
    fn whole(&self) -> Option<&[u8]> {
        match self {
            Bytes::Whole(bytes) => Some(bytes),
            Bytes::Large(..) => None,
        }
    }

    fn write_to(&self, file: &mut File) -> std::io::Result<()> {
        let (objects, id) = match self {
            Bytes::Whole(bytes) => return file.write_all(bytes),
            Bytes::Large(objects, id) => (objects, id),
        };
        let found = objects.large_blob(id).map_err(std::io::Error::other)?;
        let mut blob = found.ok_or_else(|| std::io::Error::other(format!("object {id} is not there any more")))?;
        match std::io::copy(&mut blob.content, file)? {
            written if written == blob.size => Ok(()),
            _ => Err(std::io::Error::other(format!("object {id} is not whole"))),
        }
    }
}

impl<'a> Content<'a> {
    /// The file as it was once, where that is known.
    fn or_exact(self, exact: Option<&'a Exact>) -> Content<'a> {
        match exact {
            None => self,
            Some(Exact { bytes: Some(bytes), mode }) => Content { bytes: Bytes::Whole(bytes), filtered: true, mode: Some(*mode) },
            Some(Exact { bytes: None, mode }) => Content { mode: Some(*mode), ..self },
        }
    }
}

fn content<'b>(
    objects: &'b Objects,
    filters: &mut Filters,
    path: &BStr,
    new: &NewFile,
    blob: &'b mut Vec<u8>,
    filtered: &'b mut Vec<u8>,
) -> Result<Content<'b>, GitError> {
    let is_large = !new.is_link() && objects.large_blob(&new.id)?.is_some();
    if is_large && filters.is_sure_to_leave_alone(path)? {
        return Ok(Content { bytes: Bytes::Large(objects, new.id), filtered: false, mode: None });
    }
    objects.read(&new.id, blob)?;
    if !new.is_link() && filters.to_worktree(path, blob, filtered)? {
        return Ok(Content { bytes: Bytes::Whole(filtered), filtered: true, mode: None });
    }
    Ok(Content { bytes: Bytes::Whole(blob), filtered: false, mode: None })
}

/// The id of a blob with these bytes.
pub(super) fn hash_blob(kind: gix::hash::Kind, bytes: &[u8]) -> Result<ObjectId, GitError> {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).map_err(|source| GitError::other("hash a file", source))
}

fn write(at: At<'_>, new: &NewFile, content: &Content<'_>, symlinks: bool, birth: &Birth) -> std::io::Result<Stat> {
    fault::point()?;
    if let Some(target) = content.bytes.whole().filter(|_| new.is_link() && symlinks) {
        symlinkat(target, at.dir, at.name)?;
        return Ok(statat(at.dir, at.name, AtFlags::SYMLINK_NOFOLLOW)?);
    }
    // The process's umask applies, as it does to files that git writes.
    let mode = Mode::from_raw_mode(if new.is_executable() { 0o777 } else { 0o666 });
    let file = match birth.directory.as_deref().and_then(|directory| written_unnamed(directory, at, mode, &content.bytes)) {
        Some(file) => file,
        None => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(at.dir, at.name, flags, mode)?);
            content.bytes.write_to(&mut file)?;
            file
        }
    };
    if let Some(exact) = content.mode {
        fchmod(&file, Mode::from_raw_mode(exact))?;
    }
    let stat = fstat(&file)?;
    let wanted = match birth.group {
        Group::AsMade => return Ok(stat),
        Group::OfProcess => rustix::process::getegid().as_raw(),
        Group::Of(group) => group,
    };
    if stat.st_gid != wanted && fchown(&file, None, Some(rustix::fs::Gid::from_raw(wanted))).is_ok() {
        return Ok(fstat(&file)?);
    }
    Ok(stat)
}

/// Makes a file without a name in `directory`, so that it is one of the directory's in what a file system hands on to new files
/// (access control lists, the place on the disk), and names it only then. None where that does not work.
#[cfg(target_os = "linux")]
fn written_unnamed(directory: &OwnedFd, at: At<'_>, mode: Mode, bytes: &Bytes<'_>) -> Option<File> {
    use rustix::fs::linkat;
    let mut file = File::from(openat(directory, ".", OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, mode).ok()?);
    bytes.write_to(&mut file).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    linkat(CWD, path, at.dir, at.name, AtFlags::SYMLINK_FOLLOW).ok()?;
    Some(file)
}

#[cfg(not(target_os = "linux"))]
fn written_unnamed(_: &OwnedFd, _: At<'_>, _: Mode, _: &Bytes<'_>) -> Option<File> {
    None
}

/// What a new file has from the directory that it is for.
struct Birth {
    /// The directory; none if the file is made where it is written.
    directory: Option<Rc<OwnedFd>>,
    group: Group,
}

/// The group that a file is to have.
#[derive(Debug, Clone, Copy)]
enum Group {
    /// The one it is made with.
    AsMade,
    /// That of the process.
    OfProcess,
    /// This one.
    Of(u32),
}

/// What directories hand on to the files made in them, or the nearest that is there yet. A renamed file gets nothing by itself,
/// so also not the group (`S_ISGID`, inode(7)).
struct Births<'a> {
    top: &'a Top,
    known: HashMap<BString, (BString, Group)>,
}

impl<'a> Births<'a> {
    fn new(top: &'a Top) -> Births<'a> {
        Births { top, known: HashMap::new() }
    }

    fn of(&mut self, path: &BStr) -> Birth {
        let parent = super::dirs::split(path).0;
        if let Some((directory, group)) = self.known.get(parent) {
            return Birth { directory: self.top.directory(directory.as_bstr()).ok(), group: *group };
        }
        let nearest = nearest_directory(self.top, path);
        let directory = self.top.directory(nearest.as_bstr()).ok();
        let stat = directory.as_deref().and_then(|handle| fstat(handle).ok());
        let stat = stat.filter(|stat| Mode::from_raw_mode(stat.st_mode).contains(Mode::SGID));
        let group = stat.map_or(Group::OfProcess, |stat| Group::Of(stat.st_gid));
        self.known.insert(parent.to_owned(), (nearest, group));
        Birth { directory, group }
    }
}

/// True if `file` holds the content that the id stands for.
pub(super) fn is_blob_in(mut file: File, id: &oid) -> std::io::Result<bool> {
    let size = FileStat::of(&fstat(&file)?).size;
    let mut hasher = gix::hash::hasher(id.kind());
    hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, size));
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(usize::MAX).clamp(1, 1 << 17)];
    let mut seen = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                seen += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen == size && hasher.try_finalize().is_ok_and(|found| found == id))
}

/// True if `bytes` are the content that the id stands for.
pub(super) fn is_blob(bytes: &[u8], id: &oid) -> bool {
    hash_blob(id.kind(), bytes).is_ok_and(|found| found == id)
}
