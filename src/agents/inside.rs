//! Whether this process runs inside an agent, by what agents tell the commands that they run.

use super::Agent;
use crate::sys::env;

/// The variable in which each agent gives its commands its own id of the conversation.
const VARIABLES: [(Agent, &str); 3] =
    [(Agent::Claude, "CLAUDE_CODE_SESSION_ID"), (Agent::Codex, "CODEX_THREAD_ID"), (Agent::Gemini, "GEMINI_SESSION_ID")];

/// The conversations that this process runs in: one agent may have started another.
pub fn conversations() -> Vec<(Agent, String)> {
    let told = VARIABLES.into_iter().filter_map(|(agent, variable)| Some((agent, env::text(variable)?)));
    told.filter(|(_, conversation)| !conversation.is_empty()).collect()
}
