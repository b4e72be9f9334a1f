//! Taking away the checkpoints that a person names.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::removal::{Guard, remove};
use super::survey::{Survey, needed_elsewhere};
use crate::git::worktree_dirs::{is_known, journaled};
use crate::git::{Repo, refs};
use crate::model::{Blocker, BlockerCode, Checkpoint, CheckpointId, Millis, WorktreeId};
use crate::ops::restore::{Consent, interrupted};
use crate::ops::{Context, Error, select};
use crate::store::Removal;
use crate::sys;

/// What is to be taken away.
#[derive(Debug, Clone)]
pub struct DropRequest {
    /// The checkpoints, as [`choose`] found them: what is typed may mean others later.
    pub checkpoints: Vec<Checkpoint>,
    /// Work everything out and change nothing.
    pub dry_run: bool,
    /// Whether the person agreed.
    pub consent: Consent,
    /// Blockers that are not to count.
    pub allow: Vec<BlockerCode>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropStatus {
    /// They are gone.
    Dropped,
    /// Nothing was changed; the blockers say why.
    Refused,
    /// Nothing was changed, as asked.
    DryRun,
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct DropOutcome {
    /// How it ended.
    pub status: DropStatus,
    /// The checkpoints that are gone, or would be, as they were.
    pub checkpoints: Vec<Checkpoint>,
    /// Why it was refused; in a dry run, why it would be.
    pub blockers: Vec<Blocker>,
    /// How many steps of undo and redo go with them.
    pub steps: usize,
    /// About how many bytes of objects nothing holds any more.
    pub bytes: u64,
}

/// The checkpoints that the selectors name, each once. An error if one of them names none or several.
pub fn choose(context: &Context, selectors: &[String]) -> Result<Vec<Checkpoint>, Error> {
    let mut chosen: Vec<Checkpoint> = Vec::new();
    for selector in selectors {
        let checkpoint = select(&context.repo, &context.store, selector)?;
        if !chosen.iter().any(|known| known.id == checkpoint.id) {
            chosen.push(checkpoint);
        }
    }
    Ok(chosen)
}

/// Takes the checkpoints away, all of them or none; but one that got another name meanwhile stays.
pub fn drop(context: &mut Context, request: &DropRequest) -> Result<DropOutcome, Error> {
    let mut blockers = needed(context, &request.checkpoints, &request.allow)?;
    blockers.extend(interrupted(&context.repo)?);
    if request.consent == Consent::Missing && !request.dry_run {
        blockers.push(confirmation_required());
    }
    let ids: HashSet<&str> = request.checkpoints.iter().map(|checkpoint| checkpoint.id.as_str()).collect();
    let steps = context.store.steps_through(&ids)?;
    let outcome = |status, checkpoints, bytes, blockers| DropOutcome { status, checkpoints, blockers, steps, bytes };
    if request.dry_run || !blockers.is_empty() {
        let status = if request.dry_run { DropStatus::DryRun } else { DropStatus::Refused };
        let bytes = bytes(context, &request.checkpoints)?;
        return Ok(outcome(status, request.checkpoints.clone(), bytes, blockers));
    }
    let guard = Guard::wait(context)?;
    // Others may have restored something while the person was asked.
    let blockers = needed(context, &request.checkpoints, &request.allow)?;
    if !blockers.is_empty() {
        return Ok(outcome(DropStatus::Refused, request.checkpoints.clone(), 0, blockers));
    }
    let survey = Survey::take(context, sys::now_millis(), Millis::MIN, false)?;
    let removals: Vec<Removal> = request.checkpoints.iter().map(removal_of).collect();
    let removed = remove(context, &guard, &removals, &[])?;
    // Counting may take a while, and nobody has to wait for it.
    std::mem::drop(guard);
    let bytes = survey.bytes_of(context, |row| removed.contains(&row.id));
    let gone = request.checkpoints.iter().filter(|checkpoint| removed.contains(&checkpoint.id)).cloned().collect();
    Ok(outcome(DropStatus::Dropped, gone, bytes, Vec::new()))
}

/// What goes with a checkpoint: all the names that it has as far as the caller knows.
pub(in crate::ops) fn removal_of(checkpoint: &Checkpoint) -> Removal {
    let names = checkpoint.names.iter().map(|name| (refs::name_ref(name), checkpoint.commit));
    Removal {
        id: checkpoint.id.clone(),
        names: checkpoint.names.clone(),
        refs: [(checkpoint.ref_name(), checkpoint.commit)].into_iter().chain(names).collect(),
    }
}

fn bytes(context: &Context, checkpoints: &[Checkpoint]) -> Result<u64, Error> {
    let ids: HashSet<&CheckpointId> = checkpoints.iter().map(|checkpoint| &checkpoint.id).collect();
    Ok(Survey::take(context, sys::now_millis(), Millis::MIN, false)?.bytes_of(context, |row| ids.contains(&row.id)))
}

/// Why the checkpoints cannot go, whatever they are removed with, but for consent and for what is at work.
pub(in crate::ops) fn needed(
    context: &Context,
    checkpoints: &[Checkpoint],
    allow: &[BlockerCode],
) -> Result<Vec<Blocker>, Error> {
    let numbers: HashMap<&str, u64> = checkpoints.iter().map(|checkpoint| (checkpoint.id.as_str(), checkpoint.number)).collect();
    let mut blockers = Vec::new();
    let (mut needed, mut needing) = (Vec::new(), BTreeSet::new());
    for (id, by) in context.store.needed_by_undo(Millis::MIN)? {
        // Where the worktree is gone nothing can be undone any more.
        let mut by = by.into_iter().filter(|worktree| is_known(&context.repo, worktree)).peekable();
        if let (Some(number), Some(_)) = (numbers.get(id.as_str()), by.peek()) {
            needed.push(*number);
            needing.extend(by);
        }
    }
    if !needed.is_empty() {
        blockers.push(needed_by_undo(&context.repo, needed, &needing));
    }
    for journal in journaled(&context.repo) {
        match &journal.checkpoints {
            // That of this worktree has its own word.
            _ if journal.journal.parent() == Some(&context.repo.private_dir()) => {}
            Some(ids) if !ids.iter().any(|id| numbers.contains_key(id.as_str())) => {}
            _ => blockers.push(needed_elsewhere(&journal)),
        }
    }
    blockers.retain(|blocker| !allow.contains(&blocker.code));
    Ok(blockers)
}

/// Says where the steps are that need the checkpoints, if not all of them are here: they are listed and taken there alone.
fn needed_by_undo(repo: &Repo, mut numbers: Vec<u64>, needing: &BTreeSet<WorktreeId>) -> Blocker {
    numbers.sort_unstable();
    let listed = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let (mut message, them) = match numbers.len() {
        1 => (format!("checkpoint {listed} is what an undo or redo leads to or has to know"), "it"),
        _ => (format!("the checkpoints {listed} are what an undo or redo leads to or has to know"), "them"),
    };
    let elsewhere = repo.worktrees().into_iter().find(|other| other.id != *repo.worktree_id() && needing.contains(&other.id));
    let mut place = String::new();
    if let Some(other) = elsewhere {
        message.push_str(&format!(" in the worktree `{}`", other.path));
        place = format!("-C {} ", in_quotes(&other.path.to_string()));
    }
    let hint =
        format!("`--allow needed-by-undo` drops {them} with those steps; `git {place}checkpoint undo --list` shows the steps");
    Blocker { code: BlockerCode::NeededByUndo, message, hint }
}

/// The word as a shell takes it.
fn in_quotes(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+@%:,".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn confirmation_required() -> Blocker {
    Blocker {
        code: BlockerCode::ConfirmationRequired,
        message: "a checkpoint that is dropped cannot be brought back, and nobody is there to be asked".into(),
        hint: "look with `--dry-run`, then give `--yes`".into(),
    }
}
