//! What git says of an index that was edited.

use gix::bstr::BString;
use rustix::fs::{AtFlags, CWD, statat};

use super::*;
use crate::git::testing::TestRepo;

struct Editor<'a> {
    repo: &'a TestRepo,
    edits: Edits,
}

impl<'a> Editor<'a> {
    fn new(repo: &'a TestRepo) -> Self {
        Editor { repo, edits: Edits::default() }
    }

    /// `path` gets the content of the file that is there.
    fn put(mut self, path: &str) -> Self {
        let id = ObjectId::from_hex(self.repo.git(&["hash-object", "-w", "--", path]).as_bytes()).unwrap();
        let stat = statat(CWD, self.repo.path(path), AtFlags::SYMLINK_NOFOLLOW).unwrap();
        let mode = if stat.st_mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
        let put = Put {
            mode,
            id,
            intent_to_add: false,
            skip_worktree: false,
            assume_unchanged: false,
            exact_flags: false,
            stat: StatData::of(&stat),
        };
        self.edits.set(path.into(), Edit::Put(put));
        self
    }

    fn edit(mut self, path: &str, edit: Edit) -> Self {
        self.edits.set(path.into(), edit);
        self
    }

    fn write(self) -> &'a TestRepo {
        self.write_if(|_| true)
    }

    fn write_if(self, current: impl Fn(&BStr) -> bool) -> &'a TestRepo {
        let repo = self.repo.open();
        let objects = Objects::new(repo.gix(), std::sync::Arc::default());
        let source = Source::read(&repo.index_path(), repo.hash_kind()).unwrap();
        let bytes = self.edits.apply(&source, &objects, &mut |path, _, _| current(path)).unwrap();
        std::fs::write(repo.index_path(), bytes).unwrap();
        // git's own fsck stumbles over sparse indexes: it looks for trees that were never written.
        if self.repo.try_git(&["config", "index.sparse"]).stdout != b"true\n" {
            self.repo.git(&["fsck", "--strict"]);
        }
        self.repo
    }
}

/// Three files, one in a directory, committed; the index is older than any later change.
fn committed(arguments: &[&str]) -> TestRepo {
    let repo = TestRepo::with(arguments);
    for name in ["a", "d/b", "z"] {
        repo.write(name, name);
    }
    repo.commit_all("first");
    age(&repo);
    repo
}

/// Moves the index and the files back in time, so that no entry is racy.
fn age(repo: &TestRepo) {
    let touch = |path: &Path, when| {
        assert!(std::process::Command::new("touch").args(["-h", "-d", when]).arg(path).status().unwrap().success())
    };
    for name in repo.git(&["ls-files"]).lines() {
        touch(&repo.path(name), "2024-01-01");
    }
    repo.git(&["update-index", "--refresh"]);
    touch(&repo.path(".git/index"), "2024-01-02");
}

/// Paths that git has to read again although the index gives a size.
fn unproven(repo: &TestRepo) -> Vec<String> {
    let debug = repo.git(&["ls-files", "--debug"]);
    let lines: Vec<&str> = debug.lines().collect();
    let entries = lines.chunks(6);
    entries.filter(|entry| entry.last().is_some_and(|l| l.contains("size: 0\t"))).map(|entry| entry[0].to_owned()).collect()
}

fn put_of(id: ObjectId) -> Put {
    Put {
        mode: 0o100_644,
        id,
        intent_to_add: false,
        skip_worktree: false,
        assume_unchanged: false,
        exact_flags: false,
        stat: StatData::default(),
    }
}

#[test]
fn an_index_without_edits_is_the_same_byte_for_byte() {
    for version in ["2", "4"] {
        let repo = committed(&[]);
        repo.git(&["update-index", "--index-version", version]);
        let before = std::fs::read(repo.path(".git/index")).unwrap();

        Editor::new(&repo).write();

        assert_eq!(std::fs::read(repo.path(".git/index")).unwrap(), before, "version {version}");
    }
}

#[test]
fn edits_of_every_version_and_hash_are_what_git_reads() {
    for (version, format) in [("2", "sha1"), ("4", "sha1"), ("2", "sha256"), ("4", "sha256")] {
        let repo = committed(&["--object-format", format]);
        repo.git(&["update-index", "--index-version", version]);
        repo.write("a", "new");
        repo.write("d/a", "inserted before");
        repo.write("zz", "appended");
        repo.remove("z");

        Editor::new(&repo).put("a").put("d/a").put("zz").edit("z", Edit::Remove).edit("none", Edit::Remove).write();

        let status = repo.git(&["status", "--porcelain=v2"]);
        let kinds: Vec<&str> = status.lines().map(|line| &line[..4]).collect();
        assert_eq!(kinds, ["1 M.", "1 A.", "1 D.", "1 A."], "{version} {format}\n{status}");
        assert_eq!(repo.git(&["write-tree"]), repo.worktree_tree().to_string());
        assert_eq!(unproven(&repo), Vec::<String>::new());
    }
}

#[test]
fn a_commit_after_an_edit_holds_the_edit() {
    let repo = committed(&[]);
    repo.git(&["write-tree"]);
    repo.write("d/b", "changed");
    repo.write("d/e/f", "new");

    Editor::new(&repo).put("d/b").put("d/e/f").write();

    repo.git(&["commit", "-q", "-m", "second"]);
    assert_eq!(repo.id("HEAD^{tree}"), repo.worktree_tree());
}

#[test]
fn a_file_in_place_of_a_directory_is_committed_as_one() {
    let repo = committed(&[]);
    repo.git(&["write-tree"]);
    repo.remove("d");
    repo.write("d", "file");

    Editor::new(&repo).edit("d/b", Edit::Remove).put("d").write();

    repo.git(&["commit", "-q", "-m", "second"]);
    assert_eq!(repo.id("HEAD^{tree}"), repo.worktree_tree());
}

#[test]
fn flags_of_update_index_stay_when_the_content_changes() {
    let repo = committed(&[]);
    repo.git(&["update-index", "--skip-worktree", "a"]);
    repo.git(&["update-index", "--assume-unchanged", "z"]);
    repo.write("a", "new");
    repo.write("z", "new");

    Editor::new(&repo).put("a").put("z").write();

    assert_eq!(repo.git(&["ls-files", "-v"]), "S a\nH d/b\nh z");
}

#[test]
fn intent_to_add_is_written_kept_and_taken_away() {
    let repo = committed(&[]);
    repo.write("n", "new");
    repo.write("kept", "new");
    repo.write("gone", "new");
    repo.git(&["add", "-N", "kept", "gone"]);
    let empty = ObjectId::empty_blob(gix::hash::Kind::Sha1);

    let announce = Put { intent_to_add: true, ..put_of(empty) };
    Editor::new(&repo).edit("n", Edit::Put(announce)).edit("gone", Edit::Remove).put("a").write();

    assert_eq!(repo.git(&["status", "--short"]), " A kept\n A n\n?? gone");
    Editor::new(&repo).put("n").write();
    assert_eq!(repo.git(&["status", "--short"]), " A kept\nA  n\n?? gone");
}

#[test]
fn a_missing_index_becomes_one_with_the_entries() {
    let repo = TestRepo::new();
    repo.write("a", "x");

    Editor::new(&repo).put("a").write();

    assert_eq!(repo.git(&["status", "--short"]), "A  a");
}

#[test]
fn an_index_without_a_hash_stays_without_one() {
    let repo = committed(&[]);
    repo.git(&["config", "index.skipHash", "true"]);
    repo.git(&["update-index", "--force-write-index"]);
    let tail = |repo: &TestRepo| std::fs::read(repo.path(".git/index")).unwrap().iter().rev().take(20).all(|byte| *byte == 0);
    assert!(tail(&repo));
    repo.write("a", "new");

    Editor::new(&repo).put("a").write();

    assert!(tail(&repo));
    assert_eq!(repo.git(&["status", "--short"]), "M  a");
}

#[test]
fn a_split_index_becomes_whole() {
    let repo = committed(&[]);
    repo.git(&["update-index", "--split-index"]);
    repo.write("z", "in the split part");
    repo.git(&["add", "z"]);
    repo.write("a", "new");

    Editor::new(&repo).put("a").edit("d/b", Edit::Remove).write();

    assert_eq!(repo.git(&["status", "--short"]), "M  a\nD  d/b\nM  z\n?? d/");
}

#[test]
fn a_sparse_index_is_expanded_only_where_an_edit_reaches_into_it() {
    let repo = committed(&[]);
    repo.write("out/deep/x", "x");
    repo.commit_all("second");
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d"]);
    let entries = |repo: &TestRepo| repo.git(&["ls-files", "--sparse", "-t"]);
    repo.write("a", "new");

    Editor::new(&repo).put("a").write();
    assert_eq!(entries(&repo), "H a\nH d/b\nS out/\nH z");

    let id = repo.id("HEAD:a");
    Editor::new(&repo).edit("out/deep/y", Edit::Put(Put { skip_worktree: true, ..put_of(id) })).write();
    assert_eq!(repo.git(&["ls-files", "-t"]), "H a\nH d/b\nS out/deep/x\nS out/deep/y\nH z");
    assert_eq!(repo.git(&["status", "--short"]), "M  a\nA  out/deep/y");
}

#[test]
fn a_change_in_the_second_of_the_old_index_is_still_seen() {
    let repo = committed(&[]);
    repo.write("a", "one");
    repo.git(&["add", "a"]);
    repo.write("a", "two");
    // Both files and the index now have the same time; only the content tells the change.
    let second = filetime(&repo, "a");
    for name in ["a", ".git/index"] {
        set_time(&repo, name, &second);
    }
    repo.write("n", "new");

    Editor::new(&repo).put("n").write_if(|path| path != "a");

    assert_eq!(unproven(&repo), ["a"]);
    assert_eq!(repo.git(&["status", "--short"]), "MM a\nA  n");
}

fn filetime(repo: &TestRepo, name: &str) -> String {
    statat(CWD, repo.path(name), AtFlags::empty()).unwrap().st_mtime.to_string()
}

fn set_time(repo: &TestRepo, name: &str, second: &str) {
    let status = std::process::Command::new("touch").args(["-d", &format!("@{second}")]).arg(repo.path(name)).status();
    assert!(status.unwrap().success());
}

#[test]
fn the_untracked_cache_stays_switched_on_and_hides_nothing() {
    let repo = committed(&[]);
    repo.git(&["update-index", "--force-untracked-cache"]);
    repo.git(&["status"]);
    repo.git(&["status"]);

    // The file stays, its directory does not change, yet it is untracked from now on.
    Editor::new(&repo).edit("d/b", Edit::Remove).write();

    assert_eq!(repo.git(&["status", "--short"]), "D  d/b\n?? d/");
    assert!(std::fs::read(repo.path(".git/index")).unwrap().find(b"UNTR").is_some());
}

#[test]
fn fresh_stat_data_makes_git_read_nothing_again() {
    let repo = committed(&[]);
    repo.write("a", "a");
    let stat = statat(CWD, repo.path("a"), AtFlags::SYMLINK_NOFOLLOW).unwrap();

    Editor::new(&repo).edit("a", Edit::Refresh { id: repo.id("HEAD:a"), stat: StatData::of(&stat) }).write();

    assert_eq!(repo.git(&["diff-files"]), "", "diff-files trusts stat data only");
    assert_eq!(repo.git(&["ls-files", "-s", "a"]), format!("100644 {} 0\ta", repo.id("HEAD:a")));
}

#[test]
fn damage_is_an_error_and_no_panic() {
    let repo = committed(&[]);
    let whole = std::fs::read(repo.path(".git/index")).unwrap();
    let open = repo.open();
    let objects = Objects::new(open.gix().clone(), std::sync::Arc::default());
    for len in 0..whole.len() {
        for version in [2, 3, 4, 9] {
            let mut bytes = whole[..len].to_vec();
            if len > 8 {
                bytes[7] = version;
            }
            let source = Source { bytes, hash: gix::hash::Kind::Sha1, modified_s: 0 };
            let mut edits = Edits::default();
            edits.set(BString::from("q"), Edit::Remove);
            let _ = edits.apply(&source, &objects, &mut |_, _, _| true);
        }
    }
}
