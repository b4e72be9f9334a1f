//! What the index becomes: as it was captured, or HEAD's where HEAD moved.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind;
use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::dirs::{Top, ancestors};
use super::identity::Identity;
use super::journal::text;
use super::marks::{Mark, Marks};
use super::op::Op;
use super::plan::Target;
use crate::git::diff::{Side, tree_changes};
use crate::git::facts::Head;
use crate::git::index_edit::{Edit, Edits, Marked, Put, Source, StatData};
use crate::git::snapshot::Entry;
use crate::git::sparse::Sparse;
use crate::git::stat::FileStat;
use crate::git::tree_path::side_of;
use crate::git::{GitError, Objects, Repo};

/// Which state the index is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMode {
    /// The one that was captured; HEAD is still where it was then.
    Captured,
    /// HEAD's.
    Head,
    /// It is left alone.
    Kept,
}

impl IndexMode {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            IndexMode::Captured => "captured",
            IndexMode::Head => "head",
            IndexMode::Kept => "kept",
        }
    }

    /// The mode that fits `target`, with HEAD where it is now.
    pub fn for_target(target: &Target, head: &Head) -> IndexMode {
        if target.index_tree.is_some() && target.head == head.id { IndexMode::Captured } else { IndexMode::Head }
    }
}

/// What is to become of one path in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEdit {
    #[serde(with = "text::path")]
    path: BString,
    /// None if it leaves the index.
    put: Option<IndexPut>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct IndexPut {
    mode: u16,
    #[serde(with = "text::id")]
    id: ObjectId,
    intent_to_add: bool,
    skip_worktree: bool,
    #[serde(default)]
    assume_unchanged: bool,
    #[serde(default)]
    exact_flags: bool,
}

impl IndexEdit {
    pub(super) fn path(&self) -> &BStr {
        self.path.as_bstr()
    }
}

/// The index now.
pub struct IndexNow<'a> {
    /// Its tree.
    pub tree: ObjectId,
    /// Paths that are intent-to-add.
    pub intent_to_add: &'a [BString],
    /// Where HEAD is.
    pub head: &'a Head,
    /// Paths that stay without a file.
    pub outside: BTreeSet<BString>,
    /// Some of its entries may have flags.
    pub may_have_flags: bool,
}

/// The flags that entries have now.
struct Flags {
    entries: BTreeMap<BString, Marked>,
    sparse: Option<Sparse>,
    /// Every flag that the target had is known.
    known: bool,
}

impl Flags {
    fn of(repo: &Repo, now: &IndexNow<'_>, known: bool) -> Result<Flags, GitError> {
        let entries = match now.may_have_flags {
            true => Source::read(&repo.index_path(), repo.hash_kind())?.marked()?,
            false => BTreeMap::new(),
        };
        let sparse = if entries.is_empty() { None } else { Sparse::of(repo)? };
        Ok(Flags { entries, sparse, known })
    }

    /// Skip-worktree and assume-unchanged of the entry of `path` now.
    fn now(&self, path: &BStr) -> (bool, bool) {
        self.entries.get(path).map_or((false, false), |entry| (entry.skip_worktree, entry.assume_unchanged))
    }

    /// The same as it is to be. What the sparse checkout asks for is left to it.
    fn wanted(&self, path: &BStr, mark: Option<&Mark>) -> (bool, bool) {
        let (skips, assumes) = self.now(path);
        let by_sparse = skips && self.sparse.as_ref().is_some_and(|sparse| !sparse.includes(path));
        match mark {
            Some(mark) => (mark.skip_worktree || by_sparse, mark.assume_unchanged),
            None if self.known => (by_sparse, false),
            None => (skips, assumes),
        }
    }

    /// Paths whose entries have other flags than they had.
    fn changed<'a>(&'a self, marks: &'a Marks) -> impl Iterator<Item = &'a BString> {
        let noted = marks.iter().filter(|(_, mark)| self.known || mark.skip_worktree || mark.assume_unchanged);
        let set_since = self.entries.keys().filter(|path| self.known && marks.get(path.as_bstr()).is_none());
        // An entry for a whole directory is the sparse checkout's.
        let paths = noted.map(|(path, _)| path).chain(set_since).filter(|path| !path.ends_with(b"/"));
        paths.filter(|path| self.now(path.as_bstr()) != self.wanted(path.as_bstr(), marks.get(path.as_bstr())))
    }
}

/// The edits that bring the index to what `mode` says, for the paths that `includes` lets through.
pub fn edits(
    repo: &Repo,
    objects: &Objects,
    now: &IndexNow<'_>,
    target: &Target,
    mode: IndexMode,
    includes: &dyn Fn(&BStr) -> bool,
) -> Result<Vec<IndexEdit>, GitError> {
    let none = Vec::new();
    let (tree, announced) = match (mode, target.index_tree) {
        (IndexMode::Kept, _) => return Ok(Vec::new()),
        (IndexMode::Captured, Some(tree)) => (tree, &target.intent_to_add),
        (IndexMode::Captured, None) | (IndexMode::Head, _) => (now.head.tree, &none),
    };
    let nothing_noted = Marks::default();
    let marks = if mode == IndexMode::Captured { &target.marks } else { &nothing_noted };
    let flags = Flags::of(repo, now, mode == IndexMode::Captured && target.is_step)?;
    let put = |path: &BString, side: Side| {
        let (skip_worktree, assume_unchanged) = flags.wanted(path.as_bstr(), marks.get(path.as_bstr()));
        IndexPut {
            mode: side.mode.value(),
            id: side.id,
            intent_to_add: false,
            skip_worktree: now.outside.contains(path) || skip_worktree,
            assume_unchanged,
            exact_flags: flags.known,
        }
    };
    let mut edits: BTreeMap<BString, Option<IndexPut>> = BTreeMap::new();
    for path in now.intent_to_add.iter().filter(|path| !announced.contains(path)) {
        edits.insert(path.clone(), None);
    }
    for change in tree_changes(objects, &now.tree, &tree)? {
        let put = change.new.map(|side| put(&change.path, side));
        edits.insert(change.path, put);
    }
    for path in flags.changed(marks).filter(|path| includes(path.as_bstr())) {
        if !edits.contains_key(path)
            && !announced.contains(path)
            && let Some(side) = side_of(objects, &tree, path.as_bstr())?
        {
            edits.insert(path.clone(), Some(put(path, side)));
        }
    }
    let empty = ObjectId::empty_blob(objects.hash_kind());
    for path in announced {
        let (skip_worktree, assume_unchanged) = flags.wanted(path.as_bstr(), marks.get(path.as_bstr()));
        if now.intent_to_add.contains(path) && flags.now(path.as_bstr()) == (skip_worktree, assume_unchanged) {
            continue;
        }
        let mode = match marks.get(path.as_bstr()).map(|mark| u16::try_from(mark.mode)) {
            Some(Ok(mode)) => mode,
            _ => side_of(objects, &target.tree, path.as_bstr())?.map_or(EntryKind::Blob as u16, |side| side.mode.value()),
        };
        let exact_flags = flags.known;
        let put = IndexPut { mode, id: empty, intent_to_add: true, skip_worktree, assume_unchanged, exact_flags };
        edits.insert(path.clone(), Some(put));
    }
    Ok(within(edits, includes))
}

/// The edits of the paths that `includes` lets through, with those that take away what cannot stand in an index beside them: the
/// file in whose place a directory is now, and what was in a directory in whose place a file is (`read-cache.c:has_dir_name`,
/// `has_file_name`).
fn within(edits: BTreeMap<BString, Option<IndexPut>>, includes: &dyn Fn(&BStr) -> bool) -> Vec<IndexEdit> {
    let is_put = |(path, put): &(&BString, &Option<IndexPut>)| put.is_some() && includes(path.as_bstr());
    let puts: BTreeSet<BString> = edits.iter().filter(is_put).map(|(path, _)| path.clone()).collect();
    let gives_way = |path: &BString| {
        let below = BString::from([path.as_bytes(), b"/"].concat());
        ancestors(path.as_bstr()).any(|above| puts.contains(&above.to_owned()))
            || puts.range(below.clone()..).next().is_some_and(|put| put.starts_with(&below))
    };
    let edits = edits.into_iter().filter(|(path, put)| includes(path.as_bstr()) || (put.is_none() && gives_way(path)));
    edits.map(|(path, put)| IndexEdit { path, put }).collect()
}

/// What the capture before the restore saw at a path.
pub type Seen<'a> = dyn Fn(&BStr) -> Option<Entry> + 'a;

/// The bytes of the index that follows from `source`, the edits and the files that `ops` wrote; none if it is to stay as it is.
pub(super) fn bytes(
    repo: &Repo,
    objects: &Objects,
    source: &Source,
    (edits, ops): (&[IndexEdit], &[Op]),
    seen: &Seen<'_>,
) -> Result<Option<Vec<u8>>, GitError> {
    let top = Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))?;
    let files = Files { top, ops, seen };
    let mut wanted = Edits::default();
    for edit in edits {
        let edit = match &edit.put {
            None => (edit.path.clone(), Edit::Remove),
            Some(put) => (edit.path.clone(), Edit::Put(files.put(edit.path.as_bstr(), put))),
        };
        wanted.set(edit.0, edit.1);
    }
    for op in ops {
        let Some(new) = &op.new else { continue };
        if wanted.get(op.path.as_bstr()).is_none()
            && let Some(stat) = files.written(op)
        {
            wanted.set(op.path.clone(), Edit::Refresh { id: new.id, stat });
        }
    }
    if wanted.is_empty() {
        return Ok(None);
    }
    wanted.apply(source, objects, &mut |path, id, _| files.content(path).is_some_and(|known| known.as_ref() == id)).map(Some)
}

/// The files of the worktree, as far as their content is known.
struct Files<'a> {
    top: Top,
    ops: &'a [Op],
    seen: &'a Seen<'a>,
}

impl Files<'_> {
    fn put(&self, path: &BStr, put: &IndexPut) -> Put {
        let stat = if put.intent_to_add || self.content(path) != Some(put.id) { None } else { self.proven(path) };
        Put {
            mode: put.mode.into(),
            id: put.id,
            intent_to_add: put.intent_to_add,
            skip_worktree: put.skip_worktree,
            assume_unchanged: put.assume_unchanged,
            exact_flags: put.exact_flags,
            stat: stat.unwrap_or_default(),
        }
    }

    fn op(&self, path: &BStr) -> Option<&Op> {
        self.ops.binary_search_by(|op| op.path.as_bstr().cmp(path)).ok().map(|at| &self.ops[at])
    }

    /// The blob that the file at `path` makes.
    fn content(&self, path: &BStr) -> Option<ObjectId> {
        match self.op(path) {
            Some(op) => op.new.as_ref().map(|new| new.id),
            None => (self.seen)(path).map(|entry| entry.id),
        }
    }

    /// Stat data under which the file at `path` has that content.
    fn proven(&self, path: &BStr) -> Option<StatData> {
        if let Some(op) = self.op(path) {
            return self.written(op);
        }
        let expected = (self.seen)(path)?.stat;
        self.stat(path).filter(|stat| FileStat::of(stat) == expected).map(|stat| StatData::of(&stat))
    }

    fn written(&self, op: &Op) -> Option<StatData> {
        let expected: Identity = op.new.as_ref()?.file?;
        self.stat(op.path.as_bstr()).filter(|stat| expected.is(stat)).map(|stat| StatData::of(&stat))
    }

    fn stat(&self, path: &BStr) -> Option<Stat> {
        self.top.stat(path).ok().flatten()
    }
}
