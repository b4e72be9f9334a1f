//! `git checkpoint list`.

use std::ffi::OsString;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::parse;
use crate::model::Kind;

/// Options of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show at most N checkpoints
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    pub limit: Option<u64>,
    /// Show those of every worktree, not only of this one
    #[arg(short, long)]
    pub all_worktrees: bool,
    /// Show those of one session
    #[arg(long, value_name = "KEY")]
    pub session: Option<String>,
    /// Show those of one kind; may be repeated
    #[arg(long, value_name = "KIND", value_parser = parse::kind())]
    pub kind: Vec<Kind>,
    /// Show those made at or after a time, such as `2h`, `yesterday` or `2026-05-09`
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Show those made at or before a time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Show those whose message, name or step matches a regular expression
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Add the files that each changed
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub stat: bool,
    /// Oldest first
    #[arg(long)]
    pub reverse: bool,
    /// Print each in your own format, such as `%(number) %(subject)`
    #[arg(long, value_name = "FMT", conflicts_with = "json")]
    pub format: Option<String>,
    /// End each record with NUL instead of a line break
    #[arg(short = 'z', conflicts_with = "json")]
    pub nul: bool,
    /// Show only those that changed these paths
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Runs `list`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("list"))
}
