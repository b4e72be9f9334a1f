//! Git itself as a child process, for what only it knows how to do.

use std::process::{Command, Output, Stdio};

use gix::bstr::ByteSlice;

use super::{GitError, Repo};

/// A git command on `repo`, without input and in the language that its messages are read in.
pub(super) fn git(repo: &Repo) -> Command {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(repo.git_dir());
    for name in ["GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_DIR", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Git could not be run at all.
pub(super) fn not_run(source: std::io::Error) -> GitError {
    GitError::other("run git", source)
}

/// What git printed, or why it could not do `action`.
pub(super) fn done(output: Output, action: &str) -> Result<Vec<u8>, GitError> {
    if output.status.success() { Ok(output.stdout) } else { Err(refused(&output, action)) }
}

/// Why git could not do `action`: the first line that says so, else the last one.
pub(super) fn refused(output: &Output, action: &str) -> GitError {
    let text = output.stderr.to_str_lossy();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines.clone().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line = telling.or_else(|| lines.next_back()).unwrap_or("git said nothing");
    GitError::other(action, line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned())
}
