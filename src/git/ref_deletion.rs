//! Deleting many of our refs at once: one new `packed-refs`, however many they are.
//!
//! As git does it (`refs/files-backend.c:files_transaction_finish`), `packed-refs.lock` is held from before the packed refs go
//! until the loose ones are gone, so that no `git pack-refs` packs a loose one again in between. The lock is a link to a file of
//! ours: [`pack_refs::clear_stale`] knows by that which lock a process left that died here.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::bstr::ByteSlice;

use super::odb::sync_directory;
use super::refs::{self, Lock};
use super::{GitError, Repo, pack_refs};
use crate::sys::fault;

/// The lock of `packed-refs`, held while it lives.
pub struct RefDeletion<'a> {
    repo: &'a Repo,
    own: PathBuf,
    lock: PathBuf,
}

impl<'a> RefDeletion<'a> {
    /// Locks `packed-refs`; none if it is not free within `limit`. The caller holds the lock of the repository.
    pub fn begin(repo: &'a Repo, limit: Duration) -> Result<Option<RefDeletion<'a>>, GitError> {
        pack_refs::clear_stale(repo);
        let (own, lock) = (pack_refs::own_file(repo), repo.common_dir().join("packed-refs.lock"));
        let made = fs::create_dir_all(repo.shared_dir()).and_then(|()| File::create(&own));
        made.map_err(|source| GitError::io("create", &own, source))?;
        let until = Instant::now() + limit;
        loop {
            match fs::hard_link(&own, &lock) {
                Ok(()) => return Ok(Some(RefDeletion { repo, own, lock })),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => {
                    let _ = fs::remove_file(&own);
                    let is_taken = error.kind() == ErrorKind::AlreadyExists;
                    return if is_taken { Ok(None) } else { Err(GitError::io("create", &lock, error)) };
                }
            }
        }
    }

    /// Deletes each ref if it points where it is said to, or nowhere. Returns the names of those that do not any more; the
    /// deletion is on disk by then.
    pub fn run(self, wanted: &[(String, ObjectId)]) -> Result<Vec<String>, GitError> {
        let failed = |source| GitError::io("delete refs in", self.repo.common_dir().join("packed-refs"), source);
        let loose: Vec<Loose> = wanted.iter().map(|(name, id)| self.loose(name, *id)).collect();
        let is_plain = self.unpack(wanted, &loose).map_err(failed)?;
        if !is_plain {
            // What is no file as git writes it is left to the general way, which needs the lock.
            let repo = self.repo;
            drop(self);
            let gone = |(name, id): &&(String, ObjectId)| refs::delete(repo, name, Some(*id)).is_ok();
            return Ok(wanted.iter().filter(gone).map(|(name, _)| name.clone()).collect());
        }
        let (mut gone, mut folders) = (Vec::new(), BTreeSet::new());
        for ((name, id), loose) in wanted.iter().zip(loose) {
            if loose == Loose::Ours {
                fault::point().map_err(failed)?;
                if self.remove_loose(name, *id).is_err() {
                    // It is locked; whoever comes later tries again.
                    continue;
                }
                folders.extend(self.repo.common_dir().join(name).parent().map(Path::to_owned));
            }
            gone.push(name.clone());
        }
        for folder in folders {
            // What is not empty stays; what is gone needs no flush of its own.
            let flushed = if fs::remove_dir(&folder).is_ok() { folder.parent() } else { Some(folder.as_path()) };
            flushed.map_or(Ok(()), sync_directory)?;
        }
        Ok(gone)
    }

    fn loose(&self, name: &str, id: ObjectId) -> Loose {
        match fs::read(self.repo.common_dir().join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Loose::None,
            // A crash may have left it empty.
            Ok(content) if content.trim_ascii().is_empty() => Loose::Ours,
            Ok(content) if ObjectId::from_hex(content.trim_ascii_end()).is_ok_and(|is| is == id) => Loose::Ours,
            Ok(_) | Err(_) => Loose::Other,
        }
    }

    /// Writes `packed-refs` anew without those refs. False if it is not what git writes.
    fn unpack(&self, wanted: &[(String, ObjectId)], loose: &[Loose]) -> std::io::Result<bool> {
        let path = self.repo.common_dir().join("packed-refs");
        let old = match path.symlink_metadata() {
            Ok(meta) if meta.is_file() => fs::read(&path)?,
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        // A loose ref hides the packed one, which may have another value and must not come to light.
        let unwanted = wanted.iter().zip(loose).filter(|(_, loose)| **loose != Loose::Other);
        let unwanted = unwanted.map(|((name, id), loose)| (name.as_bytes(), (*loose == Loose::None).then_some(*id))).collect();
        let Some(new) = without(&old, &unwanted) else { return Ok(false) };
        if new.len() == old.len() {
            return Ok(true);
        }
        let next = self.next();
        let mut file = File::create(&next)?;
        file.write_all(&new)?;
        file.set_permissions(path.metadata()?.permissions())?;
        file.sync_all()?;
        fault::point()?;
        fs::rename(&next, &path)?;
        File::open(self.repo.common_dir())?.sync_all()?;
        Ok(true)
    }

    /// Where the new `packed-refs` is written.
    fn next(&self) -> PathBuf {
        self.own.with_extension("next")
    }

    fn remove_loose(&self, name: &str, id: ObjectId) -> Result<(), GitError> {
        let _lock = Lock::take(self.repo, name)?;
        let path = self.repo.common_dir().join(name);
        if self.loose(name, id) == Loose::Ours {
            fs::remove_file(&path).map_err(|source| GitError::io("delete", &path, source))?;
        }
        Ok(())
    }
}

/// What stands in the file of a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loose {
    /// There is none.
    None,
    /// What was expected.
    Ours,
    /// Something else, which is not for us to delete.
    Other,
}

impl Drop for RefDeletion<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.next());
        let _ = fs::remove_file(&self.lock);
        let _ = fs::remove_file(&self.own);
    }
}

/// The lines of `packed-refs` without those of `unwanted` refs, each with the value it must have to go, if that matters; none if
/// the form of the file is not known.
fn without(old: &[u8], unwanted: &HashMap<&[u8], Option<ObjectId>>) -> Option<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    let mut is_dropped = false;
    for line in old.lines_with_terminator() {
        match line.first()? {
            _ if !line.ends_with(b"\n") => return None,
            b'#' => is_dropped = false,
            // What the tag before it points to.
            b'^' => {}
            byte if byte.is_ascii_hexdigit() => {
                let (id, name) = line.trim_end().split_once_str(" ")?;
                let has = |wanted: &ObjectId| ObjectId::from_hex(id).is_ok_and(|id| id == *wanted);
                is_dropped = unwanted.get(name).is_some_and(|value| value.as_ref().is_none_or(has));
            }
            _ => return None,
        }
        if !is_dropped {
            new.extend_from_slice(line);
        }
    }
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    const NOW: Duration = Duration::ZERO;

    fn delete(repo: &Repo, wanted: &[(&str, ObjectId)]) -> Vec<String> {
        let wanted: Vec<_> = wanted.iter().map(|(name, id)| ((*name).to_owned(), *id)).collect();
        RefDeletion::begin(repo, NOW).unwrap().unwrap().run(&wanted).unwrap()
    }

    #[test]
    fn loose_and_packed_refs_go_and_all_others_stay() {
        let test = TestRepo::new();
        let (first, second) = (test.commit_all("first"), test.commit_all("second"));
        test.git(&["tag", "-a", "-m", "tag", "v1"]);
        let repo = test.open();
        let [packed, both, loose, moved] = ["packed", "both", "loose", "moved"].map(|name| format!("refs/checkpoints/s/{name}"));
        for name in [&packed, &both, &moved] {
            refs::create(&repo, name, first).unwrap();
        }
        test.git(&["pack-refs", "--all"]);
        refs::set(&repo, &both, second).unwrap();
        refs::create(&repo, &loose, second).unwrap();
        let all = [(&*packed, first), (&*both, second), (&*loose, second), (&*moved, second), ("refs/checkpoints/s/none", first)];

        let gone = delete(&repo, &all);

        assert_eq!(gone, all.map(|(name, _)| name.to_owned()));
        let left = test.git(&["for-each-ref", "--format=%(refname) %(*objectname)"]);
        assert_eq!(left, format!("{moved} \nrefs/heads/main \nrefs/tags/v1 {second}"));
        assert!(!test.exists(".git/refs/checkpoints/s") && !test.exists(".git/packed-refs.lock"));
        assert!(!pack_refs::has_stale(&repo));
        test.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_lock_of_git_is_respected_and_that_of_a_dead_process_removed() {
        let test = TestRepo::new();
        let id = test.commit_all("first");
        let repo = test.open();
        refs::create(&repo, "refs/checkpoints/s/a", id).unwrap();
        test.write(".git/packed-refs.lock", "");
        assert!(RefDeletion::begin(&repo, NOW).unwrap().is_none());
        assert!(test.exists(".git/packed-refs.lock") && !pack_refs::has_stale(&repo));
        test.remove(".git/packed-refs.lock");

        std::mem::forget(RefDeletion::begin(&repo, NOW).unwrap());
        assert!(test.exists(".git/packed-refs.lock"));

        assert_eq!(delete(&repo, &[("refs/checkpoints/s/a", id)]).len(), 1);
        assert_eq!(refs::read(&repo, "refs/checkpoints/s/a").unwrap(), None);
        assert!(!test.exists(".git/packed-refs.lock"));
    }

    #[test]
    fn a_ref_that_another_process_holds_is_left_to_a_later_time() {
        let test = TestRepo::new();
        let id = test.commit_all("first");
        let repo = test.open();
        for name in ["refs/checkpoints/s/a", "refs/checkpoints/s/b"] {
            refs::create(&repo, name, id).unwrap();
        }
        test.write(".git/refs/checkpoints/s/a.lock", "");

        let gone = delete(&repo, &[("refs/checkpoints/s/a", id), ("refs/checkpoints/s/b", id)]);

        assert_eq!(gone, ["refs/checkpoints/s/b"]);
        assert_eq!(refs::read(&repo, "refs/checkpoints/s/a").unwrap(), Some(id));
    }

    #[test]
    fn an_unknown_form_of_the_file_is_left_to_the_general_way() {
        let unwanted = HashMap::new();
        for odd in ["no ref at all\n", "# pack-refs with: peeled \n0123"] {
            assert_eq!(without(odd.as_bytes(), &unwanted), None);
        }
        assert_eq!(without(b"", &unwanted), Some(Vec::new()));
    }
}
