//! `git checkpoint run`.
//!
//! Whatever fails here but the command itself is told in one line and is no reason for another exit code: a pipeline is not to
//! break because of checkpoints.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use super::best_effort;
use super::complete;
use super::failure::Failure;
use super::output::{Ui, sanitize};
use crate::model::SessionKey;
use crate::ops::Context;
use crate::ops::run::{Begun, RunRequest, at_work, baseline, begin, capture, finish};
use crate::ops::save::SaveOutcome;
use crate::sys::child;

/// Options of `run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The pipeline stage that the command is [default: the command's name]
    #[arg(long, value_name = "NAME")]
    pub step: Option<String>,
    /// The session that owns the checkpoints [default: the one that owns the worktree]
    #[arg(long, value_name = "KEY", value_parser = SessionKey::parse, add = complete::sessions())]
    pub session: Option<SessionKey>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = clap::ValueHint::AnyPath)]
    pub command: Vec<OsString>,
}

/// Runs the command and returns its exit code.
pub fn run(args: &Args, ui: &mut Ui) -> ExitCode {
    let Some((program, arguments)) = args.command.split_first() else { return ExitCode::SUCCESS };
    let step = args.step.clone().unwrap_or_else(|| step_of(program));
    let request = RunRequest { session: args.session.clone(), step };
    let mut before = Before::of(&request, ui);
    ui.end_progress();
    let child = match child::start(program, arguments) {
        Ok(child) => child,
        Err(error) => {
            ui.error(format!("cannot run `{}`: {error}", program.to_string_lossy()));
            before.give_up();
            return child::code_of_failure(&error).into();
        }
    };
    before.command_is(child.id());
    let top = before.context.as_ref().map(|context| context.repo.top().to_owned());
    let begun = before.begun.take();
    // The command may do anything to the repository: nothing of it is kept open meanwhile.
    drop(before);
    let code = match child.wait() {
        Ok(code) => code,
        Err(error) => {
            ui.error(format!("cannot wait for `{}`: {error}", program.to_string_lossy()));
            super::exit::Exit::Fatal.code()
        }
    };
    if let Some(top) = top {
        // The command may have removed the directory that it was started in; the worktree is where it was.
        if std::env::current_dir().is_err() {
            let _ = std::env::set_current_dir(top);
        }
        if let Err(failure) = record(begun.as_ref(), &request, code, ui) {
            best_effort::tell(ui, "run", "no checkpoint was saved", &failure);
        }
    }
    ui.end_progress();
    code.into()
}

/// A command's name without its folder.
fn step_of(program: &OsString) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    name.to_string_lossy().into_owned()
}

/// What was done before the command.
struct Before {
    /// None if there is no repository to work in.
    context: Option<Context>,
    begun: Option<Begun>,
}

impl Before {
    /// Registers the command and saves the state before it.
    fn of(request: &RunRequest, ui: &mut Ui) -> Before {
        let mut context = match super::open(ui) {
            Ok(context) => context,
            Err(failure) => {
                best_effort::tell(ui, "run", "no checkpoint is saved", &failure);
                return Before { context: None, begun: None };
            }
        };
        let begun = begin(&mut context, request);
        let saved = match &begun {
            Ok(begun) => baseline(&mut context, begun),
            Err(_) => Ok(()),
        };
        let begun = match (begun, saved) {
            (Ok(begun), Ok(())) => Some(begun),
            (Ok(begun), Err(error)) => {
                best_effort::tell(ui, "run", "the state before was not saved", &error.into());
                Some(begun)
            }
            (Err(error), _) => {
                best_effort::tell(ui, "run", "the state before was not saved", &error.into());
                None
            }
        };
        Before { context: Some(context), begun }
    }

    /// The command runs as this process.
    fn command_is(&mut self, pid: u32) {
        if let (Some(context), Some(begun)) = (&mut self.context, &self.begun) {
            // What is recorded now names this process, which lives as long.
            let _ = at_work(context, begun, pid);
        }
    }

    /// There is no command.
    fn give_up(&mut self) {
        if let (Some(context), Some(begun)) = (&mut self.context, &self.begun) {
            // What stays behind counts for nothing when this process has ended.
            let _ = finish(context, begun);
        }
    }
}

/// Saves the state after the command.
fn record(begun: Option<&Begun>, request: &RunRequest, code: u8, ui: &mut Ui) -> Result<(), Failure> {
    let mut context = super::open(ui)?;
    let saved = capture(&mut context, begun, request, code);
    let finished = begun.map_or(Ok(()), |begun| finish(&mut context, begun));
    let saved = saved?;
    finished?;
    // A pipeline's log holds what the command says, and no more.
    if ui.is_seen() {
        match saved {
            SaveOutcome::Captured(checkpoint) => {
                ui.say(format!("checkpoint {}: {}", checkpoint.number, sanitize(&checkpoint.subject)));
            }
            SaveOutcome::Unchanged(checkpoint) => ui.say(format!("unchanged since checkpoint {}", checkpoint.number)),
            SaveOutcome::Disabled => {}
        }
    }
    Ok(())
}
