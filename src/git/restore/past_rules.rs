//! Ignore rules of a state that its checkpoint does not hold, kept for undo.
//!
//! A tree has the `.gitignore` files that were captured. One that ignores itself is not among them, and neither are
//! `info/exclude` and `core.excludesFile`. What they kept out of the capture before a restore was left alone by the restore; when
//! they are gone, only this tells that an undo has to leave it alone too.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::oid;
use serde::{Deserialize, Serialize};

use super::journal::text;
use super::originals;
use crate::git::beneath::{open_file, open_top};
use crate::git::ignore::{Globals, Ignore};
use crate::git::snapshot::excludes_file;
use crate::git::{GitError, Objects, Repo};

const LIST: &str = "rules.json";
/// What is larger is no list of rules.
const LARGEST: u64 = 1 << 20;

/// A file of rules as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RuleFile {
    #[serde(with = "text::path")]
    path: BString,
    #[serde(with = "text::path")]
    content: BString,
}

/// The rules of one checkpoint that are not in its tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastRules {
    /// `.gitignore` files that were ignored.
    files: Vec<RuleFile>,
    /// `core.excludesFile`, then `info/exclude`: the later one counts more.
    #[serde(with = "text::path")]
    everywhere: BString,
    #[serde(with = "text::path")]
    exclude: BString,
}

impl PastRules {
    /// Those that were kept in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Option<PastRules>, GitError> {
        originals::read_list(&folder.join(LIST))
    }

    /// The rules together with those that `tree` has in the directories above `paths`.
    pub(super) fn with_tree<'a>(
        &self,
        repo: &Repo,
        objects: &Objects,
        tree: &oid,
        paths: impl Iterator<Item = &'a BStr>,
    ) -> Result<Ignore, GitError> {
        let files = self.files.iter().map(|file| (file.path.as_bstr(), file.content.as_bstr()));
        let globals = Globals { everywhere: self.everywhere.as_bstr(), exclude: self.exclude.as_bstr() };
        Ignore::of_past(repo, objects, (tree, paths), files, &globals)
    }
}

/// Keeps the rules in force in `folder`; `ignored` are the `.gitignore` files that are not captured.
pub(super) fn gather(repo: &Repo, ignored: &[BString], folder: &Path) -> Result<(), GitError> {
    let top = open_top(repo.top())?;
    let read = |path: &BString| {
        let content = contents(File::from(open_file(top.as_fd(), path.as_bstr()).ok()?))?;
        Some(RuleFile { path: path.clone(), content })
    };
    let of = |path: &Path| File::open(path).ok().and_then(contents).unwrap_or_default();
    let rules = PastRules {
        files: ignored.iter().filter_map(read).collect(),
        everywhere: excludes_file(repo).map(|path| of(&path)).unwrap_or_default(),
        exclude: of(&repo.common_dir().join("info/exclude")),
    };
    if rules.files.is_empty() && !has_rules(&rules.everywhere) && !has_rules(&rules.exclude) {
        return Ok(());
    }
    let list = serde_json::to_vec(&rules).map_err(|source| GitError::other("list rules", source))?;
    originals::write(repo.sharing(), folder, LIST, &list)
}

fn contents(file: File) -> Option<BString> {
    let mut bytes = Vec::new();
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes.into())
}

/// What git puts into `info/exclude` are comments.
fn has_rules(content: &BString) -> bool {
    content.lines().any(|line| !line.trim().is_empty() && !line.starts_with(b"#"))
}
