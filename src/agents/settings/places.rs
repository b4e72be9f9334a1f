//! Where each agent looks for hooks, and what an entry looks like there.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::edit::Wanted;
use crate::agents::Agent;
use crate::agents::hooks::{Installed, installed};
use crate::sys::env;

/// For whom hooks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For one person, in every repository.
    User,
    /// For one worktree.
    Project,
}

impl Level {
    /// The word in options and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::User => "user",
            Level::Project => "project",
        }
    }
}

/// The directories that settings lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The home of the person.
    pub home: PathBuf,
    /// The top of the worktree, if there is one.
    pub project: Option<PathBuf>,
}

/// A file that an agent reads hooks from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose.
    pub agent: Agent,
    /// For whom.
    pub level: Level,
    /// The file.
    pub path: PathBuf,
    /// False if it is only looked at: others share it.
    pub is_target: bool,
}

impl Agent {
    /// Where hooks are installed unless another level is asked for.
    pub fn usual_level(self) -> Level {
        match self {
            Agent::Codex => Level::User,
            Agent::Claude | Agent::Gemini | Agent::OpenCode | Agent::Cursor | Agent::Copilot => Level::Project,
        }
    }

    /// What every command of ours begins with.
    pub(super) fn prefix(self) -> String {
        format!("git checkpoint hook {self} ")
    }

    /// The version that a new file of the agent names.
    pub(super) fn file_version(self) -> Option<u32> {
        matches!(self, Agent::Cursor | Agent::Copilot).then_some(1)
    }

    /// The entries that are to be there.
    pub(super) fn wanted(self) -> Vec<Wanted> {
        let wanted = |installed: &Installed| {
            let command = format!("{}{}", self.prefix(), installed.event);
            Wanted { event: installed.event, entry: self.entry(&command, installed.timeout), command }
        };
        installed(self).iter().map(wanted).collect()
    }

    fn entry(self, command: &str, timeout: u32) -> Json {
        match self {
            Agent::Claude | Agent::Codex => json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]}),
            // Gemini counts in milliseconds.
            Agent::Gemini => json!({"matcher": "*", "hooks": [
                {"name": "git-checkpoint", "type": "command", "command": command, "timeout": u64::from(timeout) * 1000},
            ]}),
            Agent::Cursor => json!({"command": command, "timeout": timeout}),
            Agent::Copilot => json!({"type": "command", "bash": command, "timeoutSec": timeout}),
            Agent::OpenCode => Json::Null,
        }
    }
}

/// The files that `agent` reads hooks from, those for which no level counts more last.
pub fn places(agent: Agent, roots: &Roots) -> Vec<Place> {
    let place = |level, path: PathBuf, is_target| Place { agent, level, path, is_target };
    let user = user_file(agent, &roots.home).map(|path| place(Level::User, path, true));
    let project = roots.project.as_deref().map(|top| place(Level::Project, top.join(project_file(agent)), true));
    let shared = roots.project.as_deref().filter(|_| agent == Agent::Claude);
    let shared = shared.map(|top| place(Level::Project, top.join(".claude/settings.json"), false));
    user.into_iter().chain(shared).chain(project).collect()
}

fn project_file(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude => ".claude/settings.local.json",
        Agent::Codex => ".codex/hooks.json",
        Agent::Gemini => ".gemini/settings.json",
        Agent::OpenCode => ".opencode/plugins/git-checkpoint.js",
        Agent::Cursor => ".cursor/hooks.json",
        Agent::Copilot => ".github/hooks/git-checkpoint.json",
    }
}

/// None if the agent has none for a person.
fn user_file(agent: Agent, home: &Path) -> Option<PathBuf> {
    let named = |variable: &str| env::text(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(match agent {
        // Some programs read several folders from it; the agent itself has one.
        Agent::Claude => named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")).join("settings.json"),
        Agent::Codex => named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("hooks.json"),
        Agent::Gemini => named("GEMINI_CLI_HOME").unwrap_or_else(|| home.to_owned()).join(".gemini/settings.json"),
        Agent::OpenCode => {
            let config = named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            config.join("opencode/plugins/git-checkpoint.js")
        }
        Agent::Cursor => home.join(".cursor/hooks.json"),
        Agent::Copilot => return None,
    })
}
