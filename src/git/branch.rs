//! An ordinary branch that holds a checkpoint, for going on from it with git.

use gix::ObjectId;
use gix::actor::Signature;
use gix::date::Time;
use gix::objs::{Commit, Kind, WriteTo};

use super::child::{done, git, not_run};
use super::commit::{EMAIL, NAME};
use super::odb::{Keep, ObjectSink};
use super::{GitError, Repo};
use crate::model::{Checkpoint, Millis};

/// True if git lets a branch be called so (git-check-ref-format(1), `--branch`).
pub fn is_valid_name(name: &str) -> bool {
    let is_reserved = name == "HEAD" || name.starts_with('-');
    !is_reserved && gix::refs::FullName::try_from(full_name(name)).is_ok()
}

/// Creates the branch `name`, which must not exist, at a commit of the person's own with the files of `checkpoint` on top of the
/// commit that HEAD was at. Returns the commit. HEAD, index and worktree stay as they are.
pub fn create(repo: &Repo, name: &str, checkpoint: &Checkpoint, now: Millis) -> Result<ObjectId, GitError> {
    let gix = repo.gix();
    let reference = full_name(name);
    if gix.try_find_reference(reference.as_str()).ok().flatten().is_some() {
        return Err(GitError::RefExists(reference));
    }
    if let Some(missing) = [Some(checkpoint.tree), checkpoint.head].into_iter().flatten().find(|id| !gix.has_object(id)) {
        return Err(GitError::ObjectMissing(missing));
    }
    let message = checkpoint.message.clone().unwrap_or_else(|| checkpoint.subject.clone());
    let (author, committer) = (person(gix.author(), now), person(gix.committer(), now));
    let commit = Commit {
        tree: checkpoint.tree,
        parents: checkpoint.head.into_iter().collect(),
        author,
        committer,
        encoding: None,
        message: format!("{}\n", message.trim_end()).into(),
        extra_headers: Vec::new(),
    };
    let mut data = Vec::with_capacity(1024);
    commit.write_to(&mut data).map_err(|source| GitError::other("encode a commit", source))?;
    let sink = ObjectSink::new(repo, Keep::Objects);
    let id = sink.writer(&gix).add(Kind::Commit, &data)?;
    sink.flush()?;
    point(repo, &reference, id, checkpoint)?;
    Ok(id)
}

/// Git itself makes the ref: it knows of names in each other's way, of reflogs, and of whoever listens to changes of branches.
fn point(repo: &Repo, reference: &str, id: ObjectId, checkpoint: &Checkpoint) -> Result<(), GitError> {
    let nothing = ObjectId::null(repo.hash_kind());
    let mut command = git(repo);
    command.args(["update-ref", "-m", &format!("branch: created from checkpoint {}", checkpoint.number)]);
    let output = command.args([reference, &id.to_string(), &nothing.to_string()]).output().map_err(not_run)?;
    done(output, &format!("create `{reference}`")).map(|_| ())
}

/// The person that git would name; where nobody is configured, the identity of checkpoints.
fn person<E>(configured: Option<Result<gix::actor::SignatureRef<'_>, E>>, now: Millis) -> Signature {
    let configured = configured.and_then(Result::ok).and_then(|person| person.to_owned().ok());
    configured.unwrap_or_else(|| Signature {
        name: NAME.into(),
        email: EMAIL.into(),
        time: Time { seconds: now.div_euclid(1000), offset: 0 },
    })
}

fn full_name(name: &str) -> String {
    format!("refs/heads/{name}")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn names_are_those_that_git_takes() {
        let repo = crate::git::testing::TestRepo::new();
        for name in ["a", "a/b", "fix.it", "-a", "HEAD", "a..b", "a b", "a.lock", "a/", "/a", "", "@", "a@{b", "a~1", "ä"] {
            let git =
                Command::new("git").args(["check-ref-format", "--branch", name]).current_dir(repo.path("")).output().unwrap();

            assert_eq!(is_valid_name(name), git.status.success(), "{name:?}");
        }
    }
}
