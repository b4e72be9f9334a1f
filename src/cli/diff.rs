//! `git checkpoint diff`.

use std::ffi::OsString;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `diff`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to compare: nothing for the newest checkpoint with the worktree, one checkpoint or commit for it with the
    /// worktree, two for the first with the second
    #[arg(value_name = "CHECKPOINT", num_args = 0..=2)]
    pub sides: Vec<String>,
    /// Show the files and how many lines changed in each
    #[arg(long, group = "form")]
    pub stat: bool,
    /// Show the same counts for programs
    #[arg(long, group = "form")]
    pub numstat: bool,
    /// Show only the paths
    #[arg(long, group = "form")]
    pub name_only: bool,
    /// Show the paths and whether each was added, modified or deleted
    #[arg(long, group = "form")]
    pub name_status: bool,
    /// Show a patch; the default
    #[arg(short, long, group = "form")]
    pub patch: bool,
    /// End each record with NUL instead of a line break, and do not quote paths
    #[arg(short = 'z')]
    pub nul: bool,
    /// Ignore white space when comparing lines
    #[arg(short = 'w', long)]
    pub ignore_all_space: bool,
    /// Lines of context in a patch
    #[arg(short = 'U', long, value_name = "N")]
    pub unified: Option<u32>,
    /// Exit with 1 if there are differences
    #[arg(long)]
    pub exit_code: bool,
    /// Only these paths
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Runs `diff`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("diff"))
}
