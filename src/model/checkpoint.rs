//! A checkpoint and its parts.

use std::collections::BTreeMap;

use super::{BString, Boundary, CheckpointId, Kind, Millis, ObjectId, SessionKey, WorktreeId};

/// The prefix of every ref that holds a checkpoint.
pub(crate) const REF_PREFIX: &str = "refs/checkpoints/";

/// A recorded, restorable state: a commit on a hidden ref plus its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What a person types; unique in this repository and never reused. 0 until the row is written.
    pub number: u64,
    /// Identity on every machine.
    pub id: CheckpointId,
    /// The session that owns it.
    pub session: SessionKey,
    /// Why it was made.
    pub kind: Kind,
    /// Name of the pipeline stage, for [`Kind::Step`].
    pub step: Option<String>,
    /// Number of the agent's turn, for [`Kind::Turn`] and [`Kind::TurnStart`].
    pub turn: Option<u32>,
    /// The agent whose turn it is.
    pub agent: Option<String>,
    /// First line of the commit message.
    pub subject: String,
    /// The text given with `-m`.
    pub message: Option<String>,
    /// The commit that the ref points to.
    pub commit: ObjectId,
    /// The snapshot of the worktree.
    pub tree: ObjectId,
    /// The tree of the index; none while it had unmerged entries.
    pub index_tree: Option<ObjectId>,
    /// HEAD at capture; none on an unborn branch.
    pub head: Option<ObjectId>,
    /// Short name of the branch at capture; none when HEAD was detached.
    pub branch: Option<String>,
    /// The operation in progress at capture (`merge`, `rebase`, …), if any.
    pub operation: Option<String>,
    /// When it was captured.
    pub created_at: Millis,
    /// When the agent's turn ended.
    pub completed_at: Option<Millis>,
    /// Where in an agent's conversation it belongs.
    pub boundary: Option<Boundary>,
    /// Where it was captured.
    pub worktree: WorktreeRef,
    /// The machine it came from; none if it was made in this repository.
    pub origin: Option<String>,
    /// What the capture left out.
    pub skipped: Vec<Skipped>,
    /// Paths that were intent-to-add in the index.
    pub intent_to_add: Vec<BString>,
    /// Free key/value pairs given with `--meta`.
    pub meta: BTreeMap<String, String>,
    /// Names that people gave it, sorted.
    pub names: Vec<String>,
    /// Change against the checkpoint before it in its worktree (against HEAD for the first), once computed.
    pub stat: Option<Stat>,
}

impl Checkpoint {
    /// The full name of the ref that holds it.
    pub fn ref_name(&self) -> String {
        format!("{REF_PREFIX}{}/{}", self.session, self.id)
    }

    /// True if nothing was left out of the capture.
    pub fn is_complete(&self) -> bool {
        self.skipped.is_empty()
    }
}

/// The worktree a checkpoint was captured in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRef {
    /// Which worktree of the repository.
    pub id: WorktreeId,
    /// Absolute path of its top directory at capture, as bytes of the file system.
    pub path: BString,
}

/// Counts of a difference, as `git diff --shortstat` gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Files that differ.
    pub files: u64,
    /// Lines added.
    pub insertions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// One line of the manifest: a path that a checkpoint does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Path relative to the top of the worktree.
    pub path: BString,
    /// Why it was left out.
    pub reason: SkipReason,
    /// Its size in bytes where that is known.
    pub size: Option<u64>,
}

/// Why a path was left out of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// An untracked file above `checkpoint.maxFileSize`.
    TooLarge,
    /// A file or directory that could not be read.
    Unreadable,
    /// A repository inside the worktree that has no commit to record.
    NestedRepository,
    /// A FIFO, socket or device.
    Special,
    /// A submodule with uncommitted changes, which stay in it.
    DirtySubmodule,
    /// A name that git itself refuses to record, such as `.GIT`.
    InvalidPath,
    /// A file that kept changing while it was read.
    Unstable,
    /// Matched by `checkpoint.exclude`.
    Excluded,
    /// Its content does not have the encoding that its attributes claim.
    Unconvertible,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: [SkipReason; 9] = [
        SkipReason::TooLarge,
        SkipReason::Unreadable,
        SkipReason::NestedRepository,
        SkipReason::Special,
        SkipReason::DirtySubmodule,
        SkipReason::InvalidPath,
        SkipReason::Unstable,
        SkipReason::Excluded,
        SkipReason::Unconvertible,
    ];

    /// The word used in trailers, the database and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::TooLarge => "too-large",
            SkipReason::Unreadable => "unreadable",
            SkipReason::NestedRepository => "nested-repository",
            SkipReason::Special => "special-file",
            SkipReason::DirtySubmodule => "dirty-submodule",
            SkipReason::InvalidPath => "invalid-path",
            SkipReason::Unstable => "unstable",
            SkipReason::Excluded => "excluded",
            SkipReason::Unconvertible => "unconvertible",
        }
    }

    /// The reason that `word` stands for.
    pub fn parse(word: &str) -> Option<SkipReason> {
        SkipReason::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}
