//! `git checkpoint prune`.

use std::time::Duration;

use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::render::retention as render;
use crate::git::{parse_age, parse_size};
use crate::ops::retention::{PruneRequest, prune};

/// Options of `prune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print what would be removed, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Keep this many checkpoints of each worktree, the newest; 0: all [config: checkpoint.keepLast]
    #[arg(long, value_name = "N")]
    pub keep_last: Option<u64>,
    /// Keep those that are not older, such as `90d` or `2w`; `never`: all [config: checkpoint.maxAge]
    #[arg(long, value_name = "DURATION")]
    pub max_age: Option<String>,
    /// Keep so many bytes, such as `500m`, of what only checkpoints hold; 0: all [config: checkpoint.maxSize]
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<String>,
    /// Remove those of worktrees that were removed at once, and not only 14 days later
    #[arg(long)]
    pub removed_worktrees: bool,
}

/// Runs `prune`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let request = PruneRequest {
        dry_run: args.dry_run,
        keep_last: args.keep_last,
        max_age: args.max_age.as_deref().map(age).transpose()?,
        max_size: args.max_size.as_deref().map(size).transpose()?,
        removed_worktrees: args.removed_worktrees,
    };
    let mut context = if args.dry_run { super::open_to_look(ui)? } else { super::open(ui)? };
    let outcome = prune(&mut context, &request)?;
    if ui.wants_json() {
        ui.json(&render::prune_document(&outcome))?;
        return Ok(Exit::Done);
    }
    if outcome.dry_run {
        let styles = ui.styles();
        render::write_pruned(ui.out(), &styles, &outcome)?;
        writeln!(ui.out(), "{}", render::pruned(&outcome))?;
    } else {
        ui.done(render::pruned(&outcome))?;
    }
    render::bytes_line(outcome.bytes, !outcome.dry_run).iter().for_each(|line| ui.say(line));
    Ok(Exit::Done)
}

fn age(text: &str) -> Result<Duration, Failure> {
    let rule = "write `never`, or a number with a unit, such as `36h`, `90d` or `2w`";
    parse_age(text).ok_or_else(|| Failure::Usage(format!("`{text}` after `--max-age` is no age: {rule}")))
}

fn size(text: &str) -> Result<u64, Failure> {
    let rule = "write a number of bytes, or one with `k`, `m` or `g`";
    parse_size(text).ok_or_else(|| Failure::Usage(format!("`{text}` after `--max-size` is no size: {rule}")))
}
