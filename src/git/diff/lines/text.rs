//! A text as a sequence of lines, terminators included.

use gix::bstr::ByteSlice;

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
        let mut at = 0;
        while let Some(end) = bytes[at..].find_byte(b'\n') {
            at += end + 1;
            bounds.push(at);
        }
        if at < bytes.len() {
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
        let table: [(&[u8], &[&[u8]]); 5] = [
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
