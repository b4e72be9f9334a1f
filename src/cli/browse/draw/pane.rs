//! The change beside the timeline.

use ratatui::layout::Rect;

use super::brush::Brush;
use super::{heading, row};
use crate::cli::browse::look::{Spans, Tone};
use crate::cli::browse::pane::State;
use crate::cli::browse::screen::{Focus, Screen};
use crate::cli::browse::text::{skip_columns, wrap};
use crate::cli::browse::work::View;
use crate::cli::output::{display_width, sanitize};

pub(super) fn draw(brush: &mut Brush<'_>, screen: &mut Screen, area: Rect) {
    let title = match screen.pane.view() {
        None => String::new(),
        Some(View::Change(number)) => format!("change of {number}"),
        Some(View::Between(old, new)) => format!("compared: from {old} to {new}"),
        Some(View::Worktree(number)) => format!("compared: from {number} to the worktree"),
    };
    screen.pane.height = usize::from(area.height.saturating_sub(1));
    // There may be more room than before.
    screen.pane.scroll_by(0);
    let (top, left) = screen.pane.offset();
    let note = match screen.pane.state() {
        State::Loaded(change) if change.lines.len() > screen.pane.height => {
            let last = (top + screen.pane.height).min(change.lines.len());
            format!("{}-{last} of {}", top + 1, change.lines.len())
        }
        State::Empty | State::Loading | State::Loaded(_) | State::Failed(_) => String::new(),
    };
    heading(brush, row(area, 0), &title, &note, screen.focus == Focus::Pane);
    let area = Rect { y: area.y + 1, height: area.height - 1, ..area };
    match screen.pane.state() {
        State::Empty => {}
        State::Loading => {
            brush.put(area, &[(Tone::Dim, "comparing".to_owned())]);
        }
        State::Failed(error) => {
            let text = format!("error: {}", sanitize(error));
            for (at, line) in (0..area.height).zip(wrap(&text, usize::from(area.width))) {
                brush.put(row(area, at), &[(Tone::Error, line)]);
            }
        }
        State::Loaded(change) => {
            for (at, line) in (0..area.height).zip(change.lines.iter().skip(top)) {
                match left {
                    0 => brush.put(row(area, at), line),
                    left => brush.put(row(area, at), &moved(line, left)),
                };
            }
        }
    }
}

/// A line without its first columns.
fn moved(line: &Spans, columns: usize) -> Spans {
    let mut left = columns;
    let mut spans = Spans::new();
    for (tone, text) in line {
        let width = display_width(text);
        spans.push((*tone, skip_columns(text, left).into_owned()));
        left = left.saturating_sub(width);
    }
    spans
}
