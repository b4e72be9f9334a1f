//! Lines of a patch, plain or in git's default colours.

use super::lines::is_space;

/// Escape sequences around the parts of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Headers of files.
    pub meta: &'static str,
    /// Headers of hunks.
    pub fragment: &'static str,
    /// Removed lines.
    pub old: &'static str,
    /// Added lines.
    pub new: &'static str,
    /// White space at the end of an added line, or before a tab in its indentation.
    pub whitespace: &'static str,
    /// Ends each of them.
    pub reset: &'static str,
}

impl Palette {
    /// Git's default colours.
    pub const GIT: Palette = Palette {
        meta: "\x1b[1m",
        fragment: "\x1b[36m",
        old: "\x1b[31m",
        new: "\x1b[32m",
        whitespace: "\x1b[41m",
        reset: "\x1b[m",
    };
}

/// Writes lines into a buffer.
pub struct Painter<'o> {
    /// What was written.
    pub out: &'o mut Vec<u8>,
    palette: Option<Palette>,
}

impl<'o> Painter<'o> {
    /// A writer into `out`, in colour if there is a palette.
    pub fn new(out: &'o mut Vec<u8>, palette: Option<Palette>) -> Self {
        Painter { out, palette }
    }

    /// A line of a file's header, without its line feed. `after` follows the colour.
    pub fn meta(&mut self, line: &[u8], after: &str) {
        let (set, reset) = self.palette.map_or(("", ""), |palette| (palette.meta, palette.reset));
        self.push(&[set.as_bytes(), line, reset.as_bytes(), after.as_bytes(), b"\n"]);
    }

    /// The header of a hunk, from `@@` to `@@`, and the line that says which function it is in.
    pub fn hunk(&mut self, ranges: &[u8], function: &[u8]) {
        let Some(Palette { fragment, reset, .. }) = self.palette else {
            let space: &[u8] = if function.is_empty() { b"" } else { b" " };
            self.push(&[ranges, space, function, b"\n"]);
            return;
        };
        self.push(&[fragment.as_bytes(), ranges, reset.as_bytes()]);
        if !function.is_empty() {
            let indent = function.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            self.push(&[b" ", &function[..indent], reset.as_bytes()]);
            // Git takes a carriage return before the last character for a part of the line end, and leaves it uncoloured.
            let end = if function.iter().rev().nth(1) == Some(&b'\r') { function.len() - 1 } else { function.len() };
            if indent < end {
                self.push(&[&function[indent..end], reset.as_bytes()]);
            }
            self.out.extend_from_slice(&function[end..]);
        }
        self.out.push(b'\n');
    }

    /// A line that is the same on both sides.
    pub fn context(&mut self, line: &[u8]) {
        match self.palette {
            None => self.plain(b' ', line),
            Some(palette) => self.coloured(b" ", "", line, palette.reset),
        }
        self.end(line);
    }

    /// A removed line.
    pub fn removed(&mut self, line: &[u8]) {
        match self.palette {
            None => self.plain(b'-', line),
            Some(palette) => self.coloured(b"-", palette.old, line, palette.reset),
        }
        self.end(line);
    }

    /// An added line; `blank_at_end` if it is one of the empty lines with which the new text ends and the old one did not.
    pub fn added(&mut self, line: &[u8], blank_at_end: bool) {
        match self.palette {
            None => self.plain(b'+', line),
            Some(palette) if blank_at_end => self.coloured(b"+", palette.whitespace, line, palette.reset),
            Some(palette) => {
                self.push(&[palette.new.as_bytes(), b"+", palette.reset.as_bytes()]);
                self.checked(line, palette);
            }
        }
        self.end(line);
    }

    fn plain(&mut self, sign: u8, line: &[u8]) {
        self.out.push(sign);
        self.out.extend_from_slice(line);
    }

    /// The line end stays outside of the colour.
    fn coloured(&mut self, sign: &[u8], set: &str, line: &[u8], reset: &str) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        self.push(&[set.as_bytes(), sign, text, reset.as_bytes(), &line[text.len()..]]);
    }

    /// Points out white space that should not be there (git-config(1), `core.whitespace`).
    fn checked(&mut self, line: &[u8], palette: Palette) {
        let Palette { new, whitespace, reset, .. } = palette;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let trailing = text.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1);
        let mut written = 0;
        for at in 0..trailing {
            match text[at] {
                b' ' => continue,
                b'\t' if written < at => {
                    self.push(&[whitespace.as_bytes(), &text[written..at], reset.as_bytes(), b"\t"]);
                }
                b'\t' => self.out.push(b'\t'),
                _ => break,
            }
            written = at + 1;
        }
        if written < trailing {
            self.push(&[new.as_bytes(), &text[written..trailing], reset.as_bytes()]);
        }
        if trailing < text.len() {
            self.push(&[whitespace.as_bytes(), &text[trailing..], reset.as_bytes()]);
        }
        self.out.extend_from_slice(&line[text.len()..]);
    }

    /// Says so where a text lacks its last line feed.
    fn end(&mut self, line: &[u8]) {
        if line.last() == Some(&b'\n') {
            return;
        }
        let reset = self.palette.map_or("", |palette| palette.reset);
        self.push(&[b"\n\\ No newline at end of file", reset.as_bytes(), b"\n"]);
    }

    fn push(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }
}
