//! A repository made by the real git, opened, for unit tests.

use std::path::Path;
use std::process::Command;

use super::Context;

/// A repository with one commit; it goes away with the fixture.
pub(crate) struct Fixture {
    pub(crate) context: Context,
    pub(crate) folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"]);
        std::fs::write(folder.path().join("file"), "one\n").unwrap();
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-q", "-m", "first"]);
        let context = Context::open(folder.path()).unwrap();
        Fixture { context, folder }
    }
}

/// Runs git in `folder`, without the configuration of whoever runs the tests, and returns what it printed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")]).env("HOME", folder);
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.com"]).args(arguments).current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
