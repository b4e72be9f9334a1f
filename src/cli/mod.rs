//! The command line and the terminal: one file per command, each holding its options and its `run`.

pub mod exit;
pub mod failure;
pub mod output;

mod best_effort;
mod branch;
mod browse;
mod complete;
mod completions;
mod diff;
mod doctor;
mod drop;
mod export;
mod fetch;
mod hook;
mod hooks;
mod import;
mod list;
mod name;
mod panic;
mod parse;
mod prune;
mod push;
mod redo;
mod render;
mod restore;
mod run;
mod save;
mod session;
mod show;
mod status;
mod undo;
mod usage;

pub use render::format::fields as format_fields;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::ops::restore::{interrupted, no_worktree};
use crate::ops::{Context, Error};
use failure::Failure;
use output::{ColorChoice, Options, Ui};

/// Saves, lists, compares and restores the exact state of a worktree without touching branch, HEAD, index or stash.
#[derive(Debug, Parser)]
#[command(
    name = "git-checkpoint",
    bin_name = "git checkpoint",
    version,
    about = "Save the exact state of the worktree, and bring it back",
    long_about = None,
    disable_help_subcommand = false,
    subcommand_help_heading = "Commands",
    after_help = "Without a command it saves, as `git stash` does. `git checkpoint help <command>` explains a command,\n\
                  `git help checkpoint` shows the manual."
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(flatten, next_help_heading = "Options of save")]
    save: save::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that every command has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// When to use colour: auto, always or never [config: color.checkpoint, color.ui]
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "always",
        hide_possible_values = true,
        value_parser = parse::color()
    )]
    color: Option<ColorChoice>,
    /// Print nothing but what was asked for, warnings and errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print the result as one JSON document
    #[arg(long, global = true)]
    json: bool,
    /// Do not send the result through a pager
    #[arg(long, global = true)]
    no_pager: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Save the state of the worktree
    Save(save::Args),
    /// List checkpoints, newest first
    List(list::Args),
    /// Show one checkpoint and how to restore it
    Show(show::Args),
    /// Compare checkpoints with each other or with the worktree
    Diff(diff::Args),
    /// Bring the worktree back to a checkpoint
    Restore(restore::Args),
    /// Take the last restore back
    Undo(undo::Args),
    /// Take the last undo back
    Redo(redo::Args),
    /// Show how things stand
    Status(status::Args),
    /// Give a checkpoint a name
    Name(name::Args),
    /// Make an ordinary branch that holds a checkpoint
    Branch(branch::Args),
    /// Remove checkpoints
    Drop(drop::Args),
    /// Remove the checkpoints that the limits let go
    Prune(prune::Args),
    /// Run a command as a step: save before the first one, and after each
    Run(run::Args),
    /// Start, end, list, show or delete a session
    Session(session::Args),
    /// Take an event that a coding agent tells of on standard input; prints nothing and never fails
    Hook(hook::Args),
    /// Put the hooks of coding agents into their settings, take them out, or show how they stand
    Hooks(hooks::Args),
    /// Write checkpoints into one file for another machine
    Export(export::Args),
    /// Read checkpoints from such a file
    Import(import::Args),
    /// Send checkpoints to a remote
    Push(push::Args),
    /// Take the checkpoints of a remote
    Fetch(fetch::Args),
    /// Look for what is wrong with checkpoints, and mend it
    Doctor(doctor::Args),
    /// Look at checkpoints on a screen, compare them, and restore from it
    Browse(browse::Args),
    /// Print the completion script for a shell
    Completions(completions::Args),
}

/// Runs the program.
pub fn main() -> ExitCode {
    crate::sys::signals::ignore_file_size_signal();
    panic::install();
    if let Some(exit) = hook::answer(std::env::args_os()) {
        return exit;
    }
    if let Some(exit) = complete::answer() {
        return exit.into();
    }
    let cli = match usage::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(exit) => return exit.into(),
    };
    let mut ui = Ui::new(cli.global.options());
    let done = cli.run(&mut ui).and_then(|exit| Ok(ui.finish().map(|()| exit)?));
    done.unwrap_or_else(|failure| {
        let exit = failure::report(&failure, &mut ui);
        // What cannot be written now has been reported, or the reader has left.
        let _ = ui.finish();
        exit.into()
    })
}

impl Cli {
    fn run(&self, ui: &mut Ui) -> Result<ExitCode, Failure> {
        let Some(command) = &self.command else { return save::run(&self.save, ui).map(ExitCode::from) };
        let done = match command {
            Command::Save(args) => save::run(args, ui),
            Command::List(args) => list::run(args, ui),
            Command::Show(args) => show::run(args, ui),
            Command::Diff(args) => diff::run(args, ui),
            Command::Restore(args) => restore::run(args, ui),
            Command::Undo(args) => undo::run(args, ui),
            Command::Redo(args) => redo::run(args, ui),
            Command::Status(args) => status::run(args, ui),
            Command::Name(args) => name::run(args, ui),
            Command::Branch(args) => branch::run(args, ui),
            Command::Drop(args) => drop::run(args, ui),
            Command::Prune(args) => prune::run(args, ui),
            // Its exit code is that of another program.
            Command::Run(args) => return Ok(run::run(args, ui)),
            Command::Session(args) => session::run(args, ui),
            Command::Hook(args) => return Ok(hook::run(args)),
            Command::Hooks(args) => hooks::run(args, ui),
            Command::Export(args) => export::run(args, ui),
            Command::Import(args) => import::run(args, ui),
            Command::Push(args) => push::run(args, ui),
            Command::Fetch(args) => fetch::run(args, ui),
            Command::Doctor(args) => doctor::run(args, ui),
            Command::Browse(_) => browse::run(ui),
            Command::Completions(args) => completions::run(args, ui),
        };
        done.map(ExitCode::from)
    }
}

impl Global {
    fn options(&self) -> Options {
        Options { color: self.color, quiet: self.quiet, json: self.json, no_pager: self.no_pager }
    }
}

/// As [`open`], for commands that only look: warns of a restore that was interrupted.
fn open_to_look(ui: &mut Ui) -> Result<Context, Failure> {
    let context = open(ui)?;
    if let Some(blocker) = interrupted(&context.repo)? {
        ui.warn(format!("{}; files may be half old, half new", blocker.message));
        ui.hint(&blocker.hint);
    }
    Ok(context)
}

/// As [`open`], for commands that restore: where there is no worktree they are refused like for any other reason.
fn open_to_restore(ui: &mut Ui) -> Result<Context, Failure> {
    open(ui).map_err(|failure| match failure {
        Failure::Operation(Error::Git(error)) => match no_worktree(&error) {
            Some(blocker) => Failure::Operation(Error::Refused(vec![blocker])),
            None => Failure::Operation(Error::Git(error)),
        },
        other => other,
    })
}

/// Opens the repository around the current directory, lets its configuration decide about colour and pager, and shows
/// progress from then on.
fn open(ui: &mut Ui) -> Result<Context, Failure> {
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    let context = Context::open(&directory)?;
    ui.configure(context.repo.terminal_config())?;
    ui.show_progress();
    Ok(context)
}
