//! `git checkpoint browse`: the checkpoints on a screen, over the same operations as the commands.
//!
//! ```text
//!  keys ──> screen (state) ──> draw
//!             │   ▲
//!      orders ▼   │ reports
//!   watcher (reads checkpoints)   operator (differences, plans, deeds)
//! ```
//!
//! The screen is only state; what keys do to it, how it is drawn, and the threads that work for it know nothing of each other.
//! Nothing of git is done here, and nothing that the commands would not do.

mod deeds;
mod describe;
mod dialog;
mod draw;
mod keys;
mod look;
mod main_loop;
mod operator;
mod pane;
mod patch;
mod place;
mod screen;
mod terminal;
mod text;
mod timeline;
mod times;
mod watcher;
mod work;

use std::time::Instant;

use self::look::Look;
use self::main_loop::Left;
use self::place::Place;
use self::screen::Screen;
use self::times::Times;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use crate::sys::signals;

pub(super) use terminal::{give_back, is_there};

/// Options of `browse`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `browse`.
pub fn run(ui: &mut Ui) -> Result<Exit, Failure> {
    let began = Instant::now();
    if ui.wants_json() {
        return Err(Failure::Usage("`browse` has no result that could be a document".to_owned()));
    }
    if !is_there() {
        return Err(Failure::NoTerminal);
    }
    let context = super::open(ui)?;
    ui.end_progress();
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    let place = Place::of(&context, directory);
    let look = Look { colored: !ui.styles().meta.is_plain() };
    let mut screen = Screen::new(look, place.top.display().to_string());
    let mut times = Times::new(began);
    let left = main_loop::run(&place, context, &mut screen, &mut times)?;
    times.write();
    match left {
        Left::Asked => {}
        Left::Lost => return Ok(Exit::Fatal),
        Left::Signal(signal) => {
            signals::end_by(signal);
            return Ok(Exit::Fatal);
        }
    }
    // What was done leaves a trace where the person goes on.
    screen.done.iter().for_each(|line| ui.say(line));
    Ok(Exit::Done)
}
