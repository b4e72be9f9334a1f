//! What every operation works on: the repository and its database.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Error;
use crate::git::{Repo, commit, refs};
use crate::model::{Checkpoint, CheckpointId};
use crate::store::Store;
use crate::sys;

/// The key in the database under which this repository's own origin stands.
pub(super) const ORIGIN: &str = "origin";

/// An open repository with its database.
pub struct Context {
    /// The repository, seen from the current worktree.
    pub repo: Repo,
    /// The database.
    pub store: Store,
    /// How many checkpoints went in passing, by the limits of the configuration.
    pub pruned: usize,
}

impl Context {
    /// Opens the repository around `directory` and its database. A database that was missing is filled from the refs.
    pub fn open(directory: &Path) -> Result<Context, Error> {
        Context::of(Repo::open(directory)?)
    }

    /// The same for a repository that is open.
    pub fn of(repo: Repo) -> Result<Context, Error> {
        let store = Store::open(&repo.shared_dir(), repo.sharing())?;
        let mut context = Context { repo, store, pruned: 0 };
        if context.store.was_created()? {
            context.fill_from_refs(&HashMap::new())?;
        }
        Ok(context)
    }

    /// What tells checkpoints of this repository from those that came from elsewhere: the machine's name and something unique.
    pub fn origin(&mut self) -> Result<String, Error> {
        if let Some(origin) = self.store.meta(ORIGIN)? {
            return Ok(origin);
        }
        let random = CheckpointId::generate(sys::now_millis());
        let origin = format!("{} {}", sys::host_name(), &random.as_str()[16..]);
        Ok(self.store.meta_or_set(ORIGIN, &origin)?)
    }

    /// Makes rows for the refs of a database that is new. Numbers are given in order of time, but for those that are known.
    pub(super) fn fill_from_refs(&mut self, numbers: &HashMap<CheckpointId, u64>) -> Result<(), Error> {
        let mut found: Vec<(Checkpoint, String)> = Vec::new();
        let dropped: HashSet<String> = self.store.unfinished_removals()?.into_iter().map(|(name, _)| name).collect();
        for (name, id) in refs::list(&self.repo, refs::CHECKPOINTS)?.into_iter().filter(|(name, _)| !dropped.contains(name)) {
            // A ref that is no checkpoint of ours, or whose commit is missing, is for `doctor` to report.
            if let Ok(Ok((checkpoint, origin))) = commit::read(&self.repo.gix(), id)
                && checkpoint.ref_name() == name
            {
                found.push((checkpoint, origin));
            }
        }
        found.sort_by(|(a, _), (b, _)| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        let names: Vec<_> = refs::list(&self.repo, refs::NAMES)?
            .into_iter()
            .filter_map(|(reference, id)| Some((refs::name_of_ref(&reference)?, id)))
            .collect();
        // Where the old database said which origin is this repository's own is lost; the newest checkpoint of a worktree that
        // is still where it was is taken to be from here.
        let newest = found.iter().rev().find(|(checkpoint, _)| is_here(&self.repo, checkpoint));
        let here = self.store.meta(ORIGIN)?.or_else(|| newest.map(|(_, origin)| origin.clone()));
        if let Some(here) = here.as_ref().filter(|_| self.store.is_writable()) {
            self.store.meta_or_set(ORIGIN, here)?;
        }
        let checkpoints: Vec<Checkpoint> = found
            .into_iter()
            .map(|(checkpoint, origin)| {
                let origin = if Some(&origin) == here.as_ref() { None } else { Some(origin) };
                let names = names.iter().filter(|(_, id)| *id == checkpoint.commit).map(|(name, _)| name.clone()).collect();
                Checkpoint { origin, names, ..checkpoint }
            })
            .collect();
        Ok(self.store.insert_numbered(&checkpoints, numbers)?)
    }
}

/// True if the worktree of `checkpoint` is one of this repository's, at the same place.
fn is_here(repo: &Repo, checkpoint: &Checkpoint) -> bool {
    repo.worktrees().contains(&checkpoint.worktree)
}
