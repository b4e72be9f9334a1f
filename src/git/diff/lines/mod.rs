//! Line differences between two texts, the same that git finds.
//!
//! A difference is not unique, and every consumer of a patch compares it with git's, so this follows git's choices to the
//! letter: which lines are left out of the search ([`prune`]), how the search cuts corners in large inputs ([`search`]), and
//! where a block of changed lines that could stand in several places is put ([`slide`]). None of it knows files, modes or
//! output.

mod prune;
mod search;
mod slide;
mod text;
mod tokens;

use std::ops::Range;

use tokens::Tokens;

pub use text::{Text, count_lines, is_space};

/// Which differences between lines count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whitespace {
    /// All of them.
    #[default]
    Exact,
    /// Lines that differ in spaces, tabs and line ends only are equal.
    IgnoreAll,
}

/// A place where the two texts differ: these lines of the old one became those of the new one. One of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
}

/// The differences between `old` and `new`, in order.
pub fn edits(old: &Text<'_>, new: &Text<'_>, whitespace: Whitespace) -> Vec<Edit> {
    if old.is_empty() || new.is_empty() {
        let whole = Edit { old: 0..old.len(), new: 0..new.len() };
        return if old.is_empty() && new.is_empty() { Vec::new() } else { vec![whole] };
    }
    let tokens = Tokens::of(old, new, tokens::shared_ends(old, new), whitespace);
    let (mut old_changed, mut new_changed) = changed_lines(&tokens);
    slide::slide(old, &tokens.old, &mut old_changed, &new_changed);
    slide::slide(new, &tokens.new, &mut new_changed, &old_changed);
    collect(&old_changed, &new_changed)
}

/// How many lines of `old` and of `new` differ. Where they stand does not matter, so less has to be done than for [`edits`].
pub fn count_edits(old: &Text<'_>, new: &Text<'_>, whitespace: Whitespace) -> (usize, usize) {
    let (head, tail) = tokens::shared_ends(old, new);
    if head + tail == old.len().min(new.len()) {
        return (old.len() - head - tail, new.len() - head - tail);
    }
    let (old_changed, new_changed) = changed_lines(&Tokens::of(old, new, (head, tail), whitespace));
    let count = |changed: Vec<bool>| changed.into_iter().filter(|&changed| changed).count();
    (count(old_changed), count(new_changed))
}

/// Marks of the lines that differ, and one that is not set after the last.
fn changed_lines(tokens: &Tokens) -> (Vec<bool>, Vec<bool>) {
    let kept = prune::prune(tokens);
    let (mut old_changed, mut new_changed) = (kept.old.changed, kept.new.changed);
    search::search(
        search::Lines { tokens: &kept.old.tokens, numbers: &kept.old.numbers, changed: &mut old_changed },
        search::Lines { tokens: &kept.new.tokens, numbers: &kept.new.numbers, changed: &mut new_changed },
    );
    (old_changed, new_changed)
}

/// Turns the marks of both sides, each with one unset mark after the last line, into edits.
fn collect(old: &[bool], new: &[bool]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] || new[j] {
            let (from, to) = (i, j);
            while old[i] {
                i += 1;
            }
            while new[j] {
                j += 1;
            }
            edits.push(Edit { old: from..i, new: to..j });
        }
        i += 1;
        j += 1;
    }
    edits
}
