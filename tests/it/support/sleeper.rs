//! A process that does nothing until the test is over with it.

use std::process::{Child, Command};

use super::TestRepo;

/// A process beside the test, not above any command that the test runs.
pub struct Sleeper(Child);

impl Sleeper {
    /// Starts it.
    pub fn new() -> Self {
        Sleeper(Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// Its number.
    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl TestRepo {
    /// Starts a session that lasts as long as `process`, without a word.
    #[track_caller]
    pub fn session_of(&self, key: &str, process: &Sleeper) {
        self.checkpoint(["session", "start", "--quiet", key, "--pid", &process.pid()]).success();
    }

    /// What `session show --json` says of one session.
    #[track_caller]
    pub fn session(&self, key: &str) -> serde_json::Value {
        self.checkpoint(["session", "show", "--json", key]).success().json()["session"].clone()
    }

    /// Changes what the database says of sessions, as time or another program would.
    pub fn edit_database(&self, statement: &str) {
        let database = rusqlite::Connection::open(self.common_dir().join("checkpoint/checkpoints.db")).unwrap();
        assert!(database.execute(statement, []).unwrap() > 0, "nothing was there to change: {statement}");
    }
}
