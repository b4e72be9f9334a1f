//! What git's way of recording loses of a file, kept for undo.
//!
//! A tree holds what the clean filters make of a file, and one permission bit. For most files that is everything. Where it is
//! not, because line endings were mixed or a file was readable by its owner only, a restore keeps what is needed to make the
//! file again exactly as it was. The bytes are in a commit of their own, `refs/checkpoint-originals/<id>`, for whoever looks with
//! plain git. They also lie beside the worktree's other private files, under the id of the pre-restore checkpoint.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode as EntryMode};
use gix::objs::Kind;
use rustix::fs::{FileType, fstat};
use serde::{Deserialize, Serialize};

use super::conversions::is_rules;
use super::dirs::{Top, is_absent};
use super::journal::text;
use super::marks::Marks;
use super::op::Op;
use super::past_rules::PastRules;
use super::shares::in_shares;
use super::stage::{hash_blob, is_blob, is_blob_in};
use crate::git::filter::Filters;
use crate::git::ignore::files_above;
use crate::git::index::write_tree;
use crate::git::odb::{Keep, ObjectSink};
use crate::git::stat::FileStat;
use crate::git::tree_path::side_of;
use crate::git::{GitError, Objects, Repo, commit, os_path, refs};
use crate::sys::fault;
use crate::sys::sharing::Sharing;

const LIST: &str = "list.json";
/// Their place in the private folder of a worktree.
const FOLDER: &str = "originals";

/// One file as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Original {
    #[serde(with = "text::path")]
    path: BString,
    /// The blob that the checkpoint has for it.
    #[serde(with = "text::id")]
    blob: ObjectId,
    /// Its permissions.
    mode: u32,
    /// The bytes, where the blob does not lead back to them: the name of the file that has them, and their hash.
    content: Option<String>,
    #[serde(with = "text::optional_id")]
    hash: Option<ObjectId>,
}

/// The files of one checkpoint that are more than their blobs.
#[derive(Debug, Default)]
pub struct Originals {
    folder: PathBuf,
    /// The tree of the exact bytes, where the private folder is lost.
    tree: Option<ObjectId>,
    files: BTreeMap<BString, Original>,
    /// What the index noted of paths.
    pub marks: Marks,
    /// Ignore rules that are not in its tree.
    pub rules: Option<PastRules>,
}

/// What is known of one file beyond its blob.
pub(super) struct Exact {
    /// The bytes, where the blob does not lead back to them.
    pub(super) bytes: Option<Vec<u8>>,
    /// The permissions.
    pub(super) mode: u32,
}

impl Originals {
    /// Those kept for the checkpoint with this id; none if there is nothing to keep. An error if they are there and cannot be read:
    /// what was kept would be taken for nothing.
    pub fn of(repo: &Repo, checkpoint: &str) -> Result<Originals, GitError> {
        let folder = home(repo).join(checkpoint);
        let listed: Option<Vec<Original>> = read_list(&folder.join(LIST))?;
        let tree = if listed.is_none() { published(repo, checkpoint) } else { None };
        let files = listed.unwrap_or_default().into_iter().map(|original| (original.path.clone(), original)).collect();
        let (marks, rules) = (Marks::read(&folder)?, PastRules::read(&folder)?);
        Ok(Originals { folder, tree, files, marks, rules })
    }

    /// The files whose blob does not lead back to their bytes: the blob, and the hash of the bytes.
    pub fn contents(&self) -> BTreeMap<BString, (ObjectId, ObjectId)> {
        let with_bytes = self.files.iter().filter_map(|(path, file)| Some((path.clone(), (file.blob, file.hash?))));
        with_bytes.collect()
    }

    /// What is known of the file at `path`, if it is to hold `blob`.
    pub(super) fn get(&self, objects: &Objects, path: &BStr, blob: &ObjectId) -> Option<Exact> {
        if let Some(tree) = &self.tree {
            let side = side_of(objects, tree, path).ok().flatten()?;
            let mut bytes = Vec::new();
            objects.read(&side.id, &mut bytes).ok()?;
            return Some(Exact { bytes: Some(bytes), mode: if side.mode.is_executable() { 0o755 } else { 0o644 } });
        }
        let original = self.files.get(path).filter(|original| original.blob == *blob)?;
        let (Some(name), Some(hash)) = (&original.content, &original.hash) else {
            return Some(Exact { bytes: None, mode: original.mode });
        };
        let bytes = std::fs::read(self.folder.join(name)).ok().filter(|bytes| is_blob(bytes, hash))?;
        Some(Exact { bytes: Some(bytes), mode: original.mode })
    }
}

/// What a file of the folder lists; none if there is no such file, or if it means nothing: then it is as good as lost, which must
/// not bar the way back for ever.
pub(super) fn read_list<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, GitError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(GitError::io("read", path, source)),
    }
}

/// The tree of the commit that keeps the bytes of a checkpoint.
fn published(repo: &Repo, checkpoint: &str) -> Option<ObjectId> {
    let id = refs::read(repo, &ref_of(checkpoint)).ok()??;
    let gix = repo.gix();
    let tree = gix.find_object(id).ok()?.peel_to_tree().ok()?.id;
    Some(tree)
}

fn ref_of(checkpoint: &str) -> String {
    format!("{}{checkpoint}", refs::ORIGINALS)
}

/// Makes a commit of the bytes that [`gather`] found, before the first of the files is changed.
pub(super) fn publish(repo: &Repo, folder: &Path, checkpoint: &str) -> Result<(), GitError> {
    let list: Vec<Original> = match std::fs::read(staged(folder).join(LIST)) {
        Ok(list) => serde_json::from_slice(&list).map_err(|source| GitError::other("read the list of originals", source))?,
        Err(_) => return Ok(()),
    };
    let gix = repo.gix();
    let sink = ObjectSink::new(repo, Keep::Objects);
    let mut writer = sink.writer(&gix);
    let mut index = gix::index::State::new(repo.hash_kind());
    for original in &list {
        let Some(name) = &original.content else { continue };
        let path = staged(folder).join(name);
        let bytes = std::fs::read(&path).map_err(|source| GitError::io("read", &path, source))?;
        let id = writer.add(Kind::Blob, &bytes)?;
        let mode = if original.mode & 0o100 == 0 { EntryMode::FILE } else { EntryMode::FILE_EXECUTABLE };
        index.dangerously_push_entry(Default::default(), id, Flags::empty(), mode, original.path.as_bstr());
    }
    if index.entries().is_empty() {
        return Ok(());
    }
    index.sort_entries();
    let Some(tree) = write_tree(&index, &mut writer)? else { return Ok(()) };
    let message = format!("exact bytes of files that filters change, for checkpoint {checkpoint}\n").into_bytes();
    let commit = writer.add(Kind::Commit, &commit::encode(tree, Vec::new(), message, crate::sys::now_millis())?)?;
    drop(writer);
    sink.flush()?;
    refs::set(repo, &ref_of(checkpoint), commit)?;
    sink.held_by_ref()
}

/// Removes what is kept for checkpoints that `is_known` does not know any more.
pub fn drop_unknown_originals(repo: &Repo, is_known: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(home(repo)).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|id| !is_known(id)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes what the private folder of a worktree keeps for checkpoints that were dropped.
pub fn drop_originals(private_dir: &Path, is_dropped: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(private_dir.join(FOLDER)).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&is_dropped) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn home(repo: &Repo) -> PathBuf {
    repo.private_dir().join(FOLDER)
}

fn staged(folder: &Path) -> PathBuf {
    folder.join(FOLDER)
}

/// Moves what [`gather`] found to where it is looked for under the id of a checkpoint.
pub(super) fn settle(repo: &Repo, folder: &Path, checkpoint: &str) -> Result<(), GitError> {
    let (from, to) = (staged(folder), home(repo).join(checkpoint));
    if !from.exists() {
        return Ok(());
    }
    let made = fault::point().and_then(|()| repo.sharing().create_dir_all(&home(repo)));
    let moved = made.and_then(|()| std::fs::rename(&from, &to));
    moved.map_err(|source| GitError::io("keep originals in", &to, source))
}

/// Finds out which of the files that `ops` replace or delete are more than their blobs in `tree`, and keeps them in `folder`.
/// Notes of each what its bytes are.
pub(super) fn gather(repo: &Repo, objects: &Objects, tree: &ObjectId, ops: &mut [Op], folder: &Path) -> Result<(), GitError> {
    let filtered = may_be_filtered(repo, objects, tree, ops)?;
    let rules_change = ops.iter().any(|op| is_rules(op.path.as_bstr()));
    let mut old: Vec<&mut Op> = ops.iter_mut().filter(|op| op.old.is_some()).collect();
    let usual = umask().map(|umask| (0o666 & !umask, 0o777 & !umask));
    let has_modes = repo.gix().config_snapshot().boolean("core.fileMode").unwrap_or(true);
    let worker = Worker { repo, folder, filtered, rules_change, usual, has_modes };
    let found = in_shares(objects, &mut old, |objects, share| worker.run(objects, share));
    let mut originals = Vec::new();
    for part in found {
        originals.extend(part?);
    }
    if originals.is_empty() {
        return Ok(());
    }
    let list = serde_json::to_vec(&originals).map_err(|source| GitError::other("list originals", source))?;
    write(repo.sharing(), folder, LIST, &list)
}

/// True if some attribute file or setting can make the content of a file differ from its blob.
fn may_be_filtered(repo: &Repo, objects: &Objects, tree: &ObjectId, ops: &[Op]) -> Result<bool, GitError> {
    let gix = repo.gix();
    let config = gix.config_snapshot();
    if config.string("core.autocrlf").is_some_and(|value| value.as_slice() != b"false")
        || config.string("core.attributesFile").is_some()
    {
        return Ok(true);
    }
    let files = [
        Some(repo.common_dir().join("info/attributes")),
        Some(PathBuf::from("/etc/gitattributes")),
        std::env::home_dir().map(|home| home.join(".config/git/attributes")),
        crate::sys::env::text("XDG_CONFIG_HOME").map(|folder| Path::new(&folder).join("git/attributes")),
    ];
    if files.into_iter().flatten().any(|path| path.exists()) {
        return Ok(true);
    }
    let old = ops.iter().filter(|op| op.old.is_some());
    let above = files_above(objects, tree, old.map(|op| op.path.as_bstr()), b".gitattributes")?;
    Ok(!above.entries().is_empty())
}

struct Worker<'a> {
    repo: &'a Repo,
    folder: &'a Path,
    /// Something may change contents on their way.
    filtered: bool,
    /// Attribute files are among what changes.
    rules_change: bool,
    /// Permissions of new files and of new executables.
    usual: Option<(u32, u32)>,
    /// `core.fileMode`.
    has_modes: bool,
}

impl Worker<'_> {
    fn run(&self, objects: &Objects, ops: &mut [&mut Op]) -> Result<Vec<Original>, GitError> {
        let mut filters = None;
        let mut originals = Vec::new();
        let top = Top::open(self.repo.top()).map_err(|source| GitError::io("open", self.repo.top(), source))?;
        for op in ops {
            let (Some(old), Some(blob)) = (&op.old, op.old_blob) else { continue };
            let mode = old.mode();
            if FileType::from_raw_mode(mode) != FileType::RegularFile {
                op.old_content = Some(blob);
                continue;
            }
            let permissions = mode & 0o777;
            let unusual = match self.usual {
                // A tree does not tell which files may be executed.
                Some((plain, _)) if !self.has_modes => permissions != plain,
                Some((plain, executable)) => permissions != plain && permissions != executable,
                None => false,
            };
            let mut original = Original { path: op.path.clone(), blob, mode: permissions, content: None, hash: None };
            // Where nothing changes contents now, the blob may still have been made under other rules.
            let is_blob = top.open_file(op.path.as_bstr()).and_then(|file| is_blob_in(file, &blob));
            match self.unless_gone(op, is_blob)? {
                Some(true) if !self.filtered && !is_same(op) => op.old_content = Some(blob),
                None => continue,
                Some(_) => {
                    if let Some((hash, bytes)) = self.more_than_blob(objects, &mut filters, &top, op)? {
                        let name = op.slot.to_string();
                        write(self.repo.sharing(), self.folder, &name, &bytes)?;
                        (original.hash, original.content) = (Some(hash), Some(name));
                    }
                }
            }
            if unusual || original.content.is_some() {
                originals.push(original);
            }
        }
        Ok(originals)
    }

    /// What was read of the old file; none if that is gone by now, which is found when it is to be moved. One that cannot be read
    /// may be more than its blob: it must not be replaced.
    fn unless_gone<T>(&self, op: &Op, read: std::io::Result<T>) -> Result<Option<T>, GitError> {
        match read {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(GitError::io("read", self.repo.top().join(os_path(&op.path)), error)),
        }
    }

    /// The bytes of the old file with their hash, if its blob does not lead back to them. Notes what they are.
    fn more_than_blob(
        &self,
        objects: &Objects,
        filters: &mut Option<Filters>,
        top: &Top,
        op: &mut Op,
    ) -> Result<Option<(ObjectId, Vec<u8>)>, GitError> {
        let (Some(blob), Some((bytes, ctime_ns))) = (op.old_blob, self.unless_gone(op, read(top, op))?) else { return Ok(None) };
        let filters = match filters {
            Some(filters) => filters,
            none => none.insert(Filters::in_force(self.repo, objects)?),
        };
        let hash = hash_blob(blob.kind(), &bytes)?;
        // What was read is what was captured only if nothing happened to the file in between.
        op.old_content = (op.old_ctime_ns == Some(ctime_ns)).then_some(hash);
        let path = op.path.as_bstr();
        // Trees do not tell it from what takes its place, or other rules make the one of the other.
        let is_alike = is_same(op) || self.rules_change && !filters.is_sure_to_leave_alone(path)?;
        Ok((is_alike || !leads_back(objects, filters, path, &blob, &bytes)).then_some((hash, bytes)))
    }
}

/// True if the file is written anew with the blob that it has.
fn is_same(op: &Op) -> bool {
    op.old_blob.is_some() && op.new.as_ref().map(|new| new.id) == op.old_blob
}

/// The bytes of the file as it is now, and when its inode last changed; that it did not change since the capture is checked when
/// it is moved.
fn read(top: &Top, op: &Op) -> std::io::Result<(Vec<u8>, i64)> {
    let mut file = top.open_file(op.path.as_bstr())?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((bytes, FileStat::of(&fstat(&file)?).ctime_ns))
}

/// True if the filters make these bytes from the blob.
fn leads_back(objects: &Objects, filters: &mut Filters, path: &BStr, blob: &ObjectId, bytes: &[u8]) -> bool {
    let (mut data, mut out) = (Vec::new(), Vec::new());
    if objects.read(blob, &mut data).is_err() {
        return false;
    }
    match filters.to_worktree(path, &data, &mut out) {
        Ok(true) => out == bytes,
        Ok(false) => data == bytes,
        // A filter that fails leads nowhere.
        Err(_) => false,
    }
}

pub(super) fn write(sharing: Sharing, folder: &Path, name: &str, bytes: &[u8]) -> Result<(), GitError> {
    let folder = staged(folder);
    let path = folder.join(name);
    let written = fault::point().and_then(|()| sharing.create_dir_all(&folder)).and_then(|()| {
        let mut file = sharing.create(&path)?;
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|source| GitError::io("write", &path, source))
}

/// The permission bits that new files of this process do not get; none where the system does not tell without changing them.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}
