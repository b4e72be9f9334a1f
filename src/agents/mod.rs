//! What is known of the coding agents whose work is checkpointed: their names here, and what each of them calls itself to a person.

pub mod conversation;
pub mod hooks;
pub mod inside;
pub mod payload;
pub mod prefix;
pub mod redact;
pub mod registry;
pub mod session_key;
pub mod settings;

use std::fmt;

/// An agent that has hooks we can be called from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    OpenCode,
    /// Cursor and its command line.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
}

impl Agent {
    /// Every agent, in the order in which they are listed.
    pub const ALL: [Agent; 6] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::OpenCode, Agent::Cursor, Agent::Copilot];

    /// The word for it on the command line, in commits, the database and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::OpenCode => "opencode",
            Agent::Cursor => "cursor",
            Agent::Copilot => "copilot",
        }
    }

    /// What it calls itself.
    pub fn title(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::OpenCode => "OpenCode",
            Agent::Cursor => "Cursor",
            Agent::Copilot => "Copilot CLI",
        }
    }

    /// The command that starts it.
    pub fn program(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::OpenCode => "opencode",
            Agent::Cursor => "cursor-agent",
            Agent::Copilot => "copilot",
        }
    }

    /// The agent that `word` stands for.
    pub fn parse(word: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.as_str() == word)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
