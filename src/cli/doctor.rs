//! `git checkpoint doctor`.

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::render::doctor as render;
use crate::ops::doctor::{DoctorRequest, doctor};

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    pub fix: bool,
    /// Read every object that checkpoints need
    #[arg(long)]
    pub verify: bool,
    /// Which checkpoints to verify [default: all]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors(), requires = "verify")]
    pub selectors: Vec<String>,
}

/// Runs `doctor`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    ui.configure(crate::git::Repo::open(&directory)?.terminal_config())?;
    ui.show_progress();
    let request = DoctorRequest { fix: args.fix, verify: args.verify.then(|| args.selectors.clone()) };
    let report = doctor(&directory, &request)?;
    if ui.wants_json() {
        ui.json(&render::document(&report))?;
    } else {
        let styles = ui.styles();
        render::write(ui.out(), &report, &styles)?;
    }
    Ok(if report.is_well() { Exit::Done } else { Exit::Negative })
}
