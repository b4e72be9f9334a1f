//! `git checkpoint show`.

use super::complete;
use super::diff::{self, Form, Names};
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Clock, Ui};
use super::render::format::{Format, Shown};
use super::render::{self, json};
use crate::ops::{add_stats, change_of, select};
use crate::sys;

/// Options of `show`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoint [default: the newest of this worktree]
    #[arg(value_name = "CHECKPOINT", add = complete::selectors())]
    pub selector: Option<String>,
    /// Add the files it changed and how much
    #[arg(long, group = "part")]
    pub stat: bool,
    /// Add what it changed as a patch
    #[arg(short, long, group = "part", conflicts_with = "json")]
    pub patch: bool,
    /// Add the files it changed and how
    #[arg(long, group = "part")]
    pub name_status: bool,
    /// Print only what it did not capture, and why
    #[arg(long, group = "part")]
    pub manifest: bool,
    /// Print it in your own format, such as `%(number) %(subject)`
    #[arg(long, value_name = "FMT", group = "part", conflicts_with = "json")]
    pub format: Option<String>,
}

/// Runs `show`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let format = args.format.as_deref().map(Format::parse).transpose().map_err(Failure::Usage)?;
    let mut context = super::open_to_look(ui)?;
    let mut checkpoint = select(&context.repo, &context.store, args.selector.as_deref().unwrap_or("@"))?;
    add_stats(&mut context, std::slice::from_mut(&mut checkpoint), None);
    if ui.wants_json() {
        ui.json(&json::show(&checkpoint))?;
        return Ok(Exit::Done);
    }
    ui.page()?;
    let clock = Clock::new(sys::now_millis());
    if let Some(format) = format {
        let shown = if ui.is_terminal() { Shown::Terminal } else { Shown::Exact };
        let mut line = Vec::new();
        format.write(&checkpoint, &clock, shown, &mut line);
        line.push(b'\n');
        ui.out().write_all(&line)?;
        return Ok(Exit::Done);
    }
    if args.manifest {
        render::show::manifest(ui.out(), &checkpoint.skipped, "")?;
        if checkpoint.is_complete() {
            ui.say("nothing was left out");
        }
        return Ok(Exit::Done);
    }
    let styles = ui.styles();
    render::show::write(ui.out(), &checkpoint, &clock, &styles)?;
    if let Some(form) = args.form() {
        let change = change_of(&context, &checkpoint)?;
        if !change.pairs().is_empty() {
            ui.out().write_all(b"\n")?;
        }
        diff::print(&change, &form, &context.repo, ui)?;
    }
    Ok(Exit::Done)
}

impl Args {
    /// Which part of what it changed is asked for.
    fn form(&self) -> Option<Form> {
        let names = self.name_status.then_some(Names::Status);
        let form = Form { names, stat: self.stat, patch: self.patch, ..Form::default() };
        (self.name_status || self.stat || self.patch).then_some(form)
    }
}
