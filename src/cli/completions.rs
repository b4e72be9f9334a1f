//! `git checkpoint completions`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which shell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish"])]
    pub shell: String,
}

/// Runs `completions`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("completions"))
}
