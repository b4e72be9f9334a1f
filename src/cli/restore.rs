//! `git checkpoint restore`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::browse;
use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::{memory as memory_render, restore as render};
use crate::git::parse_duration;
use crate::git::restore::Rescued;
use crate::model::{self, Blocker, BlockerCode, Override};
use crate::ops;
use crate::ops::restore::{
    Consent, ExportOutcome, Recovered, RestoreOutcome, RestoreRequest, RestoreStatus, abort_restore, continue_restore, restore,
    restore_to,
};

/// Options of `restore`.
#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Args {
    /// Which checkpoint; at a terminal, `restore` alone opens the screen of `browse` to pick one
    #[arg(value_name = "CHECKPOINT", add = complete::selectors(), required_unless_present_any = ["continue_", "abort"])]
    pub selector: Option<String>,
    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// What to bring back: the files, the agent's memory, or both [config: checkpoint.restore.what]
    #[arg(long, value_name = "WHAT")]
    pub what: Option<What>,
    /// With an agent's turn: the state before it, or after it
    #[arg(long, value_name = "WHERE")]
    pub turn: Option<TurnSide>,
    /// Leave the index alone
    #[arg(long)]
    pub keep_index: bool,
    /// Keep files whose content is not what the last checkpoint recorded
    #[arg(long, conflicts_with = "to")]
    pub keep_edits: bool,
    /// Go on in spite of a blocker, such as `other-worktree`; may be repeated
    #[arg(long, value_name = "CODE", add = complete::allowed())]
    pub allow: Vec<String>,
    /// Write the files into an empty directory instead
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub to: Option<PathBuf>,
    /// How long to wait for locks, such as `10s` [config: checkpoint.lockTimeout]
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<String>,
    /// Finish a restore that was interrupted
    #[arg(long = "continue", conflicts_with_all = ["abort", "selector", "paths"])]
    pub continue_: bool,
    /// Take back a restore that was interrupted
    #[arg(long, conflicts_with_all = ["selector", "paths"])]
    pub abort: bool,
    /// Restore only these paths
    #[arg(last = true, value_name = "PATHSPEC", value_hint = clap::ValueHint::AnyPath)]
    pub paths: Vec<OsString>,
}

/// What a restore brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The files.
    Code,
    /// The agent's memory.
    Memory,
    /// Files and memory.
    Both,
}

/// Which end of an agent's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TurnSide {
    /// As it was when the turn began.
    Before,
    /// As it was when the turn had ended.
    After,
}

impl From<What> for model::What {
    fn from(what: What) -> Self {
        match what {
            What::Code => model::What::Code,
            What::Memory => model::What::Memory,
            What::Both => model::What::Both,
        }
    }
}

impl From<TurnSide> for ops::TurnSide {
    fn from(side: TurnSide) -> Self {
        match side {
            TurnSide::Before => ops::TurnSide::Before,
            TurnSide::After => ops::TurnSide::After,
        }
    }
}

impl Args {
    /// True if a person has said nothing at all about what to restore and how.
    pub(super) fn leave_all_open(&self) -> bool {
        *self == Args::default()
    }
}

/// Runs `restore`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    if args.leave_all_open() {
        return browse::run(ui);
    }
    let wait = args.wait.as_deref().map(parse_wait).transpose()?;
    if args.continue_ {
        return resume(ui, wait);
    }
    if args.abort {
        return abort(ui, wait);
    }
    let mut context = super::open_to_restore(ui)?;
    let what = args.what.map_or(context.repo.config().restore_what, Into::into);
    if args.to.is_some() && args.what.is_some_and(|what| what != What::Code) {
        return Err(Failure::Usage("`--to` writes files and has no memory to restore".into()));
    }
    let request = RestoreRequest {
        selector: args.selector.clone().unwrap_or_default(),
        turn: args.turn.map(Into::into),
        what,
        insists: args.what.is_some(),
        dry_run: args.dry_run,
        consent: if args.yes { Consent::Given } else { Consent::Missing },
        keep_index: args.keep_index,
        keep_edits: args.keep_edits,
        allow: parse_allowed(&args.allow)?,
        wait,
        paths: args.paths.iter().map(|path| path.as_encoded_bytes().into()).collect(),
        directory: std::env::current_dir().map_err(Failure::CurrentDirectory)?,
    };
    if let Some(directory) = &args.to {
        let exported = restore_to(&context, &request, directory)?;
        return report_export(ui, &exported);
    }
    let outcome = with_consent(ui, &request, |request| restore(&mut context, request).map(Some))?;
    match outcome {
        Some(outcome) => report(ui, &outcome),
        None => Ok(Exit::Done),
    }
}

fn parse_wait(text: &str) -> Result<Duration, Failure> {
    parse_duration(text).ok_or_else(|| Failure::Usage(format!("`{text}` is no span of time such as `10s` or `500ms`")))
}

/// The blockers that are not to count.
pub(super) fn parse_allowed(codes: &[String]) -> Result<Vec<BlockerCode>, Failure> {
    let parse = |code: &String| match BlockerCode::parse(code) {
        Some(code) if code.override_by() == Some(Override::Allow) => Ok(code),
        Some(_) => Err(Failure::Usage(format!("`{code}` cannot be allowed"))),
        None => Err(Failure::Usage(format!("`{code}` is no blocker"))),
    };
    codes.iter().map(parse).collect()
}

/// Carries the request out; where a person sits at a terminal and has not agreed yet, shows what would be done and asks first.
pub(super) fn with_consent(
    ui: &mut Ui,
    request: &RestoreRequest,
    mut carry_out: impl FnMut(&RestoreRequest) -> Result<Option<RestoreOutcome>, ops::Error>,
) -> Result<Option<RestoreOutcome>, Failure> {
    if request.consent == Consent::Given || request.dry_run || ui.wants_json() || !ui.can_ask() {
        return Ok(carry_out(request)?);
    }
    let preview = carry_out(&RestoreRequest { dry_run: true, ..request.clone() })?;
    let Some(preview) = preview else { return Ok(None) };
    if !preview.blockers.is_empty() {
        return Ok(Some(RestoreOutcome { status: RestoreStatus::Refused, ..preview }));
    }
    ui.say(format!("{}: {}", render::title(&preview.target), render::summary(&preview)));
    render::notes(&preview).iter().for_each(|note| ui.say(note));
    tell_memory(ui, &preview);
    if !ui.confirm("restore it here?") {
        return Err(Failure::Declined);
    }
    Ok(carry_out(&RestoreRequest { consent: Consent::Given, ..request.clone() })?)
}

/// Tells what became of a restore, undo or redo.
pub(super) fn report(ui: &mut Ui, outcome: &RestoreOutcome) -> Result<Exit, Failure> {
    if ui.wants_json() {
        ui.json(&render::document(outcome))?;
    }
    match outcome.status {
        RestoreStatus::DryRun => {
            if !ui.wants_json() {
                let styles = ui.styles();
                render::write_plan(ui.out(), &styles, outcome)?;
                writeln!(ui.out(), "{}: {}", render::title(&outcome.target), render::summary(outcome))?;
            }
        }
        RestoreStatus::Unchanged => {
            ui.done(render::unchanged(outcome))?;
            render::notes(outcome).iter().for_each(|note| ui.say(note));
        }
        RestoreStatus::Restored | RestoreStatus::Partial => {
            tell_restored(ui, outcome)?;
            tell_rescued(ui, &outcome.rescued);
        }
        RestoreStatus::Refused => ui.error("refused: nothing was changed"),
    }
    tell_memory(ui, outcome);
    if matches!(outcome.status, RestoreStatus::Restored | RestoreStatus::Partial) {
        ui.say(render::way_back(outcome.verb));
    }
    tell_blockers(ui, &outcome.blockers);
    Ok(match () {
        () if outcome.status == RestoreStatus::Partial => Exit::Partial,
        () if outcome.blockers.is_empty() && outcome.status != RestoreStatus::Refused => Exit::Done,
        () if outcome.timed_out => Exit::LockTimeout,
        () => Exit::Refused,
    })
}

fn tell_restored(ui: &mut Ui, outcome: &RestoreOutcome) -> Result<(), Failure> {
    if outcome.has_files() {
        ui.done(render::result(outcome))?;
        render::notes(outcome).iter().for_each(|note| ui.say(note));
    } else {
        ui.done(render::result_without_files(outcome))?;
    }
    Ok(())
}

/// Tells what became of an agent's memory.
fn tell_memory(ui: &mut Ui, outcome: &RestoreOutcome) {
    let Some(memory) = &outcome.memory else { return };
    if let Some((code, message)) = &memory.failure {
        ui.warn(format!("the memory is as it was: {} ({code})", sanitize(message)));
    }
    memory_render::lines(memory).iter().for_each(|line| ui.say(line));
}

/// Tells why something was refused, and what to do about it.
pub(super) fn tell_blockers(ui: &mut Ui, blockers: &[Blocker]) {
    for blocker in blockers {
        ui.error(format!("{} ({})", blocker.message, blocker.code.as_str()));
        ui.hint(&blocker.hint);
    }
}

fn report_export(ui: &mut Ui, exported: &ExportOutcome) -> Result<Exit, Failure> {
    if ui.wants_json() {
        ui.json(&render::export_document(exported))?;
    }
    if !exported.blockers.is_empty() {
        ui.error("refused: nothing was written");
        tell_blockers(ui, &exported.blockers);
        return Ok(Exit::Refused);
    }
    let written = plural(exported.export.written as u64, "file");
    let directory = exported.directory.display().to_string();
    let verb = if exported.dry_run { "would write" } else { "wrote" };
    ui.done(format!("{verb} {} into {}: {written}", render::title(&exported.target), sanitize(&directory)))?;
    if !exported.export.submodules.is_empty() {
        let count = exported.export.submodules.len() as u64;
        ui.warn(format!("{} left empty: a checkpoint does not hold their files", plural(count, "submodule")));
    }
    Ok(Exit::Done)
}

fn resume(ui: &mut Ui, wait: Option<Duration>) -> Result<Exit, Failure> {
    let mut context = super::open_to_restore(ui)?;
    let Some(recovered) = continue_restore(&mut context, wait)? else { return nothing_interrupted(ui) };
    if ui.wants_json() {
        ui.json(&render::recovered_document(&recovered, "restored"))?;
    }
    let written = plural(recovered.written as u64, "file");
    ui.done(format!("finished the {}: {written} written, {} deleted", recovered.verb, recovered.deleted))?;
    tell_rescued(ui, &recovered.aborted.left.rescued);
    tell_index_left(ui, &recovered);
    ui.say("to take it back: git checkpoint undo");
    Ok(Exit::Done)
}

fn tell_rescued(ui: &mut Ui, rescued: &[Rescued]) {
    rescued.iter().for_each(|rescued| ui.warn(render::rescued_line(rescued)));
}

fn tell_index_left(ui: &mut Ui, recovered: &Recovered) {
    if recovered.aborted.index_left {
        ui.warn("the index changed since the interruption, and was left as it is");
    }
}

fn abort(ui: &mut Ui, wait: Option<Duration>) -> Result<Exit, Failure> {
    let mut context = super::open_to_restore(ui)?;
    let Some(recovered) = abort_restore(&mut context, wait)? else { return nothing_interrupted(ui) };
    if ui.wants_json() {
        ui.json(&render::recovered_document(&recovered, "aborted"))?;
    }
    match &recovered.given_up {
        None => ui.done(format!("took the {} back", recovered.verb))?,
        Some(_) => ui.done("gave the restore up: its journal cannot be read, and every file is as it was left")?,
    }
    if let Some(places) = &recovered.given_up {
        places.iter().for_each(|place| ui.warn(format!("what it had set aside is kept in `{}`", place.display())));
        ui.hint("`git checkpoint list --kind pre-restore` shows the state before it, if it had changed anything");
    }
    for path in &recovered.aborted.left.paths {
        ui.warn(format!("`{path}` changed since the interruption, and was left as it is"));
    }
    tell_rescued(ui, &recovered.aborted.left.rescued);
    tell_index_left(ui, &recovered);
    Ok(Exit::Done)
}

fn nothing_interrupted(ui: &mut Ui) -> Result<Exit, Failure> {
    if ui.wants_json() {
        ui.json(&render::nothing_document())?;
    }
    ui.say("no restore was interrupted in this worktree");
    Ok(Exit::Done)
}
