//! The whole state of a repository and its worktree, to compare before and after.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::TestRepo;

/// What stands at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    kind: char,
    mode: u32,
    /// Of a file its bytes, of a link its target; hashed.
    content: u64,
    mtime: i64,
}

/// Everything that a capture must leave alone.
#[derive(Clone, PartialEq, Eq)]
pub struct RepoState {
    head: String,
    refs: String,
    config: String,
    stash: String,
    status: String,
    index_entries: String,
    index_file: Option<(u64, i64)>,
    git_files: BTreeMap<PathBuf, Entry>,
    worktree: BTreeMap<PathBuf, Entry>,
}

impl RepoState {
    /// Reads the state; changes nothing, not even the index that `git status` would refresh.
    pub fn of(repo: &TestRepo) -> RepoState {
        let git_dir = repo.git_dir();
        let own_link = repo.path(".git");
        let worktree = entries(repo.top(), &|path| path == own_link);
        let mut git_files = entries(&git_dir, &is_ours);
        git_files.remove(Path::new("index"));
        let common_dir = repo.common_dir();
        if common_dir != git_dir {
            git_files
                .extend(entries(&common_dir, &is_ours).into_iter().map(|(path, entry)| (Path::new("shared").join(path), entry)));
        }
        git_files.retain(|_, entry| entry.kind != 'd');
        // Git itself marks the shared part of a split index as used whenever it reads it.
        git_files.iter_mut().filter(|(path, _)| path.to_string_lossy().contains("sharedindex.")).for_each(|(_, e)| e.mtime = 0);
        RepoState {
            head: std::fs::read_to_string(git_dir.join("HEAD")).unwrap(),
            refs: refs(repo),
            config: repo.git(["config", "--list", "--show-origin", "-z"]).text(),
            stash: repo.git(["stash", "list"]).text(),
            status: repo.status(),
            index_entries: repo.index_entries(),
            index_file: entry(&git_dir.join("index")).map(|index| (index.content, index.mtime)),
            git_files,
            worktree,
        }
    }

    /// The state apart from times and from how the index stores it: what a restore brings back.
    pub fn without_times(mut self) -> RepoState {
        self.index_file = None;
        for entry in self.worktree.values_mut() {
            entry.mtime = 0;
        }
        self.git_files.clear();
        self
    }

    /// The state apart from folders, which git does not record.
    pub fn without_folders(mut self) -> RepoState {
        self.worktree.retain(|_, entry| entry.kind != 'd');
        self
    }

    /// The state apart from the times of folders, and of those files that are not as in `before`.
    pub fn with_times_of_what_is_as_in(mut self, before: &RepoState) -> RepoState {
        for (path, entry) in &mut self.worktree {
            if entry.kind == 'd' || before.worktree.get(path) != Some(entry) {
                entry.mtime = 0;
            }
        }
        self
    }

    /// The state apart from permissions, which mean nothing where `core.fileMode` is off.
    pub fn without_modes(mut self) -> RepoState {
        self.worktree.values_mut().for_each(|entry| entry.mode = 0);
        self
    }

    /// The state with every file that differs in `restored` as git makes it from the checkpoint: of a file with mixed line
    /// ends, for one, a tree holds one kind of them.
    pub fn or_checked_out(mut self, restored: &RepoState, repo: &TestRepo, checkpoint: &str) -> RepoState {
        for (path, entry) in self.worktree.iter_mut().filter(|(_, entry)| entry.kind == 'f') {
            if restored.worktree.get(path) != Some(entry) {
                entry.content = hash(&repo.checked_out(checkpoint, path));
            }
        }
        self
    }

    /// Takes over how `other` stores its index, so that a difference in that alone does not count.
    pub fn keep_index_file_of(&mut self, other: &RepoState) {
        self.index_file = other.index_file;
    }

    /// Fails the test and names every difference, unless the two are equal.
    #[track_caller]
    pub fn assert_same(&self, after: &RepoState) {
        let differences = self.differences(after);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    /// One line for each difference.
    pub fn differences(&self, after: &RepoState) -> Vec<String> {
        let mut found = Vec::new();
        compare(&mut found, "HEAD", &self.head, &after.head);
        compare(&mut found, "refs", &self.refs, &after.refs);
        compare(&mut found, "config", &self.config, &after.config);
        compare(&mut found, "stash", &self.stash, &after.stash);
        compare(&mut found, "status", &self.status, &after.status);
        compare(&mut found, "index entries", &self.index_entries, &after.index_entries);
        compare(&mut found, "index file (hash, mtime)", &self.index_file, &after.index_file);
        compare_entries(&mut found, "in the git directory", &self.git_files, &after.git_files);
        compare_entries(&mut found, "in the worktree", &self.worktree, &after.worktree);
        found
    }
}

fn compare<T: PartialEq + Debug>(found: &mut Vec<String>, what: &str, before: &T, after: &T) {
    if before != after {
        found.push(format!("{what} changed\n  from {before:#?}\n  to   {after:#?}"));
    }
}

fn compare_entries(found: &mut Vec<String>, place: &str, before: &BTreeMap<PathBuf, Entry>, after: &BTreeMap<PathBuf, Entry>) {
    let mut paths: Vec<_> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        match (before.get(path), after.get(path)) {
            (Some(_), None) => found.push(format!("gone {place}: {path:?}")),
            (None, Some(_)) => found.push(format!("new {place}: {path:?}")),
            (was, is) if was != is => found.push(format!("changed {place}: {path:?}\n  from {was:?}\n  to   {is:?}")),
            _ => {}
        }
    }
}

fn refs(repo: &TestRepo) -> String {
    let all = repo.git(["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]).text();
    let ours = ["refs/checkpoints/", "refs/checkpoint-names/", "refs/checkpoint-originals/", "refs/checkpoint-memory/"];
    let foreign = all.lines().filter(|line| !ours.iter().any(|prefix| line.starts_with(prefix)));
    foreign.collect::<Vec<_>>().join("\n")
}

/// Parts of a git directory that hold checkpoints or that other fields of the state cover.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let own = [
        "objects",
        "checkpoint",
        "checkpoints",
        "checkpoint-names",
        "checkpoint-originals",
        "checkpoint-memory",
        "packed-refs",
        "worktrees",
        "lfs",
    ];
    own.iter().any(|own| name == *own)
}

fn entries(root: &Path, skip: &dyn Fn(&Path) -> bool) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(listing) = folder.read_dir() else { continue };
        for path in listing.map(|item| item.unwrap().path()).filter(|path| !skip(path)) {
            let Some(entry) = entry(&path) else { continue };
            if entry.kind == 'd' {
                folders.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), entry);
        }
    }
    // The root itself: a file made and removed again in it leaves its trace here.
    found.extend(entry(root).map(|top| (PathBuf::from("."), top)));
    found
}

fn entry(path: &Path) -> Option<Entry> {
    let meta = path.symlink_metadata().ok()?;
    let kind = meta.file_type();
    let (kind, content) = if kind.is_symlink() {
        ('l', std::fs::read_link(path).unwrap().into_os_string().into_encoded_bytes())
    } else if kind.is_dir() {
        ('d', Vec::new())
    } else if kind.is_file() {
        ('f', std::fs::read(path).unwrap_or_default())
    } else {
        ('s', Vec::new())
    };
    let mtime = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
    Some(Entry { kind, mode: meta.mode(), content: hash(&content), mtime })
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    hasher.finish()
}
