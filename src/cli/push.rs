//! `git checkpoint push`.

use serde_json::json;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::handoff as render;
use super::render::json::{SCHEMA, checkpoint};
use crate::model::SessionKey;
use crate::ops::remote::{PushRequest, push};

/// Options of `push`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to [default: checkpoint.remote, else the only remote]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Send those of one session
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
    /// Send the agents' conversations along, without the secrets in them
    #[arg(long)]
    pub with_memory: bool,
    /// Leave the secrets in the conversations
    #[arg(long, requires = "with_memory")]
    pub no_redact: bool,
    /// Which checkpoints [default: all of this worktree]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors())]
    pub selectors: Vec<String>,
}

/// Runs `push`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open(ui)?;
    let outcome = push(
        &context,
        &PushRequest {
            remote: args.remote.clone(),
            selectors: args.selectors.clone(),
            session: args.session.as_deref().map(SessionKey::parse).transpose()?,
            memory: render::secrets(args.with_memory, args.no_redact),
        },
    )?;
    let refused_memory = outcome.memory.iter().flat_map(|memory| &memory.refused);
    let all_taken = outcome.refused.is_empty() && refused_memory.clone().next().is_none();
    if ui.wants_json() {
        ui.json(&json!({
            "schema": SCHEMA,
            "status": if all_taken { "pushed" } else { "refused" },
            "remote": outcome.remote,
            "new": outcome.new.iter().map(checkpoint).collect::<Vec<_>>(),
            "known": outcome.known.len(),
            "refused": outcome.refused.iter().map(|(held, why)| json!({"number": held.number, "reason": why})).collect::<Vec<_>>(),
            "names_taken": outcome.taken,
            "memory": outcome.memory.as_ref().map(render::pushed_memory),
        }))?;
    }
    let (new, known) = (plural(outcome.new.len() as u64, "checkpoint"), outcome.known.len());
    ui.done(format!("pushed {new} to {}, {known} known there already", sanitize(&outcome.remote)))?;
    if let Some(memory) = &outcome.memory {
        ui.done(format!("{}, {} known there already", render::sent_line(&memory.new, "pushed"), memory.known))?;
    }
    for name in &outcome.taken {
        ui.warn(format!("the name `{}` belongs to another checkpoint there and was left there", sanitize(name)));
    }
    for (held, why) in &outcome.refused {
        ui.error(format!("checkpoint {} was not taken: {}", held.number, sanitize(why)));
    }
    for (session, why) in refused_memory {
        ui.error(format!("the conversation of session `{session}` was not taken: {}", sanitize(why)));
    }
    Ok(if all_taken { Exit::Done } else { Exit::Fatal })
}
