//! Repositories for tests, made and judged by the real `git`.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use tempfile::TempDir;

use super::{Repo, os_path};

/// A repository in a directory of its own.
pub(crate) struct TestRepo {
    root: TempDir,
}

impl TestRepo {
    /// An empty repository.
    pub(crate) fn new() -> TestRepo {
        Self::with(&[])
    }

    /// An empty repository made by `git init <arguments>`.
    pub(crate) fn with(arguments: &[&str]) -> TestRepo {
        let repo = TestRepo { root: TempDir::new().unwrap() };
        std::fs::create_dir(repo.top()).unwrap();
        let mut all = vec!["init", "-q", "-b", "main"];
        all.extend_from_slice(arguments);
        repo.git(&all);
        repo
    }

    /// The top of the worktree, a path with a space and a letter beyond ASCII.
    pub(crate) fn top(&self) -> PathBuf {
        self.root.path().join("wörk tree")
    }

    /// A path outside the worktree.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top().join(os_path(name.as_bytes()))
    }

    pub(crate) fn open(&self) -> Repo {
        Repo::open(&self.top()).unwrap()
    }

    pub(crate) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
            command.env_remove(name);
        }
        command.current_dir(directory).env("HOME", self.root.path());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        command
    }

    pub(crate) fn try_git(&self, arguments: &[&str]) -> Output {
        self.command(&self.top()).args(arguments).output().unwrap()
    }

    /// Runs git, which must succeed, and returns what it prints, without the last line feed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", output.stderr.as_bstr());
        output.stdout.trim_end_with(|c| c == '\n').to_str_lossy().into_owned()
    }

    pub(crate) fn id(&self, revision: &str) -> ObjectId {
        ObjectId::from_hex(self.git(&["rev-parse", revision]).as_bytes()).unwrap()
    }

    /// The tree that `git add -A` and `git write-tree` make of the worktree, by an index of its own.
    pub(crate) fn worktree_tree(&self) -> ObjectId {
        let index = self.outside("scratch-index");
        let _ = std::fs::remove_file(&index);
        if let Ok(bytes) = std::fs::read(self.path(".git/index")) {
            std::fs::write(&index, bytes).unwrap();
        }
        let run = |arguments: &[&str]| {
            let output = self.command(&self.top()).env("GIT_INDEX_FILE", &index).args(arguments).output().unwrap();
            assert!(output.status.success(), "git {arguments:?}: {}", output.stderr.as_bstr());
            output.stdout
        };
        run(&["add", "-A"]);
        ObjectId::from_hex(run(&["write-tree"]).trim()).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read(self.path(name)).unwrap().to_str_lossy().into_owned()
    }

    pub(crate) fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    pub(crate) fn symlink(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Commits everything that is there.
    pub(crate) fn commit_all(&self, message: &str) -> ObjectId {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.id("HEAD")
    }
}
