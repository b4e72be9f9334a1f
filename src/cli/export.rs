//! `git checkpoint export`.

use std::path::PathBuf;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Take the checkpoints of one session
    #[arg(long, value_name = "KEY")]
    pub session: Option<String>,
    /// Take the agent's conversation along
    #[arg(long)]
    pub with_memory: bool,
    /// Leave out what the receiver has from this checkpoint or commit
    #[arg(long, value_name = "CHECKPOINT")]
    pub since: Option<String>,
    /// Which checkpoints [default: all of this worktree]
    #[arg(value_name = "CHECKPOINT")]
    pub selectors: Vec<String>,
}

/// Runs `export`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("export"))
}
