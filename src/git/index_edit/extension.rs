//! The extensions behind the entries: which stay, which change, which go.

use std::collections::BTreeMap;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::hash::Kind;

use super::entry::{Entries, number};
use super::{Edit, malformed};
use crate::git::GitError;

/// The extensions of the new index.
///
/// * `TREE` (ids of directories) is kept, with every directory above an edited path marked as unknown.
/// * `UNTR` (untracked files) is emptied if paths come or go, since it is proved by the times of directories only.
/// * `FSMN` goes: it counts entries, and it would vouch for entries that now hold something else.
/// * `EOIE` and `IEOT` go: they hold offsets and only save time.
/// * Others whose name begins with an upper-case letter are kept, as far as they are known to hold no paths or offsets.
pub(super) fn carry_over(rest: &[u8], edits: &BTreeMap<BString, Edit>, hash: Kind) -> Result<Vec<u8>, GitError> {
    let edited = |edit: &Edit| !matches!(edit, Edit::Refresh { .. });
    let changed = edits.values().any(edited);
    let mut out = Vec::new();
    for extension in Extensions(rest) {
        let (name, data) = extension?;
        match name {
            b"TREE" if changed => {
                let Some(mut tree) = TreeNode::read(data, hash.len_in_bytes()) else { continue };
                edits.iter().filter(|(_, edit)| edited(edit)).for_each(|(path, _)| tree.forget(path.as_bstr()));
                let mut data = Vec::new();
                tree.write(&mut data);
                push(&mut out, name, &data);
            }
            b"UNTR" if changed => {
                if let Some(data) = without_directories(data, hash.len_in_bytes()) {
                    push(&mut out, name, &data);
                }
            }
            b"TREE" | b"UNTR" | b"REUC" | b"sdir" => push(&mut out, name, data),
            b"FSMN" | b"EOIE" | b"IEOT" => {}
            [first, ..] if first.is_ascii_uppercase() => {}
            _ => return Err(malformed(&format!("it needs the extension `{}`", name.as_bstr()))),
        }
    }
    Ok(out)
}

/// True if the index shares entries with another file.
pub(super) fn is_split(bytes: &[u8], hash: Kind) -> Result<bool, GitError> {
    has(bytes, hash, b"link")
}

/// True if the index may hold directories as single entries.
pub(super) fn is_sparse(bytes: &[u8], hash: Kind) -> Result<bool, GitError> {
    has(bytes, hash, b"sdir")
}

fn has(bytes: &[u8], hash: Kind, wanted: &[u8; 4]) -> Result<bool, GitError> {
    let mut entries = Entries::read(bytes, hash)?;
    while entries.next()?.is_some() {}
    for extension in Extensions(entries.rest()) {
        if extension?.0 == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn push(out: &mut Vec<u8>, name: &[u8], data: &[u8]) {
    let Ok(len) = u32::try_from(data.len()) else { return };
    out.extend_from_slice(name);
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(data);
}

struct Extensions<'a>(&'a [u8]);

impl<'a> Iterator for Extensions<'a> {
    type Item = Result<(&'a [u8; 4], &'a [u8]), GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.0);
        let cut_off = || Some(Err(malformed("an extension is cut off")));
        let Some((name, after)) = rest.split_first_chunk::<4>() else { return cut_off() };
        if after.len() < 4 {
            return cut_off();
        }
        let len = number(after) as usize;
        let Some(data) = after[4..].get(..len) else { return cut_off() };
        self.0 = &after[4 + len..];
        Some(Ok((name, data)))
    }
}

/// A directory in the `TREE` extension.
struct TreeNode<'a> {
    name: &'a [u8],
    /// How many entries it covers; none if its id is unknown.
    known: Option<(&'a [u8], &'a [u8])>,
    children: Vec<TreeNode<'a>>,
}

impl<'a> TreeNode<'a> {
    fn read(data: &'a [u8], hash_len: usize) -> Option<TreeNode<'a>> {
        let (node, rest) = Self::read_one(data, hash_len, 0)?;
        rest.is_empty().then_some(node)
    }

    fn read_one(data: &'a [u8], hash_len: usize, depth: usize) -> Option<(TreeNode<'a>, &'a [u8])> {
        if depth > 2048 {
            return None;
        }
        let (name, rest) = data.split_once_str(b"\0")?;
        let (count, rest) = rest.split_once_str(b" ")?;
        let (children, mut rest) = rest.split_once_str(b"\n")?;
        let children: usize = children.to_str().ok()?.parse().ok()?;
        let known = if count == b"-1" {
            None
        } else {
            let id = rest.get(..hash_len)?;
            rest = &rest[hash_len..];
            Some((count, id))
        };
        let mut node = TreeNode { name, known, children: Vec::new() };
        for _ in 0..children {
            let (child, after) = Self::read_one(rest, hash_len, depth + 1)?;
            node.children.push(child);
            rest = after;
        }
        Some((node, rest))
    }

    fn forget(&mut self, path: &BStr) {
        self.known = None;
        let (name, below) = match path.split_once_str(b"/") {
            Some((name, below)) => (name, Some(below)),
            None => (path.as_bytes(), None),
        };
        match below {
            // A directory cannot stand beside a file of the same name.
            None => self.children.retain(|child| child.name != name),
            Some(below) => {
                if let Some(child) = self.children.iter_mut().find(|child| child.name == name) {
                    child.forget(below.as_bstr());
                }
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name);
        out.push(0);
        out.extend_from_slice(self.known.map_or(b"-1", |(count, _)| count));
        out.push(b' ');
        out.extend_from_slice(self.children.len().to_string().as_bytes());
        out.push(b'\n');
        if let Some((_, id)) = self.known {
            out.extend_from_slice(id);
        }
        self.children.iter().for_each(|child| child.write(out));
    }
}

/// The data of `UNTR` as if git had never looked into a directory, so that the feature stays switched on.
fn without_directories(data: &[u8], hash_len: usize) -> Option<Vec<u8>> {
    const STAT_DATA_LEN: usize = 36;
    let mut at = 0;
    let mut ident_len = 0_usize;
    loop {
        let byte = *data.get(at)?;
        at += 1;
        ident_len = (ident_len << 7) | usize::from(byte & 127);
        if byte & 128 == 0 {
            break;
        }
        ident_len = ident_len.checked_add(1).filter(|len| *len < data.len())?;
    }
    at = at.checked_add(ident_len)?.checked_add(2 * STAT_DATA_LEN + 4 + 2 * hash_len)?;
    let end = at + data.get(at..)?.find_byte(0)? + 1;
    let mut out = data[..end].to_vec();
    out.push(0);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_above_an_edit_become_unknown_and_others_stay_known() {
        let id = [7; 20];
        let mut data = Vec::new();
        for (node, name) in [("3 2\n", ""), ("1 0\n", "a"), ("1 0\n", "b")] {
            data.extend_from_slice(name.as_bytes());
            data.push(0);
            data.extend_from_slice(node.as_bytes());
            data.extend_from_slice(&id);
        }
        let mut tree = TreeNode::read(&data, 20).unwrap();

        tree.forget("b/x".into());

        assert!(tree.known.is_none());
        assert!(tree.children[0].known.is_some());
        assert!(tree.children[1].known.is_none());
        let mut out = Vec::new();
        tree.write(&mut out);
        assert!(TreeNode::read(&out, 20).is_some());
    }

    #[test]
    fn a_cut_off_extension_is_an_error() {
        assert!(carry_over(b"TREE\0\0\0\x09abc", &BTreeMap::new(), Kind::Sha1).is_err());
        assert!(carry_over(b"xyzw\0\0\0\0", &BTreeMap::new(), Kind::Sha1).is_err(), "required and unknown");
        assert_eq!(carry_over(b"XYZW\0\0\0\0", &BTreeMap::new(), Kind::Sha1).unwrap(), b"");
    }
}
