//! Answers to a shell that asks how a command line may go on: `COMPLETE=<shell> git-checkpoint -- git-checkpoint <word>…`.
//!
//! The scripts in `completions/` ask this. Whatever fails here leaves the person without an offer, never with a message on the
//! line that is being typed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use clap_complete::{ArgValueCompleter, CompleteEnv};

use super::Cli;
use super::exit::Exit;
use super::output::{Clock, sanitize};
use crate::model::{BlockerCode, Override};
use crate::ops::{self, Candidate};
use crate::sys;

/// The variable that asks, as the value names the shell. Whatever else it holds is meant for another program.
const VARIABLE: &str = "COMPLETE";
/// The variable in which bash and zsh tell which word is to be completed.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// Answers the question in the environment. None if there is none and the program is to run as usual.
pub(super) fn answer() -> Option<Exit> {
    let shell = sys::env::text(VARIABLE)?;
    Shells::builtins().completer(&shell)?;
    let directory = std::env::current_dir().ok();
    let wants_options = asked_for().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let factory = || if wants_options { Cli::command() } else { behind_all_else(Cli::command()) };
    let asked = CompleteEnv::with_factory(factory).var(VARIABLE).bin("git-checkpoint");
    match asked.try_complete(std::env::args_os(), directory.as_deref()) {
        Ok(_) => Some(Exit::Done),
        Err(_) => Some(Exit::Usage),
    }
}

/// The word that is to be completed, as far as it is typed.
fn asked_for() -> Option<OsString> {
    let mut words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    match sys::env::text(INDEX).and_then(|index| index.parse().ok()) {
        Some(index) => words.nth(index),
        // Fish ends the line at the cursor.
        None => words.last(),
    }
}

/// The command with its options hidden: they are offered where nothing else is, and where the word begins with a dash. Among
/// checkpoints they would only be in the way.
fn behind_all_else(mut command: Command) -> Command {
    command.build();
    hide_options(command)
}

fn hide_options(command: Command) -> Command {
    let hide = |arg: Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    command.mut_args(hide).mut_subcommands(hide_options)
}

/// Completes what names a checkpoint.
pub(super) fn selectors() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| offer(typed, ops::candidates))
}

/// Completes what names a checkpoint or a commit.
pub(super) fn revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut offered = offer(typed, ops::candidates);
        if typed.to_str().is_some_and(|typed| "HEAD".starts_with(typed)) {
            offered.push(CompletionCandidate::new("HEAD").display_order(Some(offered.len())));
        }
        offered
    })
}

/// Completes a name of a checkpoint.
pub(super) fn names() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| offer(typed, ops::name_candidates))
}

/// Completes the key of a session.
pub(super) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| offer(typed, ops::session_candidates))
}

/// Completes the code of a blocker that `restore --allow` can override.
pub(super) fn allowed() -> ArgValueCompleter {
    codes(|code| code.override_by() == Some(Override::Allow) && code != BlockerCode::NeededByUndo)
}

/// Completes the code of a blocker that `drop --allow` can override.
pub(super) fn allowed_in_drop() -> ArgValueCompleter {
    codes(|code| code == BlockerCode::NeededByUndo)
}

fn codes(is_offered: fn(BlockerCode) -> bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let codes = BlockerCode::ALL.into_iter().filter(|code| is_offered(*code));
        let words = codes.map(BlockerCode::as_str).filter(|word| typed.to_str().is_some_and(|typed| word.starts_with(typed)));
        words.map(CompletionCandidate::new).collect()
    })
}

fn offer(typed: &OsStr, find: impl Fn(&Path, &str) -> Result<Vec<Candidate>, ops::Error>) -> Vec<CompletionCandidate> {
    let found = typed.to_str().and_then(|typed| find(&std::env::current_dir().ok()?, typed).ok());
    let clock = Clock::new(sys::now_millis());
    let found = found.unwrap_or_default().into_iter().enumerate();
    found.map(|(at, candidate)| explained(candidate, &clock).display_order(Some(at))).collect()
}

/// A candidate with what a person needs to choose: age, kind and subject.
fn explained(candidate: Candidate, clock: &Clock) -> CompletionCandidate {
    let help = candidate.checkpoint.map(|checkpoint| {
        let text = format!("{}, {}: {}", clock.when(checkpoint.created_at), checkpoint.kind, checkpoint.subject);
        sanitize(&text).into_owned().into()
    });
    CompletionCandidate::new(candidate.word).help(help)
}
