//! How things stand: what was saved last, what changed since, and what a restore would meet now.

use std::path::Path;

use super::restore::{Consent, RestoreRequest, blockers_now};
use super::session::{self, SessionReport};
use super::undo::{Direction, Undoable, steps};
use super::{Context, Error};
use crate::git::diff::{Comparison, Scope};
use crate::git::facts::Head;
use crate::git::snapshot::{self, Keep};
use crate::model::{Blocker, Checkpoint, Stat, WorktreeRef};
use crate::ops::save::holds;
use crate::sys::progress::{self, Phase};

/// How things stand in a worktree.
#[derive(Debug)]
pub struct Status {
    /// The worktree.
    pub worktree: WorktreeRef,
    /// The newest checkpoint made in it.
    pub newest: Option<Checkpoint>,
    /// What changed since; none if nothing did, or if there is no checkpoint.
    pub since: Option<Since>,
    /// Why a restore of the newest checkpoint would be refused now, consent aside.
    pub blockers: Vec<Blocker>,
    /// The restore that `undo` would take back.
    pub undo: Option<Undoable>,
    /// The restore that `redo` would do again.
    pub redo: Option<Undoable>,
    /// The session that owns the worktree.
    pub session: Option<SessionReport>,
    /// What is kept.
    pub store: StoreSize,
    /// The last line of the log of failures.
    pub last_failure: Option<LoggedFailure>,
}

/// How the worktree differs from its newest checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// What changed in files.
    pub files: Stat,
    /// Something else was staged then.
    pub index: bool,
    /// HEAD was at another commit.
    pub head: bool,
}

/// How much is kept in the repository, for all its worktrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreSize {
    /// How many checkpoints.
    pub checkpoints: u64,
    /// Bytes of the database and of what else is kept outside of git's objects.
    pub bytes: u64,
}

/// A failure that a hook or a pipeline went on in spite of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFailure {
    /// When, as RFC 3339.
    pub at: String,
    /// What was tried, and why it failed.
    pub message: String,
}

/// Looks how things stand, seen from `directory`. Writes nothing.
pub fn status(context: &Context, directory: &Path) -> Result<Status, Error> {
    let worktree = context.repo.worktree_ref();
    let newest = context.store.newest(&worktree.id)?;
    let since = newest.as_ref().map(|newest| since(context, newest)).transpose()?.flatten();
    let request = RestoreRequest { dry_run: true, consent: Consent::Given, ..RestoreRequest::of("@", directory) };
    let blockers = blockers_now(context, newest.as_ref(), &request)?;
    let session = match session::show(context, None) {
        Ok(report) => Some(report),
        Err(Error::UnknownSession { .. }) => None,
        Err(error) => return Err(error),
    };
    let next = |direction| steps(context, direction).map(|steps| steps.into_iter().next());
    Ok(Status {
        since,
        blockers,
        undo: next(Direction::Undo)?,
        redo: next(Direction::Redo)?,
        session,
        store: StoreSize { checkpoints: context.store.count()?, bytes: bytes_below(context) },
        last_failure: last_failure(&context.repo.shared_dir().join("log")),
        worktree,
        newest,
    })
}

fn since(context: &Context, newest: &Checkpoint) -> Result<Option<Since>, Error> {
    progress::begin(Phase::Capture, 0);
    let snapshot = snapshot::take_watched(&context.repo, Keep::Memory)?;
    if holds(newest, &snapshot) {
        return Ok(None);
    }
    let trees = (newest.tree, snapshot.tree);
    let files = Comparison::new(&context.repo, snapshot.objects(&context.repo), trees, Scope::default())?.stat()?;
    let Head { id, .. } = snapshot.head;
    let index = snapshot.index_tree != newest.index_tree || snapshot.intent_to_add != newest.intent_to_add;
    Ok(Some(Since { files, index, head: id != newest.head }))
}

/// The bytes of the files in our own folders: that of the repository and that of the worktree, which may lie in it.
fn bytes_below(context: &Context) -> u64 {
    let (shared, private) = (context.repo.shared_dir(), context.repo.private_dir());
    let own = if private.starts_with(&shared) { 0 } else { bytes_in(&private) };
    bytes_in(&shared) + own
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// The last whole line of the log: when, what, why.
fn last_failure(log: &Path) -> Option<LoggedFailure> {
    last_failure_of(log, "")
}

/// The last line of the log that is about a command which begins so.
pub(super) fn last_failure_of(log: &Path, command: &str) -> Option<LoggedFailure> {
    use std::io::{Read, Seek, SeekFrom};
    const MOST: u64 = 64 * 1024;
    let mut file = std::fs::File::open(log).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(MOST))).ok()?;
    let mut tail = Vec::new();
    file.take(MOST).read_to_end(&mut tail).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    let mut lines = tail.lines().rev().filter_map(|line| line.split_once(' '));
    let (at, message) = lines.find(|(_, message)| message.starts_with(command))?;
    Some(LoggedFailure { at: at.to_owned(), message: message.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BlockerCode;
    use crate::ops::save::{SaveRequest, save};
    use crate::ops::testing::{Fixture, git};

    fn look(fixture: &Fixture) -> Status {
        status(&fixture.context, fixture.folder.path()).unwrap()
    }

    #[test]
    fn what_changed_since_is_told_apart() {
        let mut fixture = Fixture::new();
        assert_eq!((look(&fixture).newest, look(&fixture).since), (None, None));
        save(&mut fixture.context, &SaveRequest::default()).unwrap();
        assert_eq!(look(&fixture).since, None);

        std::fs::write(fixture.folder.path().join("file"), "one\ntwo\n").unwrap();
        let files = Stat { files: 1, insertions: 1, deletions: 0 };
        assert_eq!(look(&fixture).since, Some(Since { files, index: false, head: false }));

        git(fixture.folder.path(), &["add", "file"]);
        assert_eq!(look(&fixture).since, Some(Since { files, index: true, head: false }));

        git(fixture.folder.path(), &["commit", "-qm", "two"]);
        assert_eq!(look(&fixture).since, Some(Since { files, index: true, head: true }));
    }

    #[test]
    fn what_would_stop_a_restore_is_told_with_and_without_checkpoints() {
        let mut fixture = Fixture::new();
        let codes = |fixture: &Fixture| look(fixture).blockers.iter().map(|blocker| blocker.code).collect::<Vec<_>>();
        assert_eq!(codes(&fixture), []);
        std::fs::write(fixture.folder.path().join(".git/index.lock"), "").unwrap();
        assert_eq!(codes(&fixture), [BlockerCode::IndexLocked]);
        save(&mut fixture.context, &SaveRequest::default()).unwrap();
        assert_eq!(codes(&fixture), [BlockerCode::IndexLocked]);
        std::fs::remove_file(fixture.folder.path().join(".git/index.lock")).unwrap();
        assert_eq!(codes(&fixture), []);
    }

    #[test]
    fn the_last_line_of_the_log_counts() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert_eq!(last_failure(&log), None);
        let long = "x".repeat(70_000);
        std::fs::write(&log, format!("2026-01-01T00:00:00.000Z save: {long}\n2026-01-02T00:00:00.000Z save: no room\n\n"))
            .unwrap();

        let failure = last_failure(&log).unwrap();

        assert_eq!((failure.at.as_str(), failure.message.as_str()), ("2026-01-02T00:00:00.000Z", "save: no room"));
    }
}
