//! `git checkpoint drop`.

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::render::retention as render;
use super::restore::{parse_allowed, tell_blockers};
use crate::ops::Context;
use crate::ops::restore::Consent;
use crate::ops::retention::{DropOutcome, DropRequest, DropStatus, choose, drop};

/// Options of `drop`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoints; nothing is dropped unless each of them names exactly one
    #[arg(value_name = "CHECKPOINT", add = complete::selectors(), required = true)]
    pub selectors: Vec<String>,
    /// Print what would be dropped, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Go on in spite of a blocker: `needed-by-undo` drops the steps of undo and redo that need a checkpoint too
    #[arg(long, value_name = "CODE", add = complete::allowed_in_drop())]
    pub allow: Vec<String>,
}

/// Runs `drop`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let allow = parse_allowed(&args.allow)?;
    let mut context = if args.dry_run { super::open_to_look(ui)? } else { super::open(ui)? };
    let request = DropRequest {
        checkpoints: choose(&context, &args.selectors)?,
        dry_run: args.dry_run,
        consent: if args.yes { Consent::Given } else { Consent::Missing },
        allow,
    };
    let outcome = with_consent(ui, &mut context, request)?;
    report(ui, &outcome)
}

/// Carries the request out; where a person sits at a terminal and has not agreed yet, shows what would go and asks first.
fn with_consent(ui: &mut Ui, context: &mut Context, request: DropRequest) -> Result<DropOutcome, Failure> {
    if request.consent == Consent::Given || request.dry_run || ui.wants_json() || !ui.can_ask() {
        return Ok(drop(context, &request)?);
    }
    let preview = drop(context, &DropRequest { dry_run: true, ..request.clone() })?;
    if !preview.blockers.is_empty() {
        return Ok(DropOutcome { status: DropStatus::Refused, ..preview });
    }
    preview.checkpoints.iter().for_each(|checkpoint| ui.say(render::described(checkpoint)));
    [render::names_line(&preview), render::steps_line(&preview)].iter().flatten().for_each(|line| ui.say(line));
    let question = if preview.checkpoints.len() == 1 { "drop it for good?" } else { "drop them for good?" };
    if !ui.confirm(question) {
        return Err(Failure::Declined);
    }
    Ok(drop(context, &DropRequest { consent: Consent::Given, ..request })?)
}

fn report(ui: &mut Ui, outcome: &DropOutcome) -> Result<Exit, Failure> {
    if ui.wants_json() {
        ui.json(&render::drop_document(outcome))?;
    }
    match outcome.status {
        DropStatus::DryRun if !ui.wants_json() => {
            let styles = ui.styles();
            render::write_dropped(ui.out(), &styles, outcome)?;
        }
        DropStatus::DryRun => {}
        DropStatus::Dropped => ui.done(render::dropped(outcome))?,
        DropStatus::Refused => ui.error("refused: nothing was changed"),
    }
    if outcome.status != DropStatus::Refused {
        [render::names_line(outcome), render::steps_line(outcome)].iter().flatten().for_each(|line| ui.say(line));
        let is_done = outcome.status == DropStatus::Dropped;
        render::bytes_line(outcome.bytes, is_done).iter().for_each(|line| ui.say(line));
    }
    tell_blockers(ui, &outcome.blockers);
    Ok(if outcome.blockers.is_empty() { Exit::Done } else { Exit::Refused })
}
