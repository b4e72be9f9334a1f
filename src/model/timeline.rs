//! A checkpoint as the screen of `browse` shows it among the others.

use super::{Kind, Millis, Stat};

/// What one line of the timeline tells of a checkpoint. Owned, because the screen keeps it; narrow, because there are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// As [`Checkpoint::number`](super::Checkpoint::number).
    pub number: u64,
    /// As [`Checkpoint::kind`](super::Checkpoint::kind).
    pub kind: Kind,
    /// The key of the session that owns it.
    pub session: String,
    /// As [`Checkpoint::step`](super::Checkpoint::step).
    pub step: Option<String>,
    /// As [`Checkpoint::turn`](super::Checkpoint::turn).
    pub turn: Option<u32>,
    /// As [`Checkpoint::agent`](super::Checkpoint::agent).
    pub agent: Option<String>,
    /// The beginning of the prompt of its turn.
    pub prompt: Option<String>,
    /// As [`Checkpoint::subject`](super::Checkpoint::subject).
    pub subject: String,
    /// As [`Checkpoint::created_at`](super::Checkpoint::created_at).
    pub created_at: Millis,
    /// The id of the worktree it was captured in.
    pub worktree: String,
    /// As [`Checkpoint::origin`](super::Checkpoint::origin).
    pub origin: Option<String>,
    /// How many paths were left out.
    pub skipped: usize,
    /// As [`Checkpoint::names`](super::Checkpoint::names).
    pub names: Vec<String>,
    /// As [`Checkpoint::stat`](super::Checkpoint::stat).
    pub stat: Option<Stat>,
    /// Where the worktree went from here, for a checkpoint that a restore, undo or redo made.
    pub jump: Option<Jump>,
}

/// Where a worktree went from one checkpoint to another that does not follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// A restore, or its redo, to the checkpoint with this number.
    Restore(u64),
    /// An undo, to the checkpoint with this number.
    Undo(u64),
}
