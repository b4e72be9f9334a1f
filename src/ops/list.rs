//! Listing checkpoints.

use std::time::Duration;

use regex::{Regex, RegexBuilder};

use super::save::holds;
use super::time::{Edge, parse_time};
use super::{Context, Error, add_stats, touches};
use crate::git::diff::Paths;
use crate::git::snapshot::{self, Keep};
use crate::model::{Checkpoint, Kind, SessionKey, Summary};
use crate::store::Filter;
use crate::sys;

/// Which checkpoints to list, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// Those of every worktree, not only of this one.
    pub all_worktrees: bool,
    /// Only those of this session.
    pub session: Option<String>,
    /// Only those of these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// Only those made at or after this time.
    pub since: Option<String>,
    /// Only those made at or before this time.
    pub until: Option<String>,
    /// Only those whose message, name or step matches.
    pub grep: Option<String>,
    /// At most this many, the newest.
    pub limit: Option<u64>,
    /// Oldest first.
    pub reverse: bool,
    /// Only those that changed one of these paths.
    pub paths: Paths,
}

/// The checkpoints that `request` asks for.
pub fn list(context: &Context, request: &ListRequest) -> Result<Vec<Checkpoint>, Error> {
    let grep = request.grep.as_deref().map(pattern).transpose()?;
    let narrow = grep.is_some() || !request.paths.is_everything();
    let filter = filter(context, request, narrow)?;
    let list = context.store.list(&filter)?;
    if !narrow {
        return Ok(list);
    }
    // The newest ones are wanted, whatever the order they come in.
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut newest_first: Vec<_> = if request.reverse { list.into_iter().rev().collect() } else { list };
    newest_first.retain(|checkpoint| grep.as_ref().is_none_or(|grep| matches(grep, checkpoint)));
    let mut found = Vec::new();
    for checkpoint in newest_first {
        if found.len() == limit {
            break;
        }
        if request.paths.is_everything() || touches(context, &checkpoint, &request.paths)? {
            found.push(checkpoint);
        }
    }
    if request.reverse {
        found.reverse();
    }
    Ok(found)
}

/// Hands a summary of each checkpoint that `request` asks for to `each`. Changes that were not counted yet are counted first,
/// but for no longer than `patience`.
pub fn summarize(
    context: &mut Context,
    request: &ListRequest,
    patience: Duration,
    mut each: impl FnMut(&Summary<'_>),
) -> Result<(), Error> {
    // What is counted must be kept, to be read again with the rest.
    if request.grep.is_some() || !request.paths.is_everything() || !context.store.is_writable() {
        let mut list = list(context, request)?;
        add_stats(context, &mut list, Some(patience));
        list.iter().for_each(|checkpoint| each(&Summary::from(checkpoint)));
        return Ok(());
    }
    let filter = filter(context, request, false)?;
    let mut uncounted = context.store.list(&Filter { uncounted: true, ..filter.clone() })?;
    add_stats(context, &mut uncounted, Some(patience));
    Ok(context.store.summaries(&filter, each)?)
}

/// The number of the checkpoint that the worktree equals now, index and HEAD included: the one made last, if there are several.
/// Looks at the worktree but writes nothing; a worktree that cannot be looked at equals none.
pub fn current(context: &Context) -> Option<u64> {
    let worktree = context.repo.worktree_id();
    context.store.newest(worktree).ok()??;
    let snapshot = snapshot::take_watched(&context.repo, Keep::Memory).ok()?;
    let same_tree = context.store.by_tree(worktree, &snapshot.tree).ok()?;
    same_tree.iter().find(|checkpoint| holds(checkpoint, &snapshot)).map(|checkpoint| checkpoint.number)
}

fn filter(context: &Context, request: &ListRequest, narrowed_later: bool) -> Result<Filter, Error> {
    let now = sys::now_millis();
    let time = |text: &Option<String>, option: &str, edge| match text {
        None => Ok(None),
        Some(text) => match parse_time(text, now, edge) {
            Some(time) => Ok(Some(time)),
            None => Err(Error::Usage(format!("`{text}` after `{option}` is no time"))),
        },
    };
    Ok(Filter {
        worktree: (!request.all_worktrees).then(|| context.repo.worktree_id().clone()),
        session: request.session.as_deref().map(SessionKey::parse).transpose()?,
        kinds: request.kinds.clone(),
        since: time(&request.since, "--since", Edge::Start)?,
        until: time(&request.until, "--until", Edge::End)?,
        uncounted: false,
        limit: if narrowed_later { None } else { request.limit },
        reverse: request.reverse,
    })
}

fn pattern(text: &str) -> Result<Regex, Error> {
    let built = RegexBuilder::new(text).multi_line(true).build();
    built.map_err(|_| Error::Usage(format!("`{text}` after `--grep` is no regular expression")))
}

fn matches(grep: &Regex, checkpoint: &Checkpoint) -> bool {
    let texts = [Some(checkpoint.subject.as_str()), checkpoint.message.as_deref(), checkpoint.step.as_deref()];
    texts.into_iter().flatten().chain(checkpoint.names.iter().map(String::as_str)).any(|text| grep.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::save::{SaveRequest, save};
    use crate::ops::testing::Fixture;
    use crate::store::testing::sample;

    fn filled() -> Fixture {
        let mut fixture = Fixture::new();
        let list = [
            Checkpoint { message: Some("a\n\nfix the parser".into()), ..sample(1) },
            Checkpoint { names: vec!["parser-old".into()], ..sample(2) },
            Checkpoint { step: Some("parser".into()), ..sample(3) },
            sample(4),
        ];
        for checkpoint in &list {
            fixture.context.store.insert(checkpoint).unwrap();
        }
        fixture
    }

    fn numbers(fixture: &Fixture, request: ListRequest) -> Vec<u64> {
        list(&fixture.context, &request).unwrap().iter().map(|checkpoint| checkpoint.number).collect()
    }

    #[test]
    fn a_pattern_is_looked_for_in_message_name_and_step() {
        let fixture = filled();
        let grep = |text: &str| ListRequest { grep: Some(text.to_owned()), ..ListRequest::default() };

        assert_eq!(numbers(&fixture, grep("parser")), [3, 2, 1]);
        assert_eq!(numbers(&fixture, grep("^fix")), [1]);
        assert_eq!(numbers(&fixture, ListRequest { limit: Some(2), ..grep("parser") }), [3, 2]);
        assert_eq!(numbers(&fixture, ListRequest { limit: Some(2), reverse: true, ..grep("parser") }), [2, 3]);
    }

    #[test]
    fn times_include_their_edges() {
        let fixture = filled();
        let request = ListRequest {
            since: Some("1970-01-01T00:00:02Z".into()),
            until: Some("1970-01-01T00:00:03Z".into()),
            ..ListRequest::default()
        };

        assert_eq!(numbers(&fixture, request), [3, 2]);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let fixture = filled();
        let message = |request: ListRequest| list(&fixture.context, &request).unwrap_err().to_string();

        let since = ListRequest { since: Some("soon".into()), ..ListRequest::default() };
        let grep = ListRequest { grep: Some("(".into()), ..ListRequest::default() };
        let session = ListRequest { session: Some("A B".into()), ..ListRequest::default() };

        assert_eq!(message(since), "`soon` after `--since` is no time");
        assert_eq!(message(grep), "`(` after `--grep` is no regular expression");
        assert!(message(session).starts_with("invalid session key `A B`"));
    }

    #[test]
    fn the_state_that_the_worktree_is_in_is_the_current_one() {
        let mut fixture = Fixture::new();
        let file = fixture.folder.path().join("file");
        let save = |fixture: &mut Fixture| save(&mut fixture.context, &SaveRequest::default()).unwrap();
        save(&mut fixture);
        std::fs::write(&file, "two\n").unwrap();
        save(&mut fixture);
        let current = |fixture: &Fixture| current(&fixture.context);

        assert_eq!(current(&fixture), Some(2));
        std::fs::write(&file, "three\n").unwrap();
        assert_eq!(current(&fixture), None);
        std::fs::write(&file, "one\n").unwrap();
        assert_eq!(current(&fixture), Some(1));
    }
}
