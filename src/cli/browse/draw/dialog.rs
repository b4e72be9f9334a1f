//! What stands over the screen.

use ratatui::layout::{Position, Rect};

use super::brush::{Brush, wrapped};
use super::row;
use crate::cli::browse::deeds::in_the_way;
use crate::cli::browse::dialog::{Dialog, Input};
use crate::cli::browse::keys::HELP;
use crate::cli::browse::look::{Spans, Tone};
use crate::cli::browse::screen::Screen;
use crate::cli::browse::work::{Deed, Ending, Outcome, Plan};
use crate::cli::output::{display_width, sanitize};
use crate::model::What;

/// The widest that is still easy to read.
const WIDEST: u16 = 100;

/// What a dialog holds: what can be scrolled, and below it what always shows.
struct Content {
    title: String,
    lines: Vec<Spans>,
    below: Vec<Spans>,
}

/// Draws the dialog, if there is one. Returns where the cursor is, if something is typed.
pub(super) fn draw(brush: &mut Brush<'_>, screen: &mut Screen, area: Rect) -> Option<Position> {
    let dialog = screen.dialog.as_mut()?;
    let mut none = 0;
    let (content, top) = match dialog {
        Dialog::Help { top } => (help(), top),
        Dialog::Planning(deed) => (waiting("working out what this would do", &deed.in_progress(), true), &mut none),
        Dialog::Doing(deed) => (waiting("at work", &deed.in_progress(), false), &mut none),
        Dialog::Plan { plan, top } => (of_plan(plan), top),
        Dialog::Outcome { outcome, top } => (of_outcome(outcome), top),
        Dialog::Input(input) => return Some(draw_input(brush, input, area)),
    };
    draw_content(brush, &content, top, area);
    None
}

fn draw_content(brush: &mut Brush<'_>, content: &Content, top: &mut usize, area: Rect) {
    let width = area.width.saturating_sub(4).min(WIDEST);
    let inside = usize::from(width) - 4;
    let wrap = |lines: &[Spans]| lines.iter().flat_map(|line| wrapped(line, inside)).collect::<Vec<_>>();
    let (lines, below) = (wrap(&content.lines), wrap(&content.below));
    let fixed = below.len() + 3;
    let most = usize::from(area.height.saturating_sub(2));
    let shown = lines.len().min(most.saturating_sub(fixed));
    let frame = place(area, width, (shown + fixed) as u16);
    let is_cut = shown < lines.len();
    *top = (*top).min(lines.len() - shown);
    let note = if is_cut { format!("{}-{} of {}, j k scroll", *top + 1, *top + shown, lines.len()) } else { String::new() };
    border(brush, frame, &content.title, &note);
    let line_at = |at: usize| Rect { x: frame.x + 2, y: frame.y + 1 + at as u16, width: width - 4, height: 1 };
    for (at, line) in lines.iter().skip(*top).take(shown).enumerate() {
        brush.put(line_at(at), line);
    }
    for (at, line) in below.iter().enumerate() {
        brush.put(line_at(shown + 1 + at), line);
    }
}

/// In the middle of the screen.
fn place(area: Rect, width: u16, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

fn border(brush: &mut Brush<'_>, frame: Rect, title: &str, note: &str) {
    brush.clear(frame);
    let inside = usize::from(frame.width) - 2;
    let title = crate::cli::output::truncate(title, inside - 4).into_owned();
    let fill = inside - 3 - display_width(&title);
    let upper = [(Tone::Plain, "┌─ ".to_owned()), (Tone::Strong, title), (Tone::Plain, format!(" {}┐", "─".repeat(fill)))];
    brush.put(frame, &upper);
    let note = if note.is_empty() { String::new() } else { format!(" {note} ") };
    let fill = inside.saturating_sub(1 + display_width(&note));
    let lower = [(Tone::Plain, format!("└{}{note}─┘", "─".repeat(fill)))];
    brush.put(row(frame, frame.height - 1), &lower);
    for at in 1..frame.height - 1 {
        brush.put(row(frame, at), &[(Tone::Plain, "│".to_owned())]);
        brush.put_right(row(frame, at), &[(Tone::Plain, "│".to_owned())]);
    }
}

fn help() -> Content {
    let keys = HELP.iter().map(|(keys, what)| vec![(Tone::Strong, format!("{keys:<26}")), (Tone::Plain, (*what).to_owned())]);
    let marks = [
        ("*", "the worktree is as in this checkpoint"),
        ("m", "marked: others are compared with it"),
        ("=> <=", "from here a restore or an undo went to that checkpoint"),
    ];
    let marks = marks.map(|(mark, what)| vec![(Tone::Strong, format!("{mark:<26}")), (Tone::Plain, what.to_owned())]);
    let lines = keys.chain([Vec::new()]).chain(marks).collect();
    Content { title: "keys".to_owned(), lines, below: vec![hint("Esc closes")] }
}

fn waiting(title: &str, what: &str, can_close: bool) -> Content {
    let below = if can_close { hint("Esc stops waiting") } else { hint("it ends by itself") };
    Content { title: title.to_owned(), lines: vec![vec![(Tone::Plain, sanitize(what).into_owned())]], below: vec![below] }
}

fn hint(text: &str) -> Spans {
    vec![(Tone::Hint, text.to_owned())]
}

fn of_plan(plan: &Plan) -> Content {
    let mut lines = Vec::new();
    if !plan.blockers.is_empty() {
        lines.extend(in_the_way(&plan.blockers));
        lines.push(Vec::new());
    }
    lines.extend(plan.summary.iter().cloned());
    if plan.has_memory {
        let parts = match plan.deed {
            Deed::Restore { what: What::Both, .. } => "files and memory",
            Deed::Restore { what: What::Memory, .. } => "the memory alone",
            _ => "the files alone",
        };
        let line = [(Tone::Plain, "brings back "), (Tone::Strong, parts), (Tone::Hint, "   m something else")];
        lines.push(line.map(|(tone, text)| (tone, text.to_owned())).to_vec());
    }
    if !plan.steps.is_empty() {
        lines.push(Vec::new());
        lines.extend(plan.steps.iter().cloned());
    }
    Content { title: plan.title.clone(), lines, below: answers(plan) }
}

fn answers(plan: &Plan) -> Vec<Spans> {
    let question = plan.question.clone().unwrap_or_default();
    if plan.is_possible() {
        return vec![vec![(Tone::Strong, question)], hint("y yes   n, Esc no   r look again")];
    }
    let mut below = vec![vec![(Tone::Error, "not available: nothing can be changed while it is blocked".to_owned())]];
    if plan.in_spite_of_blockers().is_some() {
        let codes: Vec<&str> = plan.blockers.iter().map(|blocker| blocker.code.as_str()).collect();
        below.push(hint(&format!("A allow {}", codes.join(", "))));
    }
    below.push(hint("r look again   Esc close"));
    below
}

fn of_outcome(outcome: &Outcome) -> Content {
    let (title, tone) = match outcome.ending {
        Ending::Failed => ("not done", Tone::Error),
        Ending::Undoable | Ending::Redoable | Ending::Done => ("done", Tone::Strong),
    };
    let lines = std::iter::once(vec![(tone, sanitize(&outcome.title).into_owned())]).chain(outcome.lines.iter().cloned());
    let below = match outcome.ending {
        Ending::Undoable => "u undo it   Enter, Esc close",
        Ending::Redoable => "Ctrl-R do it again   Enter, Esc close",
        Ending::Done | Ending::Failed => "Enter, Esc close",
    };
    Content { title: title.to_owned(), lines: lines.collect(), below: vec![hint(below)] }
}

fn draw_input(brush: &mut Brush<'_>, input: &Input, area: Rect) -> Position {
    let width = area.width.saturating_sub(4).min(WIDEST);
    let frame = place(area, width, 5);
    border(brush, frame, &input.question(), "");
    let room = usize::from(width) - 5;
    let text = sanitize(&input.text).into_owned();
    // The end of what is typed is what has to be seen.
    let hidden = display_width(&text).saturating_sub(room);
    let seen = crate::cli::browse::text::skip_columns(&text, hidden).into_owned();
    let x = frame.x + 2 + display_width(&seen) as u16;
    brush.put(Rect { x: frame.x + 2, y: frame.y + 1, width: width - 4, height: 1 }, &[(Tone::Plain, seen)]);
    brush.put(Rect { x: frame.x + 2, y: frame.y + 3, width: width - 4, height: 1 }, &hint("Enter does it   Esc does not"));
    Position { x, y: frame.y + 1 }
}
