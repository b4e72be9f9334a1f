//! The timeline: a line for each checkpoint, below the session that owns it.

use ratatui::layout::Rect;

use super::brush::Brush;
use super::{counted, heading, row};
use crate::cli::browse::describe::signed;
use crate::cli::browse::look::{Spans, Tone};
use crate::cli::browse::screen::{Focus, Screen};
use crate::cli::browse::timeline::{Line, jump_words};
use crate::cli::output::{display_width, plural, sanitize, truncate};
use crate::model::{Jump, Kind, Stat, TimelineEntry};

/// Space that a label has at least before counts are shown.
const SHORTEST_LABEL: usize = 16;
/// Columns of the age (`59m`, `11mo`) and of the longest kind.
const AGE: usize = 4;
const KIND: usize = 11;

pub(super) fn draw(brush: &mut Brush<'_>, screen: &mut Screen, area: Rect) {
    let note = if screen.is_loading { "reading" } else { "" };
    heading(brush, row(area, 0), &counted(screen), note, screen.focus == Focus::Timeline);
    let area = Rect { y: area.y + 1, height: area.height - 1, ..area };
    screen.page = usize::from(area.height);
    if screen.timeline.lines().is_empty() {
        return nothing(brush, screen, area);
    }
    keep_in_view(screen);
    let timeline = &screen.timeline;
    for (at, line) in (0..area.height).zip(timeline.lines().iter().enumerate().skip(timeline.top)) {
        let (index, line) = line;
        let place = row(area, at);
        match line {
            Line::Session(first) => {
                brush.put(place, &session(timeline.at(*first)));
            }
            Line::Entry(entry) => {
                let is_selected = index == timeline.selected_line();
                entry_line(brush, screen, timeline.at(*entry), is_selected, place);
                if is_selected {
                    brush.reverse(place);
                }
            }
        }
    }
}

/// Moves the first line so that the selected one is on the screen, with its session if it is the first of it.
fn keep_in_view(screen: &mut Screen) {
    let (page, timeline) = (screen.page.max(1), &mut screen.timeline);
    let selected = timeline.selected_line();
    let above = selected.saturating_sub(1);
    let from = if matches!(timeline.lines().get(above), Some(Line::Session(_))) { above } else { selected };
    let least = (selected + 1).saturating_sub(page);
    let last_top = timeline.lines().len().saturating_sub(page);
    timeline.top = timeline.top.min(from).max(least).min(last_top.max(least));
}

fn nothing(brush: &mut Brush<'_>, screen: &Screen, area: Rect) {
    let (all, _) = screen.timeline.counts();
    let lines: &[(Tone, String)] = &match () {
        () if all > 0 => vec![(Tone::Plain, "no checkpoint has that; Esc shows all".to_owned())],
        () if screen.trouble.is_some() => Vec::new(),
        () if screen.is_loading => vec![(Tone::Dim, "reading the checkpoints".to_owned())],
        () => vec![
            (Tone::Plain, "no checkpoints yet".to_owned()),
            (Tone::Hint, "`git checkpoint` saves one; it shows here as soon as it is made".to_owned()),
        ],
    };
    for (at, line) in (0..area.height).zip(lines) {
        brush.put(row(area, at), std::slice::from_ref(line));
    }
}

fn session(entry: &TimelineEntry) -> Spans {
    let mut text = format!("session {}", entry.session);
    if let Some(agent) = &entry.agent {
        text.push_str(&format!(", {}", sanitize(agent)));
    }
    vec![(Tone::Dim, text)]
}

fn entry_line(brush: &mut Brush<'_>, screen: &Screen, entry: &TimelineEntry, is_selected: bool, area: Rect) {
    let number_width = screen.timeline.greatest().to_string().len();
    let is_current = screen.timeline.current == Some(entry.number);
    let mark = if screen.marked == Some(entry.number) { "m" } else { " " };
    let head: Spans = vec![
        (Tone::Plain, if is_selected { ">" } else { " " }.to_owned()),
        (Tone::Strong, mark.to_owned()),
        (Tone::Current, if is_current { "* " } else { "  " }.to_owned()),
        (if is_current { Tone::Current } else { Tone::Id }, format!("{:>number_width$}", entry.number)),
        (Tone::Dim, format!("  {:>AGE$}", age(screen, entry.created_at))),
        (Tone::Dim, format!("  {:<KIND$}  ", entry.kind.as_str())),
    ];
    let taken = usize::from(brush.put(area, &head));
    let mut room = usize::from(area.width).saturating_sub(taken);
    if let Some(stat) = entry.stat {
        let counts = counts(stat);
        let width: usize = counts.iter().map(|(_, text)| display_width(text)).sum();
        if room >= width + 2 + SHORTEST_LABEL {
            brush.put_right(area, &counts);
            room -= width + 2;
        }
    }
    let place = Rect { x: area.x + taken as u16, width: room as u16, ..area };
    brush.put(place, &label(entry, screen.all_worktrees, room));
}

/// An age in as few columns as it takes.
fn age(screen: &Screen, at: i64) -> String {
    let age = screen.clock.age(at);
    let mut words = age.split(' ');
    match (words.next(), words.next()) {
        (Some(count), Some(unit)) if count.bytes().all(|byte| byte.is_ascii_digit()) => {
            let unit = if unit.starts_with("mo") { "mo" } else { &unit[..1] };
            format!("{count}{unit}")
        }
        _ => "-".to_owned(),
    }
}

fn counts(stat: Stat) -> Spans {
    let files = vec![(Tone::Plain, plural(stat.files, "file"))];
    files.into_iter().chain(signed(stat.insertions, stat.deletions)).collect()
}

/// Names, where a jump leads, step or turn, and what it was about, as far as there is room.
fn label(entry: &TimelineEntry, names_worktree: bool, room: usize) -> Spans {
    let mut parts: Spans = Vec::new();
    if !entry.names.is_empty() {
        parts.push((Tone::Strong, format!("({})", entry.names.join(", "))));
    }
    if let Some(jump) = entry.jump {
        parts.push((Tone::Warning, jump_words(jump)));
    }
    if let Some(turn) = entry.turn {
        parts.push((Tone::Plain, format!("#{turn}")));
    }
    if let Some(step) = &entry.step {
        parts.push((Tone::Plain, step.clone()));
    }
    match (&entry.prompt, entry.jump) {
        (Some(prompt), _) => parts.push((Tone::Plain, prompt.clone())),
        // What the jump says already.
        (None, Some(Jump::Restore(_) | Jump::Undo(_))) if entry.kind == Kind::PreRestore => {}
        (None, _) => parts.push((Tone::Plain, entry.subject.clone())),
    }
    if entry.skipped > 0 {
        parts.push((Tone::Warning, format!("[{} skipped]", entry.skipped)));
    }
    if names_worktree {
        parts.push((Tone::Dim, format!("[{}]", entry.worktree)));
    }
    if let Some(origin) = entry.origin.as_deref().and_then(|origin| origin.split(' ').next()) {
        parts.push((Tone::Dim, format!("[from {origin}]")));
    }
    let mut left = room;
    let mut spans = Spans::new();
    for (at, (tone, text)) in parts.into_iter().enumerate() {
        let space = usize::from(at > 0);
        if left <= space {
            break;
        }
        let text = truncate(&sanitize(&text), left - space).into_owned();
        left -= space + display_width(&text);
        spans.push((tone, format!("{:space$}{text}", "")));
    }
    spans
}
