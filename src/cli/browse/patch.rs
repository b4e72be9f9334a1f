//! The lines of a patch, with the meaning of each: a patch looks the same wherever it came from.

use super::look::{Spans, Tone};
use super::text::printable;

/// More lines than anybody scrolls through. What follows is left out, and that is said.
pub(super) const MOST_LINES: usize = 20_000;

/// Adds the lines of `patch` to `lines`, and to `files` where the patch of each file begins. False if some were left out.
pub(super) fn read(patch: &[u8], lines: &mut Vec<Spans>, files: &mut Vec<usize>) -> bool {
    let mut hunk = Hunk::default();
    for (count, line) in patch.strip_suffix(b"\n").unwrap_or(patch).split(|byte| *byte == b'\n').enumerate() {
        if count == MOST_LINES {
            return false;
        }
        if hunk.is_done() && line.starts_with(b"diff ") {
            files.push(lines.len());
        }
        lines.push(hunk.read(line));
    }
    true
}

/// How many lines of a hunk are still to come. A removed line may look like a header, so they are counted.
#[derive(Default)]
struct Hunk {
    old: u64,
    new: u64,
}

impl Hunk {
    fn is_done(&self) -> bool {
        self.old == 0 && self.new == 0
    }

    fn read(&mut self, line: &[u8]) -> Spans {
        if self.is_done() {
            return self.read_header(line);
        }
        match line.first() {
            Some(b'+') => {
                self.new = self.new.saturating_sub(1);
                added(line)
            }
            Some(b'-') => {
                self.old = self.old.saturating_sub(1);
                vec![(Tone::Removed, printable(line))]
            }
            Some(b'\\') => vec![(Tone::Dim, printable(line))],
            _ => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                vec![(Tone::Plain, printable(line))]
            }
        }
    }

    fn read_header(&mut self, line: &[u8]) -> Spans {
        if let Some((old, new, length)) = ranges(line) {
            (self.old, self.new) = (old, new);
            return vec![(Tone::Fragment, printable(&line[..length])), (Tone::Plain, printable(&line[length..]))];
        }
        let is_remark = line.starts_with(b"\\") || line.starts_with(b"Binary files ");
        vec![(if is_remark { Tone::Dim } else { Tone::Strong }, printable(line))]
    }
}

/// White space at the end of an added line is pointed out, as git does it by default.
fn added(line: &[u8]) -> Spans {
    let end = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).map_or(0, |last| last + 1);
    let text = printable(line);
    let blank = line.len() - end;
    if blank == 0 || line[end..].contains(&b'\r') {
        return vec![(Tone::Added, text)];
    }
    let head = printable(&line[..end]);
    let tail = text[head.len()..].to_owned();
    vec![(Tone::Added, head), (Tone::Whitespace, tail)]
}

/// The numbers of old and new lines in `@@ -a,b +c,d @@`, and its length.
fn ranges(line: &[u8]) -> Option<(u64, u64, usize)> {
    let rest = line.strip_prefix(b"@@ -")?;
    let end = rest.windows(3).position(|three| three == b" @@")?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    let (old, new) = text.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?, 4 + end + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tones(patch: &str) -> Vec<(Tone, String)> {
        let (mut lines, mut files) = (Vec::new(), Vec::new());
        assert!(read(patch.as_bytes(), &mut lines, &mut files));
        lines.into_iter().map(|line| line[0].clone()).collect()
    }

    #[test]
    fn lines_have_the_meaning_that_git_gives_them() {
        let patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@ fn x()\n a\n--- b\n-diff c\n++++ d\n\\ No newline\n";

        let tones: Vec<Tone> = tones(patch).iter().map(|(tone, _)| *tone).collect();

        use Tone::{Added, Dim, Fragment, Plain, Removed, Strong};
        assert_eq!(tones, [Strong, Strong, Strong, Fragment, Plain, Removed, Removed, Added, Dim]);
    }

    #[test]
    fn the_patch_of_each_file_is_found() {
        let (mut lines, mut files) = (vec![Vec::new()], Vec::new());
        let patch = "diff --git a/a b/a\n@@ -1 +1 @@\n-diff x\n+diff y\ndiff --git a/b b/b\nBinary files differ\n";

        read(patch.as_bytes(), &mut lines, &mut files);

        assert_eq!(files, [1, 5]);
    }

    #[test]
    fn white_space_at_the_end_of_an_added_line_is_pointed_out() {
        let (mut lines, mut files) = (Vec::new(), Vec::new());
        read(b"@@ -0,0 +1,2 @@\n+a \t\n+b\n", &mut lines, &mut files);

        assert_eq!(lines[1], [(Tone::Added, "+a".to_owned()), (Tone::Whitespace, "      ".to_owned())]);
        assert_eq!(lines[2], [(Tone::Added, "+b".to_owned())]);
    }

    #[test]
    fn a_patch_without_end_is_cut() {
        let (mut lines, mut files) = (Vec::new(), Vec::new());

        assert!(!read("x\n".repeat(MOST_LINES + 1).as_bytes(), &mut lines, &mut files));
        assert_eq!(lines.len(), MOST_LINES);
    }
}
