//! What may follow on the command line where a checkpoint is to be named: for completion by a shell, so quick and silent.

use std::path::Path;

use super::Error;
use crate::git::Repo;
use crate::model::{Checkpoint, Kind};
use crate::store::{Filter, Store};

/// How many checkpoints are offered: more would not be read.
const MOST: u64 = 50;

/// From this many characters on, a word is looked for among ids.
const SHORTEST_ID: usize = 2;

/// From this many hex digits on, a word is looked for among commits.
const SHORTEST_COMMIT: usize = 4;

/// A word that names a checkpoint, or the beginning of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What would stand on the command line.
    pub word: String,
    /// What it names; none if the word goes on.
    pub checkpoint: Option<Checkpoint>,
}

/// The words beginning with `typed` that name checkpoints, in the order a person wants them. Creates nothing: where there is no
/// database there are no candidates.
pub fn candidates(directory: &Path, typed: &str) -> Result<Vec<Candidate>, Error> {
    let Some((repo, store)) = open(directory)? else { return Ok(Vec::new()) };
    let mut found = Found { typed, list: Vec::new() };
    if let Some(step) = typed.strip_prefix("step:") {
        for name in store.steps()?.into_iter().filter(|name| name.starts_with(step)) {
            found.add(format!("step:{name}"), store.newest_of_step(repo.worktree_id(), &name)?);
        }
        return Ok(found.list);
    }
    if let Some(key) = typed.strip_prefix("session:") {
        for session in store.sessions()?.into_iter().filter(|session| session.as_str().starts_with(key)) {
            found.add(format!("session:{session}"), store.newest_of_session(&session)?);
        }
        return Ok(found.list);
    }
    numbers(&repo, &store, &mut found)?;
    for (name, number) in store.names()?.into_iter().filter(|(name, _)| name.starts_with(typed)) {
        found.add(name, store.by_number(number)?);
    }
    if typed.starts_with('@') {
        for back in 0..10 {
            let word = if back == 0 { "@".to_owned() } else { format!("@~{back}") };
            found.add(word, store.nth_newest(repo.worktree_id(), back)?);
        }
    }
    found.add(Kind::PreRestore.to_string(), store.newest_of_kind(repo.worktree_id(), Kind::PreRestore)?);
    if typed.len() >= SHORTEST_ID {
        for checkpoint in store.by_id_prefix(typed)? {
            found.add(checkpoint.id.to_string(), Some(checkpoint));
        }
    }
    if typed.len() >= SHORTEST_COMMIT {
        for checkpoint in store.by_commit_prefix(typed)? {
            found.add(checkpoint.commit.to_string(), Some(checkpoint));
        }
    }
    for word in ["step:", "session:"].into_iter().filter(|word| !typed.is_empty() && word.starts_with(typed)) {
        found.list.push(Candidate { word: word.to_owned(), checkpoint: None });
    }
    Ok(found.list)
}

/// The names beginning with `typed`, with what they name.
pub fn name_candidates(directory: &Path, typed: &str) -> Result<Vec<Candidate>, Error> {
    let Some((_, store)) = open(directory)? else { return Ok(Vec::new()) };
    let mut found = Found { typed, list: Vec::new() };
    for (name, number) in store.names()?.into_iter().filter(|(name, _)| name.starts_with(typed)) {
        found.add(name, store.by_number(number)?);
    }
    Ok(found.list)
}

/// The keys of sessions beginning with `typed`, with the newest checkpoint of each, the newest session first.
pub fn session_candidates(directory: &Path, typed: &str) -> Result<Vec<Candidate>, Error> {
    let Some((_, store)) = open(directory)? else { return Ok(Vec::new()) };
    let mut found = Found { typed, list: Vec::new() };
    for session in store.sessions()?.into_iter().filter(|session| session.as_str().starts_with(typed)) {
        found.add(session.to_string(), store.newest_of_session(&session)?);
    }
    // Those that have no checkpoint yet.
    for session in store.started_sessions()?.into_iter().filter(|session| session.key.as_str().starts_with(typed)) {
        if !found.list.iter().any(|candidate| candidate.word == session.key.as_str()) {
            found.list.push(Candidate { word: session.key.to_string(), checkpoint: None });
        }
    }
    Ok(found.list)
}

fn open(directory: &Path) -> Result<Option<(Repo, Store)>, Error> {
    let repo = Repo::open(directory)?;
    let store = Store::open_existing(&repo.shared_dir(), repo.sharing())?;
    Ok(store.map(|store| (repo, store)))
}

/// Numbers: with nothing typed those of this worktree, else any that begin so.
fn numbers(repo: &Repo, store: &Store, found: &mut Found<'_>) -> Result<(), Error> {
    let list = if found.typed.is_empty() {
        store.list(&Filter { worktree: Some(repo.worktree_id().clone()), limit: Some(MOST), ..Filter::default() })?
    } else {
        store.by_number_prefix(found.typed)?
    };
    for checkpoint in list {
        found.add(checkpoint.number.to_string(), Some(checkpoint));
    }
    Ok(())
}

struct Found<'a> {
    typed: &'a str,
    list: Vec<Candidate>,
}

impl Found<'_> {
    fn add(&mut self, word: String, checkpoint: Option<Checkpoint>) {
        if checkpoint.is_some() && word.starts_with(self.typed) {
            self.list.push(Candidate { word, checkpoint });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::Fixture;
    use crate::store::testing::{object, sample};

    fn words(fixture: &Fixture, typed: &str) -> Vec<String> {
        let found = candidates(fixture.folder.path(), typed).unwrap();
        found.into_iter().map(|candidate| candidate.word).collect()
    }

    fn filled() -> (Fixture, Vec<Checkpoint>) {
        let mut fixture = Fixture::new();
        let list = vec![
            Checkpoint { names: vec!["before".into()], ..sample(1) },
            Checkpoint { step: Some("build".into()), kind: Kind::Step, ..sample(2) },
            Checkpoint { kind: Kind::PreRestore, commit: object(0xab), ..sample(3) },
        ];
        for checkpoint in &list {
            fixture.context.store.insert(checkpoint).unwrap();
        }
        (fixture, list)
    }

    #[test]
    fn with_nothing_typed_numbers_names_and_the_state_before_the_last_restore_are_offered() {
        let (fixture, _) = filled();

        assert_eq!(words(&fixture, ""), ["3", "2", "1", "before", "pre-restore"]);
    }

    #[test]
    fn what_is_typed_narrows_the_offer() {
        let (fixture, list) = filled();
        let commit = list[2].commit.to_string();

        assert_eq!(words(&fixture, "2"), ["2"]);
        assert_eq!(words(&fixture, "be"), ["before"]);
        assert_eq!(words(&fixture, "p"), ["pre-restore"]);
        assert_eq!(words(&fixture, "@"), ["@", "@~1", "@~2"]);
        assert_eq!(words(&fixture, "s"), ["step:", "session:"]);
        assert_eq!(words(&fixture, "step:"), ["step:build"]);
        assert_eq!(words(&fixture, "session:m"), ["session:main-1"]);
        assert_eq!(words(&fixture, &list[0].id.as_str()[..20]), [list[0].id.as_str()]);
        assert_eq!(words(&fixture, "abab"), [commit]);
        assert_eq!(words(&fixture, "zzz"), [""; 0]);
    }

    #[test]
    fn without_a_database_nothing_is_offered_and_nothing_made() {
        let folder = tempfile::tempdir().unwrap();
        crate::ops::testing::git(folder.path(), &["init", "-q"]);

        assert_eq!(candidates(folder.path(), "").unwrap(), []);
        assert!(!folder.path().join(".git/checkpoint").exists());
    }
}
