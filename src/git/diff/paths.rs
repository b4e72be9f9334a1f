//! Limits a difference to some paths.

use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::worktree::stack::state::attributes::Source;

use super::reader::read_index;
use super::tree::Change;
use crate::git::{GitError, Repo};

/// Keeps the changes that one of the pathspecs asks for (gitglossary(7), "pathspec"). They are relative to the current
/// directory. Without any, all changes stay.
pub fn limit(repo: &Repo, pathspecs: &[BString], changes: &mut Vec<Change>) -> Result<(), GitError> {
    if pathspecs.is_empty() {
        return Ok(());
    }
    let gix = repo.gix();
    let index = read_index(&repo.index_path(), repo.hash_kind());
    let specs = pathspecs.iter().map(|spec| spec.as_bstr());
    let wanted = gix.pathspec(false, specs, false, &index, Source::WorktreeThenIdMapping);
    let mut wanted = wanted.map_err(|source| GitError::other("read the paths", source))?;
    changes.retain(|change| {
        let is_dir = [change.old, change.new].iter().flatten().any(|side| side.mode.kind() == EntryKind::Commit);
        wanted.is_included(change.path.as_bstr(), Some(is_dir))
    });
    Ok(())
}
