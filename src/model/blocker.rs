//! The typed reasons why a restore, or something else that takes away, is refused.

/// A reason why a restore is refused: one sentence and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// Which reason.
    pub code: BlockerCode,
    /// One sentence for a person, lower case, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// How a blocker can be overridden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Override {
    /// `--yes`.
    Yes,
    /// `--allow <code>`.
    Allow,
}

impl Override {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Override::Yes => "yes",
            Override::Allow => "allow",
        }
    }
}

/// The stable codes of blockers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the codes are explained one by one in the manual page's table of refusals")]
pub enum BlockerCode {
    NotAWorktree,
    NotWorktreeRoot,
    MainWorktree,
    OtherWorktree,
    IndexLocked,
    OperationInProgress,
    UnmergedIndex,
    SessionActive,
    RestoreInProgress,
    RestoreInterrupted,
    ObjectsMissing,
    PreRestoreFailed,
    PreRestorePartial,
    PathBlocked,
    FilterFailed,
    ConfirmationRequired,
    RunningInsideAgent,
    WorktreeOverlap,
    NeededByUndo,
}

impl BlockerCode {
    /// Every code, in the order they are reported.
    pub const ALL: [BlockerCode; 19] = [
        BlockerCode::NotAWorktree,
        BlockerCode::NotWorktreeRoot,
        BlockerCode::MainWorktree,
        BlockerCode::OtherWorktree,
        BlockerCode::IndexLocked,
        BlockerCode::OperationInProgress,
        BlockerCode::UnmergedIndex,
        BlockerCode::SessionActive,
        BlockerCode::RestoreInProgress,
        BlockerCode::RestoreInterrupted,
        BlockerCode::ObjectsMissing,
        BlockerCode::PreRestoreFailed,
        BlockerCode::PreRestorePartial,
        BlockerCode::PathBlocked,
        BlockerCode::FilterFailed,
        BlockerCode::ConfirmationRequired,
        BlockerCode::RunningInsideAgent,
        BlockerCode::WorktreeOverlap,
        BlockerCode::NeededByUndo,
    ];

    /// The code as it stands in JSON and after `--allow`.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockerCode::NotAWorktree => "not-a-worktree",
            BlockerCode::NotWorktreeRoot => "not-worktree-root",
            BlockerCode::MainWorktree => "main-worktree",
            BlockerCode::OtherWorktree => "other-worktree",
            BlockerCode::IndexLocked => "index-locked",
            BlockerCode::OperationInProgress => "operation-in-progress",
            BlockerCode::UnmergedIndex => "unmerged-index",
            BlockerCode::SessionActive => "session-active",
            BlockerCode::RestoreInProgress => "restore-in-progress",
            BlockerCode::RestoreInterrupted => "restore-interrupted",
            BlockerCode::ObjectsMissing => "objects-missing",
            BlockerCode::PreRestoreFailed => "pre-restore-failed",
            BlockerCode::PreRestorePartial => "pre-restore-partial",
            BlockerCode::PathBlocked => "path-blocked",
            BlockerCode::FilterFailed => "filter-failed",
            BlockerCode::ConfirmationRequired => "confirmation-required",
            BlockerCode::RunningInsideAgent => "running-inside-agent",
            BlockerCode::WorktreeOverlap => "worktree-overlap",
            BlockerCode::NeededByUndo => "needed-by-undo",
        }
    }

    /// The code that `word` stands for.
    pub fn parse(word: &str) -> Option<BlockerCode> {
        BlockerCode::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// How a person can go on in spite of it, if at all.
    pub fn override_by(self) -> Option<Override> {
        match self {
            BlockerCode::ConfirmationRequired => Some(Override::Yes),
            BlockerCode::OtherWorktree
            | BlockerCode::SessionActive
            | BlockerCode::RunningInsideAgent
            | BlockerCode::NeededByUndo => Some(Override::Allow),
            _ => None,
        }
    }
}
