//! Which paths differ between two trees.

use gix::bstr::{BStr, BString};
use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{TreeRef, TreeRefIter};
use gix::{ObjectId, oid};

use crate::git::{GitError, Objects};

/// One side of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Mode as in the tree: file, executable, link or commit; never a tree.
    pub mode: EntryMode,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
}

/// A path that differs between two trees. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path relative to the top.
    pub path: BString,
    /// What the old tree has there.
    pub old: Option<Side>,
    /// What the new tree has there.
    pub new: Option<Side>,
}

/// The paths that differ between the trees `old` and `new`, sorted by path as bytes. A file that became a directory is the
/// removal of the file and the addition of what is in the directory.
pub fn tree_changes(objects: &Objects, old: &oid, new: &oid) -> Result<Vec<Change>, GitError> {
    let mut changes = Vec::new();
    let mut path = Vec::new();
    compare(objects, Some(old), Some(new), &mut path, &mut changes)?;
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

fn compare(
    objects: &Objects,
    old: Option<&oid>,
    new: Option<&oid>,
    path: &mut Vec<u8>,
    out: &mut Vec<Change>,
) -> Result<(), GitError> {
    if old == new {
        return Ok(());
    }
    let (mut old_data, mut new_data) = (Vec::new(), Vec::new());
    let old = read_tree(objects, old, &mut old_data)?;
    let new = read_tree(objects, new, &mut new_data)?;
    let (mut left, mut right) = (old.entries.iter().peekable(), new.entries.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(b),
        };
        let old = if order.is_le() { left.next() } else { None };
        let new = if order.is_ge() { right.next() } else { None };
        if let (Some(a), Some(b)) = (old, new)
            && a.oid == b.oid
            && a.mode == b.mode
        {
            continue;
        }
        let name: &BStr = old.or(new).map(|entry| entry.filename).unwrap_or_default();
        let length = path.len();
        if length > 0 {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let tree = |entry: Option<&gix::objs::tree::EntryRef<'_>>| entry.filter(|e| e.mode.is_tree()).map(|e| e.oid.to_owned());
        let side = |entry: Option<&gix::objs::tree::EntryRef<'_>>| {
            entry.filter(|e| e.mode.kind() != EntryKind::Tree).map(|e| Side { mode: e.mode, id: e.oid.to_owned() })
        };
        compare(objects, tree(old).as_deref(), tree(new).as_deref(), path, out)?;
        let (old, new) = (side(old), side(new));
        if old.is_some() || new.is_some() {
            out.push(Change { path: path.clone().into(), old, new });
        }
        path.truncate(length);
    }
}

fn read_tree<'a>(objects: &Objects, id: Option<&oid>, data: &'a mut Vec<u8>) -> Result<TreeRef<'a>, GitError> {
    let Some(id) = id else { return Ok(TreeRef::empty()) };
    objects.read(id, data)?;
    let entries = TreeRefIter::from_bytes(data, objects.hash_kind()).collect::<Result<Vec<_>, _>>();
    let entries = entries.map_err(|source| GitError::other(format!("read tree {id}"), source))?;
    Ok(TreeRef { entries })
}
