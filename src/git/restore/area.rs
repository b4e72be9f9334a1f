//! Folders where parts of a restore are kept aside: new files before they are put in place, old files afterwards.
//!
//! A rename moves a file only within one file system. The folder in the git directory serves every path that is on the same
//! one; for others a folder is made as high up in the worktree as their file system reaches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatxFlags, accessat, chmodat, fstat, mkdirat, openat, statx};
use rustix::io::Errno;

use super::dirs::{Top, is_directory, split};
use super::op::Op;
use crate::git::{GitError, Repo, os_path};
use crate::sys::fault;
use crate::sys::sharing::Sharing;

/// How the names of folders in the worktree begin.
const IN_WORKTREE: &str = ".git-checkpoint-";

/// True if a folder called `name` in the worktree is one of those of a restore that began and is not cleared away yet.
pub fn is_area(repo: &Repo, name: &BStr) -> bool {
    let key = name.strip_prefix(IN_WORKTREE.as_bytes()).and_then(|key| key.to_str().ok());
    key.is_some_and(|key| !key.contains('/') && folder(repo, key).is_dir())
}

/// The folder in the git directory of the restore with this key.
pub(super) fn folder(repo: &Repo, key: &str) -> PathBuf {
    repo.private_dir().join(format!("restore-{key}"))
}

/// The folders of restores in the git directory.
pub(super) fn folders(repo: &Repo) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repo.private_dir()).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"restore-")).map(|entry| entry.path()).collect()
}

/// The opened folders. The first is the one in the git directory.
pub(super) struct Areas {
    folder: PathBuf,
    folders: Vec<(BString, OwnedFd)>,
}

/// A file system as far as renames reach: bind mounts of one device are apart as well.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reach {
    device: (u32, u32),
    mount: u64,
}

impl Areas {
    /// Makes the folder in the git directory.
    pub(super) fn create(repo: &Repo, folder: PathBuf) -> Result<Areas, GitError> {
        let made = fault::point().and_then(|()| repo.sharing().create_dir(&folder));
        made.map_err(|source| GitError::io("create", &folder, source))?;
        let handle = open(&folder)?;
        Ok(Areas { folder, folders: vec![(BString::default(), handle)] })
    }

    /// Opens the folders that the journal of another process names. One that is gone held nothing any more.
    pub(super) fn reopen(repo: &Repo, folder: PathBuf, others: &[BString]) -> Result<Areas, GitError> {
        repo.sharing().create_dir_all(&folder).map_err(|source| GitError::io("create", &folder, source))?;
        let mut folders = vec![(BString::default(), open(&folder)?)];
        let top = Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))?;
        for path in others {
            let handle = top.parent(path.as_bstr()).and_then(|(parent, name)| match make_in(repo.sharing(), &parent, name) {
                Err(Errno::EXIST) => Ok(open_in(&parent, name)?),
                other => Ok(other?),
            });
            let handle = handle.map_err(|source| GitError::io("open", repo.top().join(os_path(path)), source))?;
            folders.push((path.clone(), handle));
        }
        Ok(Areas { folder, folders })
    }

    /// Decides where the parts of each of `ops` are kept, and makes the folders that are needed. A folder in the worktree is
    /// announced before it is made, so that it can be found by whoever has to clear it away.
    pub(super) fn assign(
        &mut self,
        repo: &Repo,
        top: &Top,
        key: &str,
        ops: &mut [Op],
        announce: &mut dyn FnMut(&BStr) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let home = Reach::of(self.folders[0].1.as_fd()).map_err(|error| GitError::io("look at", &self.folder, error))?;
        let mut reaches: Vec<Option<Reach>> = vec![(!fault::is_apart()).then_some(home)];
        let mut known: HashMap<BString, usize> = HashMap::new();
        for op in ops {
            let directory = nearest_directory(top, op.path.as_bstr());
            if let Some(area) = known.get(&directory) {
                op.area = *area;
                continue;
            }
            let reach = top.directory(directory.as_bstr()).and_then(|handle| Ok(Reach::of(handle.as_fd())?));
            let reach = reach.map_err(|source| GitError::io("look at", repo.top().join(os_path(&directory)), source))?;
            op.area = match reaches.iter().position(|known| *known == Some(reach)) {
                Some(area) => area,
                None => {
                    let (parent, name) = place_folder(top, directory.as_bstr(), reach, key);
                    let path = if parent.is_empty() { name.clone().into() } else { format_path(&parent, &name) };
                    announce(path.as_bstr())?;
                    self.make_folder(repo, top, parent.as_bstr(), &name, path)?;
                    reaches.push(Some(reach));
                    reaches.len() - 1
                }
            };
            known.insert(directory, op.area);
        }
        Ok(())
    }

    fn make_folder(&mut self, repo: &Repo, top: &Top, parent: &BStr, name: &str, path: BString) -> Result<(), GitError> {
        let made = top.directory(parent).and_then(|handle| {
            fault::point()?;
            Ok(make_in(repo.sharing(), &handle, name.as_bytes())?)
        });
        let handle = made.map_err(|source| GitError::io("create", repo.top().join(os_path(&path)), source))?;
        self.folders.push((path, handle));
        Ok(())
    }

    /// The folder for an op.
    pub(super) fn of(&self, op: &Op) -> BorrowedFd<'_> {
        self.folder_of(op.area)
    }

    /// The folder with a number.
    pub(super) fn folder_of(&self, area: usize) -> BorrowedFd<'_> {
        self.folders[area].1.as_fd()
    }

    /// The path of the folder for an op.
    pub(super) fn path_of(&self, repo: &Repo, op: &Op) -> PathBuf {
        match op.area {
            0 => self.folder.clone(),
            area => repo.top().join(os_path(&self.folders[area].0)),
        }
    }

    /// Removes the folders with all that is kept in them, those in the worktree first. True if all of them are gone.
    pub(super) fn discard(&self, top: &Path) -> bool {
        let in_worktree = self.folders[1..].iter().map(|(path, _)| top.join(os_path(path)));
        let left = in_worktree.chain([self.folder.clone()]).filter(|folder| !remove_folder(folder));
        left.count() == 0
    }
}

/// Removes a folder with all that is in it. True if it is gone.
pub(super) fn remove_folder(folder: &Path) -> bool {
    match fault::point().and_then(|()| std::fs::remove_dir_all(folder)) {
        Ok(()) => true,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The highest directory that `reach` extends to and that can be written, and a name for a folder in it.
fn place_folder(top: &Top, below: &BStr, reach: Reach, key: &str) -> (BString, String) {
    let mut highest = below.to_owned();
    let mut directory = below;
    while !directory.is_empty() {
        directory = split(directory).0;
        let usable = top.directory(directory).is_ok_and(|handle| {
            Reach::of(handle.as_fd()).is_ok_and(|found| found == reach)
                && accessat(&*handle, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
        });
        if usable {
            highest = directory.to_owned();
        }
    }
    (highest, format!("{IN_WORKTREE}{key}"))
}

fn format_path(directory: &BString, name: &str) -> BString {
    [directory.as_bytes(), b"/", name.as_bytes()].concat().into()
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Nobody else has business in it, but for those who share the repository: they may have to end the restore.
fn make_in(sharing: Sharing, parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    mkdirat(parent, name, Mode::RWXU)?;
    if sharing != Sharing::Umask {
        chmodat(parent, name, Mode::from_raw_mode(sharing.private_folder_mode()), AtFlags::empty())?;
    }
    open_in(parent, name)
}

fn open_in(parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    openat(parent, name, FOLDER, Mode::empty())
}

fn open(folder: &Path) -> Result<OwnedFd, GitError> {
    openat(CWD, folder, FOLDER, Mode::empty()).map_err(|source| GitError::io("open", folder, source))
}

/// The nearest directory above `path` that is there.
pub(super) fn nearest_directory(top: &Top, path: &BStr) -> BString {
    let mut directory = split(path).0;
    while !directory.is_empty() {
        if top.stat(directory).is_ok_and(|stat| stat.as_ref().is_some_and(is_directory)) {
            break;
        }
        directory = split(directory).0;
    }
    directory.to_owned()
}

impl Reach {
    fn of(directory: BorrowedFd<'_>) -> Result<Reach, Errno> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        match statx(directory, "", AtFlags::EMPTY_PATH, mask) {
            Ok(found) => {
                let has_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
                let mount = if has_mount { found.stx_mnt_id } else { 0 };
                Ok(Reach { device: (found.stx_dev_major, found.stx_dev_minor), mount })
            }
            Err(Errno::NOSYS | Errno::PERM) => {
                let device = fstat(directory)?.st_dev;
                Ok(Reach { device: (rustix::fs::major(device), rustix::fs::minor(device)), mount: 0 })
            }
            Err(error) => Err(error),
        }
    }
}
