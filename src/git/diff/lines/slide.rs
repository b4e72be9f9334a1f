//! Puts blocks of changed lines where a person would expect them.
//!
//! A block that ends with the line that stands right before it can move up by a line without changing what the difference
//! says, and one that begins with the line right after it can move down. Blocks that touch while they move become one. A block
//! that can stand opposite a block of the other text is put there. Any other block goes where the indentation and the empty
//! lines around it make the best cut.

use super::text::{Text, is_space};

/// Moves the blocks of `text`, whose lines have these `tokens`, until `changed` reads well. `other` are the marks of the other
/// text. Both have an unset mark after the last line.
pub fn slide(text: &Text<'_>, tokens: &[u32], changed: &mut [bool], other: &[bool]) {
    let mut side = Side { tokens, changed };
    let mut block = first(side.changed);
    let mut opposite = first(other);
    loop {
        if !block.is_empty() {
            place(text, &mut side, &mut block, other, &mut opposite);
        }
        if !next(side.changed, &mut block) {
            return;
        }
        next(other, &mut opposite);
    }
}

/// A run of changed lines, or an empty one: there is one before the first, after the last and between any two lines that are
/// not changed. So the blocks of both texts correspond one to one.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    end: usize,
}

impl Block {
    fn is_empty(self) -> bool {
        self.start == self.end
    }

    fn len(self) -> usize {
        self.end - self.start
    }
}

fn first(changed: &[bool]) -> Block {
    Block { start: 0, end: run_end(changed, 0) }
}

fn run_end(changed: &[bool], mut at: usize) -> usize {
    while changed[at] {
        at += 1;
    }
    at
}

fn run_start(changed: &[bool], mut at: usize) -> usize {
    while at > 0 && changed[at - 1] {
        at -= 1;
    }
    at
}

fn next(changed: &[bool], block: &mut Block) -> bool {
    if block.end + 1 >= changed.len() {
        return false;
    }
    block.start = block.end + 1;
    block.end = run_end(changed, block.start);
    true
}

fn previous(changed: &[bool], block: &mut Block) {
    debug_assert!(block.start > 0, "the blocks of both texts correspond");
    block.end = block.start.saturating_sub(1);
    block.start = run_start(changed, block.end);
}

struct Side<'a> {
    tokens: &'a [u32],
    changed: &'a mut [bool],
}

impl Side<'_> {
    fn move_up(&mut self, block: &mut Block) -> bool {
        if block.start == 0 || self.tokens[block.start - 1] != self.tokens[block.end - 1] {
            return false;
        }
        self.changed[block.start - 1] = true;
        self.changed[block.end - 1] = false;
        block.start = run_start(self.changed, block.start - 1);
        block.end -= 1;
        true
    }

    fn move_down(&mut self, block: &mut Block) -> bool {
        if block.end >= self.tokens.len() || self.tokens[block.start] != self.tokens[block.end] {
            return false;
        }
        self.changed[block.start] = false;
        self.changed[block.end] = true;
        block.start += 1;
        block.end = run_end(self.changed, block.end + 1);
        true
    }
}

/// Moves one block to its place; `opposite` follows.
fn place(text: &Text<'_>, side: &mut Side<'_>, block: &mut Block, other: &[bool], opposite: &mut Block) {
    let mut highest_end;
    let mut faces_other;
    // Going up or down can join blocks, and the larger block may have more room.
    loop {
        let len = block.len();
        while side.move_up(block) {
            previous(other, opposite);
        }
        highest_end = block.end;
        faces_other = !opposite.is_empty();
        while side.move_down(block) {
            next(other, opposite);
            faces_other |= !opposite.is_empty();
        }
        if len == block.len() {
            break;
        }
    }
    if block.end == highest_end {
        return;
    }
    if faces_other {
        while opposite.is_empty() && side.move_up(block) {
            previous(other, opposite);
        }
        return;
    }
    let best = best_end(text, *block, highest_end);
    while block.end > best && side.move_up(block) {
        previous(other, opposite);
    }
}

/// A block is not moved further than this for its looks.
const MOST_MOVES: usize = 100;

/// The end, from `highest_end` to where it is now, with which the block cuts the text best. Of equally good ones the last.
fn best_end(text: &Text<'_>, block: Block, highest_end: usize) -> usize {
    let len = block.len();
    let from = highest_end.max(block.end.saturating_sub(len + 1)).max(block.end.saturating_sub(MOST_MOVES));
    let mut best: Option<(Score, usize)> = None;
    for end in from..=block.end {
        let score = Score::default().with_cut(&Cut::at(text, end)).with_cut(&Cut::at(text, end - len));
        if best.is_none_or(|(known, _)| !known.is_better_than(score)) {
            best = Some((score, end));
        }
    }
    best.map_or(block.end, |(_, end)| end)
}

/// Indentation beyond this is not told apart.
const MOST_INDENT: i32 = 200;
/// Empty lines beyond this are not counted.
const MOST_BLANKS: i32 = 20;

/// The indentation of a line in columns; none if there is nothing but white space.
fn indent(line: &[u8]) -> Option<i32> {
    let mut columns = 0;
    for &byte in line {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 8 - columns % 8,
            other if is_space(other) => {}
            _ => return Some(columns),
        }
        if columns >= MOST_INDENT {
            return Some(MOST_INDENT);
        }
    }
    None
}

/// The surroundings of a cut between two lines.
struct Cut {
    at_end: bool,
    /// Indentation of the line after the cut.
    indent: Option<i32>,
    /// Empty lines right before the cut.
    blanks_before: i32,
    /// Indentation of the nearest line before that is not empty.
    indent_before: Option<i32>,
    /// Empty lines after the line after the cut.
    blanks_after: i32,
    /// Indentation of the nearest line after that line that is not empty.
    indent_after: Option<i32>,
}

impl Cut {
    fn at(text: &Text<'_>, line: usize) -> Cut {
        let (blanks_before, indent_before) = beyond_blanks(text, (0..line.min(text.len())).rev());
        let (blanks_after, indent_after) = beyond_blanks(text, line + 1..text.len());
        let at_end = line >= text.len();
        let indent = if at_end { None } else { indent(text.line(line)) };
        Cut { at_end, indent, blanks_before, indent_before, blanks_after, indent_after }
    }
}

fn beyond_blanks(text: &Text<'_>, lines: impl Iterator<Item = usize>) -> (i32, Option<i32>) {
    let mut blanks = 0;
    for line in lines {
        if let Some(indent) = indent(text.line(line)) {
            return (blanks, Some(indent));
        }
        blanks += 1;
        if blanks == MOST_BLANKS {
            return (blanks, Some(0));
        }
    }
    (blanks, None)
}

/// How bad the two cuts around a block are; less is better. The weights are git's, found by trying them on much source code.
#[derive(Clone, Copy, Default)]
struct Score {
    indent: i32,
    penalty: i32,
}

impl Score {
    fn with_cut(mut self, cut: &Cut) -> Score {
        if cut.indent_before.is_none() && cut.blanks_before == 0 {
            self.penalty += 1;
        }
        if cut.at_end {
            self.penalty += 21;
        }
        let blanks_after = if cut.indent.is_none() { 1 + cut.blanks_after } else { 0 };
        let blanks = cut.blanks_before + blanks_after;
        self.penalty += -30 * blanks + 6 * blanks_after;
        let indent = cut.indent.or(cut.indent_after);
        self.indent += indent.unwrap_or(-1);
        if let (Some(indent), Some(before)) = (indent, cut.indent_before) {
            let with_blanks = blanks != 0;
            self.penalty += match indent.cmp(&before) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater if with_blanks => 10,
                std::cmp::Ordering::Greater => -4,
                std::cmp::Ordering::Less if with_blanks => 17,
                // A line that opens a block of its own, such as `else`, or one that closes the block before.
                std::cmp::Ordering::Less if cut.indent_after.is_some_and(|after| after > indent) => 24,
                std::cmp::Ordering::Less => 23,
            };
        }
        self
    }

    fn is_better_than(self, other: Score) -> bool {
        let by_indent = (self.indent > other.indent) as i32 - (self.indent < other.indent) as i32;
        60 * by_indent + (self.penalty - other.penalty) < 0
    }
}
