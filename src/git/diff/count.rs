//! How much changed in each file.

use super::lines::{Text, count_edits, count_lines};
use super::pair::{Pair, Status};
use super::parallel;
use super::patch::{Format, comparable};
use super::reader::{Differ, Reader};
use crate::git::GitError;
use crate::model::Stat;
use crate::sys::progress::{self, Phase};

/// How much of a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Lines added and removed.
    Lines {
        /// Lines that only the new text has.
        added: u64,
        /// Lines that only the old text has.
        removed: u64,
    },
    /// Sizes in bytes of a binary file; both 0 if the content is the same.
    Bytes {
        /// Size before.
        old: u64,
        /// Size after.
        new: u64,
    },
}

/// A file and how much of it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCount {
    /// The file.
    pub pair: Pair,
    /// How much changed.
    pub count: Count,
}

/// Counts the changes of every file. One in which nothing changed that counts is left out, as in `git diff --stat -w`.
pub fn count(differ: &Differ, pairs: Vec<Pair>, format: &Format) -> Result<Vec<FileCount>, GitError> {
    let workers = differ.readers(parallel::threads_for(pairs.len(), 8))?;
    progress::begin(Phase::Compare, pairs.len());
    let counts = parallel::map(&pairs, workers, |reader, pair| {
        progress::add_files(1);
        count_pair(pair, reader, format)
    });
    let mut files = Vec::with_capacity(pairs.len());
    for (pair, count) in std::iter::zip(pairs, counts) {
        let count = count?;
        let same_mode = pair.old.as_ref().map(|file| file.mode) == pair.new.as_ref().map(|file| file.mode);
        let nothing = count == Count::Lines { added: 0, removed: 0 } && pair.content_differs();
        if !(nothing && same_mode && pair.status() == Status::Modified) {
            files.push(FileCount { pair, count });
        }
    }
    Ok(files)
}

/// The sums over all files.
pub fn total(files: &[FileCount]) -> Stat {
    let mut stat = Stat { files: files.len() as u64, ..Stat::default() };
    for file in files {
        if let Count::Lines { added, removed } = file.count {
            stat.insertions += added;
            stat.deletions += removed;
        }
    }
    stat
}

fn count_pair(pair: &Pair, reader: &mut Reader, format: &Format) -> Result<Count, GitError> {
    let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
    let (before, after) = (reader.read_side(old)?, reader.read_side(new)?);
    if before.is_binary() || after.is_binary() {
        let differs = pair.content_differs();
        return Ok(Count::Bytes { old: if differs { before.size() } else { 0 }, new: if differs { after.size() } else { 0 } });
    }
    if !pair.content_differs() {
        return Ok(Count::Lines { added: 0, removed: 0 });
    }
    if old.is_none() || new.is_none() {
        return Ok(Count::Lines { added: count_lines(after.bytes()) as u64, removed: count_lines(before.bytes()) as u64 });
    }
    let (old, new) = comparable(&before, &after, format.context);
    let (removed, added) = count_edits(&Text::new(old), &Text::new(new), format.whitespace);
    Ok(Count::Lines { added: added as u64, removed: removed as u64 })
}
