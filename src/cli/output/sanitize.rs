//! Making text from files, refs and people safe to show on a terminal.

use std::borrow::Cow;

/// Writes control characters, and characters that reorder or hide text, as escapes; everything else stays as it is.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_unsafe(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < '\u{100}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Control characters of ASCII and Latin-1, line separators, and the marks that change the direction of text or have no
/// width: with them a name can pass for another.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::sanitize;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(sanitize("a\x1b[31mb"), "a\\x1b[31mb");
        assert_eq!(sanitize("a\nb\tc\r\0"), "a\\nb\\tc\\r\\x00");
        assert_eq!(sanitize("x\u{9b}y"), "x\\x9by");
        assert_eq!(sanitize("abc\u{202e}fdp"), "abc\\u{202e}fdp");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        assert_eq!(sanitize("grün 日本 \\n"), "grün 日本 \\n");
    }
}
