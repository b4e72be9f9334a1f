//! `git checkpoint save`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::parse;
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
    #[arg(long, value_name = "KEY")]
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
    };
    let outcome = save(&mut context, &request)?;
    match &outcome {
        SaveOutcome::Captured(checkpoint) => {
            writeln!(ui.out(), "checkpoint {}: {}", checkpoint.number, sanitize(&checkpoint.subject))?;
            tell_skipped(checkpoint, ui);
            Ok(Exit::Done)
        }
        SaveOutcome::Unchanged(checkpoint) => {
            writeln!(ui.out(), "unchanged since checkpoint {}", checkpoint.number)?;
            Ok(if args.exit_code { Exit::Negative } else { Exit::Done })
        }
        SaveOutcome::Disabled => {
            ui.say("nothing was saved: `checkpoint.enabled` is false");
            Ok(Exit::Done)
        }
    }
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
