//! Hunks: changes with the unchanged lines around them.

use std::ops::Range;

use super::lines::{Edit, Text, is_space};
use super::paint::Painter;

/// Writes all hunks of a file. Changes with no more than twice `context` lines between them share one.
pub fn write_hunks(old: &Text<'_>, new: &Text<'_>, edits: &[Edit], context: usize, painter: &mut Painter<'_>) {
    let blank_end = BlankEnd::of(old, new);
    let mut function = Function::default();
    let near = |a: &Edit, b: &Edit| b.old.start - a.old.end <= context.saturating_mul(2);
    for group in edits.chunk_by(near) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.old.start.min(context);
        let before_new = first.new.start.min(context);
        let after = context.min(old.len() - last.old.end).min(new.len() - last.new.end);
        let old_lines = first.old.start - before..last.old.end + after;
        let new_lines = first.new.start - before_new..last.new.end + after;
        function.advance(old, old_lines.start);
        let mut header = b"@@ -".to_vec();
        push_range(&mut header, &old_lines);
        header.extend_from_slice(b" +");
        push_range(&mut header, &new_lines);
        header.extend_from_slice(b" @@");
        painter.hunk(&header, function.line);

        let mut at = new_lines.start;
        for edit in group {
            (at..edit.new.start).for_each(|line| painter.context(new.line(line)));
            edit.old.clone().for_each(|line| painter.removed(old.line(line)));
            for number in edit.new.clone() {
                let line = new.line(number);
                painter.added(line, blank_end.covers(number, edit.old.end, old_lines.is_empty()) && is_blank(line));
            }
            at = edit.new.end;
        }
        (at..new_lines.end).for_each(|line| painter.context(new.line(line)));
    }
}

fn push_range(out: &mut Vec<u8>, lines: &Range<usize>) {
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    out.extend_from_slice(start.to_string().as_bytes());
    if lines.len() != 1 {
        out.extend_from_slice(format!(",{}", lines.len()).as_bytes());
    }
}

/// The last line above a hunk that looks like the beginning of a function: it begins with a letter, `_` or `$`.
#[derive(Default)]
struct Function<'t> {
    line: &'t [u8],
    seen: usize,
}

/// A longer one is cut off.
const LONGEST_FUNCTION: usize = 80;

impl<'t> Function<'t> {
    /// Looks at the lines up to `end` that were not looked at yet.
    fn advance(&mut self, text: &Text<'t>, end: usize) {
        let starts = |line: &&[u8]| line.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'));
        if let Some(line) = (self.seen..end).rev().map(|number| text.line(number)).find(starts) {
            let line = &line[..line.len().min(LONGEST_FUNCTION)];
            let length = line.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1);
            self.line = &line[..valid_length(&line[..length])];
        }
        self.seen = self.seen.max(end);
    }
}

/// How much of a line is UTF-8: a character that is cut in two is left out, with all that follows it. Git takes the last two
/// code points of the first plane for no characters.
fn valid_length(line: &[u8]) -> usize {
    let valid = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.find(['\u{fffe}', '\u{ffff}']).unwrap_or(valid.len())
}

/// Empty lines at the end of the new text where the old one has fewer; git paints those that were added.
struct BlankEnd {
    /// How many lines stand before them in both texts; none if there are not more than before.
    before: Option<(usize, usize)>,
}

impl BlankEnd {
    fn of(old: &Text<'_>, new: &Text<'_>) -> Self {
        let (old_blanks, new_blanks) = (count_blank_end(old), count_blank_end(new));
        let more = new_blanks > old_blanks;
        BlankEnd { before: more.then(|| (old.len() - old_blanks, new.len() - new_blanks)) }
    }

    /// True for the added line `number` that follows `old_end` lines of the old text, or none of it in a hunk of additions
    /// only. The line before the empty ones counts too: git numbers lines from one here and from zero there.
    fn covers(&self, number: usize, old_end: usize, old_is_empty: bool) -> bool {
        self.before.is_some_and(|(old, new)| old + usize::from(old_is_empty) <= old_end && new <= number + 1)
    }
}

/// Git overlooks an empty line at the very beginning, and so do we.
fn count_blank_end(text: &Text<'_>) -> usize {
    let counts = |&number: &usize| {
        let line = text.line(number);
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        is_blank(line) && text.start(number) + content.len() > 1
    };
    (0..text.len()).rev().take_while(counts).count()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_space(byte))
}
