//! Text from files and people, made safe for the cells of the screen.

use std::borrow::Cow;

use crate::cli::output::{display_width, sanitize};

/// Columns from one tab stop to the next.
const TAB: usize = 8;

/// A line of a file: tabs as the spaces that a terminal would make of them, everything else that a terminal would obey as escapes.
pub(super) fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut parts = text.split('\t');
    let mut out = sanitize(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let to_stop = TAB - display_width(&out) % TAB;
        out.extend(std::iter::repeat_n(' ', to_stop));
        out.push_str(&sanitize(part));
    }
    out
}

/// `text` without the cells before column `from`.
pub(super) fn skip_columns(text: &str, from: usize) -> Cow<'_, str> {
    if from == 0 {
        return Cow::Borrowed(text);
    }
    let mut column = 0;
    for (at, c) in text.char_indices() {
        if column >= from {
            // Half of a wide character stands as a space.
            return Cow::Owned(format!("{}{}", " ".repeat(column - from), &text[at..]));
        }
        column += display_width(c.encode_utf8(&mut [0; 4]));
    }
    Cow::Borrowed("")
}

/// `text` in lines of at most `width` columns, broken between words where that is possible.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let gap = usize::from(!line.is_empty());
            let room = width.saturating_sub(display_width(line) + gap);
            if display_width(word) <= room {
                line.extend(std::iter::repeat_n(' ', gap));
                line.push_str(word);
                break;
            }
            if display_width(word) <= width {
                lines.push(word.to_owned());
                break;
            }
            let fits = fitting(word, room);
            if fits == 0 && line.is_empty() {
                line.push_str(word);
                break;
            }
            if fits > 0 {
                line.extend(std::iter::repeat_n(' ', gap));
                line.push_str(&word[..fits]);
            }
            lines.push(String::new());
            word = &word[fits..];
        }
    }
    lines
}

/// How many bytes of `word` take at most `width` columns.
fn fitting(word: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += display_width(c.encode_utf8(&mut [0; 4]));
        if used > width {
            return at;
        }
    }
    word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_become_spaces_and_what_a_terminal_would_obey_becomes_escapes() {
        assert_eq!(printable(b"\tif a\tb"), "        if a    b");
        assert_eq!(printable(b"a\x1b[31mb\r"), "a\\x1b[31mb\\r");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn columns_are_skipped_without_cutting_a_character_in_two() {
        assert_eq!(skip_columns("abcdef", 2), "cdef");
        assert_eq!(skip_columns("日本語", 3), " 語");
        assert_eq!(skip_columns("ab", 5), "");
    }

    #[test]
    fn long_text_is_broken_between_words_and_a_long_word_within() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("see /a/very/long/path", 8), ["see /a/v", "ery/long", "/path"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("日本", 1), ["日本"]);
    }
}
