//! Our refs, written durably: `refs/checkpoints/<session>/<id>`, `refs/checkpoint-names/<name>`, `refs/checkpoint-originals/<id>` and
//! `refs/checkpoint-memory/<session>`.
//!
//! gix flushes nothing it writes to disk, so a ref is written here: a lock file beside it, flushed, then renamed, then the
//! directory flushed. No reflog is kept and no hook is run.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::refs::transaction::{Change, PreviousValue, RefEdit, RefLog};

use super::odb::sync_directory;
use super::ref_marks::{self, Mark};
use super::{GitError, Repo};
use crate::model::validate_name;
use crate::sys::fault;

/// Where checkpoints are.
pub const CHECKPOINTS: &str = "refs/checkpoints/";
/// Where names are: each points to the commit of the checkpoint it names.
pub const NAMES: &str = "refs/checkpoint-names/";
/// Where the exact bytes of files are that a filter changes on their way into a checkpoint.
pub const ORIGINALS: &str = "refs/checkpoint-originals/";
/// Where copies of agents' conversations are, apart from the files: one for each session.
pub const MEMORY: &str = "refs/checkpoint-memory/";
/// How long to wait for another process that holds the lock of a ref.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// What a ref points to; none if there is no such ref, or a crash left it empty.
pub fn read(repo: &Repo, name: &str) -> Result<Option<ObjectId>, GitError> {
    let loose = repo.common_dir().join(name);
    if let Ok(text) = fs::read(&loose)
        && !text.starts_with(b"ref:")
    {
        return Ok(ObjectId::from_hex(text.trim_ascii_end()).ok());
    }
    let gix = repo.gix();
    let found = gix.try_find_reference(name).map_err(|source| GitError::other(format!("read the ref `{name}`"), source))?;
    Ok(found.and_then(|found| found.target().try_id().map(ToOwned::to_owned)))
}

/// Creates the ref `name`, which must not exist. It is on disk when this returns.
pub fn create(repo: &Repo, name: &str, id: ObjectId) -> Result<(), GitError> {
    create_under(Lock::take(repo, name)?, repo, name, id)
}

/// The same for a caller that has noted `name`, and after whose death [`clear_noted`] is called.
pub(super) fn create_noted(repo: &Repo, name: &str, id: ObjectId) -> Result<(), GitError> {
    create_under(Lock::take_noted(repo, name)?, repo, name, id)
}

/// Removes the lock that a process left which died in the making of the ref `name`, where nobody else makes that ref.
pub fn clear_noted(repo: &Repo, name: &str) -> Result<(), GitError> {
    let path = lock_path(repo, name);
    // Whoever locks a ref that is there is about to change or pack it, and is not that process.
    if is_ours(name) && path.symlink_metadata().is_ok() && read(repo, name)?.is_none() {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

fn create_under(lock: Lock, repo: &Repo, name: &str, id: ObjectId) -> Result<(), GitError> {
    if read(repo, name)?.is_some() {
        return Err(GitError::RefExists(name.to_owned()));
    }
    lock.write(id)
}

/// Points the ref `name` to `id`, whether or not it exists. It is on disk when this returns.
pub fn set(repo: &Repo, name: &str, id: ObjectId) -> Result<(), GitError> {
    Lock::take(repo, name)?.write(id)
}

/// Removes the ref `name`, loose and packed. With `expected`, only if it points there.
pub fn delete(repo: &Repo, name: &str, expected: Option<ObjectId>) -> Result<(), GitError> {
    let failed = |source| GitError::other(format!("delete the ref `{name}`"), source);
    let expected = match expected {
        Some(id) => PreviousValue::MustExistAndMatch(gix::refs::Target::Object(id)),
        None => PreviousValue::Any,
    };
    let edit = RefEdit {
        change: Change::Delete { expected, log: RefLog::AndReference },
        name: name.try_into().map_err(|source| GitError::other(format!("delete the ref `{name}`"), source))?,
        deref: false,
    };
    repo.gix().edit_references_as([edit], None).map_err(failed)?;
    // The library leaves the permissions of the file that it writes anew to the umask. One that is not ours was not written.
    let _ = repo.sharing().apply_at(&repo.common_dir().join("packed-refs"));
    Ok(())
}

/// All refs below `prefix` that point to an object, sorted by name. A ref that cannot be read is left out.
pub fn list(repo: &Repo, prefix: &str) -> Result<Vec<(String, ObjectId)>, GitError> {
    let failed = |source| GitError::other(format!("list `{prefix}`"), source);
    let gix = repo.gix();
    let platform = gix.references().map_err(failed)?;
    let iter = platform.prefixed(prefix).map_err(failed)?;
    let mut found: Vec<(String, ObjectId)> = iter
        .filter_map(Result::ok)
        .filter_map(|found| Some((found.name().as_bstr().to_string(), found.target().try_id()?.to_owned())))
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    Ok(found)
}

/// The ref of a checkpoint's name. Bytes other than `a-z`, `0-9`, `_` and `-` are written as `%xx`, so that every name makes
/// a good ref on every file system.
pub fn name_ref(name: &str) -> String {
    let mut out = NAMES.to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

/// The name that a ref stands for, if it is one that [`name_ref`] makes.
pub fn name_of_ref(reference: &str) -> Option<String> {
    let mut rest = reference.strip_prefix(NAMES)?.as_bytes();
    let mut name = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            name.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        name.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    let name = String::from_utf8(name).ok()?;
    (validate_name(&name).is_ok() && name_ref(&name) == reference).then_some(name)
}

/// True for the name of a ref that this program makes.
pub(super) fn is_ours(name: &str) -> bool {
    [CHECKPOINTS, NAMES, ORIGINALS, MEMORY].iter().any(|prefix| name.starts_with(prefix))
        && gix::refs::FullName::try_from(name).is_ok()
}

/// Where the lock of a loose ref is (gitrepository-layout(5), `*.lock`).
pub(super) fn lock_path(repo: &Repo, name: &str) -> PathBuf {
    repo.common_dir().join(format!("{name}.lock"))
}

/// The lock of a loose ref.
pub(super) struct Lock {
    target: PathBuf,
    path: PathBuf,
    file: fs::File,
    done: bool,
    /// By which it is known if this process dies; none if the caller sees to that.
    _mark: Option<Mark>,
}

impl Lock {
    /// Takes the lock of the ref `name`. One that a process like this left when it died is in nobody's way.
    pub(super) fn take(repo: &Repo, name: &str) -> Result<Lock, GitError> {
        let path = lock_path(repo, name);
        let (mark, file) = Mark::make(repo, name).map_err(|source| GitError::io("create", &path, source))?;
        let mut cleared = false;
        take_at(repo, name, || match mark.link(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !std::mem::replace(&mut cleared, true) => {
                ref_marks::clear_dead(repo);
                mark.link(&path)
            }
            other => other,
        })?;
        Ok(Lock { target: repo.common_dir().join(name), path, file, done: false, _mark: Some(mark) })
    }

    /// The same, where the caller has noted the ref and the next one knows what to make of a lock that is left.
    fn take_noted(repo: &Repo, name: &str) -> Result<Lock, GitError> {
        let path = lock_path(repo, name);
        let file = take_at(repo, name, || repo.sharing().create_new(OpenOptions::new().write(true), &path))?;
        Ok(Lock { target: repo.common_dir().join(name), path, file, done: false, _mark: None })
    }

    fn write(mut self, id: ObjectId) -> Result<(), GitError> {
        let failed = |source| GitError::io("write", &self.target, source);
        fault::point().map_err(failed)?;
        self.file.write_all(format!("{id}\n").as_bytes()).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        fs::rename(&self.path, &self.target).map_err(failed)?;
        self.done = true;
        let directory = self.target.parent().unwrap_or(Path::new("/"));
        sync_directory(directory)?;
        // The folder of a new session is itself a new name in the one above it.
        directory.parent().map_or(Ok(()), sync_directory)
    }
}

/// Makes a lock with `make`, waiting for another process to let go of it.
fn take_at<T>(repo: &Repo, name: &str, mut make: impl FnMut() -> io::Result<T>) -> Result<T, GitError> {
    let path = lock_path(repo, name);
    let directory = path.parent().unwrap_or(&path).to_owned();
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match make() {
            Ok(made) => return Ok(made),
            // `git pack-refs` removes directories that it emptied: make it again.
            Err(error) if error.kind() == ErrorKind::NotFound && Instant::now() < until => {
                match repo.sharing().create_dir_all(&directory) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(GitError::io("create", &directory, error)),
                    _ => {}
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(source) => return Err(GitError::io("create", &path, source)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.done {
            // It is ours: it was created exclusively.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_ref_stand_for_each_other() {
        for name in ["A", "before refactor", "v1.2", "报告", "x-y_z", "a.lock"] {
            let reference = name_ref(name);
            assert_eq!(name_of_ref(&reference).as_deref(), Some(name));
            assert!(gix::refs::FullName::try_from(reference.as_str()).is_ok(), "{reference}");
        }
        assert_eq!(name_ref("A b"), "refs/checkpoint-names/%41%20b");
        for foreign in ["refs/checkpoint-names/A", "refs/checkpoint-names/%4", "refs/checkpoint-names/%zz", "refs/heads/a"] {
            assert_eq!(name_of_ref(foreign), None, "{foreign}");
        }
    }
}
