//! Limits a difference to some paths.

use std::path::PathBuf;

use gix::bstr::{BString, ByteSlice};
use gix::index::entry::Mode;
use gix::objs::tree::EntryKind;

use super::reader::attributes;
use super::tree::{Change, Side};
use crate::git::{GitError, Repo, pathspec};

/// Pathspecs (gitglossary(7)) and the directory that they are relative to. Without any, all paths are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paths {
    /// Where the person stands.
    pub directory: PathBuf,
    /// What was typed.
    pub specs: Vec<BString>,
}

impl Paths {
    /// True if all paths are meant.
    pub fn is_everything(&self) -> bool {
        self.specs.is_empty()
    }
}

/// Keeps what `paths` ask for. Each side of a change is judged for itself: `x/` asks for a submodule, not for the file that
/// took its place.
pub fn limit(repo: &Repo, paths: &Paths, changes: &mut Vec<Change>) -> Result<(), GitError> {
    if paths.is_everything() {
        return Ok(());
    }
    let mut search = pathspec::search(repo, &paths.directory, &paths.specs)?;
    let gix = repo.gix();
    let mut attributes = attributes(&gix)?;
    let mut wanted = |path: &BString, side: Side| {
        let is_dir = side.mode.kind() == EntryKind::Commit;
        let found = search.pattern_matching_relative_path(path.as_bstr(), Some(is_dir), &mut |path, case, is_dir, out| {
            let mode = if is_dir { Mode::DIR } else { Mode::FILE };
            let found = attributes.set_case(case).at_entry(path, Some(mode), &gix.objects);
            found.is_ok_and(|platform| platform.matching_attributes(out))
        });
        found.is_some_and(|found| !found.is_excluded())
    };
    changes.retain_mut(|change| {
        change.old = change.old.filter(|&side| wanted(&change.path, side));
        change.new = change.new.filter(|&side| wanted(&change.path, side));
        change.old.is_some() || change.new.is_some()
    });
    Ok(())
}
