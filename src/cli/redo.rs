//! `git checkpoint redo`.

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::restore::parse_allowed;
use super::undo::Wishes;
use crate::ops::undo::Direction;

/// Options of `redo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Go on in spite of a blocker, such as `session-active`; may be repeated
    #[arg(long, value_name = "CODE", add = complete::allowed())]
    pub allow: Vec<String>,
    /// Print the undone restores that can be brought back
    #[arg(long)]
    pub list: bool,
}

/// Runs `redo`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let allow = parse_allowed(&args.allow)?;
    let wishes = Wishes { dry_run: args.dry_run, yes: args.yes, allow, list: args.list };
    super::undo::go(ui, Direction::Redo, wishes)
}
