//! The `git-checkpoint` program, found by git as `git checkpoint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_checkpoint::cli::main()
}
