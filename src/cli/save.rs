//! `git checkpoint save`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::parse;
use crate::model::Kind;

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
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("save"))
}
