//! What an agent tells a hook: one JSON object, of which only what is named here is looked at and nothing else is kept.

use serde_json::{Map, Value};

use super::Agent;

/// What is known of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The agent's own id of the conversation.
    pub conversation: String,
    /// The agent's own id of the turn.
    pub turn_id: Option<String>,
    /// The directory that the agent works in.
    pub cwd: Option<String>,
    /// The file of the conversation.
    pub transcript: Option<String>,
    /// What the person asked for.
    pub prompt: Option<String>,
    /// The version of the agent.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Who provides the model.
    pub provider: Option<String>,
    /// What the agent may do without asking.
    pub permission_mode: Option<String>,
    /// When it asks for approval.
    pub approval_policy: Option<String>,
    /// How its commands are confined.
    pub sandbox: Option<String>,
    /// Why a session began.
    pub source: Option<String>,
    /// How a turn ended, where the agent has one event for all ends.
    pub status: Option<String>,
    /// It happened in an agent that another one started.
    pub is_subagent: bool,
    /// The agent was kept from ending the turn once already.
    pub goes_on: bool,
}

/// Why a payload is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// It is no JSON object. What it is instead is not repeated: it may be private.
    #[error("the payload is no JSON object (line {line}, column {column})")]
    NotAnObject {
        /// Where that shows.
        line: usize,
        /// Where that shows.
        column: usize,
    },
}

impl Payload {
    /// Reads what `agent` wrote. None if it does not tell which conversation it is about, as what other programs give to hooks of
    /// this form.
    pub fn read(agent: Agent, bytes: &[u8]) -> Result<Option<Payload>, PayloadError> {
        let fields = Fields(object(bytes)?);
        let conversation = match agent {
            Agent::Cursor => fields.text(&["conversation_id", "session_id"]),
            Agent::Copilot => fields.text(&["sessionId", "session_id"]),
            Agent::Claude | Agent::Codex | Agent::Gemini | Agent::OpenCode => fields.text(&["session_id"]),
        };
        let Some(conversation) = conversation else { return Ok(None) };
        let turn_id = match agent {
            Agent::Claude => fields.text(&["prompt_id"]),
            Agent::Codex | Agent::OpenCode => fields.text(&["turn_id"]),
            Agent::Cursor => fields.text(&["generation_id"]),
            Agent::Gemini | Agent::Copilot => None,
        };
        Ok(Some(Payload {
            conversation,
            turn_id,
            cwd: fields.text(&["cwd"]).or_else(|| fields.first_text("workspace_roots")),
            transcript: fields.text(&["transcript_path"]),
            prompt: fields.text(&["prompt"]),
            version: fields.text(&["cursor_version", "agent_version", "version"]),
            model: fields.text(&["model"]).or_else(|| fields.text_in("model", "id")),
            provider: fields.text(&["model_provider", "provider"]),
            permission_mode: fields.text(&["permission_mode"]),
            approval_policy: fields.text(&["approval_policy"]),
            sandbox: fields
                .text(&["sandbox_mode", "sandbox_policy", "sandbox"])
                .or_else(|| fields.text_in("sandbox_policy", "type")),
            source: fields.text(&["source"]),
            status: fields.text(&["status"]),
            is_subagent: fields.text(&["agent_id", "parent_session_id"]).is_some(),
            goes_on: fields.is_true("stop_hook_active"),
        }))
    }
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, PayloadError> {
    let text = String::from_utf8_lossy(bytes);
    let read: Result<Value, _> = serde_json::from_str(&text).or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)));
    match read {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(PayloadError::NotAnObject { line: 1, column: 1 }),
        Err(error) => Err(PayloadError::NotAnObject { line: error.line(), column: error.column() }),
    }
}

/// Half a character, which a program that cuts text by its own measure leaves behind, as a mark for a character that is lost.
fn without_lone_surrogates(text: &str) -> String {
    let half = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        (0xd800..0xe000).contains(&unit).then_some(unit)
    };
    let (mut whole, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(found) = text[at..].find('\\') {
        whole.push_str(&text[at..at + found]);
        at += found;
        let is_pair = half(at).is_some_and(|unit| unit < 0xdc00) && half(at + 6).is_some_and(|unit| unit >= 0xdc00);
        let (kept, length) = match half(at) {
            Some(_) if is_pair => (None, 12),
            Some(_) => (Some("\\ufffd"), 6),
            // A backslash stands for what follows it, which may be another one.
            None => (None, 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        whole.push_str(kept.unwrap_or(&text[at..at + length]));
        at += length;
    }
    whole.push_str(&text[at..]);
    whole
}

struct Fields(Map<String, Value>);

impl Fields {
    /// The first of these that holds text.
    fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| plain(self.0.get(*key)?))
    }

    fn text_in(&self, key: &str, below: &str) -> Option<String> {
        plain(self.0.get(key)?.get(below)?)
    }

    fn first_text(&self, key: &str) -> Option<String> {
        plain(self.0.get(key)?.get(0)?)
    }

    fn is_true(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool) == Some(true)
    }
}

/// Text that is not empty.
fn plain(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(agent: Agent, text: &str) -> Payload {
        Payload::read(agent, text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn each_agent_has_its_own_words() {
        let claude = r#"{"session_id":"S","transcript_path":"/t","cwd":"/w","prompt_id":"p","permission_mode":"plan","prompt":"add","secret":"x"}"#;
        let expected = Payload {
            conversation: "S".into(),
            turn_id: Some("p".into()),
            cwd: Some("/w".into()),
            transcript: Some("/t".into()),
            prompt: Some("add".into()),
            permission_mode: Some("plan".into()),
            ..Payload::default()
        };
        assert_eq!(read(Agent::Claude, claude), expected);
        let codex = read(Agent::Codex, r#"{"session_id":"T","turn_id":"t1","transcript_path":null,"cwd":"/w","model":"gpt-x"}"#);
        assert_eq!((codex.turn_id.as_deref(), codex.model.as_deref(), codex.transcript), (Some("t1"), Some("gpt-x"), None));
        let cursor = read(
            Agent::Cursor,
            r#"{"conversation_id":"C","generation_id":"g","workspace_roots":["/w","/x"],"status":"aborted"}"#,
        );
        assert_eq!((cursor.turn_id.as_deref(), cursor.cwd.as_deref()), (Some("g"), Some("/w")));
        assert_eq!(cursor.status.as_deref(), Some("aborted"));
        assert_eq!(read(Agent::Copilot, r#"{"sessionId":"P","model":{"id":"m"}}"#).model.as_deref(), Some("m"));
        assert!(read(Agent::Claude, r#"{"session_id":"S","agent_id":"a","stop_hook_active":true}"#).is_subagent);
    }

    #[test]
    fn what_names_no_conversation_is_dropped() {
        for text in ["{}", r#"{"session_id":""}"#, r#"{"session_id":7}"#, r#"{"conversation_id":"C"}"#] {
            assert_eq!(Payload::read(Agent::Claude, text.as_bytes()), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_is_told_without_a_word_of_it() {
        for text in ["", "[1]", "\"secret\"", "{\"session_id\":\"secret\"", "{\"a\":secret}"] {
            let error = Payload::read(Agent::Claude, text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("the payload is no JSON object") && !error.contains("secret"), "{error}");
        }
        assert!(Payload::read(Agent::Claude, &b"[".repeat(1 << 20)).is_err());
    }

    #[test]
    fn half_a_character_does_not_spoil_the_rest() {
        let text = r#"{"session_id":"S","prompt":"a\ud83d b\\ud83d \ud83d\ude00 \ude00","cwd":"/w"}"#;

        let payload = read(Agent::Claude, text);

        assert_eq!(payload.prompt.as_deref(), Some("a\u{fffd} b\\ud83d 😀 \u{fffd}"));
        let bytes = [br#"{"session_id":"S","prompt":"a"#.as_slice(), b"\xff", br#"b"}"#].concat();
        assert_eq!(Payload::read(Agent::Claude, &bytes).unwrap().unwrap().prompt.as_deref(), Some("a\u{fffd}b"));
    }
}
