//! What a copy of an agent's conversation says of itself.

use serde::{Deserialize, Serialize};

/// The version of the form that this program writes.
const VERSION: u32 = 1;

/// The trailer of a commit that holds a copy.
pub const TRAILER: &str = "Checkpoint-Memory: ";

/// A piece of a conversation: what came to its file between two turns. All pieces from the last one that begins at 0 make a file
/// which stands on its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryCopy {
    /// The agent, by its word.
    pub agent: String,
    /// The agent's own id of the conversation.
    pub conversation: String,
    /// The agent's own id of the turn that ended here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Where in the file the piece begins, in bytes.
    pub from: u64,
    /// Where it ends.
    pub offset: u64,
    /// The SHA-256 of the file up to there, in hexadecimal.
    pub prefix_sha256: String,
    /// It was made to leave the machine: what is secret or bound to an account was taken out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub travels: bool,
    /// How many secrets were taken out of this piece.
    #[serde(default, skip_serializing_if = "is_none")]
    pub redacted: u64,
    /// How many parts were left out of this piece that only the account they were made for can read.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
struct Versioned<C> {
    v: u32,
    #[serde(flatten)]
    copy: C,
}

impl MemoryCopy {
    /// The message of the commit that holds it.
    pub fn message(&self) -> String {
        // All keys are strings and all values plain, so there is nothing that could fail.
        let line = serde_json::to_string(&Versioned { v: VERSION, copy: self }).unwrap_or_default();
        format!("conversation with {}\n\n{TRAILER}{line}\n", self.agent)
    }

    /// Reads what [`MemoryCopy::message`] wrote; none if a newer program wrote it, or something else.
    pub fn from_message(message: &[u8]) -> Option<MemoryCopy> {
        let text = std::str::from_utf8(message).ok()?;
        let line = text.lines().rev().find_map(|line| line.strip_prefix(TRAILER))?;
        let read: Versioned<MemoryCopy> = serde_json::from_str(line).ok()?;
        (read.v == VERSION && read.copy.from <= read.copy.offset).then_some(read.copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_and_its_message_stand_for_each_other() {
        let plain = MemoryCopy { agent: "claude".into(), conversation: "1f".into(), offset: 7, ..MemoryCopy::default() };
        let full = MemoryCopy {
            turn_id: Some("p\n-1".into()),
            from: 3,
            prefix_sha256: "ab".into(),
            travels: true,
            redacted: 2,
            left_out: 1,
            ..plain.clone()
        };
        for copy in [plain, full] {
            assert_eq!(MemoryCopy::from_message(copy.message().as_bytes()), Some(copy));
        }
    }

    #[test]
    fn anything_else_is_none() {
        let copy = MemoryCopy { from: 3, offset: 2, ..MemoryCopy::default() };
        let newer = copy.message().replace("\"v\":1", "\"v\":2").replace("\"from\":3", "\"from\":1");
        for text in [copy.message().as_str(), newer.as_str(), "x", "", "Checkpoint-Memory: {}"] {
            assert_eq!(MemoryCopy::from_message(text.as_bytes()), None, "{text}");
        }
        assert_eq!(MemoryCopy::from_message(b"\xff"), None);
    }
}
