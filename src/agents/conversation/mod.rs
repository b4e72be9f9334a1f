//! The conversations of agents as they lie on disk: which turns they have, and a new one that ends where a turn did.
//!
//! A conversation is never edited: agents keep what they read, and some take a shortened file for a damaged one. What is to go on
//! from an earlier place gets a file of its own, a *fork*, which is written aside, read back, and only then given its name.

mod claude;
mod codex;
mod fork;
mod lines;

use std::path::{Path, PathBuf};

pub use fork::{Prepared, discard, publish};

use super::Agent;
use super::redact::redact_text;
use crate::model::Millis;
use crate::sys::env;

/// The folders in which agents keep what is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Homes {
    /// That of Claude Code.
    pub claude: Option<PathBuf>,
    /// That of Codex.
    pub codex: Option<PathBuf>,
}

impl Homes {
    /// As the environment says.
    pub fn from_env() -> Homes {
        let home = env::home();
        // Readers of several folders separate them with commas; the agent writes to the first.
        let told = env::text("CLAUDE_CONFIG_DIR").and_then(|text| text.split(',').next().map(str::to_owned));
        let told = told.filter(|text| !text.is_empty()).map(PathBuf::from);
        let codex = env::text("CODEX_HOME").filter(|text| !text.is_empty()).map(PathBuf::from);
        Homes {
            claude: told.or_else(|| home.as_ref().map(|home| home.join(".claude"))),
            codex: codex.or_else(|| home.map(|home| home.join(".codex"))),
        }
    }
}

/// Why a conversation cannot be brought back.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Nothing tells which conversation the checkpoint belongs to.
    #[error("checkpoint {0} belongs to no place in the conversation of an agent")]
    NoBoundary(u64),
    /// Only files are restored for this agent.
    #[error("the memory of {} cannot be brought back: only its files can", .0.title())]
    CodeOnly(Agent),
    /// The file is not there any more.
    #[error("the conversation `{0}` is not on this machine any more")]
    TranscriptGone(String),
    /// There is something else where the file was.
    #[error("`{}` is no conversation", .0.display())]
    NotAFile(PathBuf),
    /// The agent has no place for conversations in a directory.
    #[error("the agent has no place for conversations in `{}`", .0.display())]
    NoPlace(PathBuf),
    /// What was recorded of it is not what it says now.
    #[error("the conversation `{0}` was rewritten since the checkpoint was made")]
    PrefixMismatch(String),
    /// The turn is not in it.
    #[error("the turn is not in the conversation `{0}`")]
    BoundaryMissing(String),
    /// It has a form that is not known.
    #[error("the conversation `{}` has a form that is not known: {}", .0.display(), .1)]
    UnknownFormat(PathBuf, &'static str),
    /// The fork does not say what it was to say.
    #[error("the new conversation is not what it was to be: {0}")]
    NotVerified(&'static str),
    /// A file failed.
    #[error("cannot {doing} `{}`", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
}

impl MemoryError {
    /// The word for it in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            MemoryError::CodeOnly(_) => "memory-not-supported",
            MemoryError::TranscriptGone(_) => "transcript-gone",
            MemoryError::NotAFile(_) | MemoryError::UnknownFormat(..) | MemoryError::NoPlace(_) => "unknown-format",
            MemoryError::PrefixMismatch(_) => "prefix-mismatch",
            MemoryError::NoBoundary(_) | MemoryError::BoundaryMissing(_) => "boundary-missing",
            MemoryError::NotVerified(_) => "not-verified",
            MemoryError::Io { .. } => "memory-failed",
        }
    }

    fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> MemoryError {
        let path = path.to_owned();
        move |source| MemoryError::Io { doing, path, source }
    }
}

/// One prompt and what followed from it, on the way that the conversation took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The agent's own id of it.
    pub id: Option<String>,
    /// The beginning of the prompt.
    pub prompt: String,
    /// When the prompt was given.
    pub started_at: Option<Millis>,
    /// True if a person or a program gave the prompt, and not the agent itself.
    pub is_prompted: bool,
    /// How much of the file it takes to hold it and all before it: bytes, or lines where the history lies in several files.
    pub end: u64,
    /// The agent's own id of its last line.
    pub tip: String,
}

/// What is known of the turn that is looked for: its id binds, without one the beginning of its prompt and its time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The agent's own id.
    pub turn_id: Option<String>,
    /// The beginning of the prompt.
    pub prompt: Option<String>,
    /// When the turn was over.
    pub completed_at: Option<Millis>,
    /// How many bytes of the file there were when this was recorded, and their SHA-256 in hexadecimal.
    pub prefix: Option<(u64, String)>,
}

impl Wanted {
    /// True if `turn` may be the one that is looked for, where no id tells.
    fn fits(&self, turn: &Turn) -> bool {
        let in_time = match (turn.started_at, self.completed_at) {
            (Some(started), Some(completed)) => started <= completed,
            _ => self.prompt.is_some(),
        };
        // What is recorded of a prompt is without the secrets in it.
        let is_said = |prompt: &String| *prompt == turn.prompt || *prompt == redact_text(&turn.prompt);
        in_time && self.prompt.as_ref().is_none_or(is_said)
    }
}

/// Which end of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before its prompt.
    Before,
    /// After its answer.
    After,
}

/// What a fork is to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkOptions {
    /// What is added to its title.
    pub title: String,
    /// The model to go on with.
    pub model: Option<String>,
    /// What the agent may do without asking, in its own word.
    pub permission_mode: Option<String>,
}

/// The agents whose conversations can be forked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forkable {
    Claude,
    Codex,
}

/// Of what a turn adds to a conversation, no more than so many bytes are copied.
const LARGEST_PIECE: usize = 256 << 20;

impl Forkable {
    fn of(agent: Agent) -> Result<Forkable, MemoryError> {
        match agent {
            Agent::Claude => Ok(Forkable::Claude),
            Agent::Codex => Ok(Forkable::Codex),
            Agent::Gemini | Agent::OpenCode | Agent::Cursor | Agent::Copilot => Err(MemoryError::CodeOnly(agent)),
        }
    }
}

/// A conversation on this machine.
#[derive(Debug)]
pub struct Conversation {
    agent: Forkable,
    id: String,
    path: PathBuf,
    /// Where its forks go: a folder of Claude Code, the home of Codex.
    place: PathBuf,
    /// The directory that a fork of it goes on in, where that is another than before.
    cwd: Option<PathBuf>,
}

impl Conversation {
    /// Finds it: at `recorded`, where the agent said that it is, or in the agent's own folders.
    pub fn find(agent: Agent, homes: &Homes, id: &str, recorded: Option<&Path>) -> Result<Conversation, MemoryError> {
        let agent = Forkable::of(agent)?;
        let (path, place) = match agent {
            Forkable::Claude => {
                let path = claude::find(homes, id, recorded)?;
                let folder = path.parent().map(Path::to_owned);
                (path, folder)
            }
            Forkable::Codex => {
                let path = codex::find(homes, id, recorded)?;
                let home = codex::home_of(&path)?.to_owned();
                (path, Some(home))
            }
        };
        let place = place.ok_or_else(|| MemoryError::NotAFile(path.clone()))?;
        Ok(Conversation { agent, id: id.to_owned(), path, place, cwd: None })
    }

    /// One that is at hand as a copy in the file `path` alone. Its forks go where the agent looks for the conversations of `cwd`.
    pub fn of_copy(agent: Agent, homes: &Homes, id: &str, path: &Path, cwd: &Path) -> Result<Conversation, MemoryError> {
        let agent = Forkable::of(agent)?;
        let place = match agent {
            Forkable::Claude => claude::folder_for(homes, cwd),
            Forkable::Codex => homes.codex.clone(),
        };
        let place = place.ok_or_else(|| MemoryError::NoPlace(cwd.to_owned()))?;
        Ok(Conversation { agent, id: id.to_owned(), path: path.to_owned(), place, cwd: Some(cwd.to_owned()) })
    }

    /// What is between two places of the file, both at the end of a line, as far as it takes that to go on from it elsewhere.
    pub fn piece(&self, from: u64, to: u64) -> Result<Vec<u8>, MemoryError> {
        let mut piece = Vec::new();
        let put = |bytes: &[u8]| {
            piece.extend_from_slice(bytes);
            if piece.len() > LARGEST_PIECE {
                return Err(MemoryError::UnknownFormat(self.path.clone(), "a turn takes more than 256 MiB"));
            }
            Ok(())
        };
        match self.agent {
            Forkable::Claude => claude::piece(&self.path, from, to, put),
            Forkable::Codex => codex::piece(&self.path, from, to, put),
        }?;
        Ok(piece)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its turns, first to last, on the way that it took last.
    pub fn turns(&self) -> Result<Vec<Turn>, MemoryError> {
        match self.agent {
            Forkable::Claude => claude::read(&self.path)?.turns(None),
            Forkable::Codex => codex::turns(&self.place, &self.path),
        }
    }

    /// Writes the fork that ends before or after a turn, aside and read back. None if nothing comes before.
    pub fn prepare(&self, wanted: &Wanted, side: Side, options: &ForkOptions) -> Result<Option<Prepared>, MemoryError> {
        match self.agent {
            Forkable::Claude => claude::prepare(&self.path, &self.place, &self.id, wanted, side, options),
            Forkable::Codex => codex::prepare(&self.path, (&self.place, self.cwd.as_deref()), &self.id, wanted, side, options),
        }
    }
}

/// The command that goes on with a conversation.
pub fn resume_command(agent: Agent, conversation: &str, model: Option<&str>, permission_mode: Option<&str>) -> Vec<String> {
    match agent {
        Agent::Claude => claude::resume(conversation, model, permission_mode),
        Agent::Codex => codex::resume(conversation, model),
        Agent::Gemini => vec!["gemini".into(), "--resume".into(), conversation.into()],
        Agent::OpenCode => vec!["opencode".into(), "--session".into(), conversation.into()],
        Agent::Cursor | Agent::Copilot => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_known_without_its_secrets() {
        let prompt = ["use ghp_", "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"].concat();
        let turn = Turn { id: None, prompt, started_at: None, is_prompted: true, end: 0, tip: String::new() };
        let wanted = |prompt: &str| Wanted { prompt: Some(prompt.to_owned()), ..Wanted::default() };

        assert!(wanted("use [redacted]").fits(&turn) && wanted(&turn.prompt).fits(&turn));
        assert!(!wanted("use").fits(&turn) && !Wanted::default().fits(&turn));
    }
}
