//! What the index notes of a path beyond its content, kept for undo.
//!
//! A tree does not tell that an entry was assume-unchanged, or that it stood for a file outside a sparse checkout and there was
//! none on disk. A restore that replaces such an entry, or makes such a file, keeps that beside the originals.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use serde::{Deserialize, Serialize};

use super::dirs::{Top, ancestors};
use super::index::IndexEdit;
use super::journal::text;
use super::op::Op;
use super::originals;
use crate::git::index_edit::{Marked, Source};
use crate::git::sparse::Sparse;
use crate::git::{GitError, Repo};

const LIST: &str = "marks.json";

/// What the index noted of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    #[serde(with = "text::path")]
    path: BString,
    /// The mode of its entry.
    pub(super) mode: u32,
    pub(super) skip_worktree: bool,
    pub(super) assume_unchanged: bool,
    /// There was no file, and the entry asks not to look for one.
    pub(super) absent: bool,
}

/// The marks of one checkpoint.
#[derive(Debug, Clone, Default)]
pub struct Marks(BTreeMap<BString, Mark>);

impl Marks {
    /// Those that were kept in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Marks, GitError> {
        let listed: Option<Vec<Mark>> = originals::read_list(&folder.join(LIST))?;
        Ok(Marks(listed.unwrap_or_default().into_iter().map(|mark| (mark.path.clone(), mark)).collect()))
    }

    /// That of `path`.
    pub(super) fn get(&self, path: &BStr) -> Option<&Mark> {
        self.0.get(path)
    }

    /// Every path with its mark, sorted.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&BString, &Mark)> {
        self.0.iter()
    }

    /// True if there was no file at `path` although the tree has one.
    pub(super) fn is_absent(&self, path: &BStr) -> bool {
        self.get(path).is_some_and(|mark| mark.absent)
    }
}

/// Keeps what the index notes of the paths that `ops` and `edits` are about, in `folder`; also of those that are in the place of
/// such a path, above or below it, and of every entry that somebody has set a flag of, so that flags which are set or taken away
/// later are found out. Those of a sparse checkout are as many as its files, and follow from its patterns.
pub(super) fn gather(repo: &Repo, index: &Source, ops: &[Op], edits: &[IndexEdit], folder: &Path) -> Result<(), GitError> {
    let marked = index.marked()?;
    if marked.is_empty() {
        return Ok(());
    }
    let mut about: BTreeSet<&BStr> = ops.iter().map(|op| op.path.as_bstr()).chain(edits.iter().map(IndexEdit::path)).collect();
    let in_place_of = |path: &&BStr| ancestors(path).any(|above| about.contains(above)) || has_below(&about, path);
    let others: Vec<&BStr> = marked.keys().map(|path| path.as_bstr()).filter(in_place_of).collect();
    about.extend(others);
    let sparse = Sparse::of(repo)?;
    let is_by_sparse = |path: &BStr, entry: &Marked| {
        let is_outside = || path.ends_with(b"/") || sparse.as_ref().is_some_and(|sparse| !sparse.includes(path));
        !entry.assume_unchanged && (!entry.skip_worktree || is_outside())
    };
    about.extend(
        marked
            .iter()
            .map(|(path, entry)| (path.as_bstr(), entry))
            .filter(|(path, entry)| !is_by_sparse(path, entry))
            .map(|(path, _)| path),
    );
    let top = Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))?;
    let mut marks = Vec::new();
    for path in about {
        let Some(entry) = marked.get(path).or_else(|| directory_above(&marked, path)) else { continue };
        let is_there =
            top.stat(path).map_err(|source| GitError::io("look at", repo.top().join(crate::git::os_path(path)), source))?;
        let unlooked = entry.skip_worktree || entry.assume_unchanged;
        marks.push(Mark {
            path: path.to_owned(),
            mode: entry.mode,
            skip_worktree: entry.skip_worktree,
            assume_unchanged: entry.assume_unchanged,
            absent: unlooked && is_there.is_none(),
        });
    }
    if marks.is_empty() {
        return Ok(());
    }
    let list = serde_json::to_vec(&marks).map_err(|source| GitError::other("list marks", source))?;
    originals::write(repo.sharing(), folder, LIST, &list)
}

/// True if one of `paths` is below `directory`.
fn has_below(paths: &BTreeSet<&BStr>, directory: &BStr) -> bool {
    let prefix = BString::from([directory.as_bytes(), b"/"].concat());
    let from: (Bound<&BStr>, Bound<&BStr>) = (Bound::Included(prefix.as_bstr()), Bound::Unbounded);
    paths.range::<BStr, _>(from).next().is_some_and(|path| path.starts_with(&prefix))
}

/// The entry of a sparse index that stands for the directory that `path` is in.
fn directory_above<'a>(marked: &'a BTreeMap<BString, Marked>, path: &BStr) -> Option<&'a Marked> {
    ancestors(path).find_map(|directory| marked.get(&BString::from([directory.as_bytes(), b"/"].concat())))
}
