//! The journal of a restore: everything another process needs to finish it or to take it back.
//!
//! It is written whole and synced before the first change to the worktree, and never touched again: how far the restore came is
//! told by the files themselves, since each kept its inode when it was renamed. When the restore is over it gets another name, under
//! which it stays until the last file that was aside is gone.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::BString;
use serde::{Deserialize, Serialize};

use super::index::IndexEdit;
use super::op::Op;
use super::plan::DropDir;
use super::stage::Attributes;
use super::unreadable::Unreadable;
use crate::git::{GitError, Repo};
use crate::model::{MemoryChange, Millis};
use crate::sys::fault;
use crate::sys::process::Process;
use crate::sys::sharing::Sharing;

const VERSION: u32 = 1;
/// How the names of journals begin of which the restore is over.
const CONCLUDED: &str = "concluded-";

/// How far a restore came before it died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// No file of the worktree was changed.
    Preparing,
    /// Files may have been changed.
    Applying,
}

/// What the operation that asked for the restore has to do when it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Purpose {
    /// The id of the checkpoint that is restored.
    pub target: String,
    /// The id of the checkpoint made before.
    pub pre_restore: String,
    /// `restore`, `undo` or `redo`.
    pub verb: String,
    /// The row of the restore that an undo or redo is about.
    pub row: Option<i64>,
    /// True if only some paths are restored.
    pub limited: bool,
    /// What becomes of the index, in the word used in JSON.
    #[serde(default)]
    pub index: String,
    /// If only some paths are restored, those that are created.
    #[serde(with = "text::paths")]
    pub created: Vec<BString>,
    /// What the restore does to an agent's memory; none if it leaves that alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    pub(super) process: Process,
    pub(super) began_at: Millis,
    pub(super) phase: Phase,
    /// Names the folder beside the journal that holds the parts, and those in the worktree.
    pub(super) key: String,
    /// Inode of the `index.lock` that belongs to the restore.
    pub(super) lock_inode: Option<u64>,
    pub(super) purpose: Purpose,
    /// Folders in the worktree that hold parts; the first area is not among them.
    #[serde(with = "text::paths")]
    pub(super) areas: Vec<BString>,
    pub(super) ops: Vec<Op>,
    #[serde(with = "text::paths")]
    pub(super) make_dirs: Vec<BString>,
    pub(super) drop_dirs: Vec<DropDir>,
    /// How contents are filtered.
    pub(super) attributes: Attributes,
    /// The tree that is written.
    #[serde(with = "text::optional_id")]
    pub(super) tree: Option<ObjectId>,
    /// What is to become of the index; none if it is left alone.
    pub(super) index: Option<Vec<IndexEdit>>,
}

/// All that every version of a journal has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// What is where the journal belongs.
pub(super) enum Found {
    None,
    Journal(Box<Journal>),
    Unreadable(Unreadable),
}

impl Journal {
    /// The journal of a restore by this process that has not changed anything yet.
    pub(super) fn new(key: String, began_at: Millis) -> Journal {
        Journal {
            version: VERSION,
            process: Process::this(),
            began_at,
            phase: Phase::Preparing,
            key,
            lock_inode: None,
            purpose: Purpose::default(),
            areas: Vec::new(),
            ops: Vec::new(),
            make_dirs: Vec::new(),
            drop_dirs: Vec::new(),
            attributes: Attributes::Target,
            tree: None,
            index: None,
        }
    }

    /// Its name in the private folder of a worktree.
    pub(super) const NAME: &str = "restore.json";

    pub(super) fn path(repo: &Repo) -> PathBuf {
        repo.private_dir().join(Journal::NAME)
    }

    /// Where a journal at `path` is written before it is whole.
    pub(super) fn unfinished_path(path: &Path) -> PathBuf {
        path.with_extension("json.new")
    }

    /// The folder that holds the parts of this restore.
    pub(super) fn folder(&self, repo: &Repo) -> PathBuf {
        super::area::folder(repo, &self.key)
    }

    /// The journal of this worktree, as far as it can be read.
    pub(super) fn find(repo: &Repo) -> Found {
        match Journal::read(repo) {
            Ok(None) => Found::None,
            Ok(Some(journal)) => Found::Journal(Box::new(journal)),
            Err(error) => {
                let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                let bytes = std::fs::read(Journal::path(repo)).unwrap_or_default();
                let version = serde_json::from_slice::<Version>(&bytes).map(|found| found.version);
                Found::Unreadable(Unreadable::new(repo, why, version.is_ok_and(|version| version > VERSION)))
            }
        }
    }

    /// Reads the journal of this worktree, if there is one.
    pub(super) fn read(repo: &Repo) -> Result<Option<Journal>, GitError> {
        Journal::read_at(&Journal::path(repo))
    }

    /// Reads the journal at `path`, if there is one.
    pub(super) fn read_at(path: &Path) -> Result<Option<Journal>, GitError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::io("read", path, source)),
        };
        let damaged = |source| GitError::io("understand the restore journal", path, source);
        let journal: Journal = serde_json::from_slice(&bytes).map_err(|source| damaged(std::io::Error::other(source)))?;
        if journal.version != VERSION {
            return Err(damaged(std::io::Error::other(format!(
                "it has version {}, this program knows {VERSION}",
                journal.version
            ))));
        }
        Ok(Some(journal))
    }

    /// Writes the journal so that it is there after a crash of the machine.
    pub(super) fn write(&self, repo: &Repo) -> Result<(), GitError> {
        let path = Journal::path(repo);
        write_durably(repo.sharing(), &path, |file| {
            let mut out = std::io::BufWriter::new(file);
            serde_json::to_writer(&mut out, self)?;
            out.flush()
        })
        .map_err(|source| GitError::io("write", &path, source))
    }

    /// The restore is over, and only what is aside has to be cleared away: by whoever comes next, if this process dies over it.
    pub(super) fn conclude(&self, repo: &Repo) -> Result<(), GitError> {
        let path = Journal::path(repo);
        let renamed = fault::point().and_then(|()| std::fs::rename(&path, self.concluded_path(repo)));
        renamed.map_err(|source| GitError::io("rename", &path, source))
    }

    /// Where the journal is when the restore is over.
    pub(super) fn concluded_path(&self, repo: &Repo) -> PathBuf {
        repo.private_dir().join(format!("{CONCLUDED}{}.json", self.key))
    }

    /// The journals of restores that are over.
    pub(super) fn concluded(repo: &Repo) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(repo.private_dir()).into_iter().flatten().flatten();
        let entries = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(CONCLUDED.as_bytes()));
        entries.map(|entry| entry.path()).collect()
    }

    /// Removes the journal of a restore that has not changed anything.
    pub(super) fn remove(repo: &Repo) -> Result<(), GitError> {
        let path = Journal::path(repo);
        let removed = fault::point().and_then(|()| std::fs::remove_file(&path));
        match removed {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(|source| GitError::io("remove", &path, source)),
        }
    }
}

fn write_durably(sharing: Sharing, path: &Path, fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
    fault::point()?;
    let beside = Journal::unfinished_path(path);
    let mut file = sharing.create(&beside)?;
    fill(&mut file)?;
    file.sync_all()?;
    fault::point()?;
    std::fs::rename(&beside, path)?;
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// How paths and ids stand in the journal.
pub(super) mod text {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use gix::bstr::{BString, ByteSlice};
    use serde::de::Error;
    use serde::{Deserialize, Serialize};

    /// A path as text, or as base64 of its bytes if it is none.
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Path {
        Text(String),
        Bytes { bytes: String },
    }

    fn to_text(path: &BString) -> Path {
        match path.to_str() {
            Ok(text) => Path::Text(text.to_owned()),
            Err(_) => Path::Bytes { bytes: STANDARD.encode(path.as_slice()) },
        }
    }

    fn from_text<E: Error>(path: Path) -> Result<BString, E> {
        match path {
            Path::Text(text) => Ok(text.into()),
            Path::Bytes { bytes } => STANDARD.decode(bytes).map(Into::into).map_err(E::custom),
        }
    }

    pub(in crate::git::restore) mod path {
        use super::{BString, Deserialize, Path, Serialize, from_text, to_text};

        pub fn serialize<S: serde::Serializer>(path: &BString, out: S) -> Result<S::Ok, S::Error> {
            to_text(path).serialize(out)
        }

        pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BString, D::Error> {
            from_text(Path::deserialize(from)?)
        }
    }

    pub(in crate::git::restore) mod paths {
        use super::{BString, Deserialize, Path, from_text, to_text};

        pub fn serialize<S: serde::Serializer>(paths: &[BString], out: S) -> Result<S::Ok, S::Error> {
            out.collect_seq(paths.iter().map(to_text))
        }

        pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<BString>, D::Error> {
            Vec::<Path>::deserialize(from)?.into_iter().map(from_text).collect()
        }
    }

    pub(in crate::git::restore) mod id {
        use super::{Deserialize, Error};
        use gix::ObjectId;

        pub fn serialize<S: serde::Serializer>(id: &ObjectId, out: S) -> Result<S::Ok, S::Error> {
            out.collect_str(id)
        }

        pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<ObjectId, D::Error> {
            ObjectId::from_hex(String::deserialize(from)?.as_bytes()).map_err(D::Error::custom)
        }
    }

    pub(in crate::git::restore) mod optional_id {
        use super::{Deserialize, Error, Serialize};
        use gix::ObjectId;

        pub fn serialize<S: serde::Serializer>(id: &Option<ObjectId>, out: S) -> Result<S::Ok, S::Error> {
            id.map(|id| id.to_string()).serialize(out)
        }

        pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<ObjectId>, D::Error> {
            let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
            ObjectId::from_hex(text.as_bytes()).map(Some).map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::restore::op::{NewFile, Op};
    use crate::git::testing::TestRepo;

    #[test]
    fn a_journal_is_read_back_as_it_was_written() {
        let test = TestRepo::new();
        let repo = test.open();
        std::fs::create_dir_all(repo.private_dir()).unwrap();
        let id = ObjectId::empty_blob(repo.hash_kind());
        let mut journal = Journal::new("k".into(), 5);
        for path in [b"plain".as_slice(), b"not\xffutf8", b"new\nline"] {
            let new = NewFile { mode: 0o100_644, id, content: Some(id), file: None };
            journal.ops.push(Op {
                path: path.into(),
                old: None,
                old_ctime_ns: None,
                old_blob: None,
                old_content: None,
                new: Some(new),
                area: 0,
                slot: 3,
            });
        }
        journal.areas.push("d".into());

        journal.write(&repo).unwrap();

        assert_eq!(Journal::read(&repo).unwrap(), Some(journal));
        Journal::remove(&repo).unwrap();
        assert_eq!(Journal::read(&repo).unwrap(), None);
    }

    #[test]
    fn a_damaged_or_newer_journal_is_an_error() {
        let test = TestRepo::new();
        let repo = test.open();
        std::fs::create_dir_all(repo.private_dir()).unwrap();
        let mut journal = Journal::new("k".into(), 5);
        journal.version = 2;
        journal.write(&repo).unwrap();
        assert!(Journal::read(&repo).is_err());

        std::fs::write(Journal::path(&repo), "{").unwrap();
        assert!(Journal::read(&repo).is_err());
    }
}
