//! Names that no path of a repository may have (`read-cache.c:verify_path`).

use gix::bstr::{BStr, ByteSlice};
use gix::objs::tree::EntryMode;
use gix::validate::path::component::{Mode, Options};

use super::Repo;

/// Tells good names from bad ones: `.git` and what some file system takes for it, `..`, and the like.
#[derive(Clone, Copy)]
pub(super) struct PathNames(Options);

impl PathNames {
    /// By `core.protectHFS` and `core.protectNTFS`.
    pub(super) fn of(repo: &Repo) -> PathNames {
        let gix = repo.gix();
        let config = gix.config_snapshot();
        let is_set = |key: &str, default: bool| config.boolean(key).unwrap_or(default);
        PathNames(Options {
            protect_windows: false,
            protect_hfs: is_set("core.protectHFS", false),
            protect_ntfs: is_set("core.protectNTFS", true),
        })
    }

    /// True if a file or, with `is_link`, a symbolic link may have this name.
    pub(super) fn allow(&self, name: &BStr, is_link: bool) -> bool {
        gix::validate::path::component(name, is_link.then_some(Mode::Symlink), self.0).is_ok()
    }

    /// True if a tree may have an entry with this mode at `path`.
    pub(super) fn allow_path(&self, path: &BStr, mode: EntryMode) -> bool {
        let mut names = path.split_str("/").peekable();
        while let Some(name) = names.next() {
            let is_link = names.peek().is_none() && mode.is_link();
            if !self.allow(name.as_bstr(), is_link) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use gix::objs::tree::EntryKind;

    use super::*;
    use crate::git::testing::TestRepo;

    #[test]
    fn paths_that_git_refuses_are_refused() {
        let names = PathNames::of(&TestRepo::new().open());
        for path in [".git/config", "a/.git", ".GIT/hooks/x", "git~1/config", "../x", "a/../x", "./x", "a//b", "/etc/x", ""] {
            assert!(!names.allow_path(path.into(), EntryKind::Blob.into()), "{path}");
        }
        assert!(!names.allow_path(".gitmodules".into(), EntryKind::Link.into()));
        for path in [".gitmodules", ".gitignore", "a/.gitx", "git", "...", "a b/\u{fc}"] {
            assert!(names.allow_path(path.into(), EntryKind::Blob.into()), "{path}");
        }
    }
}
