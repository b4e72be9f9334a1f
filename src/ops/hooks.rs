//! The hooks of coding agents: putting them into the agents' settings, taking them out, and telling how they stand.
//!
//! Everything is worked out before anything is written: a file that cannot be edited keeps all others as they are.

use std::path::{Path, PathBuf};

use super::Error;
use super::status::{LoggedFailure, last_failure_of};
use crate::agents::Agent;
use crate::agents::settings::{self, Change, Found, Level, Place, Roots, places};
use crate::git::{GitError, Repo};
use crate::model::Millis;
use crate::store::Store;

/// What is to be done.
#[derive(Debug, Clone, Default)]
pub struct HooksRequest {
    /// For which agents; for all if there is none.
    pub agents: Vec<Agent>,
    /// For whom; by default where the agent's hooks usually are, and for taking them out wherever they are.
    pub level: Option<Level>,
    /// Work everything out and write nothing.
    pub dry_run: bool,
}

impl HooksRequest {
    fn agents(&self) -> Vec<Agent> {
        if self.agents.is_empty() { Agent::ALL.to_vec() } else { self.agents.clone() }
    }
}

/// How the hooks of an agent stand.
#[derive(Debug)]
pub struct HookReport {
    /// The agent.
    pub agent: Agent,
    /// Where they are.
    pub found: Vec<Found>,
    /// What keeps them from running: a setting, and the file that it is in.
    pub disabled_by: Option<(&'static str, PathBuf)>,
    /// Whether the agent lets them run.
    pub trust: Trust,
    /// The last event that was told of in this repository, and when.
    pub last_event: Option<(Millis, String)>,
    /// The last that went wrong with one.
    pub last_failure: Option<LoggedFailure>,
    /// Why a file of the agent's cannot be read.
    pub unreadable: Option<String>,
}

/// Whether an agent lets hooks run that are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It does not ask.
    NotAsked,
    /// It asks a person, and nothing tells what the answer was.
    Unknown,
    /// It has run one since they were installed.
    Seen,
}

/// In one word, how the hooks of an agent stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookState {
    /// There are none.
    NotInstalled,
    /// All are there.
    Installed,
    /// Some are missing, or are of another version.
    Incomplete,
    /// They are there, and a setting keeps them from running.
    Disabled,
}

impl HookReport {
    /// In one word.
    pub fn state(&self) -> HookState {
        if self.found.is_empty() {
            return HookState::NotInstalled;
        }
        if self.disabled_by.is_some() {
            return HookState::Disabled;
        }
        let is_whole = |found: &Found| found.missing.is_empty() && found.stale.is_empty();
        if self.found.iter().all(is_whole) { HookState::Installed } else { HookState::Incomplete }
    }
}

impl HookState {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            HookState::NotInstalled => "not-installed",
            HookState::Installed => "installed",
            HookState::Incomplete => "incomplete",
            HookState::Disabled => "disabled",
        }
    }
}

/// The settings files around a worktree in which hooks of ours are missing, or of another version.
pub(super) fn incomplete(repo: &Repo) -> Vec<Found> {
    let Some(home) = std::env::home_dir() else { return Vec::new() };
    let roots = Roots { home, project: Some(repo.top().to_owned()) };
    // A file that cannot be read is told of by `hooks status`.
    let found = Agent::ALL.into_iter().flat_map(|agent| settings::found(agent, &roots).unwrap_or_default());
    found.filter(|found| !found.missing.is_empty() || !found.stale.is_empty()).collect()
}

/// Where settings are for whoever is at `directory`. A repository that cannot be opened counts only if it is needed.
fn roots(directory: &Path) -> Result<(Roots, Result<Repo, GitError>), Error> {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else {
        return Err(Error::Usage("there is no home directory".to_owned()));
    };
    let repo = Repo::open(directory);
    let project = repo.as_ref().ok().map(|repo| repo.top().to_owned());
    Ok((Roots { home, project }, repo))
}

/// Puts hooks into settings.
pub fn install(directory: &Path, request: &HooksRequest) -> Result<Vec<Change>, Error> {
    let (roots, repo) = roots(directory)?;
    let mut targets: Vec<Place> = Vec::new();
    for agent in request.agents() {
        let level = request.level.unwrap_or(agent.usual_level());
        let target = places(agent, &roots).into_iter().find(|place| place.is_target && place.level == level);
        match (target, level) {
            (Some(target), _) if targets.contains(&target) => {}
            (Some(target), _) => targets.push(target),
            (None, Level::User) => return Err(Error::Usage(format!("{} has no hooks for a person", agent.title()))),
            (None, Level::Project) => {
                repo?;
                return Err(Error::Usage(format!("{} has no hooks for a worktree", agent.title())));
            }
        }
    }
    let changes = targets.iter().map(settings::install).collect::<Result<Vec<_>, _>>()?;
    apply(changes, request.dry_run)
}

/// Takes hooks out of settings, wherever they are.
pub fn uninstall(directory: &Path, request: &HooksRequest) -> Result<Vec<Change>, Error> {
    let (roots, _) = roots(directory)?;
    let places = request.agents().into_iter().flat_map(|agent| places(agent, &roots));
    let meant = places.filter(|place| request.level.is_none_or(|level| level == place.level));
    let changes = meant.map(|place| settings::uninstall(&place)).collect::<Result<Vec<_>, _>>()?;
    apply(changes, request.dry_run)
}

fn apply(changes: Vec<Change>, dry_run: bool) -> Result<Vec<Change>, Error> {
    for change in changes.iter().filter(|_| !dry_run) {
        change.apply()?;
    }
    Ok(changes)
}

/// Tells how the hooks of these agents stand, seen from `directory`. Writes nothing.
pub fn status(directory: &Path, agents: &[Agent]) -> Result<Vec<HookReport>, Error> {
    let (roots, repo) = roots(directory)?;
    let repo = repo.ok();
    // What cannot be read here is for others to report.
    let store = repo.as_ref().and_then(|repo| Store::open_existing(&repo.shared_dir(), repo.sharing()).ok().flatten());
    let log = repo.as_ref().map(|repo| repo.shared_dir().join("log"));
    let report = |agent: Agent| {
        let last_event = store.as_ref().and_then(|store| store.last_event(agent.as_str()).ok().flatten());
        let last_failure = log.as_ref().and_then(|log| last_failure_of(log, &format!("hook {agent} ")));
        of_agent(agent, &roots, last_event, last_failure)
    };
    let agents = HooksRequest { agents: agents.to_vec(), ..HooksRequest::default() }.agents();
    Ok(agents.into_iter().map(report).collect())
}

fn of_agent(
    agent: Agent,
    roots: &Roots,
    last_event: Option<(Millis, String)>,
    last_failure: Option<LoggedFailure>,
) -> HookReport {
    let (found, unreadable) = match settings::found(agent, roots) {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let since = found.iter().filter_map(|found| written_at(&found.place.path)).max();
    let has_run = last_event.as_ref().is_some_and(|(at, _)| since.is_none_or(|since| *at >= since));
    let trust = match agent {
        Agent::Codex if has_run => Trust::Seen,
        Agent::Codex => Trust::Unknown,
        Agent::Claude | Agent::Gemini | Agent::OpenCode | Agent::Cursor | Agent::Copilot => Trust::NotAsked,
    };
    HookReport { agent, found, disabled_by: settings::disabled_by(agent, roots), trust, last_event, last_failure, unreadable }
}

fn written_at(path: &Path) -> Option<Millis> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Millis::try_from(since.as_millis()).ok()
}
