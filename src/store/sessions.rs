//! Sessions that were started by word, and what is at work in them.
//!
//! A row says what was recorded; whether a process in it is still alive is for the reader to find out. None of it decides what
//! exists: a session that has checkpoints needs no row here.

use rusqlite::{OptionalExtension, Row, params};

use super::row::{unsigned, word};
use super::{Store, StoreError};
use crate::model::{Millis, SessionKey, SessionState, WorktreeId, WorktreeRef};
use crate::sys::process::Process;

/// A session that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its key.
    pub key: SessionKey,
    /// Where it takes place.
    pub worktree: WorktreeRef,
    /// The agent whose conversation it is.
    pub agent: Option<String>,
    /// The process that it lasts as long as; none if it lasts until somebody ends it.
    pub process: Option<Process>,
    /// The agent's own id of the conversation, if its hooks tell of it: then only runs tell who is at work, and the process only how
    /// long the session lasts.
    pub conversation: Option<String>,
    /// The model that the conversation began with.
    pub model: Option<String>,
    /// When it was started last.
    pub started_at: Millis,
    /// When it was ended; none if it was not.
    pub ended_at: Option<Millis>,
}

/// A command at work in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Identity within this database; 0 until the row is written.
    pub id: i64,
    /// The session.
    pub session: SessionKey,
    /// Where it works.
    pub worktree: WorktreeId,
    /// The stage that it is.
    pub step: Option<String>,
    /// The number of the agent's turn that it is.
    pub turn: Option<u32>,
    /// [`SessionState::Pending`] until the command itself runs.
    pub state: SessionState,
    /// Who is at work.
    pub process: Process,
    /// Since when.
    pub since: Millis,
}

/// What the checkpoints of a session come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCounts {
    /// The session.
    pub key: SessionKey,
    /// How many there are.
    pub checkpoints: u64,
    /// The number of the newest.
    pub newest: u64,
    /// The number of the first baseline.
    pub baseline: Option<u64>,
    /// When the first was made.
    pub first_at: Millis,
    /// When the last was made.
    pub last_at: Millis,
    /// The agent of the newest.
    pub agent: Option<String>,
    /// Where the newest was made.
    pub worktree: WorktreeRef,
    /// The machine the newest came from; none if it was made in this repository.
    pub origin: Option<String>,
}

pub(super) const COLUMNS: &str = "key, worktree, worktree_path, agent, process, started_at, ended_at, conversation, model";
pub(super) const RUN_COLUMNS: &str = "id, session, worktree, step, state, process, since, turn";

impl Store {
    /// The session with this key, if it was ever started.
    pub fn session(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM sessions WHERE key = ?1");
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_row([key.as_str()], read).optional());
        found.map_err(|e| self.error("read", e))
    }

    /// Every session that was ever started, the last one first.
    pub fn started_sessions(&self) -> Result<Vec<Session>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM sessions ORDER BY started_at DESC, key");
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_map([], read)?.collect());
        found.map_err(|e| self.error("read", e))
    }

    /// The sessions of `worktree` that nobody has ended, the last one first.
    pub fn open_sessions(&self, worktree: &WorktreeId) -> Result<Vec<Session>, StoreError> {
        let query =
            format!("SELECT {COLUMNS} FROM sessions WHERE worktree = ?1 AND ended_at IS NULL ORDER BY started_at DESC, key");
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_map([worktree.as_str()], read)?.collect());
        found.map_err(|e| self.error("read", e))
    }

    /// Writes the row of a session, whether or not it has one.
    pub fn put_session(&mut self, session: &Session) -> Result<(), StoreError> {
        self.require_writable()?;
        // Not `REPLACE`, which would delete what is at work in the session along with the old row.
        let put = "INSERT INTO sessions (key, worktree, worktree_path, agent, process, started_at, ended_at, \
                   conversation, model) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
                   ON CONFLICT (key) DO UPDATE SET worktree = ?2, worktree_path = ?3, agent = ?4, process = ?5, \
                   started_at = ?6, ended_at = ?7, conversation = ?8, model = ?9";
        let s = session;
        let (key, worktree, process) = (s.key.as_str(), s.worktree.id.as_str(), s.process.as_ref().map(process_text));
        let (path, times) = (s.worktree.path.as_slice(), (s.started_at, s.ended_at));
        let values = params![key, worktree, path, s.agent, process, times.0, times.1, s.conversation, s.model];
        let put = self.db.execute(put, values);
        put.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// Takes away all that is known of a session but its checkpoints.
    pub fn forget_session(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        self.require_writable()?;
        let forgotten = (|| {
            let transaction = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM runs WHERE session = ?1", [key.as_str()])?;
            transaction.execute("DELETE FROM turns WHERE session = ?1", [key.as_str()])?;
            transaction.execute("DELETE FROM sessions WHERE key = ?1", [key.as_str()])?;
            transaction.execute("DELETE FROM default_sessions WHERE session = ?1", [key.as_str()])?;
            transaction.commit()
        })();
        forgotten.map_err(|e| self.error("write to", e))
    }

    /// What is recorded to be at work, in all sessions and worktrees, the last to begin first.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        let query = format!("SELECT {RUN_COLUMNS} FROM runs ORDER BY id DESC");
        let found = self.db.prepare_cached(&query).and_then(|mut s| s.query_map([], read_run)?.collect());
        found.map_err(|e| self.error("read", e))
    }

    /// Records that something is at work, and returns its id.
    pub fn add_run(&mut self, run: &Run) -> Result<i64, StoreError> {
        self.require_writable()?;
        let add = "INSERT INTO runs (session, worktree, step, state, process, since, turn) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (session, worktree, state) = (run.session.as_str(), run.worktree.as_str(), run.state.as_str());
        let values = params![session, worktree, run.step, state, process_text(&run.process), run.since, run.turn];
        self.db.execute(add, values).map_err(|e| self.error("write to", e))?;
        Ok(self.db.last_insert_rowid())
    }

    /// Records that `process` is the one at work in a run now.
    pub fn set_run(&mut self, id: i64, state: SessionState, process: &Process, since: Millis) -> Result<(), StoreError> {
        self.require_writable()?;
        let set = "UPDATE runs SET state = ?2, process = ?3, since = ?4 WHERE id = ?1";
        let set = self.db.execute(set, params![id, state.as_str(), process_text(process), since]);
        set.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// Records that a run is over.
    pub fn remove_run(&mut self, id: i64) -> Result<(), StoreError> {
        self.require_writable()?;
        let removed = self.db.execute("DELETE FROM runs WHERE id = ?1", [id]);
        removed.map(|_| ()).map_err(|e| self.error("write to", e))
    }

    /// True if a session has the state from before its first step or turn, or has begun without one.
    pub fn has_begun(&self, session: &SessionKey) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM checkpoints WHERE session = ?1 \
                     AND kind IN ('baseline', 'step', 'turn-start', 'turn'))";
        let found = self.db.prepare_cached(query).and_then(|mut s| s.query_row([session.as_str()], |row| row.get(0)));
        found.map_err(|e| self.error("read", e))
    }

    /// What the checkpoints of each session come to, that of the newest checkpoint first.
    pub fn session_counts(&self) -> Result<Vec<SessionCounts>, StoreError> {
        let query = "SELECT c.session, s.count, c.number, s.baseline, s.first_at, s.last_at, c.agent, c.worktree, \
                     c.worktree_path, c.origin \
                     FROM (SELECT count(*) AS count, max(number) AS newest, min(created_at) AS first_at, \
                           max(created_at) AS last_at, min(CASE kind WHEN 'baseline' THEN number END) AS baseline \
                           FROM checkpoints GROUP BY session) s \
                     JOIN checkpoints c ON c.number = s.newest ORDER BY c.number DESC";
        let found = self.db.prepare_cached(query).and_then(|mut s| s.query_map([], read_counts)?.collect());
        found.map_err(|e| self.error("read", e))
    }
}

/// A process is plain numbers and text, so there is nothing that could fail.
fn process_text(process: &Process) -> String {
    serde_json::to_string(process).unwrap_or_default()
}

fn process(text: &str) -> Option<Process> {
    serde_json::from_str(text).ok()
}

fn worktree(row: &Row<'_>, id: usize, path: usize) -> rusqlite::Result<WorktreeRef> {
    let id = WorktreeId::from_recorded(row.get_ref(id)?.as_str()?);
    Ok(WorktreeRef { id, path: row.get_ref(path)?.as_blob()?.into() })
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let has_process = row.get_ref(4)?.as_str_or_null()?.is_some();
    Ok(Session {
        key: word(row, 0, "key", |text| SessionKey::parse(text).ok())?,
        worktree: worktree(row, 1, 2)?,
        agent: row.get(3)?,
        process: if has_process { Some(word(row, 4, "process", process)?) } else { None },
        conversation: row.get(7)?,
        model: row.get(8)?,
        started_at: row.get(5)?,
        ended_at: row.get(6)?,
    })
}

pub(super) fn read_run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get(0)?,
        session: word(row, 1, "session", |text| SessionKey::parse(text).ok())?,
        worktree: word(row, 2, "worktree", |text| Some(WorktreeId::from_recorded(text)))?,
        step: row.get(3)?,
        state: word(row, 4, "state", SessionState::parse)?,
        process: word(row, 5, "process", process)?,
        since: row.get(6)?,
        turn: row.get(7)?,
    })
}

fn read_counts(row: &Row<'_>) -> rusqlite::Result<SessionCounts> {
    Ok(SessionCounts {
        key: word(row, 0, "session", |text| SessionKey::parse(text).ok())?,
        checkpoints: unsigned(row.get(1)?),
        newest: unsigned(row.get(2)?),
        baseline: row.get::<_, Option<i64>>(3)?.map(unsigned),
        first_at: row.get(4)?,
        last_at: row.get(5)?,
        agent: row.get(6)?,
        worktree: worktree(row, 7, 8)?,
        origin: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Checkpoint, Kind};
    use crate::store::testing::{Fixture, sample};

    fn key(text: &str) -> SessionKey {
        SessionKey::parse(text).unwrap()
    }

    fn session(text: &str, started_at: Millis) -> Session {
        Session {
            key: key(text),
            worktree: WorktreeRef { id: WorktreeId::main(), path: b"/w\xff".as_slice().into() },
            agent: Some("claude".to_owned()),
            process: Some(Process::this()),
            conversation: Some("C".to_owned()),
            model: Some("m".to_owned()),
            started_at,
            ended_at: None,
        }
    }

    fn run(session: &str) -> Run {
        Run {
            id: 0,
            session: key(session),
            worktree: WorktreeId::main(),
            step: Some("build".to_owned()),
            turn: Some(2),
            state: SessionState::Pending,
            process: Process::this(),
            since: 5,
        }
    }

    #[test]
    fn a_session_reads_back_as_it_was_written() {
        let mut store = Fixture::new().store;
        let plain = Session { agent: None, process: None, ended_at: Some(9), ..session("b", 2) };
        store.put_session(&session("a", 1)).unwrap();
        store.put_session(&plain).unwrap();

        assert_eq!(store.session(&key("a")).unwrap(), Some(session("a", 1)));
        assert_eq!(store.started_sessions().unwrap(), [plain, session("a", 1)]);
        assert_eq!(store.open_sessions(&WorktreeId::main()).unwrap(), [session("a", 1)]);
        assert_eq!(store.open_sessions(&WorktreeId::linked("w")).unwrap(), []);
        assert_eq!(store.session(&key("c")).unwrap(), None);
    }

    #[test]
    fn a_run_outlives_a_change_of_its_session_but_not_its_end() {
        let mut store = Fixture::new().store;
        store.put_session(&session("a", 1)).unwrap();
        let id = store.add_run(&run("a")).unwrap();

        store.put_session(&session("a", 2)).unwrap();
        store.set_run(id, SessionState::Running, &Process::this(), 7).unwrap();
        assert_eq!(store.runs().unwrap(), [Run { id, state: SessionState::Running, since: 7, ..run("a") }]);
        store.remove_run(id).unwrap();
        assert_eq!(store.runs().unwrap(), []);
    }

    #[test]
    fn a_forgotten_session_leaves_its_checkpoints_and_other_sessions() {
        let mut store = Fixture::new().store;
        for name in ["a", "main-1"] {
            store.put_session(&session(name, 1)).unwrap();
            store.add_run(&run(name)).unwrap();
        }
        store.insert(&sample(1)).unwrap();
        store.set_default_session(&WorktreeId::main(), &key("main-1")).unwrap();

        store.forget_session(&key("main-1")).unwrap();

        assert_eq!(store.started_sessions().unwrap(), [session("a", 1)]);
        assert_eq!(store.runs().unwrap().len(), 1);
        assert_eq!(store.default_session(&WorktreeId::main()).unwrap(), None);
        assert_eq!(store.count().unwrap(), 1);
    }

    #[test]
    fn checkpoints_are_counted_by_session() {
        let mut store = Fixture::new().store;
        let of = |n, session: &str, kind| Checkpoint { session: key(session), kind, ..sample(n) };
        for checkpoint in [
            of(1, "a", Kind::Manual),
            of(2, "b", Kind::Baseline),
            Checkpoint { agent: Some("codex".to_owned()), ..of(3, "a", Kind::Step) },
        ] {
            store.insert(&checkpoint).unwrap();
        }

        let counts = store.session_counts().unwrap();

        let a = SessionCounts {
            key: key("a"),
            checkpoints: 2,
            newest: 3,
            baseline: None,
            first_at: 1_000,
            last_at: 3_000,
            agent: Some("codex".to_owned()),
            worktree: sample(1).worktree,
            origin: None,
        };
        let b = SessionCounts {
            key: key("b"),
            checkpoints: 1,
            newest: 2,
            baseline: Some(2),
            first_at: 2_000,
            last_at: 2_000,
            agent: None,
            ..a.clone()
        };
        assert_eq!(counts, [a, b]);
        assert!(store.has_begun(&key("a")).unwrap() && store.has_begun(&key("b")).unwrap());
        assert!(!store.has_begun(&key("c")).unwrap());
    }
}
