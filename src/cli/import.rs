//! `git checkpoint import`.

use std::path::PathBuf;

use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::handoff as render;
use crate::ops::handoff::import;

/// Options of `import`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Check the file and print what it holds, and write nothing
    #[arg(short = 'n', long)]
    pub verify_only: bool,
    /// The file that `export` wrote
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub file: PathBuf,
}

/// Runs `import`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut context = super::open(ui)?;
    let imported = import(&mut context, &args.file, args.verify_only)?;
    if ui.wants_json() {
        ui.json(&render::imported_document(&imported, args.verify_only))?;
    }
    let verb = if args.verify_only { "can be imported" } else { "imported" };
    ui.done(format!("{} {verb}, {} known already", plural(imported.new.len() as u64, "checkpoint"), imported.known.len()))?;
    if let Some(line) = render::taken_in_line(&imported.memory, verb) {
        ui.done(line)?;
    }
    for name in &imported.taken {
        ui.warn(format!("the name `{}` belongs to another checkpoint here and was left there", sanitize(name)));
    }
    Ok(Exit::Done)
}
