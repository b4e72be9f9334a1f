//! Reasons to refuse that come from the plan: what stands in the way, what is missing, what fails.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::restore::{Left, Obstacle, Plan, Rescued};
use crate::model::{BString, Blocker, BlockerCode};
use crate::ops::causes;

/// How many paths a message names.
const NAMED: usize = 5;

/// The blockers of a plan, in the order of their codes.
pub(super) fn blockers_of(plan: &Plan) -> Vec<Blocker> {
    let mut blockers: Vec<Blocker> = plan.obstacles.iter().map(|(obstacle, paths)| blocker(*obstacle, paths)).collect();
    blockers.sort_by_key(|blocker| blocker.code);
    blockers
}

/// The blockers of contents that cannot be made.
pub(super) fn blockers_of_failures(failures: &[(BString, Obstacle)]) -> Vec<Blocker> {
    let mut by_kind: BTreeMap<Obstacle, BTreeSet<BString>> = BTreeMap::new();
    for (path, obstacle) in failures {
        by_kind.entry(*obstacle).or_default().insert(path.clone());
    }
    by_kind.iter().map(|(obstacle, paths)| blocker(*obstacle, paths)).collect()
}

fn blocker(obstacle: Obstacle, paths: &BTreeSet<BString>) -> Blocker {
    let named = name(paths);
    let (code, message, hint) = match obstacle {
        Obstacle::Unwritable => (
            BlockerCode::PathBlocked,
            format!("the directory of {named} may not be written"),
            "give yourself permission to write there (`chmod u+w`, `chattr -ia`), then try again",
        ),
        Obstacle::MountPoint => (
            BlockerCode::PathBlocked,
            format!("something is mounted at {named}, so that it cannot be replaced"),
            "unmount it (`umount`), or restore other paths: `-- <pathspec>`",
        ),
        Obstacle::Marked => (
            BlockerCode::PathBlocked,
            format!("{named} is marked immutable or append-only"),
            "take the mark away (`chattr -ia`), or restore other paths: `-- <pathspec>`",
        ),
        Obstacle::SpecialFile => (
            BlockerCode::PathBlocked,
            format!("a FIFO, socket or device stands in the way at {named}"),
            "move it away, then try again",
        ),
        Obstacle::Repository => (
            BlockerCode::WorktreeOverlap,
            format!("another repository or worktree stands in the way at {named}"),
            "move it away, or restore other paths: `-- <pathspec>`",
        ),
        Obstacle::NotCaptured => (
            BlockerCode::PreRestorePartial,
            format!("{named} would be overwritten, and cannot be captured first"),
            "make it readable, or content that git can record, or move it away; or restore other paths: `-- <pathspec>`",
        ),
        Obstacle::ForbiddenPath => (
            BlockerCode::PathBlocked,
            format!("the checkpoint has a path that git forbids: {named}"),
            "restore other paths: `-- <pathspec>`",
        ),
        Obstacle::ObjectMissing => return object_missing(&named),
        Obstacle::Filter => (
            BlockerCode::FilterFailed,
            format!("a filter failed on the content of {named}"),
            "mend the filter (`git config filter.<name>.smudge`), or restore other paths: `-- <pathspec>`",
        ),
    };
    Blocker { code, message, hint: hint.into() }
}

/// Content of the checkpoint is not in the repository.
pub(super) fn object_missing(what: &str) -> Blocker {
    Blocker {
        code: BlockerCode::ObjectsMissing,
        message: format!("the repository lacks the content of {what}"),
        hint: "fetch it (`git fetch --refetch` in a partial clone), or restore other paths: `-- <pathspec>`".into(),
    }
}

/// What is at a path cannot even be looked at.
pub(super) fn out_of_reach(path: &std::path::Path) -> Blocker {
    Blocker {
        code: BlockerCode::PathBlocked,
        message: format!("`{}` is in a directory that may not be searched", path.display()),
        hint: "give yourself permission to search it (`chmod u+x`), or restore other paths: `-- <pathspec>`".into(),
    }
}

/// Others changed files while the restore was at work.
pub(super) fn changed_meanwhile(left: &Left) -> Blocker {
    let message = format!("{} changed while the restore was at work, which was taken back", name(&left.paths));
    Blocker {
        code: BlockerCode::PathBlocked,
        message: with_places(message, &left.rescued),
        hint: "end what writes there, then try again".into(),
    }
}

/// Others changed files after the restore was interrupted.
pub(super) fn changed_after_interruption(left: &Left) -> Blocker {
    let message = format!("{} changed since the restore was interrupted", name(&left.paths));
    Blocker {
        code: BlockerCode::PathBlocked,
        message: with_places(message, &left.rescued),
        hint: format!(
            "move {} away and continue, or take the restore back (what changed stays): `git checkpoint restore --abort`",
            if left.paths.len() == 1 { "it" } else { "them" }
        ),
    }
}

/// Adds where files are that have no place in the worktree.
fn with_places(message: String, rescued: &[Rescued]) -> String {
    let places: Vec<String> = rescued.iter().map(|rescued| format!("`{}`", rescued.place.display())).collect();
    if places.is_empty() { message } else { format!("{message}; what has no place there is kept in {}", places.join(", ")) }
}

/// The capture before the restore failed.
pub(super) fn pre_restore_failed(error: &dyn std::error::Error) -> Blocker {
    let why = std::iter::once(error.to_string()).chain(causes(error)).collect::<Vec<_>>().join(": ");
    Blocker {
        code: BlockerCode::PreRestoreFailed,
        message: format!("the state before the restore cannot be captured: {why}"),
        hint: "nothing is restored without a way back; `git checkpoint save` shows whether the cause is mended".into(),
    }
}

/// The first few of `paths`, and how many more there are.
pub(super) fn name<'a>(paths: impl IntoIterator<Item = &'a BString>) -> String {
    let mut rest = paths.into_iter();
    let mut text: Vec<String> = rest.by_ref().take(NAMED).map(|path| format!("`{path}`")).collect();
    match rest.count() {
        0 => text.join(", "),
        more => {
            text.push(format!("{more} more"));
            text.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_a_few_paths_and_counts_the_rest() {
        let paths: Vec<BString> = (0..7).map(|n| n.to_string().into()).collect();
        assert_eq!(name(&paths[..2]), "`0`, `1`");
        assert_eq!(name(&paths), "`0`, `1`, `2`, `3`, `4`, 2 more");
    }

    #[test]
    fn every_obstacle_has_a_code_of_its_own_or_shares_one_by_intent() {
        let paths = BTreeSet::from(["a".into()]);
        let code = |obstacle| blocker(obstacle, &paths).code;
        assert_eq!(code(Obstacle::Unwritable), BlockerCode::PathBlocked);
        for obstacle in [Obstacle::SpecialFile, Obstacle::MountPoint, Obstacle::Marked] {
            assert_eq!(code(obstacle), BlockerCode::PathBlocked);
        }
        assert_eq!(code(Obstacle::Repository), BlockerCode::WorktreeOverlap);
        assert_eq!(code(Obstacle::ForbiddenPath), BlockerCode::PathBlocked);
        assert_eq!(code(Obstacle::NotCaptured), BlockerCode::PreRestorePartial);
        assert_eq!(code(Obstacle::ObjectMissing), BlockerCode::ObjectsMissing);
        assert_eq!(code(Obstacle::Filter), BlockerCode::FilterFailed);
    }
}
