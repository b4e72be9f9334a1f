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
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let script = match args.shell.as_str() {
        "bash" => include_str!("../../completions/git-checkpoint.bash"),
        "zsh" => include_str!("../../completions/_git-checkpoint"),
        _ => include_str!("../../completions/git-checkpoint.fish"),
    };
    ui.out().write_all(script.as_bytes())?;
    Ok(Exit::Done)
}
