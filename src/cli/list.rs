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
use super::render::list::{Layout, Worktrees};
use super::render::{self, json};
use crate::model::Kind;
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
    let mut checkpoints = ops::list(&context, &args.request()?)?;
    let patience = match &format {
        Some(format) if !format.needs_stat() => None,
        Some(_) => Some(PATIENCE_OF_PROGRAMS),
        None if ui.wants_json() => Some(PATIENCE_OF_PROGRAMS),
        None if ui.is_terminal() => Some(PATIENCE),
        None => Some(PATIENCE_IN_A_PIPE),
    };
    if let Some(patience) = patience {
        ops::add_stats(&mut context, &mut checkpoints, Some(patience));
    }
    if ui.wants_json() {
        ui.json(&json::List::of(&checkpoints))?;
        return Ok(Exit::Done);
    }
    ui.page()?;
    let clock = Clock::new(sys::now_millis());
    let end: u8 = if args.nul { 0 } else { b'\n' };
    if let Some(format) = format {
        let shown = if ui.is_terminal() { Shown::Terminal } else { Shown::Exact };
        let mut line = Vec::new();
        for checkpoint in &checkpoints {
            line.clear();
            format.write(checkpoint, &clock, shown, &mut line);
            line.push(end);
            ui.out().write_all(&line)?;
        }
        return Ok(Exit::Done);
    }
    // Looking at the worktree costs more than the list; a program that reads it has `save --exit-code` for that question.
    let current = if ui.is_terminal() { ops::current(&context, &checkpoints) } else { None };
    let layout = Layout {
        styles: ui.styles(),
        width: ui.is_terminal().then(|| ui.width()),
        clock: &clock,
        current: current.as_ref(),
        worktrees: if args.all_worktrees { Worktrees::All } else { Worktrees::One },
        end,
    };
    let form = diff::Form { stat: true, ..diff::Form::default() };
    let stat = args.stat.then(|| diff::Printer::new(&form, &context.repo, ui));
    render::list::write(ui.out(), &checkpoints, &layout, |out, checkpoint| match &stat {
        Some(stat) => stat.summary_of(&context, checkpoint, out),
        None => Ok(()),
    })?;
    if checkpoints.is_empty() {
        ui.say("no checkpoints");
    }
    Ok(Exit::Done)
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
