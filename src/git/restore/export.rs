//! Writing a tree into an empty directory outside of any restore (`--to`).

use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::{ObjectId, oid};

use super::dirs::Top;
use super::op::{NewFile, Op};
use super::originals::Originals;
use super::plan::Obstacle;
use super::stage::{Attributes, Sink, Stager};
use crate::git::diff::tree_changes;
use crate::git::path_names::PathNames;
use crate::git::{GitError, Objects, Repo};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// How many files.
    pub written: usize,
    /// Submodules, which are left as empty directories.
    pub submodules: Vec<BString>,
    /// Paths whose content could not be made; then nothing was written.
    pub failures: Vec<(BString, Obstacle)>,
}

/// Writes the files of `tree` that `includes` lets through into `directory`, which is empty or not there; without
/// one only says what would be written. On failure it is as before.
pub fn export(
    repo: &Repo,
    objects: &Objects,
    tree: &oid,
    directory: Option<&Path>,
    includes: &dyn Fn(&BStr) -> bool,
) -> Result<Export, GitError> {
    let empty = ObjectId::empty_tree(objects.hash_kind());
    let mut export = Export::default();
    let mut ops = Vec::new();
    let names = PathNames::of(repo);
    for change in tree_changes(objects, &empty, tree)? {
        let Some(new) = change.new.filter(|_| includes(change.path.as_bstr())) else { continue };
        if !names.allow_path(change.path.as_bstr(), new.mode) {
            export.failures.push((change.path, Obstacle::ForbiddenPath));
            continue;
        }
        if new.mode.kind() == EntryKind::Commit {
            export.submodules.push(change.path);
        } else {
            let new = NewFile::new(new.mode, new.id);
            ops.push(Op {
                path: change.path,
                old: None,
                old_ctime_ns: None,
                old_blob: None,
                old_content: None,
                new: Some(new),
                area: 0,
                slot: ops.len(),
            });
        }
    }
    let stager = Stager {
        originals: &Originals::default(),
        repo,
        tree: tree.to_owned(),
        attributes: Attributes::Target,
        sink: Sink::Nowhere,
    };
    export.failures.extend(stager.run(objects, &mut ops)?);
    if !export.failures.is_empty() {
        return Ok(export);
    }
    export.written = ops.len();
    let Some(directory) = directory else { return Ok(export) };
    let existed = directory.exists();
    let written = write(repo, objects, tree, directory, &mut ops, &export.submodules);
    if written.is_err() {
        clear(directory, existed);
    }
    written.map(|()| export)
}

fn write(
    repo: &Repo,
    objects: &Objects,
    tree: &oid,
    directory: &Path,
    ops: &mut [Op],
    submodules: &[BString],
) -> Result<(), GitError> {
    let failed = |source: io::Error| GitError::io("write into", directory, source);
    std::fs::create_dir_all(directory).map_err(failed)?;
    let target = Top::open(directory).map_err(failed)?;
    let stager = Stager {
        originals: &Originals::default(),
        repo,
        tree: tree.to_owned(),
        attributes: Attributes::Target,
        sink: Sink::InPlace(directory),
    };
    for path in ops.iter().map(|op| super::dirs::split(op.path.as_bstr()).0).chain(submodules.iter().map(|path| path.as_bstr())) {
        make_directories(&target, path).map_err(failed)?;
    }
    stager.run(objects, ops).map(|_| ())
}

fn make_directories(top: &Top, path: &BStr) -> io::Result<()> {
    if path.is_empty() || top.directory(path).is_ok() {
        return Ok(());
    }
    let (parent, name) = super::dirs::split(path);
    make_directories(top, parent)?;
    crate::sys::fault::point()?;
    let handle = top.directory(parent)?;
    Ok(rustix::fs::mkdirat(&*handle, name, rustix::fs::Mode::from_raw_mode(0o777))?)
}

/// Removes what was written into a directory that was empty.
fn clear(directory: &Path, existed: bool) {
    if !existed {
        let _ = std::fs::remove_dir_all(directory);
        return;
    }
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path: PathBuf = entry.path();
        let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        };
    }
}
