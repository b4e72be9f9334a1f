//! Drawing: the state of the screen, as far as there is room for it. Decides nothing but where things stand.

mod brush;
mod dialog;
mod pane;
mod timeline;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use self::brush::Brush;
use super::look::Tone;
use super::screen::{Focus, Screen};
use super::text::wrap;
use crate::cli::output::{display_width, plural, sanitize, truncate};

/// The smallest screen that everything has room on.
const SMALLEST: (u16, u16) = (60, 20);
/// From this width on the change stands beside the timeline instead of below it.
const WIDE: u16 = 120;

/// Draws the screen.
pub(super) fn draw(frame: &mut Frame<'_>, screen: &mut Screen) {
    let area = frame.area();
    let mut brush = Brush { buffer: frame.buffer_mut(), look: screen.look };
    screen.is_too_small = area.width < SMALLEST.0 || area.height < SMALLEST.1;
    screen.is_plan_drawn = !screen.is_too_small;
    if screen.is_too_small {
        return too_small(&mut brush, area);
    }
    title(&mut brush, screen, row(area, 0));
    let trouble = trouble(&mut brush, screen, Rect { y: 1, height: area.height - 1, ..area });
    let body = Rect { y: 1 + trouble, height: area.height - 2 - trouble, ..area };
    let (left, right) = split(body);
    if right.y == left.y {
        for y in left.y..left.bottom() {
            brush.put(Rect { x: left.right(), y, width: 1, height: 1 }, &[(Tone::Dim, "│".to_owned())]);
        }
    }
    timeline::draw(&mut brush, screen, left);
    pane::draw(&mut brush, screen, right);
    let cursor = footer(&mut brush, screen, row(area, area.height - 1));
    let cursor = dialog::draw(&mut brush, screen, area).or(cursor);
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// One line of an area.
fn row(area: Rect, at: u16) -> Rect {
    Rect { y: area.y + at, height: 1, ..area }
}

/// The places of the timeline and of the change: side by side, or one below the other.
fn split(body: Rect) -> (Rect, Rect) {
    if body.width >= WIDE {
        let left = body.width * 9 / 20;
        let right = Rect { x: body.x + left + 1, width: body.width - left - 1, ..body };
        return (Rect { width: left, ..body }, right);
    }
    let upper = body.height * 2 / 5;
    (Rect { height: upper, ..body }, Rect { y: body.y + upper, height: body.height - upper, ..body })
}

fn too_small(brush: &mut Brush<'_>, area: Rect) {
    let (width, height) = SMALLEST;
    let text = format!("too small: {width}x{height} at least, this is {}x{}; q leaves", area.width, area.height);
    let lines = wrap(&text, usize::from(area.width));
    for (at, line) in (0..area.height).zip(lines) {
        brush.put(row(area, at), &[(Tone::Plain, line)]);
    }
}

fn title(brush: &mut Brush<'_>, screen: &Screen, area: Rect) {
    let scope = if screen.all_worktrees { "all worktrees" } else { "this worktree" };
    let room = usize::from(area.width).saturating_sub(scope.len() + 15);
    let place = truncate(&sanitize(&screen.place), room).into_owned();
    brush.put(area, &[(Tone::Strong, "checkpoints".to_owned()), (Tone::Plain, format!("  {place}"))]);
    brush.put_right(area, &[(Tone::Dim, scope.to_owned())]);
}

/// Says what stands in the way of everything. Returns how many lines that takes.
fn trouble(brush: &mut Brush<'_>, screen: &Screen, area: Rect) -> u16 {
    const MOST: u16 = 4;
    let Some(trouble) = &screen.trouble else { return 0 };
    let text = format!("error: {}", sanitize(trouble));
    let lines = wrap(&text, usize::from(area.width));
    let mut count = 0;
    for (at, line) in (0..MOST).zip(lines) {
        brush.put(row(area, at), &[(Tone::Error, line)]);
        count = at + 1;
    }
    count
}

/// A line that names what stands below it; a heavy one where the keys are for that.
fn heading(brush: &mut Brush<'_>, area: Rect, text: &str, note: &str, has_focus: bool) {
    let (tone, dash) = if has_focus { (Tone::Strong, "━") } else { (Tone::Dim, "─") };
    let width = usize::from(area.width);
    let text = truncate(text, width.saturating_sub(4)).into_owned();
    let note = if display_width(&text) + display_width(note) + 6 <= width { note } else { "" };
    let note = if note.is_empty() { String::new() } else { format!(" {note} ") };
    let fill = width.saturating_sub(display_width(&text) + display_width(&note) + 4);
    brush.put(area, &[(tone, format!("{dash} {text} {}{note}{dash}", dash.repeat(fill)))]);
}

/// The last line: what is typed, what happened, or what can be done. Returns where the cursor is, if something is typed.
fn footer(brush: &mut Brush<'_>, screen: &Screen, area: Rect) -> Option<Position> {
    if screen.is_filtering {
        let text = format!("/{}", sanitize(screen.timeline.filter()));
        let x = u16::try_from(display_width(&text)).unwrap_or(u16::MAX).min(area.width - 1);
        brush.put(area, &[(Tone::Strong, text)]);
        brush.put_right(area, &[(Tone::Dim, "Enter keeps it, Esc shows all".to_owned())]);
        return Some(Position { x: area.x + x, y: area.y });
    }
    if let Some((tone, message)) = &screen.message {
        brush.put(area, &[(*tone, sanitize(message).into_owned())]);
        return None;
    }
    let keys = match screen.focus {
        Focus::Timeline => {
            "? help  q leave  r restore  u undo  / filter  Enter read  m mark  w worktree  n name  d drop  b branch  e export  a all"
        }
        Focus::Pane => "? help  q leave  j k scroll  ] [ next and previous file  > < sideways  Esc timeline  r restore  u undo",
    };
    brush.put(area, &[(Tone::Hint, whole_hints(keys, usize::from(area.width)))]);
    None
}

/// As many of the hints, which are two blanks apart, as have room in `width` columns. The help has all of them.
fn whole_hints(hints: &str, width: usize) -> String {
    let mut line = String::new();
    for hint in hints.split("  ") {
        let gap = if line.is_empty() { "" } else { "  " };
        if display_width(&line) + gap.len() + display_width(hint) > width {
            break;
        }
        line = line + gap + hint;
    }
    line
}

/// The title of the timeline: how many checkpoints there are, and which of them are shown.
fn counted(screen: &Screen) -> String {
    let (all, shown) = screen.timeline.counts();
    let filter = sanitize(screen.timeline.filter());
    match filter.is_empty() {
        true => plural(all as u64, "checkpoint"),
        false => format!("{shown} of {} with `{filter}`", plural(all as u64, "checkpoint")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_never_cut() {
        let hints = "? help  q leave  ] [ next file";
        assert_eq!(whole_hints(hints, 80), hints);
        assert_eq!(whole_hints(hints, 29), "? help  q leave");
        assert_eq!(whole_hints(hints, 5), "");
    }
}
