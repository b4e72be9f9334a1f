//! Which checkpoints to list.

use rusqlite::types::Value;

use super::row::signed;
use crate::model::{Kind, Millis, SessionKey, WorktreeId};

/// Which checkpoints to list, and in which order. The default lists all, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only those of this worktree, and those that came from another machine and so belong to none.
    pub worktree: Option<WorktreeId>,
    /// Only those of this session.
    pub session: Option<SessionKey>,
    /// Only those of these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// Only those made at or after this time.
    pub since: Option<Millis>,
    /// Only those made at or before this time.
    pub until: Option<Millis>,
    /// Only those whose change has not been counted yet.
    pub uncounted: bool,
    /// At most this many, the newest.
    pub limit: Option<u64>,
    /// Oldest first.
    pub reverse: bool,
}

impl Filter {
    /// The end of the statement, from `WHERE` on, with its parameters.
    pub(super) fn clauses(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1".to_owned()];
        let mut values: Vec<Value> = Vec::new();
        if let Some(worktree) = &self.worktree {
            conditions.push("(worktree = ? OR origin IS NOT NULL)".to_owned());
            values.push(worktree.as_str().to_owned().into());
        }
        if let Some(session) = &self.session {
            conditions.push("session = ?".to_owned());
            values.push(session.as_str().to_owned().into());
        }
        if !self.kinds.is_empty() {
            // The words of kinds are ours and need no quoting.
            let words: Vec<String> = self.kinds.iter().map(|kind| format!("'{kind}'")).collect();
            conditions.push(format!("kind IN ({})", words.join(", ")));
        }
        if let Some(since) = self.since {
            conditions.push("created_at >= ?".to_owned());
            values.push(since.into());
        }
        if let Some(until) = self.until {
            conditions.push("created_at <= ?".to_owned());
            values.push(until.into());
        }
        if self.uncounted {
            conditions.push("files IS NULL".to_owned());
        }
        let limit = self.limit.map_or(-1, signed);
        values.push(limit.into());
        let newest_first = format!("WHERE {} ORDER BY number DESC LIMIT ?", conditions.join(" AND "));
        if self.reverse {
            // The newest ones are wanted, whatever the order they come in.
            return (format!("WHERE number IN (SELECT number FROM checkpoints {newest_first}) ORDER BY number"), values);
        }
        (newest_first, values)
    }
}
