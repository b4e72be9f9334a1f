//! How much of a transcript there is, told so that it can be seen later whether these bytes are still the same.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

/// A transcript larger than this is not read at the end of a turn: whoever waits for the agent would wait for that.
const LARGEST: u64 = 1 << 30;

/// The beginning of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// How many bytes, up to the end of a line.
    pub offset: u64,
    /// Their SHA-256 in hexadecimal.
    pub sha256: String,
}

/// All whole lines of the file at `path`. An agent may add to it meanwhile: what is there now counts.
pub fn prefix_of(path: &Path) -> io::Result<Prefix> {
    // What stands at the path need not be a file, and opening a pipe would wait for its other end.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    if meta.len() > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let offset = end_of_last_line(&file, meta.len())?;
    Ok(Prefix { offset, sha256: sha256_of(file, offset)? })
}

/// True if the file begins with `offset` bytes of this SHA-256. It may have grown since.
pub fn begins_with(path: &Path, offset: u64, sha256: &str) -> io::Result<bool> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path)?;
    match sha256_of(file, offset) {
        Ok(found) => Ok(found == sha256),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Of the first `len` bytes.
fn sha256_of(file: File, len: u64) -> io::Result<String> {
    let mut rest = file.take(len);
    let (mut hash, mut buffer, mut read) = (Sha256::new(), vec![0; 256 * 1024], 0);
    loop {
        let count = match rest.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..count]);
        read += count as u64;
    }
    if read != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where the last line that has an end ends, in the first `len` bytes.
fn end_of_last_line(file: &File, len: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(buffer.len() as u64);
        let part = &mut buffer[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(part, start)?;
        if let Some(found) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + found as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(content: &[u8]) -> Prefix {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, content).unwrap();
        prefix_of(&path).unwrap()
    }

    #[test]
    fn only_whole_lines_count() {
        // By sha256sum(1).
        let one = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356";
        assert_eq!(prefix(b"{}\n"), Prefix { offset: 3, sha256: one.into() });
        assert_eq!(prefix(b"{}\n{\"half\":"), prefix(b"{}\n"));
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [&b""[..], b"no line"] {
            assert_eq!(prefix(text), Prefix { offset: 0, sha256: nothing.into() });
        }
    }

    #[test]
    fn a_long_last_line_is_left_out_too() {
        let content = [b"a\n".as_slice(), &vec![b'x'; 200_000]].concat();

        assert_eq!(prefix(&content), prefix(b"a\n"));
        assert_eq!(prefix(&[&content[..], b"\n"].concat()).offset, 200_003);
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();

        assert!(prefix_of(&pipe).is_err());
        assert!(prefix_of(folder.path()).is_err());
        assert_eq!(prefix_of(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
