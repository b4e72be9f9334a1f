//! Reading the index of a worktree (gitformat-index(5)); it is never written here.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::index::extension;
use gix::objs::tree::{Entry as TreeEntry, EntryKind};
use gix::objs::{Kind, Tree, TreeRefIter, WriteTo};
use gix::{ObjectId, oid};

use super::odb::ObjectWriter;
use super::stat::FileStat;
use super::{GitError, Objects, Repo};

/// Tells one state of the index file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexSignature {
    /// Stat of the file; all zero if there is none.
    pub(crate) stat: FileStat,
    /// The hash that ends the file; null if there is no file or `index.skipHash` left it out.
    pub(crate) trailer: ObjectId,
}

impl IndexSignature {
    /// Looks at the index file of `repo`.
    pub(crate) fn read(repo: &Repo) -> Result<IndexSignature, GitError> {
        let path = repo.index_path();
        let hash = repo.hash_kind();
        let absent = IndexSignature { stat: FileStat::default(), trailer: ObjectId::null(hash) };
        let failed = |source| GitError::io("read", &path, source);
        let mut file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(absent),
            Err(source) => return Err(failed(source)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|source| failed(source.into()))?;
        let mut trailer = vec![0; hash.len_in_bytes()];
        if file.seek(SeekFrom::End(-(trailer.len() as i64))).is_ok() {
            file.read_exact(&mut trailer).map_err(failed)?;
        }
        let stat = FileStat { mode: 0, ..FileStat::of(&stat) };
        Ok(IndexSignature { stat, trailer: ObjectId::from_bytes_or_panic(&trailer) })
    }

    /// True if an equal signature proves an equal index, given that this one was read after `scan_start_ns`.
    pub(crate) fn is_conclusive(&self, scan_start_ns: i64) -> bool {
        !self.trailer.is_null() || self.stat.is_settled(scan_start_ns)
    }
}

/// Reads the index; an empty one if there is no file. Entries that stand for whole directories (sparse index) are expanded.
pub(crate) fn load(repo: &Repo, objects: &Objects) -> Result<gix::index::State, GitError> {
    load_from(&repo.index_path(), objects)
}

fn load_from(path: &Path, objects: &Objects) -> Result<gix::index::State, GitError> {
    if !path.exists() {
        return Ok(gix::index::State::new(objects.hash_kind()));
    }
    let options = gix::index::decode::Options::default();
    let file = gix::index::File::at(path, objects.hash_kind(), true, options);
    let (mut state, _) = file.map_err(|source| GitError::other("read the index", source))?.into_parts();
    if state.is_sparse() {
        expand(&mut state, objects)?;
    }
    Ok(state)
}

fn expand(state: &mut gix::index::State, objects: &Objects) -> Result<(), GitError> {
    let directories: Vec<(BString, ObjectId)> = state
        .entries()
        .iter()
        .filter(|e| e.mode.is_sparse())
        .map(|e| (e.path(state).trim_end_with(|c| c == '/').into(), e.id))
        .collect();
    state.remove_entries(|_, _, entry| entry.mode.is_sparse());
    for (path, tree) in directories {
        push_tree(state, objects, path, &tree)?;
    }
    state.sort_entries();
    state.remove_tree();
    Ok(())
}

fn push_tree(state: &mut gix::index::State, objects: &Objects, path: BString, tree: &oid) -> Result<(), GitError> {
    let mut data = Vec::new();
    objects.read(tree, &mut data)?;
    for entry in TreeRefIter::from_bytes(&data, objects.hash_kind()) {
        let entry = entry.map_err(|source| GitError::other(format!("read tree {tree}"), source))?;
        let mut child = path.clone();
        child.push(b'/');
        child.extend_from_slice(entry.filename);
        let mode = match entry.mode.kind() {
            EntryKind::Tree => {
                push_tree(state, objects, child, entry.oid)?;
                continue;
            }
            EntryKind::Blob => Mode::FILE,
            EntryKind::BlobExecutable => Mode::FILE_EXECUTABLE,
            EntryKind::Link => Mode::SYMLINK,
            EntryKind::Commit => Mode::COMMIT,
        };
        state.dangerously_push_entry(
            Stat::default(),
            entry.oid.to_owned(),
            Flags::SKIP_WORKTREE | Flags::EXTENDED,
            mode,
            child.as_ref(),
        );
    }
    Ok(())
}

/// The index of a worktree, decoded at most once, when it is first asked for.
pub(crate) struct LazyIndex {
    path: PathBuf,
    shared: gix::ThreadSafeRepository,
    state: OnceLock<Arc<gix::index::State>>,
}

impl LazyIndex {
    /// The index of `repo`, not read yet.
    pub(crate) fn new(repo: &Repo) -> LazyIndex {
        LazyIndex { path: repo.index_path(), shared: repo.gix().into_sync(), state: OnceLock::new() }
    }

    /// An index that is at hand already.
    pub(crate) fn ready(repo: &Repo, state: Arc<gix::index::State>) -> LazyIndex {
        LazyIndex { state: OnceLock::from(state), ..LazyIndex::new(repo) }
    }

    /// The index.
    pub(crate) fn get(&self) -> Result<Arc<gix::index::State>, GitError> {
        if let Some(state) = self.state.get() {
            return Ok(state.clone());
        }
        let objects = Objects::new(self.shared.to_thread_local(), Arc::default());
        let state = Arc::new(load_from(&self.path, &objects)?);
        Ok(self.state.get_or_init(|| state).clone())
    }
}

/// Paths that are intent-to-add.
pub(crate) fn intent_to_add(state: &gix::index::State) -> Vec<BString> {
    state.entries().iter().filter(|e| e.flags.contains(Flags::INTENT_TO_ADD)).map(|e| e.path(state).to_owned()).collect()
}

/// True if some path has more than one stage.
pub(crate) fn is_unmerged(state: &gix::index::State) -> bool {
    state.entries().iter().any(|e| e.stage() != Stage::Unconflicted)
}

/// The directories whose trees the index's cache-tree extension knows, by path.
pub(crate) fn known_trees(state: &gix::index::State) -> HashMap<BString, ObjectId> {
    fn walk(node: &extension::Tree, path: &BStr, known: &mut HashMap<BString, ObjectId>) {
        if node.num_entries.is_some() {
            known.insert(path.to_owned(), node.id);
        }
        for child in &node.children {
            walk(child, join(path, child.name.as_bstr()).as_ref(), known);
        }
    }
    let mut known = HashMap::new();
    if let Some(tree) = state.tree() {
        walk(tree, BStr::new(""), &mut known);
    }
    known
}

/// `directory/name`, or just `name` at the top.
pub(crate) fn join(directory: &BStr, name: &BStr) -> BString {
    let mut path = BString::from(Vec::with_capacity(directory.len() + name.len() + 1));
    path.extend_from_slice(directory);
    if !directory.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// True if some path is both a file and a directory, which git-write-tree(1) refuses and no tree can hold.
fn is_contradictory(state: &gix::index::State) -> bool {
    let mut last: &BStr = BStr::new("");
    state.entries().iter().any(|entry| {
        let path = entry.path(state);
        let directory = path.rfind_byte(b'/').map_or(BStr::new(""), |at| path[..at].as_bstr());
        if std::mem::replace(&mut last, directory) == directory {
            return false;
        }
        let mut ends = directory.find_iter("/").chain((!directory.is_empty()).then_some(directory.len()));
        ends.any(|end| state.entry_by_path(directory[..end].as_bstr()).is_some())
    })
}

/// Makes the tree of the index as git-write-tree(1) does; none if it is unmerged, or has a path both as a file and a directory. Intent-to-add entries are left out.
pub(crate) fn write_tree(state: &gix::index::State, objects: &mut ObjectWriter<'_>) -> Result<Option<ObjectId>, GitError> {
    if is_unmerged(state) {
        return Ok(None);
    }
    if let Some(tree) = state.tree().filter(|tree| tree.num_entries.is_some()) {
        return Ok(Some(tree.id));
    }
    if is_contradictory(state) {
        return Ok(None);
    }
    let known = known_trees(state);
    let entries = state.entries();
    let (tree, _) = write_directory(state, entries, BStr::new(""), &known, objects)?;
    match tree {
        Some(tree) => Ok(Some(tree)),
        None => objects.add(Kind::Tree, b"").map(Some),
    }
}

/// Makes the tree of `directory`, whose entries begin `entries`. Returns it (none if empty) and how many entries it took.
fn write_directory(
    state: &gix::index::State,
    entries: &[gix::index::Entry],
    directory: &BStr,
    known: &HashMap<BString, ObjectId>,
    objects: &mut ObjectWriter<'_>,
) -> Result<(Option<ObjectId>, usize), GitError> {
    let prefix_len = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let inside = |path: &BStr| {
        prefix_len == 0 || (path.len() > prefix_len && path.starts_with(directory) && path[directory.len()] == b'/')
    };
    if let Some(tree) = known.get(directory) {
        let count = entries.iter().take_while(|e| inside(e.path(state))).count();
        return Ok((Some(*tree), count));
    }
    let mut tree = Tree::empty();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        let path = entry.path(state);
        if !inside(path) {
            break;
        }
        let rest = &path[prefix_len..];
        if let Some(slash) = rest.find_byte(b'/') {
            let child = &path[..prefix_len + slash];
            let (id, count) = write_directory(state, &entries[at..], child.as_bstr(), known, objects)?;
            if let Some(oid) = id {
                tree.entries.push(TreeEntry { mode: EntryKind::Tree.into(), filename: rest[..slash].into(), oid });
            }
            at += count;
            continue;
        }
        at += 1;
        if !entry.flags.contains(Flags::INTENT_TO_ADD)
            && let Some(mode) = entry.mode.to_tree_entry_mode()
        {
            tree.entries.push(TreeEntry { mode, filename: rest.into(), oid: entry.id });
        }
    }
    if tree.entries.is_empty() {
        return Ok((None, at));
    }
    Ok((Some(add_tree(tree, objects)?), at))
}

/// Sorts a tree as git does and adds it.
pub(crate) fn add_tree(mut tree: Tree, objects: &mut ObjectWriter<'_>) -> Result<ObjectId, GitError> {
    tree.entries.sort();
    let mut data = Vec::with_capacity(tree.entries.len() * 48);
    tree.write_to(&mut data).map_err(|source| GitError::other("encode a tree", source))?;
    objects.add(Kind::Tree, &data)
}
