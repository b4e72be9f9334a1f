//! A new conversation that is written aside and gets its name when everything else is done.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::MemoryError;

/// A fork that nobody named for so long is nobody's: an interrupted restore is finished or taken back before.
const LEFT_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);

/// A fork that was written and read back, and that no agent knows yet.
#[derive(Debug)]
pub struct Prepared {
    /// The agent's id of the new conversation.
    pub conversation: String,
    /// The command that goes on with it.
    pub resume: Vec<String>,
    /// Where it is now.
    pub aside: PathBuf,
    /// Where it is to be.
    pub file: PathBuf,
}

impl Prepared {
    /// Takes it away again.
    pub fn discard(&self) {
        discard(&self.aside);
    }
}

/// Takes a fork away that has no name yet.
pub fn discard(aside: &Path) {
    if is_aside(aside) {
        // One that cannot be removed is found by nobody.
        let _ = std::fs::remove_file(aside);
    }
}

/// Gives a fork its name. What has that name already stays, and is an error.
pub fn publish(aside: &Path, file: &Path) -> Result<(), MemoryError> {
    let is_ours = aside.parent() == file.parent() && is_aside(aside) && file.extension().is_some_and(|end| end == "jsonl");
    if !is_ours {
        return Err(MemoryError::NotAFile(aside.to_owned()));
    }
    // A link and not a rename: it never takes the place of what is there.
    std::fs::hard_link(aside, file).map_err(MemoryError::io("make", file))?;
    std::fs::remove_file(aside).map_err(MemoryError::io("remove", aside))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(MemoryError::io("flush", folder))
}

/// Makes a folder of an agent that is not there yet, for its owner alone as the agent does.
pub(super) fn make_folder(folder: &Path) -> Result<(), MemoryError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(MemoryError::io("make", folder))
}

/// The name of a fork that is not done.
pub(super) fn aside(folder: &Path, conversation: &str) -> PathBuf {
    folder.join(format!(".{conversation}.git-checkpoint.tmp"))
}

/// Removes forks that processes left which died before they could name or discard them.
pub(super) fn clear_left(folder: &Path) {
    let is_old = |path: &Path| {
        let written = path.symlink_metadata().and_then(|meta| meta.modified());
        written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > LEFT_AFTER))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| is_aside(path) && is_old(path)).for_each(|path| discard(&path));
}

fn is_aside(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        name.starts_with(b".") && name.ends_with(b".git-checkpoint.tmp")
    })
}

/// Writes a new file that only its owner may read, and has it on disk when it returns. A file that could not be written whole is
/// removed.
pub(super) fn write_aside(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(path);
    let file = file.map_err(MemoryError::io("make", path))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let flush = |out: BufWriter<File>| -> io::Result<()> { out.into_inner().map_err(|error| error.into_error())?.sync_all() };
    let written = write(&mut out).and_then(|()| flush(out).map_err(MemoryError::io("write", path)));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}
