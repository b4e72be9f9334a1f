//! The point in an agent's conversation that belongs to a checkpoint.
//!
//! It says where the point is, and holds nothing of the conversation but the beginning of a prompt. What binds it is the agent's own
//! turn id; the offset tells how much of the transcript there was when the checkpoint was made, which may be less than the turn.
//! In commits and in the database it is one line of JSON with a version of its own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BString, ByteSlice};

/// The version of the form that this program writes.
const VERSION: u32 = 1;

/// Longest excerpt of a prompt, in characters.
const LONGEST_EXCERPT: usize = 200;

/// Longest of the other texts that an agent gives, in characters.
const LONGEST_WORD: usize = 300;

/// The point in an agent's conversation that belongs to a checkpoint: the end of the turn for [`Kind::Turn`](super::Kind::Turn), the
/// place before the turn for the kinds of checkpoint that are made before one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Boundary {
    /// How much is known of the place.
    pub state: BoundaryState,
    /// The agent's own id of the conversation.
    pub conversation: String,
    /// The agent's own id of the turn that ended, or of the one that is about to begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// How the turn ended; none for a checkpoint made before one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TurnEnd>,
    /// The beginning of the prompt, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The version of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who provides the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the agent may do without asking, in its own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// When the agent asks for approval, in its own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<String>,
    /// How its commands are confined, in its own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// The directory that the agent worked in, as bytes of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path")]
    pub cwd: Option<BString>,
    /// The file of the conversation, as bytes of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path")]
    pub transcript: Option<BString>,
    /// How many bytes of it there were, up to the end of the last whole line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The SHA-256 of these bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_sha256: Option<String>,
}

/// How much is known of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundaryState {
    /// The transcript was there, and the agent may not have finished writing the turn.
    #[default]
    Provisional,
    /// The turn is in the file up to the offset, and nothing else of it comes.
    Final,
    /// There was no transcript to be found.
    Missing,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// The agent was done.
    Done,
    /// An error ended it.
    Failed,
    /// A person stopped it.
    Interrupted,
    /// Nothing told of the end; what came next did.
    Inferred,
    /// The conversation was closed.
    SessionEnd,
}

impl BoundaryState {
    /// The word in commits, the database and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            BoundaryState::Provisional => "provisional",
            BoundaryState::Final => "final",
            BoundaryState::Missing => "missing",
        }
    }
}

impl TurnEnd {
    /// The word in commits, the database and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            TurnEnd::Done => "done",
            TurnEnd::Failed => "failed",
            TurnEnd::Interrupted => "interrupted",
            TurnEnd::Inferred => "inferred",
            TurnEnd::SessionEnd => "session-end",
        }
    }
}

/// A boundary with the version of its form.
#[derive(Serialize, Deserialize)]
struct Versioned<B> {
    v: u32,
    #[serde(flatten)]
    boundary: B,
}

impl Boundary {
    /// The form in which commits and the database keep it: one line.
    pub fn to_line(&self) -> String {
        // All keys are strings and all values plain, so there is nothing that could fail.
        serde_json::to_string(&Versioned { v: VERSION, boundary: self }).unwrap_or_default()
    }

    /// Reads what [`Boundary::to_line`] wrote. None if a newer program wrote it, or something else: the files of a checkpoint are
    /// worth having without it.
    pub fn from_line(line: &str) -> Option<Boundary> {
        let read: Versioned<Boundary> = serde_json::from_str(line).ok()?;
        let boundary = read.boundary;
        (read.v == VERSION && boundary == boundary.clone().clipped()).then_some(boundary)
    }

    /// With every text as short as it may be, in one line and free of control characters.
    pub fn clipped(self) -> Boundary {
        let word = |text: Option<String>| text.map(|text| one_line(&text, LONGEST_WORD)).filter(|text| !text.is_empty());
        Boundary {
            state: self.state,
            conversation: one_line(&self.conversation, LONGEST_WORD),
            turn_id: word(self.turn_id),
            end: self.end,
            prompt: self.prompt.as_deref().map(excerpt).filter(|text| !text.is_empty()),
            agent_version: word(self.agent_version),
            model: word(self.model),
            provider: word(self.provider),
            permission_mode: word(self.permission_mode),
            approval_policy: word(self.approval_policy),
            sandbox: word(self.sandbox),
            cwd: self.cwd,
            transcript: self.transcript,
            offset: self.offset,
            prefix_sha256: self.prefix_sha256,
        }
    }
}

/// The beginning of a prompt, in one line and free of what a terminal or a reader could be misled by.
pub fn excerpt(prompt: &str) -> String {
    one_line(prompt, LONGEST_EXCERPT)
}

fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    // What is left out separates words too. Nothing beyond what may be kept is looked at, however long the text is.
    let mut room = longest;
    let mut is_apart = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || is_invisible(c) {
            is_apart = !line.is_empty();
            continue;
        }
        let needed = if is_apart { 2 } else { 1 };
        if room < needed {
            break;
        }
        if is_apart {
            line.push(' ');
        }
        line.push(c);
        room -= needed;
        is_apart = false;
    }
    line
}

/// Characters that turn the direction of text or mark a place in it, and show nothing themselves.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A path as text, or as `{"bytes": "<base64>"}` where it is none.
pub(super) mod path {
    use super::{BString, ByteSlice, Deserialize, Deserializer, Engine, STANDARD, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes { bytes: String },
    }

    pub(in crate::model) fn serialize<S: Serializer>(path: &Option<BString>, serializer: S) -> Result<S::Ok, S::Error> {
        let written = path.as_ref().map(|path| match path.to_str() {
            // A commit message has no place for control characters.
            Ok(text) if !text.chars().any(char::is_control) => Written::Text(text.to_owned()),
            Ok(_) | Err(_) => Written::Bytes { bytes: STANDARD.encode(path) },
        });
        written.serialize(serializer)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BString>, D::Error> {
        match Option::<Written>::deserialize(deserializer)? {
            None => Ok(None),
            Some(Written::Text(text)) => Ok(Some(text.into())),
            Some(Written::Bytes { bytes }) => {
                STANDARD.decode(bytes).map(|bytes| Some(bytes.into())).map_err(serde::de::Error::custom)
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> Boundary {
        Boundary {
            state: BoundaryState::Provisional,
            conversation: "1f6d".into(),
            turn_id: Some("p-1".into()),
            end: Some(TurnEnd::Interrupted),
            prompt: Some("add \"alpha\" ✓".into()),
            agent_version: Some("2.1".into()),
            model: Some("claude-x".into()),
            provider: Some("p".into()),
            permission_mode: Some("plan".into()),
            approval_policy: Some("never".into()),
            sandbox: Some("read-only".into()),
            cwd: Some("/w".into()),
            transcript: Some(b"/t/\xff\n.jsonl".as_slice().into()),
            offset: Some(12),
            prefix_sha256: Some("ab".into()),
        }
    }

    #[test]
    fn a_boundary_reads_back_as_it_was_written_in_one_line() {
        for boundary in [sample(), Boundary { conversation: "c".into(), ..Boundary::default() }] {
            let line = boundary.to_line();

            assert!(!line.contains('\n'), "{line}");
            assert_eq!(Boundary::from_line(&line), Some(boundary));
        }
    }

    #[test]
    fn the_words_are_the_same_everywhere() {
        let value: serde_json::Value = serde_json::from_str(&sample().to_line()).unwrap();

        assert_eq!(value["v"], 1);
        assert_eq!(value["state"], BoundaryState::Provisional.as_str());
        assert_eq!(value["end"], TurnEnd::Interrupted.as_str());
        assert_eq!(serde_json::to_value(TurnEnd::SessionEnd).unwrap(), TurnEnd::SessionEnd.as_str());
        assert_eq!(value["transcript"], serde_json::json!({"bytes": "L3Qv/wouanNvbmw="}));
    }

    #[test]
    fn what_is_newer_or_something_else_is_no_boundary() {
        let line = sample().to_line();

        assert_eq!(Boundary::from_line(&line.replace("\"v\":1", "\"v\":2")), None);
        assert_eq!(Boundary::from_line("{}"), None);
        let long = Boundary { prompt: Some("x".repeat(201)), ..sample() };
        assert_eq!(
            Boundary::from_line(&long.to_line()),
            None,
            "no more of a prompt than is written here is taken from elsewhere"
        );
    }

    #[test]
    fn an_excerpt_is_one_short_line_without_control_characters() {
        assert_eq!(excerpt(" add\r\n\n  alpha\x1b[31m\u{202e}x\u{7} "), "add alpha [31m x");
        assert_eq!(excerpt(&"ä".repeat(500)).chars().count(), 200);
        assert_eq!(excerpt(&"ab ".repeat(500)).chars().count(), 200);
        assert_eq!(excerpt("\n \x1b"), "");
    }
}
