//! `git checkpoint branch`.

use serde_json::json;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural};
use super::render::json::{SCHEMA, checkpoint};
use super::render::restore::title;
use crate::ops;

/// Options of `branch`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the branch is to be called
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Which checkpoint [default: the newest of this worktree]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors())]
    pub selector: Option<String>,
}

/// Runs `branch`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open(ui)?;
    let (held, commit) = ops::branch(&context, &args.name, args.selector.as_deref().unwrap_or("@"))?;
    if ui.wants_json() {
        ui.json(&json!({
            "schema": SCHEMA,
            "status": "created",
            "branch": args.name,
            "commit": commit.to_string(),
            "checkpoint": checkpoint(&held),
        }))?;
    }
    ui.done(format!("branch `{}` holds {} as commit {}", args.name, title(&held), commit.to_hex_with_len(8)))?;
    if !held.is_complete() {
        ui.warn(format!("it lacks what the checkpoint did not capture: {}", plural(held.skipped.len() as u64, "path")));
    }
    ui.hint(format!("go there with: git switch {}", args.name));
    Ok(Exit::Done)
}
