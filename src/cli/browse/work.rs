//! What the screen asks of the threads behind it, and what these report. The screen itself waits for nothing.

use std::path::PathBuf;

use super::look::Spans;
use super::timeline::Row;
use crate::model::{Blocker, BlockerCode, Stat, What};

/// What stands beside the timeline. Checkpoints are named by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// What a checkpoint changed.
    Change(u64),
    /// How the first differs from the second.
    Between(u64, u64),
    /// How a checkpoint differs from the worktree.
    Worktree(u64),
}

/// A difference, ready to be drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) lines: Vec<Spans>,
    /// The lines at which the patches of files begin.
    pub(super) files: Vec<usize>,
}

/// Something that changes the worktree, the checkpoints or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    Restore { number: u64, what: What, allow: Vec<BlockerCode> },
    Undo { allow: Vec<BlockerCode> },
    Redo { allow: Vec<BlockerCode> },
    Drop { number: u64, allow: Vec<BlockerCode> },
    Name { number: u64, name: String },
    Branch { number: u64, name: String },
    Export { number: u64, file: PathBuf },
}

/// What would be done, for a person to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) deed: Deed,
    pub(super) title: String,
    /// What it does and keeps, in sentences.
    pub(super) summary: Vec<Spans>,
    /// The single steps.
    pub(super) steps: Vec<Spans>,
    /// Why it cannot be done.
    pub(super) blockers: Vec<Blocker>,
    /// The question; none if there is nothing to do.
    pub(super) question: Option<String>,
    /// The session has an agent's conversation, which could come back as well.
    pub(super) has_memory: bool,
}

/// What became of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) title: String,
    pub(super) lines: Vec<Spans>,
    pub(super) ending: Ending,
}

/// How a deed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Done, and one key takes it back.
    Undoable,
    /// Undone, and one key does it again.
    Redoable,
    /// Done.
    Done,
    /// Not done, or not all of it.
    Failed,
}

/// What the screen asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Show this; what was asked for before is not wanted any more.
    Look(View),
    /// Work out what a deed would do, and change nothing.
    Plan(Deed),
    /// Do it: the person agreed.
    Do(Deed),
    /// Read the checkpoints again: of this worktree, or of all.
    Read { all_worktrees: bool },
}

/// What the threads report.
#[derive(Debug)]
pub(super) enum Report {
    /// The checkpoints, newest first; only the newest of them if more are to follow.
    Timeline { rows: Vec<Row>, all_worktrees: bool, is_whole: bool },
    /// How much some checkpoints changed.
    Counted(Vec<(u64, Stat)>),
    /// Which checkpoint equals the worktree.
    Current(Option<u64>),
    /// What stands in the way of everything, or nothing any more.
    Trouble(Option<String>),
    /// A difference.
    Change(View, Result<Change, String>),
    /// What a deed would do.
    Planned(Deed, Result<Plan, String>),
    /// What became of a deed.
    Done(Deed, Outcome),
}
