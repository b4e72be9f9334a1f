//! Which paths a sparse checkout wants on disk (git-sparse-checkout(1)).

use gix::bstr::{BStr, ByteSlice};
use gix::glob::pattern::Case;
use gix::ignore::search::Ignore;

use super::{GitError, Repo};

/// The patterns of a sparse checkout.
pub(super) struct Sparse {
    patterns: gix::ignore::Search,
    case: Case,
}

impl Sparse {
    /// The patterns of this worktree; none if its checkout is not sparse.
    pub(super) fn of(repo: &Repo) -> Result<Option<Sparse>, GitError> {
        let gix = repo.gix();
        let config = gix.config_snapshot();
        if config.boolean("core.sparseCheckout") != Some(true) {
            return Ok(None);
        }
        let path = repo.git_dir().join("info/sparse-checkout");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::io("read", &path, source)),
        };
        let mut patterns = gix::ignore::Search::default();
        let added = patterns.add_patterns_buffer(&bytes, &path, None, Ignore { support_precious: false });
        added.map_err(|source| GitError::io("read", &path, source))?;
        let case = if config.boolean("core.ignoreCase") == Some(true) { Case::Fold } else { Case::Sensitive };
        Ok(Some(Sparse { patterns, case }))
    }

    /// True if the file at `path` is to be on disk: the nearest of the path and the directories above it that a pattern is
    /// about decides (`dir.c:path_in_sparse_checkout_1`). The patterns of cone mode say the same, read as any others.
    pub(super) fn includes(&self, path: &BStr) -> bool {
        let mut current = path;
        let mut is_directory = false;
        loop {
            if let Some(found) = self.patterns.pattern_matching_relative_path(current, Some(is_directory), self.case) {
                return !found.pattern.is_negative();
            }
            let Some(slash) = current.rfind_byte(b'/') else { return false };
            current = current[..slash].as_bstr();
            is_directory = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    /// Every file, and whether git has it on disk, under each set of patterns.
    #[test]
    fn what_is_wanted_on_disk_is_what_git_checks_out() {
        let paths = ["f", "in/a", "in/deep/b", "in/deep/er/c", "out/d", "out/in/e", "out/deep/g.txt"];
        let forms: [&[&str]; 6] = [
            &["--cone", "in"],
            &["--cone", "in/deep"],
            &["--cone", "out/deep", "in/deep/er"],
            &["--no-cone", "/in/", "!/in/deep/"],
            &["--no-cone", "*.txt", "e"],
            &["--no-cone", "/*", "!deep"],
        ];
        let repo = TestRepo::new();
        for path in paths {
            repo.write(path, "1\n");
        }
        repo.commit_all("all");
        assert!(Sparse::of(&repo.open()).unwrap().is_none());
        for form in forms {
            repo.git(&[&["sparse-checkout", "set"], form].concat());
            let sparse = Sparse::of(&repo.open()).unwrap().unwrap();

            let wanted = paths.map(|path| sparse.includes(path.into()));

            assert_eq!(wanted, paths.map(|path| repo.exists(path)), "{form:?}");
        }
    }
}
