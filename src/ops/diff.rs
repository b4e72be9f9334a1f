//! Comparing checkpoints with each other, with commits, and with the worktree.

use std::time::{Duration, Instant};

use super::{Context, Error, base_tree, select};
use crate::git::diff::{Comparison, Differ, Paths, Scope, limit, tree_changes};
use crate::git::{Objects, snapshot};
use crate::model::{Checkpoint, ObjectId, Stat};
use crate::sys::progress::{self, Phase};

/// What to compare, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffRequest {
    /// Nothing: the newest checkpoint with the worktree. One: that with the worktree. Two: the first with the second.
    /// Checkpoints, or whatever git takes for a commit or tree.
    pub sides: Vec<String>,
    /// Which paths, and whether renames are looked for.
    pub scope: Scope,
}

/// Compares what `request` asks for.
pub fn diff(context: &Context, request: &DiffRequest) -> Result<Comparison, Error> {
    let repo = &context.repo;
    let old = tree_named(context, request.sides.first().map_or("@", String::as_str))?;
    let (new, objects) = match request.sides.get(1) {
        Some(text) => (tree_named(context, text)?, reader(context)),
        None => {
            progress::begin(Phase::Capture, 0);
            let snapshot = snapshot::take_watched(repo, snapshot::Keep::Memory)?;
            (snapshot.tree, snapshot.objects(repo))
        }
    };
    Ok(Comparison::new(repo, objects, (old, new), request.scope.clone())?)
}

/// What `checkpoint` changed: compares it with what came before it.
pub fn change_of(context: &Context, checkpoint: &Checkpoint) -> Result<Comparison, Error> {
    let old = base_tree(context, checkpoint)?;
    Ok(Comparison::new(&context.repo, reader(context), (old, checkpoint.tree), Scope::default())?)
}

/// How much `checkpoint` changed. Trees never change, so the answer is kept.
pub fn stat_of(context: &mut Context, checkpoint: &Checkpoint) -> Result<Stat, Error> {
    match checkpoint.stat {
        Some(stat) => Ok(stat),
        None => counted(context, &differ(context)?, checkpoint),
    }
}

/// Adds to each checkpoint how much it changed, as far as that can be found out, and within the time if there is a limit.
pub fn add_stats(context: &mut Context, checkpoints: &mut [Checkpoint], limit: Option<Duration>) {
    let start = Instant::now();
    let mut missing = checkpoints.iter_mut().filter(|checkpoint| checkpoint.stat.is_none()).peekable();
    if missing.peek().is_none() {
        return;
    }
    let Ok(differ) = differ(context) else { return };
    for checkpoint in missing.take_while(|_| limit.is_none_or(|limit| start.elapsed() < limit)) {
        checkpoint.stat = counted(context, &differ, checkpoint).ok();
    }
}

fn counted(context: &mut Context, differ: &Differ, checkpoint: &Checkpoint) -> Result<Stat, Error> {
    let old = base_tree(context, checkpoint)?;
    let known = context.store.diff_stat(&old, &checkpoint.tree)?;
    let stat = match known {
        Some(stat) => stat,
        None => Comparison::of(&context.repo, differ.clone(), (old, checkpoint.tree), Scope::default())?.stat()?,
    };
    if context.store.is_writable() {
        if known.is_none() {
            context.store.put_diff_stat(&old, &checkpoint.tree, stat)?;
        }
        context.store.set_stat(&checkpoint.id, stat)?;
    }
    Ok(stat)
}

/// True if `checkpoint` changed one of the paths.
pub fn touches(context: &Context, checkpoint: &Checkpoint, paths: &Paths) -> Result<bool, Error> {
    let old = base_tree(context, checkpoint)?;
    let mut changes = tree_changes(&reader(context), &old, &checkpoint.tree)?;
    limit(&context.repo, paths, &mut changes)?;
    Ok(!changes.is_empty())
}

fn differ(context: &Context) -> Result<Differ, Error> {
    Ok(Differ::new(&context.repo, reader(context))?)
}

fn reader(context: &Context) -> Objects {
    Objects::new(context.repo.gix(), Default::default())
}

/// The tree of the checkpoint that `text` selects, else of the commit that it names for git.
fn tree_named(context: &Context, text: &str) -> Result<ObjectId, Error> {
    match select(&context.repo, &context.store, text) {
        Ok(checkpoint) => Ok(checkpoint.tree),
        Err(error @ (Error::UnknownSelector { .. } | Error::Selector(_))) => context.repo.tree_named(text).ok_or(error),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::diff::Format;
    use crate::ops::save::{SaveOutcome, SaveRequest, save};
    use crate::ops::testing::{Fixture, git};

    /// A repository whose file has another content in HEAD, in each of two checkpoints, and in the worktree.
    fn filled() -> Fixture {
        let mut fixture = Fixture::new();
        for content in ["two\n", "two\nthree\n"] {
            write(&fixture, content);
            let outcome = save(&mut fixture.context, &SaveRequest::default()).unwrap();
            assert!(matches!(outcome, SaveOutcome::Captured(_)));
        }
        write(&fixture, "four\n");
        fixture
    }

    fn write(fixture: &Fixture, content: &str) {
        std::fs::write(fixture.folder.path().join("file"), content).unwrap();
    }

    fn compare(fixture: &Fixture, sides: &[&str]) -> Result<Comparison, Error> {
        let sides = sides.iter().map(|side| (*side).to_owned()).collect();
        diff(&fixture.context, &DiffRequest { sides, ..DiffRequest::default() })
    }

    fn patch(fixture: &Fixture, sides: &[&str]) -> String {
        let mut patch = String::new();
        let comparison = compare(fixture, sides).unwrap();
        let take = |piece: &[u8]| {
            patch.push_str(&String::from_utf8_lossy(piece));
            true
        };
        comparison.patch(&fixture.context.repo, &Format::default(), take).unwrap();
        patch
    }

    #[test]
    fn each_number_of_sides_compares_what_it_should() {
        let fixture = filled();
        let lines = |patch: String| {
            let lines = patch.lines().skip_while(|line| !line.starts_with("@@")).skip(1);
            lines.map(str::to_owned).collect::<Vec<_>>().join("|")
        };

        assert_eq!(lines(patch(&fixture, &[])), "-two|-three|+four");
        assert_eq!(lines(patch(&fixture, &["1"])), "-two|+four");
        assert_eq!(lines(patch(&fixture, &["1", "2"])), " two|+three");
        assert_eq!(lines(patch(&fixture, &["HEAD"])), "-one|+four");
        assert_eq!(lines(patch(&fixture, &["@", "main"])), "-two|-three|+one");
    }

    #[test]
    fn the_worktree_has_the_ids_that_git_gives_it() {
        let fixture = filled();

        let ours = patch(&fixture, &["HEAD"]);

        assert_eq!(ours.trim_end(), git(fixture.folder.path(), &["diff", "HEAD"]));
    }

    #[test]
    fn git_itself_can_see_the_worktree_when_it_makes_the_patch() {
        let fixture = filled();
        std::fs::write(fixture.folder.path().join(".git/info/attributes"), "* diff=cpp\n").unwrap();

        let ours = patch(&fixture, &["HEAD"]);

        assert_eq!(ours.trim_end(), git(fixture.folder.path(), &["diff", "HEAD"]));
        let left: Vec<_> = std::fs::read_dir(fixture.context.repo.private_dir()).unwrap().flatten().collect();
        assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("objects-")), "{left:?}");
    }

    #[test]
    fn what_names_neither_checkpoint_nor_commit_is_an_unknown_selector() {
        let fixture = filled();
        for text in ["nothing", "HEAD~9", "-x", "turn:x"] {
            let error = compare(&fixture, &[text]).err().unwrap();
            assert!(matches!(error, Error::UnknownSelector { .. } | Error::Selector(_)), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_checkpoint_is_counted_against_what_came_before_and_the_counts_are_kept() {
        let mut fixture = filled();
        let stored = |fixture: &Fixture, number| fixture.context.store.by_number(number).unwrap().unwrap();
        let (first, second) = (stored(&fixture, 1), stored(&fixture, 2));

        let first = stat_of(&mut fixture.context, &first).unwrap();
        add_stats(&mut fixture.context, &mut [second], None);

        assert_eq!(first, Stat { files: 1, insertions: 1, deletions: 1 });
        assert_eq!(stored(&fixture, 1).stat, Some(first));
        assert_eq!(stored(&fixture, 2).stat, Some(Stat { files: 1, insertions: 1, deletions: 0 }));
    }

    #[test]
    fn a_checkpoint_touches_the_paths_it_changed() {
        let fixture = filled();
        let checkpoint = fixture.context.store.by_number(2).unwrap().unwrap();
        let directory = fixture.folder.path();
        let touches = |path: &str| {
            let paths = Paths { directory: directory.to_owned(), specs: vec![path.into()] };
            touches(&fixture.context, &checkpoint, &paths).unwrap()
        };

        assert!(touches("file") && touches("*") && touches("."));
        assert!(!touches("other") && !touches(":!file"));
    }
}
