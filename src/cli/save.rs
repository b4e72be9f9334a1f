//! `git checkpoint save`.

use serde_json::json;

use super::best_effort;
use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::{parse, render};
use crate::model::{ByteSlice, Checkpoint, Kind, SessionKey};
use crate::ops::save::{SaveOutcome, SaveRequest, save};

/// Options of `save`.
#[derive(Debug, Clone, PartialEq, Eq, Default, clap::Args)]
pub struct Args {
    /// Describe the checkpoint; the first line is its subject
    #[arg(short, long, value_name = "MSG")]
    pub message: Option<String>,
    /// Give the checkpoint a name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The session that owns the checkpoint [default: the worktree's own]
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
    /// What the checkpoint is [default: manual, or what --step and --turn imply]
    #[arg(long, value_name = "KIND", value_parser = parse::kind())]
    pub kind: Option<Kind>,
    /// The pipeline stage that has ended
    #[arg(long, value_name = "NAME")]
    pub step: Option<String>,
    /// The number of the agent's turn that has ended
    #[arg(long, value_name = "N")]
    pub turn: Option<u32>,
    /// Keep a key and value with the checkpoint; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse::pair)]
    pub meta: Vec<(String, String)>,
    /// Record a checkpoint even if nothing has changed
    #[arg(long)]
    pub allow_empty: bool,
    /// Exit with 1 if nothing has changed
    #[arg(long)]
    pub exit_code: bool,
    /// Log any failure and exit with 0, for hooks and pipelines
    #[arg(long)]
    pub best_effort: bool,
}

/// Runs `save`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    match record(args, ui) {
        Err(failure) if args.best_effort => {
            best_effort::tell(ui, "save", "no checkpoint was saved", &failure);
            Ok(Exit::Done)
        }
        result => result,
    }
}

fn record(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut context = super::open(ui)?;
    let request = SaveRequest {
        message: args.message.clone(),
        name: args.name.clone(),
        session: args.session.as_deref().map(SessionKey::parse).transpose()?,
        kind: args.kind,
        step: args.step.clone(),
        turn: args.turn,
        meta: args.meta.iter().cloned().collect(),
        allow_empty: args.allow_empty,
        ..SaveRequest::default()
    };
    let (status, checkpoint) = match save(&mut context, &request)? {
        SaveOutcome::Captured(checkpoint) => ("captured", checkpoint),
        SaveOutcome::Unchanged(checkpoint) => ("unchanged", checkpoint),
        SaveOutcome::Disabled => {
            ui.say("nothing was saved: `checkpoint.enabled` is false");
            if ui.wants_json() {
                ui.json(&json!({ "schema": 1, "status": "disabled", "checkpoint": null }))?;
            }
            return Ok(Exit::Done);
        }
    };
    let captured = status == "captured";
    if ui.wants_json() {
        let document = json!({ "schema": 1, "status": status, "checkpoint": render::json::checkpoint(&checkpoint) });
        ui.json(&document)?;
    }
    match captured {
        true => ui.done(format!("checkpoint {}: {}", checkpoint.number, sanitize(&checkpoint.subject)))?,
        false => ui.done(format!("unchanged since checkpoint {}", checkpoint.number))?,
    }
    if captured {
        tell_skipped(&checkpoint, ui);
    }
    if context.pruned > 0 {
        let count = plural(context.pruned as u64, "old checkpoint");
        ui.say(format!("{count} pruned, as `checkpoint.keepLast` and its like say (`git checkpoint help prune`)"));
    }
    Ok(if args.exit_code && !captured { Exit::Negative } else { Exit::Done })
}

/// Says what a checkpoint does not hold.
fn tell_skipped(checkpoint: &Checkpoint, ui: &mut Ui) {
    const MOST: usize = 10;
    if checkpoint.is_complete() {
        return;
    }
    let count = checkpoint.skipped.len();
    ui.warn(format!(
        "{} not captured; a restore leaves {} alone",
        plural(count as u64, "path"),
        if count == 1 { "it" } else { "them" }
    ));
    for skipped in checkpoint.skipped.iter().take(MOST) {
        ui.say(format!("  {} ({})", sanitize(&skipped.path.to_str_lossy()), skipped.reason.as_str()));
    }
    if count > MOST {
        ui.say(format!("  and {} more: git checkpoint show --manifest {}", count - MOST, checkpoint.number));
    }
}
