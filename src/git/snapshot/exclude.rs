//! `checkpoint.exclude`: untracked files that are left out by pathspec.

use std::path::Path;

use gix::bstr::BStr;
use gix::pathspec::{Defaults, Search};

use crate::git::{GitError, Repo};

/// Matches paths against `checkpoint.exclude`.
pub(super) struct Exclude {
    search: Option<Search>,
}

impl Exclude {
    /// The patterns of `repo`'s configuration, seen from the top of the worktree.
    pub(super) fn new(repo: &Repo) -> Result<Exclude, GitError> {
        let patterns = &repo.config().exclude;
        if patterns.is_empty() {
            return Ok(Exclude { search: None });
        }
        let bad = |value: &BStr| GitError::BadConfig { key: "checkpoint.exclude".into(), value: value.to_string() };
        let parse =
            |pattern: &gix::bstr::BString| gix::pathspec::parse(pattern, Defaults::default()).map_err(|_| bad(pattern.as_ref()));
        let parsed = patterns.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let search = Search::from_specs(parsed, None, Path::new("")).map_err(|_| bad(patterns[0].as_ref()))?;
        Ok(Exclude { search: Some(search) })
    }

    /// True if the file at `path` is to be left out.
    pub(super) fn matches(&mut self, path: &BStr) -> bool {
        let Some(search) = &mut self.search else { return false };
        search
            .pattern_matching_relative_path(path, Some(false), &mut |_, _, _, _| false)
            .is_some_and(|found| !found.is_excluded())
    }
}
