//! `git checkpoint name`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `name`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoint
    #[arg(value_name = "CHECKPOINT", required_unless_present = "delete")]
    pub selector: Option<String>,
    /// Its new name; taken from another checkpoint if that had it
    #[arg(value_name = "NAME", required_unless_present = "delete")]
    pub name: Option<String>,
    /// Delete a name; the checkpoint stays
    #[arg(long, value_name = "NAME", conflicts_with_all = ["selector", "name"])]
    pub delete: Option<String>,
}

/// Runs `name`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("name"))
}
