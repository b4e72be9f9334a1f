//! A checkpoint as a list shows it.

use std::borrow::Cow;

use super::{Checkpoint, Kind, Millis, Stat};

/// What one line of a list tells of a checkpoint. A long list is read as these: most of a [`Checkpoint`] would not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary<'a> {
    /// As [`Checkpoint::number`].
    pub number: u64,
    /// As [`Checkpoint::kind`].
    pub kind: Kind,
    /// As [`Checkpoint::step`].
    pub step: Option<&'a str>,
    /// As [`Checkpoint::turn`].
    pub turn: Option<u32>,
    /// As [`Checkpoint::subject`].
    pub subject: &'a str,
    /// As [`Checkpoint::created_at`].
    pub created_at: Millis,
    /// The id of the worktree it was captured in.
    pub worktree: &'a str,
    /// As [`Checkpoint::origin`].
    pub origin: Option<&'a str>,
    /// How many paths were left out.
    pub skipped: usize,
    /// As [`Checkpoint::names`].
    pub names: Cow<'a, [String]>,
    /// As [`Checkpoint::stat`].
    pub stat: Option<Stat>,
}

impl<'a> From<&'a Checkpoint> for Summary<'a> {
    fn from(checkpoint: &'a Checkpoint) -> Summary<'a> {
        Summary {
            number: checkpoint.number,
            kind: checkpoint.kind,
            step: checkpoint.step.as_deref(),
            turn: checkpoint.turn,
            subject: &checkpoint.subject,
            created_at: checkpoint.created_at,
            worktree: checkpoint.worktree.id.as_str(),
            origin: checkpoint.origin.as_deref(),
            skipped: checkpoint.skipped.len(),
            names: Cow::Borrowed(&checkpoint.names),
            stat: checkpoint.stat,
        }
    }
}
