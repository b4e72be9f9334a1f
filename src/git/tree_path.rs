//! What a tree has at a path.

use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::TreeRefIter;
use gix::{ObjectId, oid};

use super::GitError;
use super::diff::Side;
use super::index::join;
use super::objects::Objects;

/// Looks paths up in one tree. Asked in order of paths, it reads each directory once.
pub(super) struct TreePaths<'o> {
    objects: &'o Objects,
    tree: ObjectId,
    /// The directories that lead to the path that was asked for last, the top first.
    open: Vec<Directory>,
}

struct Directory {
    path: BString,
    data: Vec<u8>,
}

impl<'o> TreePaths<'o> {
    pub(super) fn new(objects: &'o Objects, tree: &oid) -> TreePaths<'o> {
        TreePaths { objects, tree: tree.to_owned(), open: Vec::new() }
    }

    /// The entry at `path`, a directory too.
    pub(super) fn entry(&mut self, path: &BStr) -> Result<Option<Side>, GitError> {
        while self.open.pop_if(|directory| below(directory.path.as_bstr(), path).is_none()).is_some() {}
        if self.open.is_empty() {
            self.enter(BString::default(), self.tree)?;
        }
        loop {
            let directory = self.open.last().expect("the top was just opened");
            let Some(rest) = below(directory.path.as_bstr(), path) else { return Ok(None) };
            let (name, is_last) = rest.split_once_str(b"/").map_or((rest, true), |(name, _)| (name, false));
            let mut entries = TreeRefIter::from_bytes(&directory.data, self.objects.hash_kind()).filter_map(Result::ok);
            let Some(entry) = entries.find(|entry| entry.filename == name) else { return Ok(None) };
            let side = Side { mode: entry.mode, id: entry.oid.to_owned() };
            if is_last || !side.mode.is_tree() {
                return Ok(is_last.then_some(side));
            }
            self.enter(join(directory.path.as_bstr(), name.as_bstr()), side.id)?;
        }
    }

    fn enter(&mut self, path: BString, id: ObjectId) -> Result<(), GitError> {
        let mut data = Vec::new();
        self.objects.read(&id, &mut data)?;
        self.open.push(Directory { path, data });
        Ok(())
    }
}

/// The side that `tree` has at `path`, if it has a file there.
pub(in crate::git) fn side_of(objects: &Objects, tree: &oid, path: &BStr) -> Result<Option<Side>, GitError> {
    Ok(TreePaths::new(objects, tree).entry(path)?.filter(|side| !side.mode.is_tree()))
}

/// True if `tree` has a file or a directory at `path`.
pub(in crate::git) fn is_in(objects: &Objects, tree: &oid, path: &BStr) -> Result<bool, GitError> {
    Ok(TreePaths::new(objects, tree).entry(path)?.is_some())
}

/// What is left of `path` in `directory`, if it lies in there.
fn below<'p>(directory: &BStr, path: &'p BStr) -> Option<&'p [u8]> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory.as_bytes())?.strip_prefix(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::diff::testing::{TwoCommits, write};
    use crate::ops::testing::git;

    #[test]
    fn paths_are_found_in_any_order_and_nothing_else_is() {
        let commits = TwoCommits::new(
            |folder| ["a", "d/a", "d/e/b", "d/e.c", "d-e/x"].iter().for_each(|path| write(folder, path, *path)),
            |folder| write(folder, "a", "b"),
        );
        let path = commits.folder.path();
        let tree: ObjectId = git(path, &["rev-parse", "old^{tree}"]).trim().parse().unwrap();
        let objects = Objects::new(commits.repo.gix(), Default::default());
        let mut paths = TreePaths::new(&objects, &tree);
        let asked = ["d/e/b", "d/e", "a", "d/e.c", "d-e/x", "d/a", "a/b", "d/e/c", "e", "d", "d/e/b/c", "d/", "d/e/b"];

        for asked in asked {
            let found = paths.entry(asked.into()).unwrap().map(|side| side.id.to_string());

            let name = format!("old:{asked}");
            let expected =
                std::process::Command::new("git").current_dir(path).args(["rev-parse", "-q", "--verify", &name]).output();
            let expected = expected.unwrap().stdout.trim().to_str().unwrap().to_owned();
            assert_eq!(found.unwrap_or_default(), if asked.ends_with('/') { "" } else { &expected }, "{asked}");
        }
    }
}
