//! Bundles (gitformat-bundle(5)): one file that carries refs and their objects, written and read by git itself.
//!
//! What is read is not trusted: its pack is unpacked and checked in a directory of its own beside the database, and only moved
//! into the repository when the caller is content with it.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gix::ObjectId;
use gix::bstr::ByteSlice;

use super::odb::sync_directory;
use super::{GitError, Repo, child};
use crate::sys::progress::{self, Phase};

/// A header with more lines than this is refused.
const MOST_LINES: usize = 1_000_000;
/// A header line longer than this many bytes is refused.
const LONGEST_LINE: u64 = 4096;

/// What a bundle says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Commits that the receiver must have.
    pub prerequisites: Vec<ObjectId>,
    /// The refs it carries.
    pub refs: Vec<(String, ObjectId)>,
}

/// A bundle whose objects were unpacked and checked, but are not in the repository yet. Dropping it removes them.
pub struct Incoming {
    /// What the bundle says of itself.
    pub header: Header,
    folder: PathBuf,
}

fn bad(reason: impl Into<String>) -> GitError {
    GitError::BadBundle(reason.into())
}

/// Writes `refs` with all their objects, but for what is reachable from `without`, to `target`. Refs below `holder` are called there
/// what they are called after it.
pub fn write(repo: &Repo, target: &Path, refs: &[String], without: &[ObjectId], holder: &str) -> Result<(), GitError> {
    progress::begin(Phase::Bundle, 0);
    let mut git = git(repo);
    git.args(["bundle", "create", "--quiet"]).arg(target).arg("--stdin");
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(child::not_run)?;
    let wanted: String = refs.iter().cloned().chain(without.iter().map(|id| format!("^{id}"))).map(|line| line + "\n").collect();
    if let Some(mut input) = child.stdin.take() {
        // If git is gone already, its own message says why.
        let _ = input.write_all(wanted.as_bytes());
    }
    finish(child, "write the bundle")?;
    if refs.iter().any(|name| name.starts_with(holder)) {
        rename_refs(target, holder)?;
    }
    File::open(target).and_then(|file| file.sync_all()).map_err(|source| GitError::io("flush", target, source))
}

/// Gives the refs below `holder` in the header of a bundle their names. The pack after it has a checksum of its own.
fn rename_refs(target: &Path, holder: &str) -> Result<(), GitError> {
    let failed = |source| GitError::io("write", target, source);
    let mut reader = BufReader::new(File::open(target).map_err(failed)?);
    let mut header = Vec::new();
    loop {
        let line = line(&mut reader)?;
        header.extend_from_slice(&line.replace(format!(" {holder}"), " "));
        header.push(b'\n');
        if line.is_empty() {
            break;
        }
    }
    let renamed = target.with_extension("renamed");
    let mut write = || -> std::io::Result<()> {
        let mut out = OpenOptions::new().write(true).create_new(true).open(&renamed)?;
        out.write_all(&header)?;
        std::io::copy(&mut reader, &mut out)?;
        out.sync_all()?;
        fs::rename(&renamed, target)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&renamed);
    }
    written.map_err(failed)
}

/// Reads the bundle in `file`, unpacks and checks its objects aside.
pub fn read(repo: &Repo, file: File) -> Result<Incoming, GitError> {
    progress::begin(Phase::Bundle, 0);
    let mut reader = BufReader::new(file);
    let header = read_header(&mut reader, repo.hash_kind())?;
    let gix = repo.gix();
    if let Some(missing) = header.prerequisites.iter().find(|id| !gix.has_object(**id)) {
        return Err(GitError::ObjectMissing(*missing));
    }
    let folder = repo.shared_dir().join(format!("incoming-{}-{:x}", std::process::id(), crate::sys::now_nanos()));
    repo.sharing().create_dir_all(&folder.join("pack")).map_err(|source| GitError::io("create", &folder, source))?;
    let incoming = Incoming { header, folder };
    let mut git = git(repo);
    // `--strict` refuses what git-fsck(1) calls an error: `.git` and `..` in trees, wrong hashes, links that lead nowhere.
    git.args(["index-pack", "--stdin", "--fix-thin", "--strict"]);
    git.env("GIT_OBJECT_DIRECTORY", &incoming.folder).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repo.common_dir().join("objects"));
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(child::not_run)?;
    if let Some(mut input) = child.stdin.take() {
        // A pack that git refuses breaks the pipe; git's own message says why.
        let _ = std::io::copy(&mut reader, &mut input);
    }
    finish(child, "unpack the bundle").map_err(|error| match error {
        GitError::Other { source, .. } => bad(source.to_string()),
        other => other,
    })?;
    Ok(incoming)
}

impl Incoming {
    /// A handle on the repository that sees the objects of the bundle too.
    pub fn objects(&self, repo: &Repo) -> Result<gix::Repository, GitError> {
        let failed = |source| GitError::io("open", &self.folder, source);
        let info = self.folder.join("info");
        repo.sharing().create_dir_all(&info).map_err(failed)?;
        let objects = repo.common_dir().join("objects");
        let mut line = objects.as_os_str().as_encoded_bytes().to_vec();
        line.push(b'\n');
        fs::write(info.join("alternates"), line).map_err(failed)?;
        let mut gix = repo.gix();
        let store = gix::odb::at(self.folder.clone(), repo.hash_kind()).map_err(failed)?;
        gix.objects = gix::odb::memory::Proxy::new(store, repo.hash_kind());
        Ok(gix)
    }

    /// Moves the objects into the repository; they are on disk when this returns.
    pub fn keep(self, repo: &Repo) -> Result<(), GitError> {
        let target = repo.common_dir().join("objects/pack");
        let from = self.folder.join("pack");
        let failed = |source| GitError::io("move the objects to", &target, source);
        repo.sharing().create_dir_all(&target).map_err(failed)?;
        let mut names: Vec<_> =
            fs::read_dir(&from).map_err(failed)?.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
        // A reader takes a pack to be there when its index is, so the index comes last.
        names.sort_by_key(|name| Path::new(name).extension().is_some_and(|ext| ext == "idx"));
        for name in names.iter().filter(|name| Path::new(name).extension().is_some_and(|ext| ext != "keep")) {
            let file = from.join(name);
            File::open(&file).and_then(|file| file.sync_all()).map_err(failed)?;
            if !target.join(name).exists() {
                fs::rename(&file, target.join(name)).map_err(failed)?;
            }
        }
        sync_directory(&target)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // Only copies of what is in the bundle are in it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Git on `repo`, of which no hook is to run.
fn git(repo: &Repo) -> Command {
    let mut command = child::git(repo);
    command.args(["-c", "core.hooksPath=/dev/null"]);
    command
}

fn finish(running: std::process::Child, action: &str) -> Result<(), GitError> {
    child::done(running.wait_with_output().map_err(child::not_run)?, action).map(|_| ())
}

/// Reads the lines before the pack.
fn read_header(reader: &mut impl BufRead, hash: gix::hash::Kind) -> Result<Header, GitError> {
    let signature = line(reader)?;
    if signature != b"# v2 git bundle" && signature != b"# v3 git bundle" {
        return Err(bad("it is no git bundle of version 2 or 3"));
    }
    let mut header = Header { prerequisites: Vec::new(), refs: Vec::new() };
    let mut format = gix::hash::Kind::Sha1;
    let mut names = HashSet::new();
    for _ in 0..MOST_LINES {
        let line = line(reader)?;
        match line.split_first() {
            None if format != hash => {
                return Err(bad(format!("its objects are named by {format}, those of this repository by {hash}")));
            }
            None => return Ok(header),
            Some((b'@', capability)) if capability == b"object-format=sha256" => format = gix::hash::Kind::Sha256,
            Some((b'@', capability)) if capability == b"object-format=sha1" => format = gix::hash::Kind::Sha1,
            Some((b'@', capability)) => {
                return Err(bad(format!("it needs `{}`, which is not supported", capability.to_str_lossy())));
            }
            Some((b'-', rest)) => header.prerequisites.push(id(rest)?),
            Some(_) => {
                let Some((hex, name)) = line.split_once_str(" ") else { return Err(bad("a line of its header is malformed")) };
                let name = name.to_str().map_err(|_| bad("the name of a ref in it is no UTF-8"))?;
                if !names.insert(name.to_owned()) {
                    return Err(bad(format!("the ref `{name}` is in it twice")));
                }
                header.refs.push((name.to_owned(), id(hex)?));
            }
        }
    }
    Err(bad("its header is too long"))
}

fn id(text: &[u8]) -> Result<ObjectId, GitError> {
    let hex = text.split_str(" ").next().unwrap_or_default();
    ObjectId::from_hex(hex).map_err(|_| bad("an object id in its header is malformed"))
}

fn line(reader: &mut impl BufRead) -> Result<Vec<u8>, GitError> {
    let mut line = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|source| GitError::io("read", "the bundle", source))?;
    if line.pop() != Some(b'\n') {
        return Err(bad("its header ends too early"));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";

    fn header(text: &str) -> Result<Header, GitError> {
        read_header(&mut text.as_bytes(), gix::hash::Kind::Sha1)
    }

    #[test]
    fn a_header_names_prerequisites_and_refs() {
        let read = header(&format!("# v2 git bundle\n-{A} why\n{A} refs/checkpoints/a/b\n\nPACK")).unwrap();

        assert_eq!(read.prerequisites.len(), 1);
        assert_eq!(read.refs, [("refs/checkpoints/a/b".to_owned(), ObjectId::from_hex(A.as_bytes()).unwrap())]);
    }

    #[test]
    fn a_malformed_header_is_refused_in_words() {
        let table = [
            ("", "ends too early"),
            ("# v9 git bundle\n\n", "no git bundle"),
            ("# v2 git bundle\n", "ends too early"),
            (&format!("# v2 git bundle\n{A} refs/a\n{A} refs/a\n\n"), "twice"),
            ("# v2 git bundle\nxyz refs/a\n\n", "malformed"),
            ("# v2 git bundle\nxyz\n\n", "malformed"),
            ("# v3 git bundle\n@filter=blob:none\n\n", "not supported"),
            ("# v3 git bundle\n@object-format=sha256\n\n", "named by"),
        ];
        for (text, expected) in table {
            let error = header(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
