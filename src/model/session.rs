//! How far a session has come.

/// What is known of the work in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionState {
    /// Open, and nothing is at work yet: it waits for its first or next run.
    Pending,
    /// A process that is alive works in it.
    Running,
    /// Over, by word or because its process is gone.
    Ended,
}

impl SessionState {
    /// Every state, in the order in which a session goes through them.
    pub const ALL: [SessionState; 3] = [SessionState::Pending, SessionState::Running, SessionState::Ended];

    /// The word used in the database and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionState::Pending => "pending",
            SessionState::Running => "running",
            SessionState::Ended => "ended",
        }
    }

    /// The state that `word` stands for.
    pub fn parse(word: &str) -> Option<SessionState> {
        SessionState::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl std::fmt::Display for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
