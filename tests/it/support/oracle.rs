//! What git itself says: the tree it would record, and what stands in a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use super::{Output, TestRepo};

/// How far git is to believe what the index says of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// As ever: a file whose stat data are those of its entry has the entry's content, also if attributes changed since.
    Usual,
    /// Not at all: git looks into every file, however little its stat data tell.
    None,
}

impl TestRepo {
    /// The tree that `git add -A` and `git write-tree` make of the worktree. Works on a copy of the index, and its objects go
    /// to a folder that is thrown away: an object that the program forgot to write must not come into being here.
    #[track_caller]
    pub fn git_tree(&self, belief: Belief) -> (String, BTreeMap<String, String>) {
        let git_dir = self.git_dir();
        let scratch = tempfile::tempdir_in(self.env().root()).unwrap();
        let index = git_dir.join("index");
        let copy = scratch.path().join("index");
        let real = self.common_dir().join("objects");
        let quoted = format!("\"{}\"", real.display());
        let git = |args: &[&str]| {
            let mut command = self.command("git");
            command.args(["-c", "core.splitIndex=false"]).args(args);
            command.env("GIT_INDEX_FILE", &copy).env("GIT_OBJECT_DIRECTORY", scratch.path().join("objects"));
            Output::of(command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &quoted)).success()
        };
        std::fs::create_dir(scratch.path().join("objects")).unwrap();
        if index.exists() {
            std::fs::copy(&index, &copy).unwrap();
            for path in flagged_files(self) {
                for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
                    let _cleared = git(&["update-index", flag, "--", &path]);
                }
            }
            // An index older than every file makes git look into all of them.
            let time = match belief {
                Belief::Usual => index.metadata().unwrap().modified().unwrap(),
                Belief::None => std::time::UNIX_EPOCH + std::time::Duration::from_secs(1),
            };
            let times = std::fs::FileTimes::new().set_modified(time);
            std::fs::File::options().write(true).open(&copy).unwrap().set_times(times).unwrap();
        }
        let _added = git(&["add", "-A"]);
        let tree = git(&["write-tree"]).text();
        let listing = entries(&git(&["ls-tree", "-r", "-z", "--full-tree", &tree]));
        (tree, listing)
    }

    /// Every path of a tree with its mode and object.
    #[track_caller]
    pub fn ls_tree(&self, tree: &str) -> BTreeMap<String, String> {
        let listing = self.git(["ls-tree", "-r", "-z", "--full-tree", tree]);
        let lines = String::from_utf8_lossy(&listing.stdout).into_owned();
        lines
            .split_terminator('\0')
            .map(|line| line.split_once('\t').map(|(o, p)| (p.to_owned(), o.to_owned())).unwrap())
            .collect()
    }

    /// Fails the test unless the tree of a checkpoint is git's, and says which paths differ.
    #[track_caller]
    pub fn assert_tree_is_gits(&self, selector: &str) {
        self.assert_tree_is_gits_in(selector, Belief::None);
    }

    /// The same with a choice of how far git believes its index.
    #[track_caller]
    pub fn assert_tree_is_gits_in(&self, selector: &str, belief: Belief) {
        let (ours, (gits, listing)) = (self.tree(selector), self.git_tree(belief));
        if ours != gits {
            let our_listing = self.ls_tree(&ours);
            let paths: BTreeSet<_> = our_listing.keys().chain(listing.keys()).collect();
            let differ = paths.into_iter().filter(|path| our_listing.get(*path) != listing.get(*path));
            let lines = differ.map(|path| format!("\n  {path:?}: {:?}, git {:?}", our_listing.get(path), listing.get(path)));
            panic!("tree of `{selector}` is not git's:{}\nstatus: {}", lines.collect::<String>(), self.status());
        }
    }

    /// Whether a checkpoint holds a path.
    pub fn holds(&self, selector: &str, path: impl AsRef<OsStr>) -> bool {
        self.try_git([OsStr::new("cat-file"), OsStr::new("-e"), &self.in_tree(selector, path)]).code() == Some(0)
    }

    /// The recorded bytes of a path.
    #[track_caller]
    pub fn blob(&self, selector: &str, path: impl AsRef<OsStr>) -> Vec<u8> {
        self.git([OsStr::new("cat-file"), OsStr::new("blob"), &self.in_tree(selector, path)]).stdout
    }

    /// What git makes of a recorded path on its way into the worktree; empty if it is not there.
    pub fn checked_out(&self, selector: &str, path: impl AsRef<OsStr>) -> Vec<u8> {
        self.try_git([OsStr::new("cat-file"), OsStr::new("--filters"), &self.in_tree(selector, path)]).stdout
    }

    /// The recorded mode of a path, as `git ls-tree` prints it; empty if it is not there.
    #[track_caller]
    pub fn mode(&self, selector: &str, path: &str) -> String {
        let entry = self.git(["--literal-pathspecs", "ls-tree", "--full-tree", &self.tree(selector), path]).text();
        entry.split(' ').next().unwrap_or_default().to_owned()
    }

    fn in_tree(&self, selector: &str, path: impl AsRef<OsStr>) -> std::ffi::OsString {
        let mut name = std::ffi::OsString::from(self.tree(selector) + ":");
        name.push(path);
        name
    }

    /// The flags, modes, objects and paths of the index. An entry that is empty, as those of `git add -N` are, has its mode left
    /// out: git notes there what stood on disk at that time, and it means nothing.
    pub fn index_entries(&self) -> String {
        const EMPTY: [&str; 2] =
            ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];
        let listing = self.git(["ls-files", "-s", "-v", "-z", "--full-name", ":/"]);
        let records = String::from_utf8_lossy(&listing.stdout).into_owned();
        let shown = records.split_terminator('\0').map(|record| match record.splitn(3, ' ').collect::<Vec<_>>()[..] {
            [flags, _mode, rest] if EMPTY.iter().any(|id| rest.starts_with(id)) => format!("{flags} {rest}"),
            _ => record.to_owned(),
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Fails the test unless `git fsck` finds every object whole and every link good.
    #[track_caller]
    pub fn assert_sound(&self) {
        let output = self.git(["fsck", "--full", "--strict", "--no-dangling"]);
        assert!(!output.talk().contains("error") && !output.text().contains("missing"), "{output}");
    }
}

/// The records of `git ls-tree -z`: path, and mode with object.
fn entries(listing: &Output) -> BTreeMap<String, String> {
    let lines = String::from_utf8_lossy(&listing.stdout).into_owned();
    lines.split_terminator('\0').filter_map(|line| line.split_once('\t')).map(|(o, p)| (p.to_owned(), o.to_owned())).collect()
}

/// Files whose entries ask not to look at them, and that are there all the same: a capture takes them as they are.
fn flagged_files(repo: &TestRepo) -> Vec<String> {
    let listing = repo.git(["ls-files", "-v", "-z"]).stdout;
    let records = listing.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let flagged = records.filter(|record| record[0].is_ascii_lowercase() || record[0] == b'S').map(|record| &record[2..]);
    let there = flagged.filter(|path| repo.path(super::raw(path)).symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
    there.map(|path| String::from_utf8(path.to_vec()).expect("flags are set on paths that are text")).collect()
}
