//! What a restore did to an agent's memory.

use serde::{Deserialize, Serialize};

use super::BString;
use super::boundary::path;

/// What a restore brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The files.
    Code,
    /// The agent's memory.
    Memory,
    /// Files and memory.
    Both,
}

impl What {
    /// What the word in the configuration stands for.
    pub fn parse(word: &str) -> Option<What> {
        match word {
            "code" => Some(What::Code),
            "memory" => Some(What::Memory),
            "both" => Some(What::Both),
            _ => None,
        }
    }
}

/// A conversation that an agent can go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The agent's own id of it.
    pub conversation: String,
    /// The command that goes on with it, word for word; empty if none is known.
    pub resume: Vec<String>,
    /// Its file, as bytes of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path")]
    pub file: Option<BString>,
}

/// The way from one conversation to another that a restore took: the old one is as it was, so that `undo` only has to name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// The agent.
    pub agent: String,
    /// The conversation that went on in the worktree before; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Thread>,
    /// The one that goes on from the place that was restored.
    pub to: Thread,
    /// The file that becomes the conversation when the files are done, as bytes of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path")]
    pub prepared: Option<BString>,
    /// The files were left alone.
    #[serde(default)]
    pub only: bool,
}

impl MemoryChange {
    /// The form in which the database keeps it: one line.
    pub fn to_line(&self) -> String {
        // All keys are strings and all values plain, so there is nothing that could fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`MemoryChange::to_line`] wrote; none if it is something else.
    pub fn from_line(line: &str) -> Option<MemoryChange> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_back_as_it_was_written() {
        let thread = |id: &str| Thread {
            conversation: id.into(),
            resume: vec!["claude".into(), "--resume".into(), id.into()],
            file: Some(b"/t/\xff.jsonl".as_slice().into()),
        };
        let change = MemoryChange {
            agent: "claude".into(),
            from: Some(thread("a")),
            to: Thread { file: None, ..thread("b") },
            prepared: Some("/t/.b.tmp".into()),
            only: true,
        };

        assert_eq!(MemoryChange::from_line(&change.to_line()), Some(change.clone()));
        assert!(!change.to_line().contains('\n'));
        assert_eq!(MemoryChange::from_line("{}"), None);
    }
}
