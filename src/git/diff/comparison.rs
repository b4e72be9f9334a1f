//! Two trees side by side.

use gix::ObjectId;

use super::abbrev::Abbreviator;
use super::child;
use super::count::{FileCount, count, total};
use super::pair::Pair;
use super::parallel;
use super::patch::{Format, Patcher};
use super::paths::{Paths, limit};
use super::reader::Differ;
use super::rename::find_renames;
use super::tree::tree_changes;
use crate::git::{GitError, Objects, Repo};
use crate::model::Stat;
use crate::sys::progress::{self, Phase};

/// What of two trees is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// Only these paths.
    pub paths: Paths,
    /// Whether renames are looked for.
    pub renames: Renames,
}

/// Whether renames are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renames {
    /// A file that was deleted and one that was added may be the same.
    #[default]
    Find,
    /// They never are.
    Ignore,
}

/// The differences between two trees, file by file.
pub struct Comparison {
    trees: (ObjectId, ObjectId),
    scope: Scope,
    differ: Differ,
    pairs: Vec<Pair>,
}

impl Comparison {
    /// Compares the trees `old` and `new` in `objects`.
    pub fn new(repo: &Repo, objects: Objects, trees: (ObjectId, ObjectId), scope: Scope) -> Result<Comparison, GitError> {
        Comparison::of(repo, Differ::new(repo, objects)?, trees, scope)
    }

    /// The same for a source that is used more than once.
    pub fn of(repo: &Repo, mut differ: Differ, (old, new): (ObjectId, ObjectId), scope: Scope) -> Result<Comparison, GitError> {
        progress::begin(Phase::Compare, 0);
        let mut changes = tree_changes(differ.objects(), &old, &new)?;
        limit(repo, &scope.paths, &mut changes)?;
        let mut pairs = changes.into_iter().map(Pair::from).collect();
        if scope.renames == Renames::Find {
            let (found, kept) = find_renames(&differ, pairs)?;
            differ.keep(kept);
            pairs = found;
        }
        Ok(Comparison { trees: (old, new), scope, differ, pairs })
    }

    /// The files that differ, by path.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How much changed in each file.
    pub fn counts(&self, format: &Format) -> Result<Vec<FileCount>, GitError> {
        count(&self.differ, self.pairs.clone(), format)
    }

    /// How much changed in all.
    pub fn stat(&self) -> Result<Stat, GitError> {
        Ok(total(&self.counts(&Format::default())?))
    }

    /// Hands the patch to `take` piece by piece, until that returns false.
    pub fn patch(&self, repo: &Repo, format: &Format, mut take: impl FnMut(&[u8]) -> bool) -> Result<(), GitError> {
        if self.needs_git()? {
            let patch = child::patch(repo, self.differ.objects(), self.trees, &self.scope, format)?;
            take(&patch);
            return Ok(());
        }
        let ids = Abbreviator::new(self.differ.objects())?;
        Patcher::new(*format, &ids).write_all(&self.pairs, &self.differ, take)
    }

    /// True if one of the files has rules that only git knows.
    fn needs_git(&self) -> Result<bool, GitError> {
        let workers = self.differ.readers(parallel::threads_for(self.pairs.len(), 256))?;
        let mut needs = false;
        let special = |reader: &mut super::Reader, pair: &Pair| {
            let sides = [&pair.old, &pair.new];
            sides.into_iter().flatten().any(|file| reader.driver(file).special)
        };
        parallel::in_order(&self.pairs, workers, special, |special| {
            needs = special;
            !needs
        });
        Ok(needs)
    }
}
