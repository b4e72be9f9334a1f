//! `git checkpoint session`.

use serde_json::json;

use super::best_effort;
use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui, plural};
use super::render::json::{SCHEMA, checkpoint};
use super::render::session as render;
use super::restore::parse_allowed;
use crate::model::SessionKey;
use crate::ops::restore::Consent;
use crate::ops::session::{self, DeleteRequest, Deleted, StartRequest};
use crate::sys::now_millis;
use crate::sys::process::Process;

/// Options of `session`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start a session, which owns what is saved in this worktree from now on, and save its first state
    Start(Start),
    /// End a session; its checkpoints stay
    End(End),
    /// List sessions, the one that was last at work first
    List(List),
    /// Show a session
    Show(Show),
    /// Delete a session with its checkpoints
    Delete(Delete),
}

#[derive(Debug, clap::Args)]
struct Start {
    /// Its key, of `a-z`, `0-9`, `.`, `_` and `-` [default: a new one]
    #[arg(value_name = "KEY", value_parser = SessionKey::parse, add = complete::sessions())]
    key: Option<SessionKey>,
    /// The agent whose conversation it is
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<String>,
    /// The process that the session lasts as long as; while it is alive, restores are refused [default: until `session end`]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
    /// Log any failure and exit with 0, for hooks and pipelines
    #[arg(long)]
    best_effort: bool,
}

#[derive(Debug, clap::Args)]
struct End {
    /// Which session [default: the one started last in this worktree]
    #[arg(value_name = "KEY", value_parser = SessionKey::parse, add = complete::sessions())]
    key: Option<SessionKey>,
    /// Log any failure and exit with 0, for hooks and pipelines
    #[arg(long)]
    best_effort: bool,
}

#[derive(Debug, clap::Args)]
struct List {
    /// List those of every worktree, not only of this one
    #[arg(short, long)]
    all_worktrees: bool,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// Which session [default: the one that owns this worktree]
    #[arg(value_name = "KEY", value_parser = SessionKey::parse, add = complete::sessions())]
    key: Option<SessionKey>,
}

#[derive(Debug, clap::Args)]
struct Delete {
    /// Which session
    #[arg(value_name = "KEY", value_parser = SessionKey::parse, add = complete::sessions())]
    key: SessionKey,
    /// Print what would be deleted, and delete nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Go on in spite of a blocker: `needed-by-undo` deletes the steps of undo and redo that need a checkpoint too
    #[arg(long, value_name = "CODE", add = complete::allowed_in_drop())]
    allow: Vec<String>,
}

/// Runs `session`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    match &args.action {
        Action::Start(args) => lenient(ui, args.best_effort, "session start", "no session was started", |ui| start(args, ui)),
        Action::End(args) => lenient(ui, args.best_effort, "session end", "no session was ended", |ui| end(args, ui)),
        Action::List(args) => list(args, ui),
        Action::Show(args) => show(args, ui),
        Action::Delete(args) => delete(args, ui),
    }
}

/// With `--best-effort`, a failure is told and logged, and no more.
fn lenient(
    ui: &mut Ui,
    best_effort: bool,
    command: &str,
    what: &str,
    work: impl FnOnce(&mut Ui) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    match work(ui) {
        Err(failure) if best_effort => {
            best_effort::tell(ui, command, what, &failure);
            Ok(Exit::Done)
        }
        result => result,
    }
}

fn start(args: &Start, ui: &mut Ui) -> Result<Exit, Failure> {
    let process = args.pid.map(|pid| Process::of(pid).ok_or_else(|| Failure::Usage(format!("there is no process {pid}"))));
    let mut context = super::open(ui)?;
    let request = StartRequest { key: args.key.clone(), agent: args.agent.clone(), process: process.transpose()? };
    let started = session::start(&mut context, &request)?;
    // The session is there, with or without its first state.
    let baseline = session::baseline(&mut context, &started.key).unwrap_or_else(|error| {
        best_effort::tell(ui, "session start", "the state before the first step was not saved", &error.into());
        None
    });
    let started = session::show(&context, Some(&started.key))?;
    if ui.wants_json() {
        let baseline = baseline.as_ref().map(checkpoint);
        ui.json(&json!({"schema": SCHEMA, "status": "started", "session": render::object(&started), "baseline": baseline}))?;
        return Ok(Exit::Done);
    }
    match &baseline {
        Some(baseline) => ui.done(format!("session {}: checkpoint {} is the state before it", started.key, baseline.number))?,
        None => ui.done(format!("session {}", started.key))?,
    }
    Ok(Exit::Done)
}

fn end(args: &End, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut context = super::open(ui)?;
    let ended = session::end(&mut context, args.key.as_ref())?;
    if ui.wants_json() {
        let status = if ended.as_ref().is_some_and(|ended| ended.was_open) { "ended" } else { "unchanged" };
        let session = ended.as_ref().map(|ended| render::object(&ended.session));
        ui.json(&json!({"schema": SCHEMA, "status": status, "session": session}))?;
        return Ok(Exit::Done);
    }
    match &ended {
        None => ui.say("no session is open in this worktree"),
        Some(ended) if !ended.was_open => ui.say(format!("session {} was not open", ended.session.key)),
        Some(ended) => {
            let count = ended.session.counts.as_ref().map_or(0, |counts| counts.checkpoints);
            ui.done(format!("ended session {} with {}", ended.session.key, plural(count, "checkpoint")))?;
        }
    }
    Ok(Exit::Done)
}

fn list(args: &List, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open_to_look(ui)?;
    let sessions = session::list(&context, args.all_worktrees)?;
    if ui.wants_json() {
        ui.json(&json!({"schema": SCHEMA, "sessions": sessions.iter().map(render::object).collect::<Vec<_>>()}))?;
        return Ok(Exit::Done);
    }
    let styles = ui.styles();
    let width = ui.is_terminal().then(|| ui.width());
    render::write_list(ui.out(), &sessions, &Clock::new(now_millis()), &styles, width, args.all_worktrees)?;
    if sessions.is_empty() {
        ui.say("no sessions");
    }
    Ok(Exit::Done)
}

fn show(args: &Show, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open_to_look(ui)?;
    let session = session::show(&context, args.key.as_ref())?;
    if ui.wants_json() {
        ui.json(&json!({"schema": SCHEMA, "session": render::object(&session)}))?;
        return Ok(Exit::Done);
    }
    let styles = ui.styles();
    render::write(ui.out(), &session, &Clock::new(now_millis()), &styles)?;
    Ok(Exit::Done)
}

fn delete(args: &Delete, ui: &mut Ui) -> Result<Exit, Failure> {
    let allow = parse_allowed(&args.allow)?;
    let mut context = super::open(ui)?;
    let request = |dry_run, consent| DeleteRequest { key: args.key.clone(), dry_run, consent, allow: allow.clone() };
    let mut consent = if args.yes { Consent::Given } else { Consent::Missing };
    if consent == Consent::Missing && !args.dry_run && !ui.wants_json() && ui.can_ask() {
        let preview = session::delete(&mut context, &request(true, consent))?;
        if !ui.confirm(format!("delete session {} with {}?", args.key, counted(&preview))) {
            return Err(Failure::Declined);
        }
        consent = Consent::Given;
    }
    let deleted = session::delete(&mut context, &request(args.dry_run, consent))?;
    if ui.wants_json() {
        let checkpoints: Vec<_> = deleted.checkpoints.iter().map(checkpoint).collect();
        let status = if args.dry_run { "dry-run" } else { "deleted" };
        let session = render::object(&deleted.session);
        ui.json(&json!({"schema": SCHEMA, "status": status, "session": session, "checkpoints": checkpoints}))?;
        return Ok(Exit::Done);
    }
    let verb = if args.dry_run { "would delete" } else { "deleted" };
    ui.done(format!("{verb} session {} with {}", args.key, counted(&deleted)))?;
    Ok(Exit::Done)
}

/// `3 checkpoints`, and how many names go with them.
fn counted(deleted: &Deleted) -> String {
    let names: usize = deleted.checkpoints.iter().map(|checkpoint| checkpoint.names.len()).sum();
    let checkpoints = plural(deleted.checkpoints.len() as u64, "checkpoint");
    if names == 0 { checkpoints } else { format!("{checkpoints} and {}", plural(names as u64, "name")) }
}

/// The name of an agent stands in commits and on lines of its own.
fn agent(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it must not be empty".to_owned()),
        text if text.len() > 80 => Err("it has at most 80 bytes".to_owned()),
        text if text.trim() != text || text.chars().any(char::is_control) => {
            Err("it must not begin or end with a space or hold control characters".to_owned())
        }
        text => Ok(text.to_owned()),
    }
}
