//! A transcript line by line, each with its place in the file.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::MemoryError;

/// No agent writes a longer line.
const LONGEST: u64 = 64 << 20;

/// The lines of a transcript.
pub(super) struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    buffer: Vec<u8>,
    offset: u64,
}

/// One line, with its end.
pub(super) struct Line<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// The place behind it.
    pub(super) end: u64,
}

impl Lines {
    /// Opens a file that must be one, and no link to one.
    pub(super) fn open(path: &Path) -> Result<Lines, MemoryError> {
        Lines::open_at(path, 0)
    }

    /// The same, from the place `offset` on, where a line must begin.
    pub(super) fn open_at(path: &Path, offset: u64) -> Result<Lines, MemoryError> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let mut file = file.map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => MemoryError::NotAFile(path.to_owned()),
            _ => MemoryError::io("open", path)(error),
        })?;
        if !file.metadata().map_err(MemoryError::io("look at", path))?.is_file() {
            return Err(MemoryError::NotAFile(path.to_owned()));
        }
        file.seek(SeekFrom::Start(offset)).map_err(MemoryError::io("read", path))?;
        Ok(Lines { reader: BufReader::with_capacity(1 << 16, file), path: path.to_owned(), buffer: Vec::new(), offset })
    }

    /// The next line, if it ends no later than at `to`.
    pub(super) fn next_until(&mut self, to: u64) -> Result<Option<Line<'_>>, MemoryError> {
        Ok(self.next()?.filter(|line| line.end <= to))
    }

    /// The next line; none at the end of the file. One without an end is still being written, and is none yet.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, MemoryError> {
        self.buffer.clear();
        let read = self.reader.by_ref().take(LONGEST + 1).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(MemoryError::io("read", &self.path))? as u64;
        if read == 0 {
            return Ok(None);
        }
        if read > LONGEST {
            return Err(MemoryError::UnknownFormat(self.path.clone(), "a line is longer than 64 MiB"));
        }
        if self.buffer.last() != Some(&b'\n') {
            return Ok(None);
        }
        self.offset += read;
        Ok(Some(Line { bytes: &self.buffer, end: self.offset }))
    }
}
