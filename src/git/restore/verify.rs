//! Reading back what was written.

use std::io;

use gix::bstr::{BString, ByteSlice};
use rustix::fs::{fstat, readlinkat};

use super::dirs::Top;
use super::op::Op;
use super::stage::{is_blob, is_blob_in};
use crate::git::{GitError, Repo};
use crate::sys::progress::{self, Phase};

/// The paths whose file is not what was to be written there.
pub(super) fn find_differences(repo: &Repo, ops: &[Op]) -> Result<Vec<BString>, GitError> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    progress::begin(Phase::Verify, ops.len());
    let share = ops.len().div_ceil(threads).max(16);
    let found: Vec<Result<Vec<BString>, GitError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = ops.chunks(share).map(|chunk| scope.spawn(move || work(repo, chunk))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut differences = Vec::new();
    for part in found {
        differences.extend(part?);
    }
    Ok(differences)
}

fn work(repo: &Repo, ops: &[Op]) -> Result<Vec<BString>, GitError> {
    let top = Top::open(repo.top()).map_err(|source| GitError::io("open", repo.top(), source))?;
    let differs = |op: &&Op| !is_as_planned(&top, op).unwrap_or(false);
    Ok(ops.iter().filter(differs).map(|op| op.path.clone()).collect())
}

fn is_as_planned(top: &Top, op: &Op) -> io::Result<bool> {
    progress::add_files(1);
    let Some(new) = &op.new else {
        // A directory may have taken the place of the file.
        return Ok(top.stat(op.path.as_bstr())?.is_none_or(|stat| super::dirs::is_directory(&stat)));
    };
    let (Some(content), Some(expected)) = (&new.content, &new.file) else { return Ok(false) };
    let (parent, name) = top.parent(op.path.as_bstr())?;
    if expected.is_link() {
        let target = readlinkat(&*parent, name, Vec::new())?;
        return Ok(is_blob(target.as_bytes(), content));
    }
    let file = top.open_file(op.path.as_bstr())?;
    Ok(expected.is(&fstat(&file)?) && is_blob_in(file, content)?)
}
