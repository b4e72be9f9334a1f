//! `git checkpoint export`.

use std::path::PathBuf;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::handoff as render;
use crate::model::SessionKey;
use crate::ops::handoff::{ExportRequest, export};

/// Options of `export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write to this file
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Take the checkpoints of one session
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
    /// Take the agents' conversations along, without the secrets in them
    #[arg(long)]
    pub with_memory: bool,
    /// Leave the secrets in the conversations
    #[arg(long, requires = "with_memory")]
    pub no_redact: bool,
    /// Leave out what the receiver has from this checkpoint or commit
    #[arg(long, value_name = "CHECKPOINT", add = complete::revisions())]
    pub since: Option<String>,
    /// Which checkpoints [default: all of this worktree]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors())]
    pub selectors: Vec<String>,
}

/// Runs `export`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let Some(output) = &args.output else { return Err(Failure::Usage("name the file to write with -o".into())) };
    let context = super::open(ui)?;
    let request = ExportRequest {
        selectors: args.selectors.clone(),
        session: args.session.as_deref().map(SessionKey::parse).transpose()?,
        since: args.since.clone(),
        memory: render::secrets(args.with_memory, args.no_redact),
    };
    let exported = export(&context, &request, output)?;
    if ui.wants_json() {
        ui.json(&render::exported_document(&exported, output))?;
    }
    let written = plural(exported.checkpoints.len() as u64, "checkpoint");
    ui.done(format!("{written} written to {}", sanitize(&output.to_string_lossy())))?;
    if let Some(memory) = &exported.memory {
        ui.done(render::sent_line(memory, "written"))?;
    }
    Ok(Exit::Done)
}
