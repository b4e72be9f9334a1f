//! Repositories inside the worktree: what is one, and whether it has changes of its own, which a checkpoint does not hold.

use std::path::Path;

use gix::bstr::{BStr, ByteSlice};

use super::{Keep, take};
use crate::git::{Repo, os_path};

/// True if the repository in `directory` has uncommitted or untracked files. Nothing of it is written.
pub(super) fn is_dirty(directory: &Path) -> bool {
    let Ok(repo) = Repo::open_nested(directory) else { return false };
    let Ok(snapshot) = take(&repo, Keep::Memory, &[]) else { return false };
    snapshot.tree != snapshot.head.tree || snapshot.index_tree != Some(snapshot.head.tree)
}

/// True if the directory at `path` below `top` is the top of a repository of its own, in git's sense: its `.git` is a git directory, or
/// a file that points to one or cannot be read (`setup.c:is_nonbare_repository_dir`).
pub(crate) fn is_repository(top: &Path, path: &BStr) -> bool {
    let git = top.join(os_path(path)).join(".git");
    // Through a symbolic link, as git looks at it.
    let Ok(metadata) = std::fs::metadata(&git) else { return false };
    if metadata.is_dir() {
        return is_git_directory(&git);
    }
    if !metadata.is_file() {
        return false;
    }
    match std::fs::read(&git) {
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
        Ok(text) => match text.strip_prefix(b"gitdir: ") {
            Some(target) => is_git_directory(&top.join(os_path(path)).join(os_path(target.trim_end()))),
            None => false,
        },
    }
}

/// True if the directory at `path` below `top` is a bare repository. A capture takes it for files, as `git add` does; what is in it
/// belongs together all the same.
pub(crate) fn is_bare_repository(top: &Path, path: &BStr) -> bool {
    is_git_directory(&top.join(os_path(path)))
}

/// `setup.c:is_git_directory`: a valid HEAD, an object directory and a directory of refs.
fn is_git_directory(path: &Path) -> bool {
    let common = match std::fs::read(path.join("commondir")) {
        Ok(text) => path.join(os_path(text.trim_end())),
        Err(_) => path.to_owned(),
    };
    path.join("HEAD").symlink_metadata().is_ok() && common.join("objects").is_dir() && common.join("refs").is_dir()
}
