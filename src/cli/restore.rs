//! `git checkpoint restore`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `restore`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoint
    #[arg(value_name = "CHECKPOINT", required_unless_present_any = ["continue_", "abort"])]
    pub selector: Option<String>,
    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// What to bring back: the files, the agent's memory, or both [config: checkpoint.restore.what]
    #[arg(long, value_name = "WHAT")]
    pub what: Option<What>,
    /// With an agent's turn: the state before it, or after it
    #[arg(long, value_name = "WHERE")]
    pub turn: Option<TurnSide>,
    /// Leave the index alone
    #[arg(long)]
    pub keep_index: bool,
    /// Keep what was edited by hand since the checkpoint
    #[arg(long)]
    pub keep_edits: bool,
    /// Go on in spite of a blocker, such as `other-worktree`; may be repeated
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Write the files into an empty directory instead
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub to: Option<PathBuf>,
    /// How long to wait for locks, such as `10s` [config: checkpoint.lockTimeout]
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<String>,
    /// Finish a restore that was interrupted
    #[arg(long = "continue", conflicts_with_all = ["abort", "selector", "paths"])]
    pub continue_: bool,
    /// Take back a restore that was interrupted
    #[arg(long, conflicts_with_all = ["selector", "paths"])]
    pub abort: bool,
    /// Restore only these paths
    #[arg(last = true, value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}

/// What a restore brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The files.
    Code,
    /// The agent's memory.
    Memory,
    /// Files and memory.
    Both,
}

/// Which end of an agent's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TurnSide {
    /// As it was when the turn began.
    Before,
    /// As it was when the turn had ended.
    After,
}

/// Runs `restore`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("restore"))
}
