//! What a restore is about to do: a capture of the worktree, and the plan that follows from it.

use std::collections::BTreeSet;

use gix::bstr::{BStr, ByteSlice};

use super::created::created_before;
use super::edits::Edits;
use super::run::{Task, Verb};
use super::{judge, obstacles};
use crate::git::diff::tree_changes;
use crate::git::facts::Head;
use crate::git::pathspec::Pathspec;
use crate::git::restore::{
    Attributes, IndexEdit, IndexMode, IndexNow, KeepReason, Marks, Now, Originals, Plan, Scope, Target, add_failures, check,
    index_edits,
};
use crate::git::snapshot::{self, Keep, Snapshot};
use crate::git::stat::FileStat;
use crate::git::{GitError, Objects, Repo, path_bytes};
use crate::model::{BString, Blocker, ObjectId};
use crate::ops::{Context, Error};
use crate::sys::progress::{self, Phase};

/// How often a capture is taken anew because it has to take in files that are in the way.
const CAPTURES: usize = 3;

/// A capture of the worktree with the plan that follows from it.
pub(super) struct Prepared {
    pub(super) snapshot: Snapshot,
    pub(super) plan: Plan,
    pub(super) edits: Vec<IndexEdit>,
    pub(super) index: IndexMode,
    pub(super) kept_edits: Edits,
}

/// Captures the worktree, with whatever is in the way, and plans. The inner error are reasons to refuse.
pub(super) fn prepare(context: &Context, task: &Task<'_>, keep: Keep) -> Result<Result<Prepared, Vec<Blocker>>, Error> {
    let repo = &context.repo;
    let pathspec = Pathspec::parse(repo, &task.request.directory, &task.request.paths)?;
    let target = target_of(repo, task)?;
    let mut planned = capture_and_plan(context, task, (keep, Reading::Changed), &target, &pathspec)?;
    // A repository may have lost what a capture found in it before.
    if let Ok((snapshot, plan, _)) = &planned
        && !plan.not_held(&snapshot.objects(repo), &|id| snapshot.has_made(id)).is_empty()
    {
        planned = capture_and_plan(context, task, (keep, Reading::All), &target, &pathspec)?;
    }
    let (snapshot, mut plan, kept_edits) = match planned {
        Ok(planned) => planned,
        Err(blocker) => return Ok(Err(vec![blocker])),
    };
    refuse_unmatched(context, task, &snapshot)?;
    let objects = snapshot.objects(repo);
    if task.request.keep_edits {
        plan.kept.extend(kept_edits.kept(&objects, &snapshot.tree, &target.tree, &|path| pathspec.includes(path))?);
        plan.kept.sort();
    }
    let Some(tree) = snapshot.index_tree else {
        let mut blockers = all_obstacles(context, task, &objects, &mut plan, &kept_edits)?;
        blockers.push(judge::unmerged_index());
        return Ok(Err(blockers));
    };
    let index = index_mode(task, &target, &snapshot.head);
    let without_file = [KeepReason::OutsideSparseCheckout, KeepReason::SkipWorktree];
    let outside = plan.kept.iter().filter(|kept| without_file.contains(&kept.reason));
    let outside: BTreeSet<BString> = outside.map(|kept| kept.path.clone()).collect();
    let now = IndexNow {
        tree,
        intent_to_add: &snapshot.intent_to_add,
        head: &snapshot.head,
        outside,
        may_have_flags: snapshot.index_has_rules(),
    };
    let includes = |path: &BStr| pathspec.includes(path) && !kept_edits.concern(path);
    let edits = match index_edits(repo, &objects, &now, &target, index, &includes) {
        Ok(edits) => edits,
        Err(GitError::ObjectMissing(id)) => return Ok(Err(vec![obstacles::object_missing(&format!("object {id}"))])),
        Err(error) => return Err(error.into()),
    };
    Ok(Ok(Prepared { snapshot, plan, edits, index, kept_edits }))
}

/// Which files a capture reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Those that changed since the last one.
    Changed,
    /// All.
    All,
}

/// Captures until everything that is in the way is in the capture.
fn capture_and_plan(
    context: &Context,
    task: &Task<'_>,
    (keep, reading): (Keep, Reading),
    target: &Target,
    pathspec: &Pathspec,
) -> Result<Result<(Snapshot, Plan, Edits), Blocker>, Error> {
    let repo = &context.repo;
    let (deletable, mut forced) = created_before(context, task)?;
    let standing_in = repo.prefix(&task.request.directory).map(|path| path_bytes(&path));
    let standing_in = standing_in.filter(|path| !path.is_empty());
    let mut captures = 0;
    loop {
        captures += 1;
        progress::begin(Phase::Capture, 0);
        let taken = match reading {
            Reading::Changed => snapshot::take(repo, keep, &forced),
            Reading::All => snapshot::take_anew(repo, keep, &forced),
        };
        let snapshot = match taken {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(obstacles::pre_restore_failed(&error))),
        };
        let kept_edits = match task.request.keep_edits {
            true => Edits::since_the_last_checkpoint(context, &snapshot)?,
            false => Edits::default(),
        };
        let includes = |path: &BStr| pathspec.includes(path) && !kept_edits.concern(path);
        let scope = Scope {
            includes: &includes,
            deletable: deletable.clone(),
            attributes: attributes(task, &kept_edits),
            standing_in: standing_in.clone(),
        };
        let seen = |path: &BStr| snapshot.entry(path).filter(|entry| entry.stat != FileStat::default());
        let now = Now {
            tree: snapshot.tree,
            index_tree: snapshot.index_tree,
            skipped: &snapshot.skipped,
            index_has_rules: snapshot.index_has_rules(),
            seen: &seen,
        };
        let plan = match Plan::make(repo, &snapshot.objects(repo), &now, target, &scope) {
            Ok(plan) => plan,
            Err(GitError::ObjectMissing(id)) => return Ok(Err(obstacles::object_missing(&format!("object {id}")))),
            Err(GitError::Io { path, source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(Err(obstacles::out_of_reach(&path)));
            }
            Err(error) => return Err(error.into()),
        };
        if plan.to_capture.is_empty() || captures == CAPTURES {
            return Ok(Ok((snapshot, plan.refuse_uncaptured(), kept_edits)));
        }
        forced.extend(plan.to_capture);
    }
}

/// The blockers of a plan, with those that show when the contents of files are made.
pub(super) fn all_obstacles(
    context: &Context,
    task: &Task<'_>,
    objects: &Objects,
    plan: &mut Plan,
    kept_edits: &Edits,
) -> Result<Vec<Blocker>, Error> {
    let failures = check(&context.repo, objects, plan, &task.target.tree, attributes(task, kept_edits))?;
    add_failures(plan, failures);
    Ok(obstacles::blockers_of(plan))
}

/// A path that is in neither tree is a slip of the pen, not something that is restored already.
fn refuse_unmatched(context: &Context, task: &Task<'_>, snapshot: &Snapshot) -> Result<(), Error> {
    let (repo, request) = (&context.repo, task.request);
    if request.paths.is_empty() {
        return Ok(());
    }
    let objects = snapshot.objects(repo);
    let nothing = ObjectId::empty_tree(repo.hash_kind());
    let mut files = tree_changes(&objects, &nothing, &snapshot.tree)?;
    files.extend(tree_changes(&objects, &nothing, &task.target.tree)?);
    for path in &request.paths {
        let pathspec = Pathspec::parse(repo, &request.directory, std::slice::from_ref(path))?;
        let excludes = path.starts_with(b":!") || path.starts_with(b":^");
        if !excludes && !files.iter().any(|file| pathspec.includes(file.path.as_bstr())) {
            return Err(Error::NoSuchPath(path.to_string()));
        }
    }
    Ok(())
}

fn index_mode(task: &Task<'_>, target: &Target, head: &Head) -> IndexMode {
    if task.request.keep_index { IndexMode::Kept } else { IndexMode::for_target(target, head) }
}

fn target_of(repo: &Repo, task: &Task<'_>) -> Result<Target, Error> {
    let checkpoint = &task.target;
    let kept = Originals::of(repo, checkpoint.id.as_str())?;
    let mut target = Target {
        // The state that an undo or a redo leads to is one that a restore left.
        is_step: task.verb != Verb::Restore,
        exact: kept.contents(),
        tree: checkpoint.tree,
        index_tree: checkpoint.index_tree,
        head: checkpoint.head,
        intent_to_add: checkpoint.intent_to_add.clone(),
        skipped: checkpoint.skipped.clone(),
        marks: kept.marks,
        rules: kept.rules,
    };
    if index_mode(task, &target, &Head::read(repo)?) != IndexMode::Captured {
        // An index that does not come back does not ask either for files that need not be there.
        target.marks = Marks::default();
    }
    Ok(target)
}

/// A whole tree is written with its own attributes; some of its paths with those that are there.
pub(super) fn attributes(task: &Task<'_>, edits: &Edits) -> Attributes {
    if task.request.paths.is_empty() && !edits.have_attributes() { Attributes::Target } else { Attributes::Worktree }
}
