//! `git checkpoint hooks`.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui, sanitize};
use super::render::hooks as render;
use crate::agents::Agent;
use crate::agents::settings::{Change, Level, What};
use crate::ops::hooks::{self, HooksRequest};
use crate::sys::now_millis;

/// Options of `hooks`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Let agents tell of their turns: put the hooks into their settings
    Install(Install),
    /// Take the hooks out again, and nothing else
    Uninstall(Uninstall),
    /// Show where hooks are, whether they run, and what they told last
    Status(Status),
}

#[derive(Debug, clap::Args)]
struct Install {
    /// Which agents
    #[arg(value_name = "AGENT", required = true)]
    agents: Vec<Agent>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Uninstall {
    /// Which agents [default: all]
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Status {
    /// Which agents [default: all]
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,
}

#[derive(Debug, clap::Args)]
struct How {
    /// In the settings of this person, for every repository [default for codex]
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// In the settings of this worktree [default for the others]
    #[arg(long)]
    project: bool,
    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

impl How {
    fn request(&self, agents: &[Agent]) -> HooksRequest {
        let level = match (self.user, self.project) {
            (true, _) => Some(Level::User),
            (_, true) => Some(Level::Project),
            (false, false) => None,
        };
        HooksRequest { agents: agents.to_vec(), level, dry_run: self.dry_run }
    }
}

impl ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Agent] {
        &Agent::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

/// Runs `hooks`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    if let Ok(repo) = crate::git::Repo::open(&directory) {
        ui.configure(repo.terminal_config())?;
    }
    match &args.action {
        Action::Install(args) => {
            let changes = hooks::install(&directory, &args.how.request(&args.agents))?;
            tell(ui, &changes, args.how.dry_run, "installed")?;
            let needs_trust = changes.iter().any(|change| change.place.agent == Agent::Codex && change.what != What::Unchanged);
            if needs_trust && !args.how.dry_run {
                ui.hint("Codex runs no hook before you approve it: type `/hooks` there");
            }
        }
        Action::Uninstall(args) => {
            let changes = hooks::uninstall(&directory, &args.how.request(&args.agents))?;
            tell(ui, &changes, args.how.dry_run, "uninstalled")?;
        }
        Action::Status(args) => {
            let reports = hooks::status(&directory, &args.agents)?;
            if ui.wants_json() {
                ui.json(&render::status(&reports))?;
            } else {
                let styles = ui.styles();
                render::write_status(ui.out(), &reports, &Clock::new(now_millis()), &styles)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn tell(ui: &mut Ui, changes: &[Change], dry_run: bool, done: &str) -> Result<(), Failure> {
    if ui.wants_json() {
        ui.json(&render::changes(changes, if dry_run { "dry-run" } else { done }))?;
        return Ok(());
    }
    let changed = changes.iter().filter(|change| change.what != What::Unchanged).count();
    for change in changes.iter().filter(|change| change.what != What::Unchanged || done == "installed") {
        let path = change.place.path.display().to_string();
        ui.done(render::line(change, &sanitize(&path), dry_run))?;
    }
    if changed == 0 && done == "uninstalled" {
        ui.say("no hooks are installed");
    }
    Ok(())
}
