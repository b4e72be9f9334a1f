//! Finding the checkpoint that a selector names.
//!
//! The form decides where it has one (a number, `@…`, `step:…`, a ref). A plain word is first a name, then a whole id, then
//! the prefix of one id, then the prefix of one commit id: what a person chose goes before what a machine made.

use super::Error;
use super::time::{Edge, parse_time};
use crate::git::Repo;
use crate::model::{Checkpoint, CheckpointId, Kind, Selector, SelectorError};
use crate::store::{Filter, Store};
use crate::sys;

/// Fewer hex digits than this never mean a commit, as in git.
const SHORTEST_COMMIT_PREFIX: usize = 4;

/// How many other checkpoints are offered where none was found.
const OFFERED: u64 = 3;

/// The checkpoint that `text` names, seen from the worktree of `repo`.
pub fn select(repo: &Repo, store: &Store, text: &str) -> Result<Checkpoint, Error> {
    let worktree = repo.worktree_id();
    let found = match Selector::parse(text)? {
        Selector::Number(number) => store.by_number(number)?,
        Selector::Recent(back) => store.nth_newest(worktree, back)?,
        Selector::At(time) => {
            let time = parse_time(&time, sys::now_millis(), Edge::End)
                .ok_or_else(|| SelectorError::new(text, "the time between `{` and `}` cannot be understood"))?;
            store.newest_before(worktree, time)?
        }
        Selector::Step(step) => store.newest_of_step(worktree, &step)?,
        Selector::Turn(turn) => store.newest_of_turn(worktree, turn)?,
        Selector::Session(session) => store.newest_of_session(&session)?,
        Selector::PreRestore => store.newest_of_kind(worktree, Kind::PreRestore)?,
        Selector::Ref(name) => by_ref(store, &name)?,
        Selector::Word(word) => by_word(store, &word)?,
    };
    match found {
        Some(checkpoint) => Ok(checkpoint),
        None => Err(Error::UnknownSelector { selector: text.to_owned(), candidates: offer(repo, store, text)? }),
    }
}

fn by_ref(store: &Store, name: &str) -> Result<Option<Checkpoint>, Error> {
    let id = name.rsplit('/').next().and_then(|id| CheckpointId::parse(id).ok());
    let found = id.map(|id| store.by_id(&id)).transpose()?.flatten();
    Ok(found.filter(|checkpoint| checkpoint.ref_name() == name))
}

fn by_word(store: &Store, word: &str) -> Result<Option<Checkpoint>, Error> {
    if let Some(checkpoint) = store.by_name(word)? {
        return Ok(Some(checkpoint));
    }
    let lower = word.to_ascii_lowercase();
    if let Ok(id) = CheckpointId::parse(&lower) {
        return Ok(store.by_id(&id)?);
    }
    if let Some(checkpoint) = only(word, store.by_id_prefix(&lower)?)? {
        return Ok(Some(checkpoint));
    }
    if word.len() < SHORTEST_COMMIT_PREFIX {
        return Ok(None);
    }
    only(word, store.by_commit_prefix(word)?)
}

/// The one match; an error if there are several.
fn only(word: &str, mut matches: Vec<Checkpoint>) -> Result<Option<Checkpoint>, Error> {
    if matches.len() > 1 {
        let candidates = matches.iter().map(|checkpoint| checkpoint.id.to_string()).collect();
        return Err(Error::AmbiguousSelector { selector: word.to_owned(), candidates });
    }
    Ok(matches.pop())
}

/// Selectors that work in place of one that does not: names that look like it, else the newest numbers of this worktree.
fn offer(repo: &Repo, store: &Store, text: &str) -> Result<Vec<String>, Error> {
    let mut similar: Vec<(usize, String)> =
        store.names()?.into_iter().filter_map(|(name, _)| likeness(text, &name).map(|distance| (distance, name))).collect();
    similar.sort();
    if !similar.is_empty() {
        return Ok(similar.into_iter().map(|(_, name)| name).collect());
    }
    let filter = Filter { worktree: Some(repo.worktree_id().clone()), limit: Some(OFFERED), ..Filter::default() };
    Ok(store.list(&filter)?.iter().map(|checkpoint| checkpoint.number.to_string()).collect())
}

/// How far `name` is from what was typed, if it may have been meant.
fn likeness(typed: &str, name: &str) -> Option<usize> {
    let (typed, name) = (typed.to_lowercase(), name.to_lowercase());
    if typed.chars().count() >= 3 && name.contains(&typed) {
        return Some(0);
    }
    let distance = edits(&typed, &name);
    (distance <= 2 && distance < typed.chars().count()).then_some(distance)
}

/// The number of characters to add, remove or replace to turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SessionKey, WorktreeId, WorktreeRef};
    use crate::ops::testing::Fixture;
    use crate::store::testing::{object, sample};

    fn filled() -> Fixture {
        let mut fixture = Fixture::new();
        let linked = WorktreeRef { id: WorktreeId::linked("w"), path: "/v".into() };
        let list = [
            Checkpoint { names: vec!["before refactor".into()], ..sample(1) },
            Checkpoint { step: Some("build".into()), kind: Kind::Step, ..sample(2) },
            Checkpoint { turn: Some(7), kind: Kind::Turn, session: SessionKey::parse("s-2").unwrap(), ..sample(3) },
            Checkpoint { kind: Kind::PreRestore, ..sample(4) },
            Checkpoint { commit: object(0xab), names: vec!["beef".into()], ..sample(5) },
            Checkpoint { commit: object(0xbe), ..sample(6) },
            Checkpoint { worktree: linked, ..sample(7) },
        ];
        for checkpoint in &list {
            fixture.context.store.insert(checkpoint).unwrap();
        }
        fixture
    }

    fn number(fixture: &Fixture, text: &str) -> u64 {
        select(&fixture.context.repo, &fixture.context.store, text).unwrap().number
    }

    #[test]
    fn every_form_finds_its_checkpoint() {
        let fixture = filled();
        let by_number = |n| fixture.context.store.by_number(n).unwrap().unwrap();
        let (id, name) = (by_number(3).id.to_string(), by_number(2).ref_name());
        let table: [(&str, u64); 15] = [
            ("7", 7),
            ("@", 6),
            ("@~1", 5),
            ("@{1970-01-01T00:00:02.500Z}", 2),
            ("step:build", 2),
            ("turn:7", 3),
            ("session:s-2", 3),
            ("pre-restore", 4),
            (&name, 2),
            ("before refactor", 1),
            ("beef", 5),
            (&id, 3),
            (&id.to_uppercase(), 3),
            (&id[..25], 3),
            ("bebe", 6),
        ];
        for (text, expected) in table {
            assert_eq!(number(&fixture, text), expected, "{text}");
        }
    }

    #[test]
    fn what_names_nothing_is_told_with_what_may_be_meant() {
        let fixture = filled();
        let table: [(&str, &[&str]); 6] = [
            ("99", &["6", "5", "4"]),
            ("before refaktor", &["before refactor"]),
            ("refactor", &["before refactor"]),
            ("beaf", &["beef"]),
            ("@~50", &["6", "5", "4"]),
            ("refs/checkpoints/x/y", &["6", "5", "4"]),
        ];
        for (text, expected) in table {
            let error = select(&fixture.context.repo, &fixture.context.store, text).unwrap_err();
            let Error::UnknownSelector { candidates, selector } = error else { panic!("{text}: {error:?}") };
            assert_eq!(selector, text);
            assert_eq!(candidates, expected, "{text}");
        }
    }

    #[test]
    fn a_prefix_of_several_is_ambiguous() {
        let mut fixture = Fixture::new();
        let (a, b) = (sample(1), sample(1));
        fixture.context.store.insert(&a).unwrap();
        fixture.context.store.insert(&b).unwrap();

        // Ids of the same millisecond share ten characters.
        let error = select(&fixture.context.repo, &fixture.context.store, &a.id.as_str()[..10]).unwrap_err();

        let Error::AmbiguousSelector { candidates, .. } = error else { panic!("{error:?}") };
        assert_eq!(candidates, [b.id.as_str(), a.id.as_str()]);
    }

    #[test]
    fn a_time_that_is_none_and_a_ref_of_another_session_find_nothing() {
        let fixture = filled();
        let id = fixture.context.store.by_number(1).unwrap().unwrap().id;
        let select = |text: &str| select(&fixture.context.repo, &fixture.context.store, text);

        assert!(matches!(select("@{soon}"), Err(Error::Selector(_))));
        assert!(matches!(select(&format!("refs/checkpoints/other/{id}")), Err(Error::UnknownSelector { .. })));
    }

    #[test]
    fn edits_are_counted_one_by_one() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "ab"), 2);
        assert_eq!(edits("same", "same"), 0);
    }
}
