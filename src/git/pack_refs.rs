//! Moves our loose refs into `packed-refs`, as `git pack-refs` would: one file instead of thousands.
//!
//! gix does not flush that file to disk before it removes the loose refs, so it is done here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};

use super::odb::sync_directory;
use super::refs::{CHECKPOINTS, Lock, NAMES};
use super::{GitError, Repo};

const HEADER: &[u8] = b"# pack-refs with:";

/// Packs the refs of checkpoints and names. Returns how many; none if another process is at `packed-refs`, or the file is not
/// what git writes. The caller sees to it that no other process does this.
pub fn pack(repo: &Repo) -> Result<usize, GitError> {
    clear_stale(repo);
    let path = repo.common_dir().join("packed-refs");
    let (own, lock) = (own_file(repo), path.with_extension("lock"));
    let failed = |source| GitError::io("write", &path, source);
    let before = state_of(&path);
    let loose = loose_refs(repo);
    if loose.is_empty() {
        return Ok(0);
    }
    let Some(bytes) = merged(&path, &loose).map_err(failed)? else { return Ok(0) };
    let sharing = repo.sharing();
    let written = sharing.create_dir_all(&repo.shared_dir()).and_then(|()| sharing.create(&own));
    let written = written.and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()));
    // The lock is there for a moment only, and then the whole file is: whoever dies here does not bar the way for long.
    let locked = written.and_then(|()| fs::hard_link(&own, &lock));
    let packed = match locked {
        // What others delete from here on they also have to delete from the new file.
        Ok(()) if state_of(&path) == before && loose_refs(repo) == loose => fs::rename(&lock, &path).map(|()| loose.len()),
        Ok(()) => fs::remove_file(&lock).map(|()| 0),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(0),
        Err(error) => Err(error),
    };
    let _ = fs::remove_file(&own);
    let packed = packed.map_err(failed)?;
    if packed > 0 {
        sync_directory(repo.common_dir())?;
        loose.iter().for_each(|(name, id)| remove_loose(repo, name, *id));
    }
    Ok(packed)
}

/// Removes the lock that a process left which died in [`pack`]: it is the file that only such a process makes.
pub fn clear_stale(repo: &Repo) {
    let (own, lock) = (own_file(repo), repo.common_dir().join("packed-refs.lock"));
    let Ok(left) = own.symlink_metadata() else { return };
    if lock.symlink_metadata().is_ok_and(|lock| (lock.dev(), lock.ino()) == (left.dev(), left.ino())) {
        let _ = fs::remove_file(lock);
    }
    let _ = fs::remove_file(own);
}

/// True if a process may have died in [`pack`].
pub fn has_stale(repo: &Repo) -> bool {
    own_file(repo).symlink_metadata().is_ok()
}

pub(super) fn own_file(repo: &Repo) -> PathBuf {
    repo.shared_dir().join("packed-refs.new")
}

/// Tells one state of a file from another; none if it is not there.
fn state_of(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let meta = path.symlink_metadata().ok()?;
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}

/// Every loose ref of ours that holds an id, and that nobody is about to change or delete.
fn loose_refs(repo: &Repo) -> BTreeMap<String, ObjectId> {
    let mut found = BTreeMap::new();
    let mut folders = vec![CHECKPOINTS.trim_end_matches('/').to_owned(), NAMES.trim_end_matches('/').to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repo.common_dir().join(&folder)).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = format!("{folder}/{name}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(name),
                Ok(kind) if kind.is_file() && gix::refs::FullName::try_from(name.as_str()).is_ok() => {
                    let is_locked = PathBuf::from(format!("{}.lock", entry.path().display())).exists();
                    if let Some(id) = id_in(&entry.path()).filter(|_| !is_locked) {
                        found.insert(name, id);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

fn id_in(path: &Path) -> Option<ObjectId> {
    ObjectId::from_hex(fs::read(path).ok()?.trim_ascii_end()).ok().filter(|id| !id.is_null())
}

/// The bytes of `packed-refs` with `loose` in it; none if its form is not known.
fn merged(path: &Path, loose: &BTreeMap<String, ObjectId>) -> std::io::Result<Option<Vec<u8>>> {
    let old = match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => fs::read(path)?,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut header = b"# pack-refs with: peeled fully-peeled sorted ".to_vec();
    let mut records: BTreeMap<BString, Vec<u8>> = BTreeMap::new();
    let mut last: Option<BString> = None;
    for (number, line) in old.lines_with_terminator().enumerate() {
        if number == 0 && line.starts_with(HEADER) {
            header = line.trim_ascii_end().to_vec();
            if !header.ends_with(b" sorted") && !header.contains_str(" sorted ") {
                header.extend_from_slice(b" sorted");
            }
            header.push(b' ');
            continue;
        }
        if number == 0 {
            // Without a header nothing is promised about what the refs point to.
            header = b"# pack-refs with: sorted ".to_vec();
        }
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        match (line.first(), &last) {
            (Some(b'^'), Some(name)) => records.entry(name.clone()).or_default().extend_from_slice(line),
            (Some(byte), _) if byte.is_ascii_hexdigit() => {
                let Some((_, name)) = line.trim_end().split_once_str(" ") else { return Ok(None) };
                records.insert(name.into(), line.to_vec());
                last = Some(name.into());
            }
            _ => return Ok(None),
        }
    }
    for (name, id) in loose {
        records.insert(name.as_str().into(), format!("{id} {name}\n").into_bytes());
    }
    header.push(b'\n');
    Ok(Some([header].into_iter().chain(records.into_values()).flatten().collect()))
}

/// Removes a loose ref that is packed now, unless somebody changed it meanwhile.
fn remove_loose(repo: &Repo, name: &str, id: ObjectId) {
    let Ok(_lock) = Lock::take(repo, name) else { return };
    let path = repo.common_dir().join(name);
    if id_in(&path) == Some(id) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::refs;
    use crate::git::testing::TestRepo;

    #[test]
    fn our_refs_are_packed_and_the_others_stay_as_they_are() {
        let repo = TestRepo::new();
        let first = repo.commit_all("first");
        repo.git(&["tag", "-a", "-m", "tag", "v1"]);
        repo.git(&["branch", "zzz"]);
        let opened = repo.open();
        refs::create(&opened, "refs/checkpoints/s/a", first).unwrap();
        for packed_before in [false, true] {
            if packed_before {
                repo.git(&["pack-refs", "--all"]);
                repo.git(&["branch", "loose"]);
            }
            let second = repo.commit_all(&format!("more {packed_before}"));
            refs::create(&opened, &format!("refs/checkpoints/s/b-{packed_before}"), second).unwrap();
            refs::set(&opened, &refs::name_ref("A b"), second).unwrap();
            let all = repo.git(&["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"]);

            assert!(pack(&opened).unwrap() >= 2);

            assert_eq!(repo.git(&["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"]), all);
            assert!(!repo.exists(".git/refs/checkpoints/s/a") && !repo.exists(".git/packed-refs.lock"));
            assert!(repo.exists(".git/refs/heads/loose") == packed_before);
            assert_eq!(refs::read(&opened, "refs/checkpoints/s/a").unwrap(), Some(first));
            assert_eq!(pack(&opened).unwrap(), 0);
        }
        refs::create(&opened, "refs/checkpoints/s/going", first).unwrap();
        repo.write(".git/refs/checkpoints/s/going.lock", "");
        assert_eq!(pack(&opened).unwrap(), 0, "a ref that somebody is deleting must not be there again");
        repo.remove(".git/refs/checkpoints/s/going.lock");
        repo.git(&["fsck", "--strict"]);
        refs::delete(&opened, "refs/checkpoints/s/a", Some(first)).unwrap();
        assert_eq!(refs::read(&opened, "refs/checkpoints/s/a").unwrap(), None);
    }

    #[test]
    fn a_lock_or_an_unknown_form_leaves_everything_as_it_is() {
        let repo = TestRepo::new();
        let id = repo.commit_all("first");
        let opened = repo.open();
        refs::create(&opened, "refs/checkpoints/s/a", id).unwrap();
        repo.write(".git/packed-refs.lock", "");

        assert_eq!(pack(&opened).unwrap(), 0);
        assert!(repo.exists(".git/packed-refs.lock"));
        repo.remove(".git/packed-refs.lock");
        assert!(!has_stale(&opened));
        for odd in ["no ref at all\n", "# pack-refs with: peeled \n0123"] {
            repo.write(".git/packed-refs", odd);
            assert_eq!(pack(&opened).unwrap(), 0);
            assert_eq!(repo.read(".git/packed-refs"), odd);
        }
        assert!(repo.exists(".git/refs/checkpoints/s/a") && !repo.exists(".git/packed-refs.lock"));
    }

    #[test]
    fn the_lock_of_a_process_that_died_is_removed_and_no_other() {
        let repo = TestRepo::new();
        let id = repo.commit_all("first");
        let opened = repo.open();
        refs::create(&opened, "refs/checkpoints/s/a", id).unwrap();
        fs::create_dir_all(opened.shared_dir()).unwrap();
        repo.write(".git/checkpoint/packed-refs.new", "half");
        fs::hard_link(repo.path(".git/checkpoint/packed-refs.new"), repo.path(".git/packed-refs.lock")).unwrap();
        assert!(has_stale(&opened));

        assert_eq!(pack(&opened).unwrap(), 1);

        assert!(!has_stale(&opened) && !repo.exists(".git/packed-refs.lock"));
        repo.write(".git/checkpoint/packed-refs.new", "half");
        repo.write(".git/packed-refs.lock", "of git");
        clear_stale(&opened);
        assert!(!has_stale(&opened) && repo.exists(".git/packed-refs.lock"));
    }
}
