//! The key of the session that an agent's conversation is.
//!
//! It follows from the agent and its own id of the conversation alone, so that whatever is told of a conversation, from any directory
//! and at any time, belongs to the same session.

use sha2::{Digest, Sha256};

use super::Agent;
use crate::model::SessionKey;

/// The key for the conversation that `agent` calls so. An id of the usual form stands in it as it is, any other with a hash.
pub fn session_key(agent: Agent, conversation: &str) -> SessionKey {
    let is_usual = conversation.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let as_it_is = SessionKey::parse(&format!("{agent}-{conversation}")).ok().filter(|_| is_usual);
    as_it_is.unwrap_or_else(|| hashed(agent, conversation))
}

fn hashed(agent: Agent, conversation: &str) -> SessionKey {
    let plain = conversation.chars().filter(char::is_ascii_alphanumeric).take(12).collect::<String>().to_ascii_lowercase();
    let hash: String = Sha256::digest(conversation).iter().take(10).map(|byte| format!("{byte:02x}")).collect();
    // The mark is in no id that stands in a key as it is.
    let key = SessionKey::parse(&format!("{agent}-{plain}_{hash}"));
    key.expect("letters, digits, dashes and underscores, 9 + 12 + 1 + 20 at most, make a key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_id_stands_in_the_key() {
        let id = "01a2b3c4-0000-4000-8000-0123456789ab";

        assert_eq!(session_key(Agent::Claude, id).as_str(), format!("claude-{id}"));
        assert_eq!(session_key(Agent::Codex, id).as_str(), format!("codex-{id}"));
    }

    #[test]
    fn any_other_id_has_a_key_of_its_own() {
        let longest = "x".repeat(1000);
        let ids = ["ses_1Ab", "ses_1aB", "", " ", "../../x", "ä", "-", &longest, &longest[1..], "a.lock", "A"];

        let mut keys: Vec<_> = ids.iter().map(|id| session_key(Agent::OpenCode, id)).collect();
        assert!(keys[0].as_str().starts_with("opencode-ses1ab_"), "{}", keys[0]);
        assert_eq!(session_key(Agent::OpenCode, "ses_1Ab"), keys[0]);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), ids.len());
    }
}
