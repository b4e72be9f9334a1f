//! Refs to and from a remote repository, by git itself: its transports, its credentials, its protocol.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use gix::ObjectId;
use gix::bstr::ByteSlice;

use super::child::{done, not_run, refused};
use super::{GitError, Repo, child};
use crate::sys;
use crate::sys::progress::{self, Phase};

/// So many refs go into one command: a command line has a limit.
const AT_ONCE: usize = 500;

/// What became of a ref that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// It was not there before.
    New,
    /// It was there already.
    Known,
    /// The remote has another commit there, or does not take it; in git's words.
    Refused(String),
}

/// The names of the configured remotes, sorted.
pub fn names(repo: &Repo) -> Vec<String> {
    repo.gix().remote_names().into_iter().map(|name| name.to_str_lossy().into_owned()).collect()
}

/// Pushes refs or objects, each to the ref that is named after it. No hook of ours or the person's runs, and nothing is overwritten.
pub fn push(repo: &Repo, remote: &str, refs: &[(String, String)]) -> Result<Vec<(String, Pushed)>, GitError> {
    progress::begin(Phase::Bundle, 0);
    let mut done = Vec::new();
    for refs in refs.chunks(AT_ONCE) {
        let mut command = git(repo);
        if names(repo).iter().any(|name| name == remote) {
            // A mirror would be sent everything.
            command.args(["-c", &format!("remote.{remote}.mirror=false")]);
        }
        command.args(["push", "--porcelain", "--no-verify", "--no-follow-tags"]);
        command.args(["--recurse-submodules=no", "--", remote]).args(refs.iter().map(|(from, to)| format!("{from}:{to}")));
        let output = run(command, b"")?;
        let told = parse_push(&output.stdout.to_str_lossy());
        if told.len() < refs.len() && !output.status.success() {
            return Err(refused(&output, &format!("push to `{remote}`")));
        }
        done.extend(told);
    }
    Ok(done)
}

/// The lines of `git push --porcelain`: a flag, the two refs, and what happened (git-push(1), OUTPUT).
fn parse_push(text: &str) -> Vec<(String, Pushed)> {
    let line = |line: &str| -> Option<(String, Pushed)> {
        let mut fields = line.split('\t');
        let (flag, refs, summary) = (fields.next()?, fields.next()?, fields.next()?);
        let pushed = match flag {
            "=" => Pushed::Known,
            "!" => Pushed::Refused(summary.to_owned()),
            _ => Pushed::New,
        };
        Some((refs.split(':').nth(1)?.to_owned(), pushed))
    };
    text.lines().filter_map(line).collect()
}

/// The refs of a remote that match one of the patterns, such as `refs/checkpoints/*`.
pub fn list(repo: &Repo, remote: &str, patterns: &[String]) -> Result<Vec<(String, ObjectId)>, GitError> {
    let mut command = git(repo);
    command.args(["ls-remote", "--quiet", "--refs", "--", remote]).args(patterns);
    let listed = done(run(command, b"")?, &format!("ask `{remote}` for its refs"))?;
    let text = listed.to_str_lossy();
    let line = |line: &str| {
        let (id, name) = line.split_once('\t')?;
        Some((name.to_owned(), ObjectId::from_hex(id.as_bytes()).ok()?))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Fetches the objects of some refs of a remote, checked as git-fsck(1) does. They are held by refs below `holder` until
/// [`release`].
pub fn fetch(repo: &Repo, remote: &str, refs: &[String], holder: &str) -> Result<(), GitError> {
    progress::begin(Phase::Bundle, 0);
    let mut command = git(repo);
    command.args([
        "-c",
        "fetch.fsckObjects=true",
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
    ]);
    command.args(["--no-prune", "--no-recurse-submodules", "--refmap=", "--stdin", "--", remote]);
    let wanted: String = refs.iter().enumerate().map(|(at, name)| format!("+{name}:{holder}{at}\n")).collect();
    done(run(command, wanted.as_bytes())?, &format!("fetch from `{remote}`")).map(|_| ())
}

/// A place for refs that hold what a fetch brings, until it is sorted out. What processes left there that died is removed.
pub fn holder(repo: &Repo) -> Result<String, GitError> {
    const HOLDERS: &str = "refs/checkpoint-incoming/";
    for (name, id) in super::refs::list(repo, HOLDERS)? {
        let pid = name[HOLDERS.len()..].split('-').next().and_then(|pid| pid.parse().ok());
        if !pid.is_some_and(sys::process::is_running) {
            super::refs::delete(repo, &name, Some(id))?;
        }
    }
    Ok(format!("{HOLDERS}{}-{:x}/", std::process::id(), sys::now_nanos()))
}

/// Removes the refs below `holder`.
pub fn release(repo: &Repo, holder: &str) -> Result<(), GitError> {
    for (name, id) in super::refs::list(repo, holder)? {
        super::refs::delete(repo, &name, Some(id))?;
    }
    Ok(())
}

/// Git at the top, from where the paths of remotes count.
fn git(repo: &Repo) -> Command {
    let mut command = child::git(repo);
    command.current_dir(repo.top());
    command
}

/// Runs git with `input`; what it says and asks for at the terminal (a password) is between git and the person.
fn run(mut command: Command, input: &[u8]) -> Result<Output, GitError> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(not_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If git is gone already, its own message says why.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output().map_err(not_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_of_each_ref_is_read() {
        let text = "To ../bare\n*\trefs/checkpoints/s/a:refs/checkpoints/s/a\t[new reference]\n\
                    =\t1234:refs/checkpoints/s/b\t[up to date]\n\
                    !\trefs/checkpoint-names/x:refs/checkpoint-names/x\t[rejected] (fetch first)\nDone\n";

        let expected = [
            ("refs/checkpoints/s/a".to_owned(), Pushed::New),
            ("refs/checkpoints/s/b".to_owned(), Pushed::Known),
            ("refs/checkpoint-names/x".to_owned(), Pushed::Refused("[rejected] (fetch first)".to_owned())),
        ];
        assert_eq!(parse_push(text), expected);
    }
}
