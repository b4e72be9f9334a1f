//! Which paths are ignored, by gitignore(5).

use std::collections::BTreeSet;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stat};
use gix::oid;
use gix::worktree::stack::state::ignore::Source;

use super::index::join;
use super::rule_files::{Gathered, RuleFiles};
use super::tree_path::TreePaths;
use super::{GitError, Objects, Repo, os_path};

/// Answers whether a path is ignored. Each thread takes its own.
pub struct Ignore {
    stack: gix::worktree::Stack,
    repo: gix::Repository,
    /// Watches over the files in the worktree; none if none of them is read.
    files: Option<RuleFiles>,
}

/// Rules that hold for the whole worktree.
pub(super) struct Globals<'a> {
    /// The content of `core.excludesFile`.
    pub(super) everywhere: &'a BStr,
    /// That of `info/exclude`, which counts more.
    pub(super) exclude: &'a BStr,
}

impl Ignore {
    /// The rules in force now: `.gitignore` files in the worktree (those not checked out from `index`), `info/exclude` and
    /// `core.excludesFile`.
    pub fn worktree(repo: &Repo, index: &gix::index::State) -> Result<Ignore, GitError> {
        let files = Some(RuleFiles::new(repo.top(), ".gitignore")?);
        Ok(Ignore { files, ..Self::with(repo.gix(), index, Source::WorktreeThenIdMappingIfNotSkipped)? })
    }

    /// The rules of the `.gitignore` files in `tree`, with today's `info/exclude` and `core.excludesFile`. Only directories
    /// above `paths` are looked at, so only those may be asked for.
    pub fn of_tree<'a>(
        repo: &Repo,
        objects: &Objects,
        tree: &oid,
        paths: impl Iterator<Item = &'a BStr>,
    ) -> Result<Ignore, GitError> {
        let index = files_above(objects, tree, paths, b".gitignore")?;
        Self::with(repo.gix(), &index, Source::IdMapping)
    }

    /// The rules of a state that is past: of the `.gitignore` files that its tree has in the directories above `paths`, of other
    /// such files with their content, and of what was then `info/exclude` and `core.excludesFile`.
    pub(super) fn of_past<'a, 'b>(
        repo: &Repo,
        objects: &Objects,
        (tree, paths): (&oid, impl Iterator<Item = &'a BStr>),
        others: impl Iterator<Item = (&'b BStr, &'b BStr)>,
        globals: &Globals<'_>,
    ) -> Result<Ignore, GitError> {
        let gix = repo.gix().with_object_memory();
        let mut index = files_above(objects, tree, paths, b".gitignore")?;
        for (path, content) in others {
            let id = gix.write_blob(content).map_err(|source| GitError::other("keep rules", source))?.detach();
            index.dangerously_push_entry(Stat::default(), id, Flags::empty(), Mode::FILE, path);
        }
        index.sort_entries();
        let rules = gix::ignore::search::Ignore { support_precious: false };
        let mut search = gix::ignore::Search::default();
        for content in [globals.everywhere, globals.exclude] {
            let added = search.add_patterns_buffer(content, "exclude", None, rules);
            added.map_err(|source| GitError::io("read", "exclude", source))?;
        }
        let state = gix::worktree::stack::state::Ignore::new(Default::default(), search, None, Source::IdMapping, rules);
        let folds_case = gix.config_snapshot().boolean("core.ignoreCase") == Some(true);
        let state = gix::worktree::stack::State::IgnoreStack(state);
        let stack = gix::worktree::Stack::from_state_and_ignore_case(repo.top(), folds_case, state, &index, index.path_backing());
        Ok(Ignore { stack, repo: gix, files: None })
    }

    fn with(gix: gix::Repository, index: &gix::index::State, source: Source) -> Result<Ignore, GitError> {
        let stack = gix.excludes(index, None, source).map_err(|source| GitError::other("read ignore rules", source))?.detach();
        Ok(Ignore { stack, repo: gix, files: None })
    }

    /// True if `path` or a directory above it is ignored. That a file is tracked makes no difference here.
    pub fn is_ignored(&mut self, path: &BStr, is_directory: bool) -> Result<bool, GitError> {
        if self.files.as_mut().is_some_and(|files| !files.are_sound(path)) {
            let Gathered { index, repo } = self.files.take().expect("it was just there").gather(&self.repo)?;
            *self = Self::with(repo, &index, Source::IdMapping)?;
        }
        let mode = if is_directory { Mode::DIR } else { Mode::FILE };
        match self.stack.at_path(os_path(path), Some(mode), &self.repo.objects) {
            Ok(platform) => Ok(platform.is_excluded()),
            Err(source) => Err(GitError::io("read the ignore rules for", os_path(path), source)),
        }
    }
}

/// An index of the files called `name` that `tree` has in the directories above `paths`.
pub(super) fn files_above<'a>(
    objects: &Objects,
    tree: &oid,
    paths: impl Iterator<Item = &'a BStr>,
    name: &[u8],
) -> Result<gix::index::State, GitError> {
    let mut directories = BTreeSet::from([BString::default()]);
    for path in paths {
        directories.extend(path.find_iter("/").map(|at| path[..at].to_owned()));
    }
    let mut index = gix::index::State::new(objects.hash_kind());
    let mut in_tree = TreePaths::new(objects, tree);
    for directory in &directories {
        let path = join(directory.as_bstr(), name.as_bstr());
        if let Some(file) = in_tree.entry(path.as_bstr())?.filter(|side| side.mode.is_blob()) {
            index.dangerously_push_entry(Stat::default(), file.id, Flags::empty(), Mode::FILE, path.as_bstr());
        }
    }
    index.sort_entries();
    Ok(index)
}
