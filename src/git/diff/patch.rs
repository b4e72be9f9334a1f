//! The text of a patch.

use super::abbrev::Abbreviator;
use super::hunk::write_hunks;
use super::lines::{Text, Whitespace, edits};
use super::paint::{Painter, Palette};
use super::pair::{File, Pair, Status};
use super::parallel;
use super::quote::Quoting;
use super::reader::{Content, Differ, Reader};
use crate::git::GitError;

/// How differences are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Unchanged lines around each change.
    pub context: usize,
    /// Which differences between lines count.
    pub whitespace: Whitespace,
    /// How paths are printed.
    pub quoting: Quoting,
    /// Colours, if any.
    pub palette: Option<Palette>,
}

impl Default for Format {
    fn default() -> Self {
        Format { context: 3, whitespace: Whitespace::Exact, quoting: Quoting::default(), palette: None }
    }
}

/// Writes patches.
pub struct Patcher<'a> {
    format: Format,
    ids: &'a Abbreviator,
}

/// Lines of a header that are not written yet: git keeps them back until it is certain that something follows.
struct Header {
    lines: Vec<Vec<u8>>,
    must_show: bool,
}

impl<'a> Patcher<'a> {
    /// Writes as `format` says, with ids shortened by `ids`.
    pub fn new(format: Format, ids: &'a Abbreviator) -> Self {
        Patcher { format, ids }
    }

    /// Hands the patches of all files to `take`, in order, until that returns false.
    pub fn write_all(&self, pairs: &[Pair], differ: &Differ, mut take: impl FnMut(&[u8]) -> bool) -> Result<(), GitError> {
        let workers = differ.readers(parallel::threads_for(pairs.len(), 4))?;
        let mut result = Ok(());
        let write = |reader: &mut Reader, pair: &Pair| {
            let mut out = Vec::new();
            self.write(pair, reader, &mut out).map(|()| out)
        };
        parallel::in_order(pairs, workers, write, |patch| match patch {
            Ok(patch) => take(&patch),
            Err(error) => {
                result = Err(error);
                false
            }
        });
        result
    }

    /// Appends the patch of one file, headers included.
    pub fn write(&self, pair: &Pair, reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), GitError> {
        let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
        if pair.status() == Status::TypeChanged {
            // What became something else altogether is shown as removed and made anew.
            self.write_sides(pair, old, None, reader, out)?;
            return self.write_sides(pair, None, new, reader, out);
        }
        self.write_sides(pair, old, new, reader, out)
    }

    fn write_sides(
        &self,
        pair: &Pair,
        old: Option<&File>,
        new: Option<&File>,
        reader: &mut Reader,
        out: &mut Vec<u8>,
    ) -> Result<(), GitError> {
        let header = self.header(pair, old, new);
        let mut painter = Painter::new(out, self.format.palette);
        let show_header = |painter: &mut Painter<'_>| header.lines.iter().for_each(|line| painter.meta(line, ""));
        if old.map(|file| file.id) == new.map(|file| file.id) {
            if header.must_show {
                show_header(&mut painter);
            }
            return Ok(());
        }
        let (old_label, new_label) = (self.label(b"a/", old), self.label(b"b/", new));
        let (before, after) = (reader.read_side(old)?, reader.read_side(new)?);
        if before.is_binary() || after.is_binary() {
            show_header(&mut painter);
            let parts: [&[u8]; 5] = [b"Binary files ", &old_label, b" and ", &new_label, b" differ\n"];
            parts.iter().for_each(|part| painter.out.extend_from_slice(part));
            return Ok(());
        }
        if header.must_show {
            show_header(&mut painter);
        }
        let (old_bytes, new_bytes) = comparable(&before, &after, self.format.context);
        let (old_text, new_text) = (Text::new(old_bytes), Text::new(new_bytes));
        let edits = edits(&old_text, &new_text, self.format.whitespace);
        if edits.is_empty() {
            return Ok(());
        }
        if !header.must_show {
            show_header(&mut painter);
        }
        for (sign, label) in [("---", &old_label), ("+++", &new_label)] {
            // A tab tells readers where a name with spaces ends.
            let tab = if label.contains(&b' ') { "\t" } else { "" };
            painter.meta(&[sign.as_bytes(), b" ", label].concat(), tab);
        }
        write_hunks(&old_text, &new_text, &edits, self.format.context, &mut painter);
        Ok(())
    }

    fn header(&self, pair: &Pair, old: Option<&File>, new: Option<&File>) -> Header {
        let quoting = self.format.quoting;
        let mut lines = vec![b"diff --git ".to_vec()];
        let mut must_show = true;
        quoting.push_prefixed(&mut lines[0], b"a/", &pair.oldest().path);
        lines[0].push(b' ');
        quoting.push_prefixed(&mut lines[0], b"b/", &pair.newest().path);
        let mode = |file: &File| file.mode.value();
        match (old, new) {
            (None, Some(new)) => lines.push(format!("new file mode {:06o}", mode(new)).into_bytes()),
            (Some(old), None) => lines.push(format!("deleted file mode {:06o}", mode(old)).into_bytes()),
            (Some(old), Some(new)) if old.mode != new.mode => {
                lines.push(format!("old mode {:06o}", mode(old)).into_bytes());
                lines.push(format!("new mode {:06o}", mode(new)).into_bytes());
            }
            _ => must_show = false,
        }
        if let (Status::Renamed, Some(old), Some(new)) = (pair.status(), old, new) {
            must_show = true;
            lines.push(format!("similarity index {}%", pair.similarity()).into_bytes());
            for (word, file) in [("rename from ", old), ("rename to ", new)] {
                let mut line = word.as_bytes().to_vec();
                quoting.push(&mut line, &file.path);
                lines.push(line);
            }
        }
        let id = |side: Option<&File>, other: Option<&File>| {
            let kind = side.or(other).map_or(gix::hash::Kind::Sha1, |file| file.id.kind());
            side.map_or_else(|| kind.null(), |file| file.id)
        };
        let (old_id, new_id) = (id(old, new), id(new, old));
        if old_id != new_id {
            let mut line = b"index ".to_vec();
            self.ids.push(&mut line, &old_id);
            line.extend_from_slice(b"..");
            self.ids.push(&mut line, &new_id);
            if let (Some(old), Some(new)) = (old, new)
                && old.mode == new.mode
            {
                line.extend_from_slice(format!(" {:06o}", mode(old)).as_bytes());
            }
            lines.push(line);
        }
        Header { lines, must_show }
    }

    fn label(&self, prefix: &[u8], side: Option<&File>) -> Vec<u8> {
        let mut label = Vec::new();
        match side {
            Some(file) => self.format.quoting.push_prefixed(&mut label, prefix, &file.path),
            None => label.extend_from_slice(b"/dev/null"),
        }
        label
    }
}

/// Equal ends are cut off in pieces of this many bytes.
const PIECE: usize = 1024;

/// The parts of both contents that are compared. Without context lines git leaves out what is equal at the end, up to the
/// first line feed in it, and that can change which lines it matches.
pub(super) fn comparable<'c>(old: &'c Content, new: &'c Content, context: usize) -> (&'c [u8], &'c [u8]) {
    let (old, new) = (old.bytes(), new.bytes());
    if context > 0 {
        return (old, new);
    }
    let pieces = std::iter::zip(old.rchunks_exact(PIECE), new.rchunks_exact(PIECE)).take_while(|(a, b)| a == b);
    let equal = pieces.count() * PIECE;
    let tail = &old[old.len() - equal..];
    let back = tail.iter().position(|&byte| byte == b'\n').map_or(equal, |at| at + 1);
    (&old[..old.len() - equal + back], &new[..new.len() - equal + back])
}
