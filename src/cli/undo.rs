//! `git checkpoint undo`.

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui, display_width, pad, truncate};
use super::render::restore as render;
use super::restore::{parse_allowed, report, with_consent};
use crate::model::{BlockerCode, Checkpoint};
use crate::ops::Context;
use crate::ops::restore::{Consent, RestoreRequest};
use crate::ops::undo::{Direction, step, steps};
use crate::sys::now_millis;

/// Options of `undo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Go on in spite of a blocker, such as `session-active`; may be repeated
    #[arg(long, value_name = "CODE", add = complete::allowed())]
    pub allow: Vec<String>,
    /// Print the restores that can be taken back
    #[arg(long)]
    pub list: bool,
}

/// Runs `undo`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let allow = parse_allowed(&args.allow)?;
    let wishes = Wishes { dry_run: args.dry_run, yes: args.yes, allow, list: args.list };
    go(ui, Direction::Undo, wishes)
}

/// What the options of `undo` and `redo` ask for.
#[derive(Debug, Clone)]
pub(super) struct Wishes {
    pub(super) dry_run: bool,
    pub(super) yes: bool,
    pub(super) allow: Vec<BlockerCode>,
    pub(super) list: bool,
}

/// Takes a step in one direction, or lists those that can be taken.
pub(super) fn go(ui: &mut Ui, direction: Direction, wishes: Wishes) -> Result<Exit, Failure> {
    let mut context = super::open_to_restore(ui)?;
    if wishes.list {
        return list(ui, &context, direction);
    }
    let request = RestoreRequest {
        dry_run: wishes.dry_run,
        consent: if wishes.yes { Consent::Given } else { Consent::Missing },
        allow: wishes.allow,
        ..RestoreRequest::of("", &std::env::current_dir().map_err(Failure::CurrentDirectory)?)
    };
    match with_consent(ui, &request, |request| step(&mut context, direction, request))? {
        Some(outcome) => report(ui, &outcome),
        None => {
            if ui.wants_json() {
                ui.json(&render::nothing_document())?;
            }
            ui.say(nothing(direction));
            Ok(Exit::Done)
        }
    }
}

fn nothing(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "nothing to undo: no restore was done in this worktree",
        Direction::Redo => "nothing to redo: no restore was undone in this worktree",
    }
}

fn list(ui: &mut Ui, context: &Context, direction: Direction) -> Result<Exit, Failure> {
    let steps = steps(context, direction)?;
    if ui.wants_json() {
        ui.json(&render::steps_document(&steps))?;
        return Ok(Exit::Done);
    }
    if steps.is_empty() {
        ui.say(nothing(direction));
        return Ok(Exit::Done);
    }
    let clock = Clock::new(now_millis());
    let room = if ui.is_terminal() { ui.width() } else { usize::MAX };
    let ages: Vec<String> = steps.iter().map(|step| clock.when(step.restore.created_at)).collect();
    let widest = ages.iter().map(|age| display_width(age)).max().unwrap_or(0);
    for (step, age) in steps.iter().zip(&ages) {
        let name = |checkpoint: &Option<Checkpoint>| match checkpoint {
            Some(checkpoint) => render::title(checkpoint),
            None => "a checkpoint that is gone".to_owned(),
        };
        let leads_to = name(&step.leads_to);
        let target = name(&step.target);
        let what = match direction {
            Direction::Undo => format!("restored {target}; undo leads to {leads_to}"),
            Direction::Redo => format!("undid the restore of {target}; redo leads to {leads_to}"),
        };
        let line = format!("{}  {what}", pad(age, widest));
        writeln!(ui.out(), "{}", truncate(&line, room))?;
    }
    Ok(Exit::Done)
}
