//! Pathspecs (gitglossary(7)) as they are typed after `--`.

use std::cell::RefCell;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::pathspec::{Defaults, Search};

use super::{GitError, Repo};

/// Tells which paths some pathspecs mean. Without any, they mean every path.
pub struct Pathspec {
    search: Option<RefCell<Search>>,
    patterns: Vec<BString>,
}

impl Pathspec {
    /// Pathspecs typed by a person who stands in `directory`.
    pub fn parse(repo: &Repo, directory: &Path, patterns: &[BString]) -> Result<Pathspec, GitError> {
        if patterns.is_empty() {
            return Ok(Pathspec { search: None, patterns: Vec::new() });
        }
        let search = search(repo, directory, patterns)?;
        Ok(Pathspec { search: Some(RefCell::new(search)), patterns: patterns.to_vec() })
    }

    /// True if every path is meant.
    pub fn is_everything(&self) -> bool {
        self.search.is_none()
    }

    /// The pathspecs as they were typed.
    pub fn patterns(&self) -> &[BString] {
        &self.patterns
    }

    /// True if the file at `path` is meant.
    pub fn includes(&self, path: &BStr) -> bool {
        let Some(search) = &self.search else { return true };
        let found = search
            .borrow_mut()
            .pattern_matching_relative_path(path, Some(false), &mut |_, _, _, _| false)
            .map(|found| found.is_excluded());
        found.is_some_and(|excluded| !excluded)
    }
}

/// Reads pathspecs typed by a person who stands in `directory`.
pub(crate) fn search(repo: &Repo, directory: &Path, patterns: &[BString]) -> Result<Search, GitError> {
    let bad = |pattern: &BStr, why: String| GitError::other(format!("understand the pathspec `{pattern}`"), why);
    let prefix = repo.prefix(directory).unwrap_or_default();
    // `git --literal-pathspecs` and its like (git(1)) speak through the environment.
    let defaults = repo.gix().pathspec_defaults().map_err(|source| GitError::other("read the pathspec settings", source))?;
    let mut parsed = Vec::with_capacity(patterns.len());
    for typed in patterns {
        let bad = |why: String| bad(typed.as_bstr(), why);
        let mut pattern = gix::pathspec::parse(typed, defaults).map_err(|error| bad(error.to_string()))?;
        let mut normal = pattern.clone();
        normal.normalize(&prefix, repo.top()).map_err(|error| bad(error.to_string()))?;
        // The top itself, as in `.` and `..`, is taken for a file of that name unless it is spelt as nothing.
        if normal.is_nil() {
            let top = gix::pathspec::parse(b":(top)", Defaults::default()).map_err(|error| bad(error.to_string()))?;
            let spelt = std::mem::replace(&mut pattern, top);
            pattern.signature |= spelt.signature;
            pattern.attributes = spelt.attributes;
        }
        parsed.push(pattern);
    }
    let first = patterns.first().map(|pattern| pattern.as_bstr()).unwrap_or_default();
    Search::from_specs(parsed, Some(&prefix), repo.top()).map_err(|error| bad(first, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn pathspecs_are_relative_to_where_the_person_stands() {
        let test = TestRepo::new();
        test.write("a/b/f", "");
        let repo = test.open();
        let includes = |directory: &str, patterns: &[&str], path: &str| {
            let patterns: Vec<BString> = patterns.iter().map(|pattern| (*pattern).into()).collect();
            Pathspec::parse(&repo, &test.path(directory), &patterns).unwrap().includes(path.into())
        };

        assert!(includes("a", &["b"], "a/b/f"));
        assert!(!includes("a", &["b"], "b/f"));
        assert!(includes("a", &[":/c"], "c"));
        assert!(includes("a", &["../x*"], "xyz"));
        assert!(includes("", &["*.rs", ":!a"], "b.rs"));
        assert!(!includes("", &["*.rs", ":!a"], "a/b.rs"));
        for (directory, everything) in [("", "."), ("", "./"), ("a", ".."), ("a/b", "../.."), ("a", "../a/..")] {
            assert!(includes(directory, &[everything], "anything"), "{everything}");
            assert!(!includes(directory, &[&format!(":!{everything}")], "anything"), "{everything}");
        }
        assert!(includes("a", &[":/"], "anything"));
        assert!(includes("a", &["."], "a/f"));
        assert!(!includes("a", &["."], "b"));
        assert!(includes("", &[], "anything"));
        assert!(Pathspec::parse(&repo, &test.top(), &["../out".into()]).is_err());
    }
}
