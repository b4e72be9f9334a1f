//! `git checkpoint list`.

use std::ffi::OsString;
use std::time::Duration;

use super::complete;
use super::diff;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui};
use super::parse;
use super::render::format::{Format, Shown};
use super::render::json;
use super::render::list::{Layout, Table, Worktrees};
use crate::model::{Checkpoint, Kind};
use crate::ops::{self, ListRequest};
use crate::sys;

/// Options of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show at most N checkpoints
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    pub limit: Option<u64>,
    /// Show those of every worktree, not only of this one
    #[arg(short, long)]
    pub all_worktrees: bool,
    /// Show those of one session
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
    /// Show those of one kind; may be repeated
    #[arg(long, value_name = "KIND", value_parser = parse::kind())]
    pub kind: Vec<Kind>,
    /// Show those made at or after a time, such as `2h`, `yesterday` or `2026-05-09`
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Show those made at or before a time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Show those whose message, name or step matches a regular expression
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Add the files that each changed
    #[arg(long, conflicts_with_all = ["format", "json", "nul"])]
    pub stat: bool,
    /// Oldest first
    #[arg(long)]
    pub reverse: bool,
    /// Print each in your own format, such as `%(number) %(subject)`
    #[arg(long, value_name = "FMT", conflicts_with = "json")]
    pub format: Option<String>,
    /// End each record with NUL instead of a line break
    #[arg(short = 'z', conflicts_with = "json")]
    pub nul: bool,
    /// Show only those that changed these paths
    #[arg(last = true, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub paths: Vec<OsString>,
}

/// A person does not wait longer than this for counts that are not known yet; those that take longer are left out, and follow
/// with the next list.
const PATIENCE: Duration = Duration::from_millis(150);
/// The same for the table when nobody looks at it.
const PATIENCE_IN_A_PIPE: Duration = Duration::from_millis(30);
/// The same for a program, which asks for all of them.
const PATIENCE_OF_PROGRAMS: Duration = Duration::from_secs(1);

/// Runs `list`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let format = args.format.as_deref().map(Format::parse).transpose().map_err(Failure::Usage)?;
    let mut context = super::open_to_look(ui)?;
    let request = args.request()?;
    let end: u8 = if args.nul { 0 } else { b'\n' };
    let (clock, terminal) = (Clock::new(sys::now_millis()), ui.is_terminal());
    if ui.wants_json() || format.is_some() {
        let mut checkpoints = ops::list(&context, &request)?;
        if format.as_ref().is_none_or(Format::needs_stat) {
            ops::add_stats(&mut context, &mut checkpoints, Some(PATIENCE_OF_PROGRAMS));
        }
        let Some(format) = format else {
            ui.json(&json::List::of(&checkpoints))?;
            return Ok(Exit::Done);
        };
        ui.page()?;
        write_formatted(ui, &checkpoints, &format, &clock, end)?;
        return Ok(Exit::Done);
    }
    let patience = if terminal { PATIENCE } else { PATIENCE_IN_A_PIPE };
    // Looking at the worktree costs more than the list; a program that reads it has `save --exit-code` for that question.
    let current = if terminal { ops::current(&context) } else { None };
    let mut table = Table::new(&clock, if args.all_worktrees { Worktrees::All } else { Worktrees::One });
    let mut checkpoints = Vec::new();
    if args.stat {
        checkpoints = ops::list(&context, &request)?;
        ops::add_stats(&mut context, &mut checkpoints, Some(patience));
        checkpoints.iter().for_each(|checkpoint| table.add(&checkpoint.into(), current == Some(checkpoint.number)));
    } else {
        ops::summarize(&mut context, &request, patience, |line| table.add(line, current == Some(line.number)))?;
    }
    let is_empty = table.is_empty();
    ui.page()?;
    let form = diff::Form { stat: true, ..diff::Form::default() };
    let stat = args.stat.then(|| diff::Printer::new(&form, &context.repo, ui));
    let layout = Layout { styles: ui.styles(), width: terminal.then(|| ui.width()), end };
    table.write(ui.out(), &layout, |out, line| match &stat {
        Some(stat) => stat.summary_of(&context, &checkpoints[line], out),
        None => Ok(()),
    })?;
    if is_empty {
        ui.say("no checkpoints");
    }
    Ok(Exit::Done)
}

/// Writes each of `checkpoints` in a form of the caller's own.
fn write_formatted(ui: &mut Ui, checkpoints: &[Checkpoint], format: &Format, clock: &Clock, end: u8) -> Result<(), Failure> {
    let shown = if ui.is_terminal() { Shown::Terminal } else { Shown::Exact };
    let mut line = Vec::new();
    for checkpoint in checkpoints {
        line.clear();
        format.write(checkpoint, clock, shown, &mut line);
        line.push(end);
        ui.out().write_all(&line)?;
    }
    Ok(())
}

impl Args {
    fn request(&self) -> Result<ListRequest, Failure> {
        Ok(ListRequest {
            all_worktrees: self.all_worktrees,
            session: self.session.clone(),
            kinds: self.kind.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            grep: self.grep.clone(),
            limit: self.limit,
            reverse: self.reverse,
            paths: diff::paths(&self.paths)?,
        })
    }
}
