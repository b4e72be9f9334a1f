//! A private world for one test: cleared environment, own home, own clock.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The program under test as it was built.
const PROGRAM: &str = env!("CARGO_BIN_EXE_git-checkpoint");

/// Where the clock of every test starts: 2025-01-01, in milliseconds.
pub const FIRST_MOMENT: i64 = 1_735_689_600_000;

/// A temporary folder with a home of its own, and the environment that commands run in.
pub struct TestEnv {
    root: tempfile::TempDir,
    clock: AtomicI64,
    unprivileged: AtomicBool,
}

/// The user and group that own nothing: `nobody`.
const NOBODY: u32 = 65534;

impl TestEnv {
    /// Makes the folder. The global git configuration lies in the home, so that a test can change it.
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("checkpoint-test.").tempdir().unwrap();
        let env = TestEnv { root, clock: AtomicI64::new(FIRST_MOMENT), unprivileged: AtomicBool::new(false) };
        for folder in [env.home(), env.root().join("tmp"), env.shelf()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let config = "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n\taddEmbeddedRepo = false\n\
                      [protocol \"file\"]\n\tallow = always\n[maintenance]\n\tauto = false\n";
        std::fs::write(env.home().join(".gitconfig"), config).unwrap();
        env
    }

    /// The temporary folder, without symbolic links in its path.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// The home of the test's user.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Where repositories lie: a path with a space and a letter that is not ASCII, since both break careless code.
    pub fn shelf(&self) -> PathBuf {
        self.root().join("wörk trees")
    }

    /// A command in this environment. The clock of the program under test moves one second per command.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let now = self.clock.fetch_add(1000, Ordering::Relaxed);
        command.env_clear().current_dir(self.shelf()).stdin(std::process::Stdio::null()).envs([
            ("PATH", self.search_path()),
            ("HOME", self.home().into()),
            ("TMPDIR", self.root().join("tmp").into()),
            ("LC_ALL", "C".into()),
            ("TZ", "UTC".into()),
            ("COLUMNS", "100".into()),
            ("GIT_CONFIG_GLOBAL", self.home().join(".gitconfig").into()),
            ("GIT_CONFIG_SYSTEM", "/dev/null".into()),
            ("GIT_AUTHOR_NAME", "Author".into()),
            ("GIT_AUTHOR_EMAIL", "author@example.com".into()),
            ("GIT_AUTHOR_DATE", "1735689600 +0000".into()),
            ("GIT_COMMITTER_NAME", "Committer".into()),
            ("GIT_COMMITTER_EMAIL", "committer@example.com".into()),
            ("GIT_COMMITTER_DATE", "1735689600 +0000".into()),
            ("GIT_CHECKPOINT_NOW", OsString::from(now.to_string())),
        ]);
        if self.unprivileged.load(Ordering::Relaxed) {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// From now on every command runs as someone who is not root and who owns everything that is in the folder by now. Where
    /// the tests do not run as root, that is so already.
    pub fn give_away(&self) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let program = self.root().join("bin/git-checkpoint");
        if !self.unprivileged.swap(true, Ordering::Relaxed) {
            // Where the tests were built may be closed to others.
            std::fs::create_dir_all(program.parent().expect("it lies in a folder")).unwrap();
            // Not copied by this process: a child that another test starts meanwhile would hold the copy open for writing, and
            // such a program cannot be run.
            assert!(Command::new("cp").arg(PROGRAM).arg(&program).status().unwrap().success());
        }
        let owner = format!("{NOBODY}:{NOBODY}");
        assert!(Command::new("chown").args(["-R", "-h", &owner]).arg(self.root()).status().unwrap().success());
    }

    /// The program under test.
    pub fn program(&self) -> PathBuf {
        let copy = self.root().join("bin/git-checkpoint");
        if copy.exists() { copy } else { PROGRAM.into() }
    }

    /// The folder of the program under test, then everything that was on the path before.
    fn search_path(&self) -> OsString {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let own = self.program().parent().expect("the program lies in a folder").to_owned();
        std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&inherited))).unwrap()
    }

    /// Sets a value in the global git configuration.
    pub fn global_config(&self, key: &str, value: &str) {
        let status = self.command("git").args(["config", "--global", key, value]).status().unwrap();
        assert!(status.success(), "git config --global {key}");
    }
}
