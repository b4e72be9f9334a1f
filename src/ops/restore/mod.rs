//! Bringing the worktree back to a checkpoint.
//!
//! Order: resolve, gather facts, judge, lock, capture, plan, check the plan, record the pre-restore checkpoint, journal, apply,
//! verify, index, record, unlock. Up to the journal nothing was changed and every reason to refuse is reported, all at once;
//! from there on a failure is taken back, and a process that dies leaves a journal to go by.
//!
//! The files are read again before the index is written, not after: as long as the index is the old one and locked, taking back
//! is renames only.

mod at_work;
mod created;
mod edits;
mod judge;
mod obstacles;
mod prepare;
mod recover;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::memory::{self, MemoryOutcome};
use super::{Context, Error, TurnSide, select, turn_side};
use crate::git::pathspec::Pathspec;
use crate::git::restore::{Export, IndexMode, Kept, OpKind, Rescued, export};
use crate::model::{BString, Blocker, BlockerCode, Checkpoint, ObjectId, What};

pub use at_work::session_active;
pub use judge::no_worktree;
pub use recover::{Recovered, abort_restore, continue_restore, interrupted, refuse_if_interrupted, refuse_or_clear};
pub(super) use run::{TakenBack, Task, run};
pub use run::{Verb, blockers_now};

/// Whether the person agreed to the restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// By `--yes`, or at a prompt.
    Given,
    /// Nobody was asked.
    Missing,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// Which checkpoint, as typed.
    pub selector: String,
    /// With an agent's turn, which end of it; by default what the selector names.
    pub turn: Option<TurnSide>,
    /// What is to come back.
    pub what: What,
    /// That was said for this restore: without memory to bring back, it is not done.
    pub insists: bool,
    /// Work everything out and change nothing.
    pub dry_run: bool,
    /// Whether the person agreed.
    pub consent: Consent,
    /// Leave the index alone.
    pub keep_index: bool,
    /// Leave paths alone whose content is not what was recorded last.
    pub keep_edits: bool,
    /// Blockers that are not to count.
    pub allow: Vec<BlockerCode>,
    /// How long to wait for locks; by default as `checkpoint.lockTimeout` says.
    pub wait: Option<Duration>,
    /// Pathspecs of what to restore; everything if there are none.
    pub paths: Vec<BString>,
    /// Where the person stands.
    pub directory: PathBuf,
}

impl RestoreRequest {
    /// True if it is about the whole worktree.
    pub fn is_whole(&self) -> bool {
        self.paths.is_empty() && !self.keep_edits
    }

    /// A request for the whole of a checkpoint, to which nobody has agreed yet.
    pub fn of(selector: &str, directory: &Path) -> RestoreRequest {
        RestoreRequest {
            selector: selector.to_owned(),
            turn: None,
            what: What::Code,
            insists: false,
            dry_run: false,
            consent: Consent::Missing,
            keep_index: false,
            keep_edits: false,
            allow: Vec::new(),
            wait: None,
            paths: Vec::new(),
            directory: directory.to_owned(),
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreStatus {
    /// The worktree is what it was to be.
    Restored,
    /// It was so before.
    Unchanged,
    /// Nothing was changed; the blockers say why.
    Refused,
    /// The files are done, and the memory is not.
    Partial,
    /// Nothing was changed, as asked.
    DryRun,
}

/// What became of a restore.
#[derive(Debug, Clone)]
pub struct RestoreOutcome {
    /// How it ended.
    pub status: RestoreStatus,
    /// What was asked for.
    pub verb: Verb,
    /// The checkpoint that was to come back.
    pub target: Checkpoint,
    /// The state before, if it was recorded.
    pub pre_restore: Option<Checkpoint>,
    /// Why it was refused; in a dry run, why it would be.
    pub blockers: Vec<Blocker>,
    /// It was refused because a lock was not free in time.
    pub timed_out: bool,
    /// How many files were, or would be, written.
    pub written: usize,
    /// How many files were, or would be, deleted.
    pub deleted: usize,
    /// What differs and stays as it is.
    pub kept: Vec<Kept>,
    /// What becomes of the index.
    pub index: IndexMode,
    /// What was written was read back.
    pub verified: bool,
    /// Files that others wrote meanwhile and that have no place in the worktree.
    pub rescued: Vec<Rescued>,
    /// The steps, sorted by path.
    pub plan: Vec<(OpKind, BString)>,
    /// Commits that HEAD has and the checkpoint's HEAD had not, if HEAD moved since.
    pub head_moved: Option<HeadMoved>,
    /// What became of an agent's memory; none if that was left alone.
    pub memory: Option<MemoryOutcome>,
}

impl RestoreOutcome {
    /// True if it was about files: then the state before was recorded, unless there was nothing to do.
    pub fn has_files(&self) -> bool {
        self.pre_restore.is_some() || self.memory.as_ref().is_none_or(|memory| memory.failure.is_some())
    }

    /// That of a restore that has nothing to do with files.
    pub(super) fn without_files(target: &Checkpoint, verb: Verb, status: RestoreStatus) -> RestoreOutcome {
        RestoreOutcome {
            status,
            verb,
            target: target.clone(),
            pre_restore: None,
            blockers: Vec::new(),
            timed_out: false,
            written: 0,
            deleted: 0,
            kept: Vec::new(),
            index: IndexMode::Kept,
            verified: false,
            rescued: Vec::new(),
            plan: Vec::new(),
            head_moved: None,
            memory: None,
        }
    }
}

/// Where HEAD is now, when it is not where it was at capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadMoved {
    /// The branch; none if HEAD is detached.
    pub branch: Option<String>,
    /// The commit that HEAD is at.
    pub head: Option<ObjectId>,
    /// How many commits were made on top of the checkpoint's HEAD; none if HEAD is not a descendant of it.
    pub commits: Option<usize>,
}

/// Brings the worktree back to the checkpoint that the request names.
pub fn restore(context: &mut Context, request: &RestoreRequest) -> Result<RestoreOutcome, Error> {
    let target = target(context, request)?;
    memory::restore(context, target, request)
}

/// The checkpoint that the request means.
fn target(context: &Context, request: &RestoreRequest) -> Result<Checkpoint, Error> {
    let named = select(&context.repo, &context.store, &request.selector)?;
    match request.turn {
        Some(side) => turn_side(context, named, side),
        None => Ok(named),
    }
}

/// What was written into a directory.
#[derive(Debug, Clone)]
pub struct ExportOutcome {
    /// The checkpoint.
    pub target: Checkpoint,
    /// The directory.
    pub directory: PathBuf,
    /// What was written.
    pub export: Export,
    /// Why nothing was.
    pub blockers: Vec<Blocker>,
    /// Nothing was to be written, only told.
    pub dry_run: bool,
}

/// Writes the files of a checkpoint into `directory`, which must be empty or missing. Touches nothing else.
pub fn restore_to(context: &Context, request: &RestoreRequest, directory: &Path) -> Result<ExportOutcome, Error> {
    let target = target(context, request)?;
    let directory = request.directory.join(directory);
    let usable = match std::fs::read_dir(&directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !usable {
        return Err(Error::Usage(format!("`{}` is not an empty directory", directory.display())));
    }
    // A link to an empty directory stands for the directory.
    let directory = directory.canonicalize().unwrap_or(directory);
    let real = directory.ancestors().find_map(|above| above.canonicalize().ok()).unwrap_or_default();
    if real.starts_with(context.repo.common_dir()) || real.starts_with(context.repo.git_dir()) {
        return Err(Error::Usage(format!("`{}` lies in a git directory", directory.display())));
    }
    let dry_run = request.dry_run;
    let outcome =
        |export, blockers| ExportOutcome { target: target.clone(), directory: directory.clone(), export, blockers, dry_run };
    let objects = crate::git::Objects::new(context.repo.gix(), std::sync::Arc::default());
    let scope = Pathspec::parse(&context.repo, &request.directory, &request.paths)?;
    let includes = |path: &gix::bstr::BStr| scope.includes(path);
    let destination = (!dry_run).then_some(directory.as_path());
    let export = match export(&context.repo, &objects, &target.tree, destination, &includes) {
        Ok(export) => export,
        Err(crate::git::GitError::ObjectMissing(id)) => {
            return Ok(outcome(Export::default(), vec![obstacles::object_missing(&id.to_string())]));
        }
        Err(error) => return Err(error.into()),
    };
    let blockers = obstacles::blockers_of_failures(&export.failures);
    Ok(outcome(export, blockers))
}
