//! `git checkpoint push`.

use serde_json::json;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::json::{SCHEMA, checkpoint};
use crate::model::SessionKey;
use crate::ops::remote::push;

/// Options of `push`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to [default: checkpoint.remote, else the only remote]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Send those of one session
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
    /// Which checkpoints [default: all of this worktree]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors())]
    pub selectors: Vec<String>,
}

/// Runs `push`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open(ui)?;
    let session = args.session.as_deref().map(SessionKey::parse).transpose()?;
    let outcome = push(&context, args.remote.as_deref(), &args.selectors, session.as_ref())?;
    let all_taken = outcome.refused.is_empty();
    if ui.wants_json() {
        ui.json(&json!({
            "schema": SCHEMA,
            "status": if all_taken { "pushed" } else { "refused" },
            "remote": outcome.remote,
            "new": outcome.new.iter().map(checkpoint).collect::<Vec<_>>(),
            "known": outcome.known.len(),
            "refused": outcome.refused.iter().map(|(held, why)| json!({"number": held.number, "reason": why})).collect::<Vec<_>>(),
            "names_taken": outcome.taken,
        }))?;
    }
    let (new, known) = (plural(outcome.new.len() as u64, "checkpoint"), outcome.known.len());
    ui.done(format!("pushed {new} to {}, {known} known there already", sanitize(&outcome.remote)))?;
    for name in &outcome.taken {
        ui.warn(format!("the name `{}` belongs to another checkpoint there and was left there", sanitize(name)));
    }
    for (held, why) in &outcome.refused {
        ui.error(format!("checkpoint {} was not taken: {}", held.number, sanitize(why)));
    }
    Ok(if all_taken { Exit::Done } else { Exit::Fatal })
}
