//! The settings of agents: putting our hooks into them, taking them out, and telling how they stand.
//!
//! A person asks for it, so this writes where nothing else of this program does: into settings in the home and in the worktree.

mod edit;
mod file;
mod jsonc;
mod places;

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Agent;
use super::hooks::installed;
pub use places::{Level, Place, Roots, places};

/// The beginning of a plugin of ours; behind it stands the hash of everything that follows the line.
const PLUGIN_MARK: &str = "// git-checkpoint plugin, ";

/// The plugin for OpenCode.
const PLUGIN: &str = include_str!("opencode.js");

/// More folders than this are not made for a file.
const MOST_FOLDERS: usize = 8;

/// Why settings were left as they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not what it should be.
    #[error("`{}` is not changed: line {line}: {what}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A file of ours was edited, or one of somebody else's stands in its place.
    #[error("`{}` is not changed: it is not as git-checkpoint wrote it", .0.display())]
    Foreign(PathBuf),
    /// Somebody else wrote it meanwhile.
    #[error("`{}` is not changed: it was written by something else at the same time", .0.display())]
    Changed(PathBuf),
    /// It cannot be read or written.
    #[error("cannot {action} `{}`", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

/// What is to become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which file.
    pub place: Place,
    /// What happens to it.
    pub what: What,
    before: Option<String>,
    after: Option<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is made.
    Created,
    /// It gets our entries, or loses them.
    Changed,
    /// It goes, as there was none before.
    Removed,
    /// It is as it is to be.
    Unchanged,
}

impl What {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            What::Created => "created",
            What::Changed => "changed",
            What::Removed => "removed",
            What::Unchanged => "unchanged",
        }
    }
}

/// What would have to be done for the hooks to be in `place`. Changes nothing.
pub fn install(place: &Place) -> Result<Change, SettingsError> {
    let before = file::read(&place.path)?;
    let after = match &before {
        None => Some(new_file(place.agent, file::missing_folders(&place.path))),
        Some(text) if place.agent == Agent::OpenCode => {
            let folders = own_plugin(text).ok_or_else(|| SettingsError::Foreign(place.path.clone()))?;
            Some(new_file(place.agent, folders)).filter(|new| new != text)
        }
        Some(text) => {
            let edited = edit::with(text, &place.agent.prefix(), &place.agent.wanted());
            edited.map_err(|error| syntax(place, error))?
        }
    };
    let what = match (&before, &after) {
        (None, _) => What::Created,
        (Some(_), Some(_)) => What::Changed,
        (Some(_), None) => What::Unchanged,
    };
    Ok(Change { place: place.clone(), what, before, after })
}

/// What would have to be done for the hooks to be gone from `place`. Changes nothing.
pub fn uninstall(place: &Place) -> Result<Change, SettingsError> {
    let before = file::read(&place.path)?;
    let unchanged = |before| Change { place: place.clone(), what: What::Unchanged, before, after: None };
    let Some(text) = before else { return Ok(unchanged(None)) };
    if place.agent == Agent::OpenCode {
        return match own_plugin(&text) {
            Some(_) => Ok(Change { place: place.clone(), what: What::Removed, before: Some(text), after: None }),
            None if text.starts_with(PLUGIN_MARK) => Err(SettingsError::Foreign(place.path.clone())),
            None => Ok(unchanged(Some(text))),
        };
    }
    if folders_of(place.agent, &text).is_some() {
        return Ok(Change { place: place.clone(), what: What::Removed, before: Some(text), after: None });
    }
    match edit::without(&text, &place.agent.prefix()).map_err(|error| syntax(place, error))? {
        Some(after) => Ok(Change { place: place.clone(), what: What::Changed, before: Some(text), after: Some(after) }),
        None => Ok(unchanged(Some(text))),
    }
}

impl Change {
    /// Does it.
    pub fn apply(&self) -> Result<(), SettingsError> {
        let path = &self.place.path;
        match (self.what, &self.after) {
            (What::Created, Some(after)) => {
                file::make_folders(path)?;
                file::write(path, None, after)
            }
            (What::Changed, Some(after)) => file::write(path, self.before.as_deref(), after),
            (What::Removed, _) => {
                let before = self.before.as_deref().unwrap_or_default();
                let folders = own_plugin(before).or_else(|| folders_of(self.place.agent, before));
                file::remove(path, self.before.as_deref(), folders.unwrap_or(0))
            }
            (What::Created | What::Changed | What::Unchanged, _) => Ok(()),
        }
    }
}

fn syntax(place: &Place, error: edit::EditError) -> SettingsError {
    let edit::EditError::Syntax { line, what } = error;
    SettingsError::Syntax { path: place.path.clone(), line, what }
}

/// The text of a file that was not there, for which so many folders are made.
fn new_file(agent: Agent, folders: usize) -> String {
    let lines = "\n".repeat(folders.min(MOST_FOLDERS));
    match agent {
        Agent::OpenCode => {
            let body = format!("{PLUGIN}{lines}");
            format!("{PLUGIN_MARK}{}\n{body}", hash(&body))
        }
        Agent::Claude | Agent::Codex | Agent::Gemini | Agent::Cursor | Agent::Copilot => {
            edit::created(agent.file_version(), &agent.wanted()) + &lines
        }
    }
}

/// How many folders were made for this file, if it is as it was made.
fn folders_of(agent: Agent, text: &str) -> Option<usize> {
    (0..=MOST_FOLDERS).find(|folders| new_file(agent, *folders) == text)
}

/// How many folders were made for this plugin, if this program wrote it and nobody has changed it since.
fn own_plugin(text: &str) -> Option<usize> {
    let (mark, body) = text.split_once('\n')?;
    let is_own = mark.strip_prefix(PLUGIN_MARK)? == hash(body);
    is_own.then(|| body.len() - body.trim_end_matches('\n').len() - 1)
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How the hooks of an agent stand in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub place: Place,
    /// Events that tell us, in the agent's words.
    pub events: Vec<String>,
    /// Events that are to tell us and do not.
    pub missing: Vec<&'static str>,
    /// Events that tell us of what nobody asks for, or in words of another version.
    pub stale: Vec<String>,
}

/// The files that our hooks are in.
pub fn found(agent: Agent, roots: &Roots) -> Result<Vec<Found>, SettingsError> {
    let mut all = Vec::new();
    for place in places(agent, roots) {
        let Some(text) = file::read(&place.path)? else { continue };
        let found = if agent == Agent::OpenCode { plugin_in(&place, &text) } else { entries_in(&place, &text)? };
        all.extend(found);
    }
    Ok(all)
}

fn plugin_in(place: &Place, text: &str) -> Option<Found> {
    let is_ours = text.starts_with(PLUGIN_MARK);
    let events = installed(place.agent).iter().map(|installed| installed.event.to_owned());
    let is_current = own_plugin(text).is_some_and(|folders| new_file(place.agent, folders) == text);
    let stale = if is_current { Vec::new() } else { vec!["plugin".to_owned()] };
    is_ours.then(|| Found { place: place.clone(), events: events.collect(), missing: Vec::new(), stale })
}

fn entries_in(place: &Place, text: &str) -> Result<Option<Found>, SettingsError> {
    let own = edit::own_entries(text, &place.agent.prefix()).map_err(|error| syntax(place, error))?;
    if own.is_empty() {
        return Ok(None);
    }
    let wanted = place.agent.wanted();
    let is_wanted = |own: &edit::Own| wanted.iter().any(|wanted| wanted.event == own.event && wanted.command == own.command);
    let (current, stale): (Vec<_>, Vec<_>) = own.into_iter().partition(is_wanted);
    let events: Vec<String> = current.into_iter().map(|own| own.event).collect();
    let missing = wanted.iter().map(|wanted| wanted.event).filter(|event| !events.iter().any(|known| known == event)).collect();
    Ok(Some(Found { place: place.clone(), events, missing, stale: stale.into_iter().map(|own| own.event).collect() }))
}

/// The setting that keeps all hooks of an agent from running, and the file it is in; none if nothing does.
pub fn disabled_by(agent: Agent, roots: &Roots) -> Option<(&'static str, PathBuf)> {
    // What managed settings say, nobody can take back.
    let managed = Path::new("/etc/claude-code/managed-settings.json").to_owned();
    let own = places(agent, roots).into_iter().rev().map(|place| place.path);
    let files: Vec<PathBuf> = match agent {
        Agent::Claude => std::iter::once(managed).chain(own).collect(),
        Agent::Gemini => own.collect(),
        Agent::Codex | Agent::OpenCode | Agent::Cursor | Agent::Copilot => return None,
    };
    let settings = files.into_iter().filter_map(|path| {
        let root = jsonc::parse(&file::read(&path).ok()??).ok()?;
        Some((path, root))
    });
    for (path, root) in settings {
        let word = |key: &str| root.member(key).and_then(jsonc::Node::plain);
        let said = match agent {
            Agent::Gemini => root.member("hooksConfig").and_then(|config| config.member("enabled")?.plain()),
            _ if word("allowManagedHooksOnly") == Some("true") => return Some(("allowManagedHooksOnly", path)),
            _ => word("disableAllHooks"),
        };
        // The file that counts most decides.
        match (agent, said) {
            (Agent::Gemini, Some("false")) => return Some(("hooksConfig.enabled", path)),
            (Agent::Claude, Some("true")) => return Some(("disableAllHooks", path)),
            (_, Some(_)) => return None,
            (_, None) => {}
        }
    }
    None
}
