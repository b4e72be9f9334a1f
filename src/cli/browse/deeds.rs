//! What can be done from the screen, done by the same operations as the commands: first the plan of it, then the deed.

use std::path::Path;

use super::describe::checkpoint;
use super::look::{Spans, Tone};
use super::place::Place;
use super::work::{Deed, Ending, Outcome, Plan};
use crate::cli::failure::{Failure, in_lines};
use crate::cli::output::{Styles, plural, sanitize};
use crate::cli::render::memory as memory_words;
use crate::cli::render::restore as words;
use crate::cli::render::retention;
use crate::model::{Blocker, BlockerCode, What};
use crate::ops::handoff::{ExportRequest, export};
use crate::ops::restore::{Consent, RestoreOutcome, RestoreRequest, RestoreStatus, Verb, restore};
use crate::ops::retention::{DropOutcome, DropRequest, DropStatus, drop};
use crate::ops::undo::{Direction, step};
use crate::ops::{self, Context, Error};

/// Whether something is only worked out, or done because the person agreed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Look,
    Agreed,
}

/// Works out what `deed` would do, and changes nothing.
pub(super) fn plan(context: &mut Context, place: &Place, deed: &Deed) -> Result<Plan, String> {
    let planned = match deed {
        Deed::Drop { number, allow } => drop_one(context, *number, allow, Mode::Look).map(|outcome| plan_of_drop(deed, &outcome)),
        Deed::Restore { .. } | Deed::Undo { .. } | Deed::Redo { .. } => {
            go(context, place, deed, Mode::Look).map(|outcome| match outcome {
                Some(outcome) => plan_of_restore(place, deed, &outcome),
                None => nothing_to_do(deed),
            })
        }
        // These ask for a word, and that is all there is to agree to.
        Deed::Name { .. } | Deed::Branch { .. } | Deed::Export { .. } => Ok(nothing_to_do(deed)),
    };
    planned.map_err(|error| {
        let (message, hints) = in_lines(&error.into());
        std::iter::once(message).chain(hints).collect::<Vec<_>>().join("; ")
    })
}

/// Does it: the person agreed.
pub(super) fn carry_out(context: &mut Context, place: &Place, deed: &Deed) -> Outcome {
    let done = match deed {
        Deed::Drop { number, allow } => {
            drop_one(context, *number, allow, Mode::Agreed).map(|outcome| outcome_of_drop(&outcome)).map_err(Failure::from)
        }
        Deed::Restore { .. } | Deed::Undo { .. } | Deed::Redo { .. } => {
            let done = go(context, place, deed, Mode::Agreed).map_err(Failure::from);
            done.map(|outcome| outcome.map_or_else(|| done_in_short(nothing_to_do(deed).title), |it| outcome_of_restore(&it)))
        }
        Deed::Name { number, name } => give_name(context, *number, name).map(done_in_short),
        Deed::Branch { number, name } => make_branch(context, *number, name).map(done_in_short),
        Deed::Export { number, file } => write_file(context, *number, &place.directory.join(file)).map(done_in_short),
    };
    done.unwrap_or_else(|failure| {
        let (message, hints) = in_lines(&failure);
        failed(&message, hints.into_iter().map(|hint| vec![(Tone::Hint, sanitize(&hint).into_owned())]).collect())
    })
}

/// It failed, for this reason.
pub(super) fn failed(message: &str, lines: Vec<Spans>) -> Outcome {
    Outcome { title: sanitize(message).into_owned(), lines, ending: Ending::Failed }
}

fn done_in_short(title: String) -> Outcome {
    Outcome { title: sanitize(&title).into_owned(), lines: Vec::new(), ending: Ending::Done }
}

fn go(context: &mut Context, place: &Place, deed: &Deed, mode: Mode) -> Result<Option<RestoreOutcome>, Error> {
    let request = |selector: &str, allow: &[BlockerCode]| RestoreRequest {
        dry_run: mode == Mode::Look,
        consent: if mode == Mode::Agreed { Consent::Given } else { Consent::Missing },
        allow: allow.to_vec(),
        ..RestoreRequest::of(selector, &place.directory)
    };
    match deed {
        Deed::Restore { number, what, allow } => {
            let request = request(&number.to_string(), allow);
            restore(context, &RestoreRequest { what: *what, insists: *what != What::Code, ..request }).map(Some)
        }
        Deed::Undo { allow } => step(context, Direction::Undo, &request("", allow)),
        Deed::Redo { allow } => step(context, Direction::Redo, &request("", allow)),
        Deed::Drop { .. } | Deed::Name { .. } | Deed::Branch { .. } | Deed::Export { .. } => Ok(None),
    }
}

fn nothing_to_do(deed: &Deed) -> Plan {
    let title = match deed {
        Deed::Redo { .. } => "nothing to redo: no restore was undone in this worktree",
        _ => "nothing to undo: no restore was done in this worktree",
    };
    Plan {
        deed: deed.clone(),
        title: title.to_owned(),
        summary: Vec::new(),
        steps: Vec::new(),
        blockers: Vec::new(),
        question: None,
        has_memory: false,
    }
}

fn plan_of_restore(place: &Place, deed: &Deed, outcome: &RestoreOutcome) -> Plan {
    let target = words::title(&outcome.target);
    let title = match outcome.verb {
        Verb::Restore => format!("restore {target}"),
        Verb::Undo => format!("undo the last restore: back to {target}"),
        Verb::Redo => format!("do the restore again: forward to {target}"),
    };
    let top = sanitize(&place.top.display().to_string()).into_owned();
    let here = if place.names_main { format!("the main worktree `{top}`") } else { format!("`{top}`") };
    let mut summary = vec![vec![(Tone::Strong, words::summary(outcome))]];
    summary.extend(words::notes(outcome).iter().map(|note| plain(note)));
    summary.extend(memory(outcome));
    summary.push(plain("what is there now is kept as a checkpoint first; branch and HEAD stay where they are"));
    let verb = outcome.verb.as_str();
    Plan {
        deed: deed.clone(),
        title,
        summary,
        steps: steps(outcome),
        blockers: outcome.blockers.clone(),
        question: Some(format!("{verb} in {here}?")),
        has_memory: matches!(deed, Deed::Restore { .. }) && outcome.target.boundary.is_some(),
    }
}

/// The steps of a plan and what it keeps, as the command prints them.
fn steps(outcome: &RestoreOutcome) -> Vec<Spans> {
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    words::write_plan(&mut text, &Styles::default(), outcome).unwrap_or_default();
    let line = |line: &str| {
        let (word, path) = line.split_once(' ').unwrap_or((line, ""));
        let tone = match word {
            "add" => Tone::Added,
            "delete" => Tone::Removed,
            "keep" => Tone::Dim,
            _ => Tone::Plain,
        };
        vec![(tone, format!("{word:<8}")), (Tone::Plain, path.to_owned())]
    };
    String::from_utf8_lossy(&text).lines().map(line).collect()
}

fn outcome_of_restore(outcome: &RestoreOutcome) -> Outcome {
    let mut lines: Vec<Spans> = Vec::new();
    if outcome.status == RestoreStatus::Restored && outcome.verified {
        lines.push(vec![(Tone::Current, "verified".to_owned()), (Tone::Plain, ": what was written was read back".to_owned())]);
    }
    if outcome.status != RestoreStatus::Refused {
        lines.extend(words::notes(outcome).iter().map(|note| plain(note)));
    }
    lines.extend(outcome.rescued.iter().map(|it| vec![(Tone::Warning, sanitize(&words::rescued_line(it)).into_owned())]));
    lines.extend(memory(outcome));
    let (title, ending) = match outcome.status {
        RestoreStatus::Restored | RestoreStatus::Partial if outcome.has_files() => (words::result(outcome), Ending::Undoable),
        RestoreStatus::Restored | RestoreStatus::Partial => (words::result_without_files(outcome), Ending::Undoable),
        RestoreStatus::Unchanged | RestoreStatus::DryRun => (words::unchanged(outcome), Ending::Done),
        RestoreStatus::Refused => {
            lines.extend(in_the_way(&outcome.blockers));
            ("refused: nothing was changed".to_owned(), Ending::Failed)
        }
    };
    if let (Some(before), Ending::Undoable) = (&outcome.pre_restore, ending) {
        lines.push(plain(&format!("what was there before is checkpoint {}", before.number)));
    }
    // From an undo the way back leads forward.
    let ending = if outcome.verb == Verb::Undo && ending == Ending::Undoable { Ending::Redoable } else { ending };
    Outcome { title, lines, ending }
}

/// What becomes of an agent's memory, and how to go on with it.
fn memory(outcome: &RestoreOutcome) -> Vec<Spans> {
    let Some(memory) = &outcome.memory else { return Vec::new() };
    let failure = memory.failure.as_ref().map(|(_, message)| format!("the memory stays as it is: {}", sanitize(message)));
    let failure = failure.map(|failure| vec![(Tone::Warning, failure)]);
    failure.into_iter().chain(memory_words::lines(memory).iter().map(|line| plain(line))).collect()
}

/// Why something cannot be done, each reason with its way out.
pub(super) fn in_the_way(blockers: &[Blocker]) -> Vec<Spans> {
    let mut lines = Vec::new();
    for Blocker { code, message, hint } in blockers {
        lines.push(vec![
            (Tone::Error, "blocked: ".to_owned()),
            (Tone::Plain, format!("{} ({})", sanitize(message), code.as_str())),
        ]);
        lines.push(vec![(Tone::Hint, "way out: ".to_owned()), (Tone::Plain, sanitize(hint).into_owned())]);
    }
    lines
}

fn plain(text: &str) -> Spans {
    vec![(Tone::Plain, sanitize(text).into_owned())]
}

fn drop_one(context: &mut Context, number: u64, allow: &[BlockerCode], mode: Mode) -> Result<DropOutcome, Error> {
    let request = DropRequest {
        checkpoints: vec![checkpoint(context, number)?],
        dry_run: mode == Mode::Look,
        consent: if mode == Mode::Agreed { Consent::Given } else { Consent::Missing },
        allow: allow.to_vec(),
    };
    drop(context, &request)
}

fn plan_of_drop(deed: &Deed, outcome: &DropOutcome) -> Plan {
    let described = outcome.checkpoints.iter().map(retention::described).collect::<Vec<_>>().join("; ");
    Plan {
        deed: deed.clone(),
        title: format!("drop {described}"),
        summary: about_drop(outcome, false),
        steps: Vec::new(),
        blockers: outcome.blockers.clone(),
        question: Some("drop it for good?".to_owned()),
        has_memory: false,
    }
}

fn outcome_of_drop(outcome: &DropOutcome) -> Outcome {
    if outcome.status == DropStatus::Refused {
        return failed("refused: nothing was changed", in_the_way(&outcome.blockers));
    }
    Outcome { title: retention::dropped(outcome), lines: about_drop(outcome, true), ending: Ending::Done }
}

fn about_drop(outcome: &DropOutcome, is_done: bool) -> Vec<Spans> {
    let lines = [retention::names_line(outcome), retention::steps_line(outcome), retention::bytes_line(outcome.bytes, is_done)];
    lines.iter().flatten().map(|line| plain(line)).collect()
}

fn give_name(context: &mut Context, number: u64, name: &str) -> Result<String, Failure> {
    let named = ops::name(context, &number.to_string(), name)?;
    let before = named.moved_from.map(|before| format!(", no longer checkpoint {}", before.number)).unwrap_or_default();
    Ok(format!("checkpoint {number} is now called `{name}`{before}"))
}

fn make_branch(context: &Context, number: u64, name: &str) -> Result<String, Failure> {
    let (held, commit) = ops::branch(context, name, &number.to_string())?;
    Ok(format!("branch `{name}` holds {} as commit {}", words::title(&held), commit.to_hex_with_len(8)))
}

/// A file that is there already is left alone: nobody was asked about it.
fn write_file(context: &Context, number: u64, file: &Path) -> Result<String, Failure> {
    if file.symlink_metadata().is_ok() {
        return Err(Failure::Usage(format!("`{}` is there already", file.display())));
    }
    let request = ExportRequest { selectors: vec![number.to_string()], ..ExportRequest::default() };
    let exported = export(context, &request, file)?;
    Ok(format!("{} written to {}", plural(exported.checkpoints.len() as u64, "checkpoint"), file.display()))
}
