//! Text measured in terminal cells.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of cells that `text` takes.
pub fn display_width(text: &str) -> usize {
    // Nearly all text is plain ASCII, and a long list asks often.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.len() } else { UnicodeWidthStr::width(text) }
}

/// `text` cut to at most `width` cells, with `…` in place of what was cut.
pub fn truncate(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    if width == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let cells = c.width().unwrap_or(0);
        if used + cells > width - 1 {
            break;
        }
        used += cells;
        end = at + c.len_utf8();
    }
    Cow::Owned(format!("{}…", &text[..end]))
}

/// `text` followed by the spaces that fill it up to `width` cells.
pub fn pad(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(display_width(text));
    format!("{text}{:spaces$}", "")
}

/// `text` in exactly `width` cells: cut or filled up.
pub fn fit(text: &str, width: usize) -> String {
    pad(&truncate(text, width), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_combining_characters_count_as_a_terminal_draws_them() {
        assert_eq!(display_width("日本"), 4);
        assert_eq!(display_width("e\u{301}"), 1);
        assert_eq!(pad("日", 4), "日  ");
    }

    #[test]
    fn cutting_never_exceeds_the_width() {
        assert_eq!(truncate("abcdef", 4), "abc…");
        assert_eq!(truncate("abcd", 4), "abcd");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(fit("日本語", 4), "日… ");
    }
}
