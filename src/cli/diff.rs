//! `git checkpoint diff`, and the differences that `show` and `list` print.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::render::diffstat::{self, End};
use crate::git::Repo;
use crate::git::diff::{Comparison, Format, Palette, Paths, Quoting, Renames, Scope, Whitespace};
use crate::model::Checkpoint;
use crate::ops::{self, Context, DiffRequest};

/// Options of `diff`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to compare: nothing for the newest checkpoint with the worktree, one checkpoint or commit for it with the
    /// worktree, two for the first with the second
    #[arg(value_name = "CHECKPOINT", add = complete::revisions(), num_args = 0..=2)]
    pub sides: Vec<String>,
    /// Show the files and how many lines changed in each
    #[arg(long)]
    pub stat: bool,
    /// Show the same counts for programs
    #[arg(long)]
    pub numstat: bool,
    /// Show only the paths
    #[arg(long, conflicts_with = "name_status")]
    pub name_only: bool,
    /// Show the paths and whether each was added, modified or deleted
    #[arg(long)]
    pub name_status: bool,
    /// Show a patch; the default
    #[arg(short, long)]
    pub patch: bool,
    /// End each record with NUL instead of a line break, and do not quote paths
    #[arg(short = 'z', conflicts_with = "json")]
    pub nul: bool,
    /// Ignore white space when comparing lines
    #[arg(short = 'w', long)]
    pub ignore_all_space: bool,
    /// Show a patch with this many lines of context
    #[arg(short = 'U', long, value_name = "N")]
    pub unified: Option<u32>,
    /// Show a renamed file as deleted and added
    #[arg(long)]
    pub no_renames: bool,
    /// Exit with 1 if there are differences
    #[arg(long)]
    pub exit_code: bool,
    /// Only these paths
    #[arg(last = true, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub paths: Vec<OsString>,
}

/// Runs `diff`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let context = super::open_to_look(ui)?;
    let renames = if args.no_renames { Renames::Ignore } else { Renames::Find };
    let scope = Scope { paths: paths(&args.paths)?, renames };
    let request = DiffRequest { sides: args.sides.clone(), scope };
    let comparison = ops::diff(&context, &request)?;
    let differs = if ui.wants_json() {
        let files = comparison.counts(&Printer::new(&args.form(), &context.repo, ui).format)?;
        ui.json(&diffstat::document(&files))?;
        !files.is_empty()
    } else {
        ui.page()?;
        print(&comparison, &args.form(), &context.repo, ui)?
    };
    Ok(if args.exit_code && differs { Exit::Negative } else { Exit::Done })
}

impl Args {
    fn form(&self) -> Form {
        let names = match (self.name_only, self.name_status) {
            (true, _) => Some(Names::Paths),
            (_, true) => Some(Names::Status),
            _ => None,
        };
        let other = self.stat || self.numstat || names.is_some();
        Form {
            names,
            numstat: self.numstat,
            stat: self.stat,
            patch: self.patch || self.unified.is_some() || !other,
            nul: self.nul,
            ignore_all_space: self.ignore_all_space,
            context: self.unified.map_or(3, |lines| lines as usize),
        }
    }
}

/// Which list of names is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Paths alone.
    Paths,
    /// What happened, and the path.
    Status,
}

/// What of a difference is shown, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) names: Option<Names>,
    pub(super) numstat: bool,
    pub(super) stat: bool,
    pub(super) patch: bool,
    pub(super) nul: bool,
    pub(super) ignore_all_space: bool,
    pub(super) context: usize,
}

impl Default for Form {
    fn default() -> Self {
        Form { names: None, numstat: false, stat: false, patch: false, nul: false, ignore_all_space: false, context: 3 }
    }
}

/// Paths from the command line, relative to the current directory.
pub(super) fn paths(typed: &[OsString]) -> Result<Paths, Failure> {
    let directory = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
    Ok(Paths { directory, specs: typed.iter().map(|path| path.clone().into_vec().into()).collect() })
}

/// Puts differences into words for one stream.
pub(super) struct Printer {
    format: Format,
    width: usize,
}

impl Printer {
    pub(super) fn new(form: &Form, repo: &Repo, ui: &Ui) -> Printer {
        let format = Format {
            context: form.context,
            whitespace: if form.ignore_all_space { Whitespace::IgnoreAll } else { Whitespace::Exact },
            quoting: Quoting::of(repo),
            palette: (!ui.styles().meta.is_plain()).then_some(Palette::GIT),
        };
        Printer { format, width: ui.width() }
    }

    /// Writes which files `checkpoint` changed and how much. One that cannot be compared any more has no summary.
    pub(super) fn summary_of(&self, context: &Context, checkpoint: &Checkpoint, out: &mut dyn Write) -> io::Result<()> {
        let files = ops::change_of(context, checkpoint).and_then(|change| Ok(change.counts(&self.format)?));
        let mut text = Vec::new();
        diffstat::stat(&files.unwrap_or_default(), self.width, self.format.quoting, self.format.palette, &mut text);
        out.write_all(&text)
    }
}

/// Prints a difference; true if there was anything to print.
pub(super) fn print(comparison: &Comparison, form: &Form, repo: &Repo, ui: &mut Ui) -> Result<bool, Failure> {
    let Printer { format, width } = Printer::new(form, repo, ui);
    let end = if form.nul { End::Nul } else { End::Line(format.quoting) };
    let mut text = Vec::new();
    if let Some(names) = form.names {
        match names {
            Names::Paths => diffstat::names(comparison.pairs(), end, &mut text),
            Names::Status => diffstat::name_status(comparison.pairs(), end, &mut text),
        }
        ui.out().write_all(&text)?;
        return Ok(!text.is_empty());
    }
    if form.numstat || form.stat {
        let files = comparison.counts(&format)?;
        if form.numstat {
            diffstat::numstat(&files, end, &mut text);
        }
        if form.stat {
            diffstat::stat(&files, width, format.quoting, format.palette, &mut text);
        }
        if form.patch && !comparison.pairs().is_empty() {
            text.push(if form.nul { 0 } else { b'\n' });
        }
        ui.out().write_all(&text)?;
        if !form.patch {
            return Ok(!text.is_empty());
        }
    }
    print_patch(comparison, &format, repo, ui)
}

fn print_patch(comparison: &Comparison, format: &Format, repo: &Repo, ui: &mut Ui) -> Result<bool, Failure> {
    let mut result = Ok(false);
    comparison.patch(repo, format, |piece| {
        if !piece.is_empty() && result.is_ok() {
            result = ui.out().write_all(piece).map(|()| true);
        }
        result.is_ok()
    })?;
    result.map_err(|error: io::Error| error.into())
}
