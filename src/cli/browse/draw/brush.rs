//! Putting text into the cells of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::cli::browse::look::{Look, Spans, Tone};
use crate::cli::browse::text::wrap;
use crate::cli::output::display_width;

/// What draws into a buffer.
pub(super) struct Brush<'b> {
    pub(super) buffer: &'b mut Buffer,
    pub(super) look: Look,
}

impl Brush<'_> {
    /// Writes a line into the first line of an area, cut where the area ends. Returns how many columns it took.
    pub(super) fn put(&mut self, area: Rect, spans: &[(Tone, String)]) -> u16 {
        let mut x = area.x;
        for (tone, text) in spans {
            let room = usize::from(area.right().saturating_sub(x));
            if room == 0 || area.height == 0 {
                break;
            }
            (x, _) = self.buffer.set_stringn(x, area.y, text, room, self.look.style(*tone));
        }
        x - area.x
    }

    /// The same, flush right.
    pub(super) fn put_right(&mut self, area: Rect, spans: &[(Tone, String)]) {
        let width: usize = spans.iter().map(|(_, text)| display_width(text)).sum();
        let width = u16::try_from(width).unwrap_or(u16::MAX).min(area.width);
        self.put(Rect { x: area.right() - width, width, ..area }, spans);
    }

    /// Turns a line around: what is selected is seen without any colour.
    pub(super) fn reverse(&mut self, area: Rect) {
        self.buffer.set_style(area, Style::reset().add_modifier(Modifier::REVERSED));
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Rect) {
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                self.buffer[(x, y)].reset();
            }
        }
    }
}

/// A line in as many lines as it takes: what follows its first piece stands below itself.
pub(super) fn wrapped(line: &Spans, width: usize) -> Vec<Spans> {
    let whole: usize = line.iter().map(|(_, text)| display_width(text)).sum();
    if whole <= width {
        return vec![line.clone()];
    }
    let (first, rest) = match line.split_first() {
        Some((first, rest)) if !rest.is_empty() && display_width(&first.1) * 2 < width => (Some(first), rest),
        _ => (None, line.as_slice()),
    };
    let indent = first.map_or(0, |(_, text)| display_width(text));
    let tone = rest.last().map_or(Tone::Plain, |(tone, _)| *tone);
    let text: String = rest.iter().map(|(_, text)| text.as_str()).collect();
    let lines = wrap(&text, width - indent).into_iter().enumerate().map(|(at, part)| {
        let before = match first {
            Some(first) if at == 0 => Some(first.clone()),
            Some(_) => Some((Tone::Plain, " ".repeat(indent))),
            None => None,
        };
        before.into_iter().chain([(tone, part)]).collect()
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_below_its_second_piece() {
        let line = vec![(Tone::Error, "blocked: ".to_owned()), (Tone::Plain, "one two three".to_owned())];

        let texts: Vec<String> =
            wrapped(&line, 19).iter().map(|line| line.iter().map(|(_, text)| text.as_str()).collect()).collect();

        assert_eq!(texts, ["blocked: one two", "         three"]);
        assert_eq!(wrapped(&line, 40), [line]);
    }
}
