//! `git checkpoint show`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `show`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoint [default: the newest of this worktree]
    #[arg(value_name = "CHECKPOINT")]
    pub selector: Option<String>,
    /// Add the files it changed and how much
    #[arg(long, group = "part")]
    pub stat: bool,
    /// Add what it changed as a patch
    #[arg(short, long, group = "part")]
    pub patch: bool,
    /// Add the files it changed and how
    #[arg(long, group = "part")]
    pub name_status: bool,
    /// Print only what it did not capture, and why
    #[arg(long, group = "part")]
    pub manifest: bool,
    /// Print it in your own format, such as `%(number) %(subject)`
    #[arg(long, value_name = "FMT", group = "part")]
    pub format: Option<String>,
}

/// Runs `show`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("show"))
}
