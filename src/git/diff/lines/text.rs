//! A text as a sequence of lines, terminators included.

/// Bytes cut into lines. A line ends with its line feed; the last one may lack it.
pub struct Text<'a> {
    bytes: &'a [u8],
    /// Where each line starts, and the end of the last one.
    bounds: Vec<usize>,
}

impl<'a> Text<'a> {
    /// Cuts `bytes` into lines.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut bounds = Vec::with_capacity(bytes.len() / 24 + 2);
        bounds.push(0);
        // Most lines are short, so looking at eight bytes at a time is faster than a search for each line feed.
        let (words, rest) = bytes.as_chunks::<8>();
        for (number, word) in words.iter().enumerate() {
            let mut found = line_feeds(u64::from_le_bytes(*word));
            while found != 0 {
                bounds.push(number * 8 + found.trailing_zeros() as usize / 8 + 1);
                found &= found - 1;
            }
        }
        let before = bytes.len() - rest.len();
        bounds.extend(rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| before + at + 1));
        if bounds.last() != Some(&bytes.len()) {
            bounds.push(bytes.len());
        }
        Text { bytes, bounds }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// True if there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the line with this number begins.
    pub fn start(&self, number: usize) -> usize {
        self.bounds[number]
    }

    /// The line with this number, counted from 0.
    pub fn line(&self, number: usize) -> &'a [u8] {
        &self.bytes[self.bounds[number]..self.bounds[number + 1]]
    }
}

/// The highest bit of each byte that is a line feed.
fn line_feeds(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // A byte is zero now if it was a line feed; adding 127 to its low bits sets the highest one in all others.
    let word = word ^ 0x0a0a_0a0a_0a0a_0a0a;
    !(((word & LOW) + LOW) | word | LOW)
}

/// How many lines `bytes` has, without cutting it.
pub fn count_lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
    ends + usize::from(bytes.last().is_some_and(|&last| last != b'\n'))
}

/// White space as git sees it, whatever the locale.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_terminators() {
        let table: [(&[u8], &[&[u8]]); 7] = [
            (b"0123456\n\n23456\x8a\n\x0b", &[b"0123456\n", b"\n", b"23456\x8a\n", b"\x0b"]),
            (b"\n\n\n\n\n\n\n\n\n", &[&b"\n"[..]; 9]),
            (b"", &[]),
            (b"\n", &[b"\n"]),
            (b"a\r\nb", &[b"a\r\n", b"b"]),
            (b"a\n\nb\n", &[b"a\n", b"\n", b"b\n"]),
            (b"x", &[b"x"]),
        ];
        for (bytes, lines) in table {
            let text = Text::new(bytes);
            let found: Vec<_> = (0..text.len()).map(|number| text.line(number)).collect();
            assert_eq!(found, lines);
            assert_eq!(count_lines(bytes), lines.len());
        }
    }
}
