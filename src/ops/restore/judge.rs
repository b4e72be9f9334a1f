//! Reasons to refuse that can be told before anything is captured.

use super::{Consent, RestoreRequest, at_work};
use crate::git::restore::{Unreadable, pending};
use crate::git::{GitError, MainWorktree, Repo, facts};
use crate::model::{Blocker, BlockerCode, Checkpoint};
use crate::ops::{Context, Error};

/// Every such reason, but for a held `index.lock`: that may pass.
pub(super) fn judge(context: &Context, target: &Checkpoint, request: &RestoreRequest) -> Result<Vec<Blocker>, Error> {
    let mut blockers = judge_worktree(context, request)?;
    if belongs_elsewhere(&context.repo, target) && !request.allow.contains(&BlockerCode::OtherWorktree) {
        blockers.push(other_worktree(target));
    }
    blockers.sort_by_key(|blocker| blocker.code);
    Ok(blockers)
}

/// Those that do not depend on which checkpoint is to come back.
pub(super) fn judge_worktree(context: &Context, request: &RestoreRequest) -> Result<Vec<Blocker>, Error> {
    let repo = &context.repo;
    let mut blockers = Vec::new();
    if repo.worktree_id().is_main() && repo.config().main_worktree == MainWorktree::Refuse {
        blockers.push(main_worktree());
    }
    if let Some(operation) = facts::operation(repo) {
        blockers.push(operation_in_progress(&operation));
    }
    blockers.extend(at_work::blockers(repo, &context.store)?);
    let unfinished = unfinished(repo)?;
    blockers.extend(unfinished.filter(|blocker| blocker.code != BlockerCode::RestoreInProgress || request.wait.is_none()));
    if request.consent == Consent::Missing && !request.dry_run {
        blockers.push(confirmation_required(repo));
    }
    blockers.retain(|blocker| !request.allow.contains(&blocker.code));
    Ok(blockers)
}

/// Every such reason that may have come up while the lock of the worktree was waited for.
pub(super) fn judge_again(context: &Context, request: &RestoreRequest) -> Result<Vec<Blocker>, Error> {
    let mut blockers = at_work::blockers(&context.repo, &context.store)?;
    blockers.retain(|blocker| !request.allow.contains(&blocker.code));
    blockers.extend(unfinished(&context.repo)?);
    Ok(blockers)
}

/// A checkpoint of another worktree of this repository that is still there. One from another machine, or of a worktree that is
/// gone, belongs nowhere else.
fn belongs_elsewhere(repo: &Repo, target: &Checkpoint) -> bool {
    let worktree = &target.worktree;
    let is_placed_there = worktree.id.mark().is_some() && crate::git::os_path(&worktree.path).is_dir();
    target.origin.is_none()
        && worktree.id != *repo.worktree_id()
        && (is_placed_there || repo.worktrees().iter().any(|known| known.id == worktree.id))
}

/// A restore that has begun and not ended.
pub(super) fn unfinished(repo: &Repo) -> Result<Option<Blocker>, Error> {
    let Some(pending) = pending(repo)? else { return Ok(None) };
    Ok(Some(if pending.live { in_progress(pending.pid) } else { interrupted(pending.unreadable.as_ref()) }))
}

pub(super) fn in_progress(pid: u32) -> Blocker {
    Blocker {
        code: BlockerCode::RestoreInProgress,
        message: format!("a restore is running in this worktree (process {pid})"),
        hint: "wait until it is done, or give `--wait <duration>`".into(),
    }
}

pub(super) fn interrupted(unreadable: Option<&Unreadable>) -> Blocker {
    if let Some(unreadable) = unreadable {
        return journal_unreadable(unreadable);
    }
    Blocker {
        code: BlockerCode::RestoreInterrupted,
        message: "a restore in this worktree was interrupted".into(),
        hint: "`git checkpoint restore --continue` finishes it, `git checkpoint restore --abort` takes it back".into(),
    }
}

fn journal_unreadable(unreadable: &Unreadable) -> Blocker {
    let Unreadable { journal, why, folders, newer } = unreadable;
    let message =
        format!("a restore in this worktree was interrupted, and its journal `{}` cannot be read: {why}", journal.display());
    let folders: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    let aside = match folders.is_empty() {
        true => "nothing is set aside any more".to_owned(),
        false => format!("the files that it had set aside are in {}", folders.join(", ")),
    };
    let way_out = match newer {
        true => "finish it with the version of git-checkpoint that began it",
        false => "`git checkpoint restore --abort` keeps those, leaves every file as it is now, and ends the restore",
    };
    Blocker { code: BlockerCode::RestoreInterrupted, message, hint: format!("{aside}; {way_out}") }
}

pub(super) fn index_locked(repo: &Repo) -> Blocker {
    let lock = repo.git_dir().join("index.lock");
    Blocker {
        code: BlockerCode::IndexLocked,
        message: format!("another git process holds `{}`", lock.display()),
        hint: format!("wait for it to end; if none is running, remove the file: rm '{}'", lock.display()),
    }
}

pub(super) fn unmerged_index() -> Blocker {
    Blocker {
        code: BlockerCode::UnmergedIndex,
        message: "the index has conflicts that are not resolved, which a restore would lose".into(),
        hint: "resolve them, or end the operation they come from; `git checkpoint save` works meanwhile".into(),
    }
}

/// The reason that lies in a repository which could not be opened, if it is that there is no worktree.
pub fn no_worktree(error: &GitError) -> Option<Blocker> {
    let (code, hint) = match error {
        GitError::Bare | GitError::InsideGitDirectory => {
            (BlockerCode::NotAWorktree, "run it in one of the worktrees (`git worktree list`)")
        }
        GitError::NotWorktreeRoot(_) => (BlockerCode::NotWorktreeRoot, "`git worktree repair` may mend the link"),
        _ => return None,
    };
    Some(Blocker { code, message: error.to_string(), hint: hint.into() })
}

fn main_worktree() -> Blocker {
    Blocker {
        code: BlockerCode::MainWorktree,
        message: "`checkpoint.restore.mainWorktree` is `refuse`, and this is the main worktree".into(),
        hint: "restore in a linked worktree, or allow it once: git -c checkpoint.restore.mainWorktree=ask checkpoint restore …"
            .into(),
    }
}

fn other_worktree(target: &Checkpoint) -> Blocker {
    Blocker {
        code: BlockerCode::OtherWorktree,
        message: format!("the checkpoint belongs to another worktree, `{}`", target.worktree.path),
        hint: "run it there, or give `--allow other-worktree`".into(),
    }
}

fn operation_in_progress(operation: &str) -> Blocker {
    let way_out = match operation {
        "bisect" => "git bisect reset".to_owned(),
        operation => format!("git {operation} --abort` or `git {operation} --continue"),
    };
    Blocker {
        code: BlockerCode::OperationInProgress,
        message: format!("a {operation} is in progress, which a restore would tear apart"),
        hint: format!("end it first: `{way_out}`"),
    }
}

fn confirmation_required(repo: &Repo) -> Blocker {
    let place = if repo.worktree_id().is_main() { "the main worktree" } else { "this worktree" };
    Blocker {
        code: BlockerCode::ConfirmationRequired,
        message: format!("restoring changes files in {place}, and nobody is there to be asked"),
        hint: "look with `--dry-run`, then give `--yes`".into(),
    }
}
