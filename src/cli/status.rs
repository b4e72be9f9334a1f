//! `git checkpoint status`.

use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui};
use super::render::status as render;
use crate::ops::status::status;
use crate::sys;

/// Options of `status`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `status`.
pub fn run(_: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    // A restore that was interrupted is one of the blockers that are shown.
    let context = super::open(ui)?;
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    let status = status(&context, &directory)?;
    if ui.wants_json() {
        ui.json(&render::document(&status))?;
    } else {
        let styles = ui.styles();
        render::write(ui.out(), &status, &Clock::new(sys::now_millis()), &styles)?;
    }
    Ok(Exit::Done)
}
