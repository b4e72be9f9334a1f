//! `git checkpoint import`.

use std::path::PathBuf;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;

/// Options of `import`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Check the file and print what it holds, and write nothing
    #[arg(short = 'n', long)]
    pub verify_only: bool,
    /// The file that `export` wrote; `-` for standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub file: PathBuf,
}

/// Runs `import`.
pub fn run(_args: &Args, _ui: &mut Ui) -> Result<Exit, Failure> {
    Err(Failure::NotAvailable("import"))
}
