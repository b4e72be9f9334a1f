//! A repository to test in: verbs for files and for git. Every verb calls the real thing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::{Output, TestEnv};

/// A worktree of a repository in a [`TestEnv`].
pub struct TestRepo {
    env: Arc<TestEnv>,
    top: PathBuf,
}

impl TestRepo {
    /// A repository with one commit of one file: `f`, holding `1`.
    pub fn new() -> Self {
        Self::with_commit(&[])
    }

    /// The same with SHA-256 object names.
    pub fn sha256() -> Self {
        Self::with_commit(&["--object-format=sha256"])
    }

    /// A repository without any commit.
    pub fn unborn() -> Self {
        Self::init("repo", &[])
    }

    fn with_commit(options: &[&str]) -> Self {
        let repo = Self::init("repo", options);
        repo.write("f", "1\n");
        repo.commit("init");
        repo
    }

    fn init(name: &str, options: &[&str]) -> Self {
        let env = Arc::new(TestEnv::new());
        let top = env.shelf().join(name);
        Output::of(env.command("git").args(["init", "-q"]).args(options).arg(&top)).success();
        TestRepo { env, top }
    }

    /// The worktree at `<shelf>/<name>`, which exists already.
    pub fn at(&self, name: &str) -> TestRepo {
        TestRepo { env: Arc::clone(&self.env), top: self.env.shelf().join(name) }
    }

    /// The environment it lies in.
    pub fn env(&self) -> &TestEnv {
        &self.env
    }

    /// The top of the worktree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// A path inside the worktree.
    pub fn path(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.top.join(Path::new(path.as_ref()))
    }

    /// The git directory of this worktree.
    pub fn git_dir(&self) -> PathBuf {
        PathBuf::from(self.git(["rev-parse", "--absolute-git-dir"]).text())
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> PathBuf {
        self.top.join(self.git(["rev-parse", "--git-common-dir"]).text()).canonicalize().unwrap()
    }

    /// Writes a file in place, with the folders it needs.
    pub fn write(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
    }

    /// Adds to the end of a file.
    pub fn append(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let mut whole = self.bytes(&path);
        whole.extend_from_slice(content.as_ref());
        self.write(path, whole);
    }

    /// The bytes of a file.
    #[track_caller]
    pub fn bytes(&self, path: impl AsRef<OsStr>) -> Vec<u8> {
        let path = self.path(path);
        std::fs::read(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, path: impl AsRef<OsStr>) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// Whether anything stands at a path, a dangling link included.
    pub fn exists(&self, path: impl AsRef<OsStr>) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// Removes a file, a link or a whole folder.
    pub fn remove(&self, path: impl AsRef<OsStr>) {
        let path = self.path(path);
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }

    /// Moves what stands at a path to another.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) {
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Waits until the stamps of what was written last are old enough to tell it from what is written next.
    pub fn settle(&self) {
        std::thread::sleep(std::time::Duration::from_millis(25));
    }

    /// Makes an empty folder.
    pub fn mkdir(&self, path: impl AsRef<OsStr>) {
        std::fs::create_dir_all(self.path(path)).unwrap();
    }

    /// Takes away everybody's right to write, of a folder anywhere; [`TestRepo::give_away`] must have come before.
    pub fn close(&self, folder: impl AsRef<Path>) {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    }

    /// Sets the permission bits.
    pub fn chmod(&self, path: impl AsRef<OsStr>, mode: u32) {
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Whether the owner may execute a file.
    pub fn is_executable(&self, path: impl AsRef<OsStr>) -> bool {
        self.path(path).metadata().unwrap().mode() & 0o100 != 0
    }

    /// See [`TestEnv::give_away`].
    pub fn give_away(&self) {
        self.env.give_away();
    }

    /// Makes a symbolic link at `path`.
    pub fn symlink(&self, target: impl AsRef<Path>, path: impl AsRef<OsStr>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// What a symbolic link points at; none if no link stands there.
    pub fn link_target(&self, path: impl AsRef<OsStr>) -> Option<PathBuf> {
        std::fs::read_link(self.path(path)).ok()
    }

    /// Makes a named pipe.
    pub fn fifo(&self, path: impl AsRef<OsStr>) {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, self.path(path), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }

    /// Makes a socket that nobody listens on.
    pub fn socket(&self, path: impl AsRef<OsStr>) {
        drop(std::os::unix::net::UnixListener::bind(self.path(path)).unwrap());
    }

    /// The modification time in nanoseconds.
    pub fn mtime(&self, path: impl AsRef<OsStr>) -> i64 {
        let meta = self.path(path).symlink_metadata().unwrap();
        meta.mtime() * 1_000_000_000 + meta.mtime_nsec()
    }

    /// Sets the modification time (a link itself, not what it points at).
    pub fn set_mtime(&self, path: impl AsRef<OsStr>, nanos: i64) {
        let time = rustix::fs::Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(rustix::fs::CWD, self.path(path), &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }

    /// A command with the top of the worktree as its current directory.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.env.command(program);
        command.current_dir(&self.top);
        command
    }

    /// Runs git, which must succeed.
    #[track_caller]
    pub fn git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Output {
        self.try_git(args).success()
    }

    /// Runs git.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn try_git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Output {
        Output::of(self.command("git").args(args))
    }

    /// Runs git where only its effect matters.
    #[track_caller]
    pub fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) {
        self.git(args).success();
    }

    /// Adds everything and commits it.
    #[track_caller]
    pub fn commit(&self, message: &str) {
        self.run(["add", "-A"]);
        self.run(["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Sets a value in the repository's configuration.
    #[track_caller]
    pub fn config(&self, key: &str, value: &str) {
        self.run(["config", key, value]);
    }

    /// `git status` in its exact form.
    #[track_caller]
    pub fn status(&self) -> String {
        let args = ["--no-optional-locks", "status", "--porcelain=v2", "-z"];
        String::from_utf8_lossy(&self.git(args).stdout).replace('\0', "\n")
    }

    /// The size of what is staged at a path; 0 if nothing is.
    pub fn staged_size(&self, path: &OsStr) -> u64 {
        let mut name = std::ffi::OsString::from(":./");
        name.push(path);
        self.try_git([OsStr::new("cat-file"), OsStr::new("-s"), &name]).text().parse().unwrap_or_default()
    }

    /// Every file and link of the worktree.
    pub fn files(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
                if path == self.path(".git") {
                    continue;
                }
                if path.symlink_metadata().unwrap().is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&self.top).unwrap().as_os_str().as_bytes().to_vec());
                }
            }
        }
        found
    }

    /// What a name resolves to; none if it does not.
    pub fn rev(&self, name: &str) -> Option<String> {
        let output = self.try_git(["rev-parse", "-q", "--verify", name]);
        (output.code() == Some(0)).then(|| output.text())
    }
}

/// A file name that is no UTF-8.
pub fn raw(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}
