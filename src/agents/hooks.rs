//! The events that agents run hooks for: which of them mean something here, and which are installed.

use super::Agent;

/// What an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A conversation begins, or goes on.
    SessionStart,
    /// A turn begins.
    TurnStart,
    /// A turn is over.
    TurnEnd,
    /// An error ended a turn.
    TurnFailed,
    /// A person ended a turn.
    TurnInterrupted,
    /// A conversation is closed.
    SessionEnd,
    /// It happens, and nothing follows from it.
    Nothing,
}

/// An event that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installed {
    /// The agent's word for it.
    pub event: &'static str,
    /// After how many seconds the agent may give up on the hook. A capture that is killed loses nothing but itself.
    pub timeout: u32,
}

const fn event(event: &'static str, timeout: u32) -> Installed {
    Installed { event, timeout }
}

/// The first capture of a large worktree takes longer than any later one.
const CAPTURE: u32 = 30;
/// Codex clamps the timeouts of its last events to this, and warns if more is asked for.
const LAST: u32 = 3;

const CLAUDE: [Installed; 5] = [
    event("SessionStart", CAPTURE),
    event("UserPromptSubmit", CAPTURE),
    event("Stop", CAPTURE),
    event("StopFailure", CAPTURE),
    event("SessionEnd", LAST),
];
const CODEX: [Installed; 6] = [
    event("SessionStart", CAPTURE),
    event("UserPromptSubmit", CAPTURE),
    event("Stop", CAPTURE),
    event("StopFailure", CAPTURE),
    event("Interrupt", LAST),
    event("SessionEnd", LAST),
];
const GEMINI: [Installed; 4] =
    [event("SessionStart", CAPTURE), event("BeforeAgent", CAPTURE), event("AfterAgent", CAPTURE), event("SessionEnd", LAST)];
const OPENCODE: [Installed; 4] =
    [event("SessionStart", CAPTURE), event("TurnStart", CAPTURE), event("TurnEnd", CAPTURE), event("SessionEnd", LAST)];
const CURSOR: [Installed; 4] =
    [event("sessionStart", CAPTURE), event("beforeSubmitPrompt", CAPTURE), event("stop", CAPTURE), event("sessionEnd", LAST)];
const COPILOT: [Installed; 4] = [
    event("sessionStart", CAPTURE),
    event("userPromptSubmitted", CAPTURE),
    event("agentStop", CAPTURE),
    event("sessionEnd", LAST),
];

/// The events that are installed for an agent.
pub fn installed(agent: Agent) -> &'static [Installed] {
    match agent {
        Agent::Claude => &CLAUDE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::OpenCode => &OPENCODE,
        Agent::Cursor => &CURSOR,
        Agent::Copilot => &COPILOT,
    }
}

/// What an event means; none if the agent is not known to have it.
pub fn meaning(agent: Agent, event: &str) -> Option<Meaning> {
    let plain = event.to_ascii_lowercase();
    let meaning = match (agent, plain.as_str()) {
        (_, "sessionstart") => Meaning::SessionStart,
        (_, "sessionend") => Meaning::SessionEnd,
        (Agent::Claude | Agent::Codex, "userpromptsubmit") => Meaning::TurnStart,
        (Agent::Claude | Agent::Codex, "stop") => Meaning::TurnEnd,
        (Agent::Claude | Agent::Codex, "stopfailure") => Meaning::TurnFailed,
        (Agent::Codex, "interrupt") => Meaning::TurnInterrupted,
        (Agent::Gemini, "beforeagent") => Meaning::TurnStart,
        (Agent::Gemini, "afteragent") => Meaning::TurnEnd,
        (Agent::OpenCode, "turnstart") => Meaning::TurnStart,
        (Agent::OpenCode, "turnend") => Meaning::TurnEnd,
        (Agent::Cursor, "beforesubmitprompt") => Meaning::TurnStart,
        (Agent::Cursor, "stop") => Meaning::TurnEnd,
        (Agent::Copilot, "userpromptsubmitted") => Meaning::TurnStart,
        (Agent::Copilot, "agentstop") => Meaning::TurnEnd,
        _ if OTHERS.contains(&plain.as_str()) => Meaning::Nothing,
        _ => return None,
    };
    Some(meaning)
}

/// Events that agents are known to have and that mean nothing here. Somebody may have installed the hook on them all the same.
const OTHERS: [&str; 24] = [
    "setup",
    "pretooluse",
    "posttooluse",
    "posttoolusefailure",
    "posttoolbatch",
    "permissionrequest",
    "permissiondenied",
    "notification",
    "subagentstart",
    "subagentstop",
    "taskcreated",
    "taskcompleted",
    "precompact",
    "postcompact",
    "cwdchanged",
    "filechanged",
    "beforetool",
    "aftertool",
    "beforemodel",
    "aftermodel",
    "beforetoolselection",
    "precompress",
    "erroroccurred",
    "userpromptexpansion",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_that_is_installed_means_something() {
        for agent in Agent::ALL {
            for installed in installed(agent) {
                let meaning = meaning(agent, installed.event);
                assert!(meaning.is_some_and(|meaning| meaning != Meaning::Nothing), "{agent} {}", installed.event);
            }
        }
    }

    #[test]
    fn an_event_of_another_agent_or_of_none_is_unknown() {
        assert_eq!(meaning(Agent::Claude, "BeforeAgent"), None);
        assert_eq!(meaning(Agent::Gemini, "Stop"), None);
        assert_eq!(meaning(Agent::Claude, ""), None);
        assert_eq!(meaning(Agent::Claude, "SubagentStop"), Some(Meaning::Nothing));
    }
}
