//! Repositories in every form that a capture or a restore must cope with. A check that runs over all of them is a row of
//! tests, one for each scene.

use super::repo::raw;
use super::{Operation, TestRepo};

/// Makes a test of `$check` for each scene, in a module named `$name`.
#[macro_export]
macro_rules! in_scenes {
    ($name:ident, $check:ident: $($scene:ident)*) => {
        mod $name {
            $(#[test]
            fn $scene() {
                super::$check(&$crate::support::scenes::$scene());
            })*
        }
    };
}

/// Makes a test of `$check` for every scene.
#[macro_export]
macro_rules! in_every_scene {
    ($name:ident, $check:ident) => {
        $crate::in_scenes! { $name, $check:
            clean mixed intent_to_add index_version_4 split_index untracked_cache index_without_hash sparse_cone sparse_index
            sparse_patterns sha256 unborn unborn_with_staged_files empty detached all_deleted linked odd_names links
            type_changes line_endings encodings filtered without_file_mode submodule dirty_submodule moved_submodule
            nested_repository tracked_but_ignored ignores in_merge in_rebase in_rebase_apply in_cherry_pick in_revert in_am
            in_bisect in_merge_without_conflict
        }
    };
}

/// Makes a test of `$check` for every scene that a restore is possible in: no operation is in progress.
#[macro_export]
macro_rules! in_every_quiet_scene {
    ($name:ident, $check:ident) => {
        $crate::in_scenes! { $name, $check:
            clean mixed intent_to_add index_version_4 split_index untracked_cache index_without_hash sparse_cone sparse_index
            sparse_patterns sha256 unborn unborn_with_staged_files empty detached all_deleted linked odd_names links
            type_changes line_endings encodings filtered without_file_mode submodule dirty_submodule moved_submodule
            nested_repository tracked_but_ignored ignores
        }
    };
}

/// A clean worktree.
pub fn clean() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("dir/inner/g", "g\n");
    repo.write("dir/h", "h\n");
    repo.write("run", "#!/bin/sh\n");
    repo.chmod("run", 0o755);
    repo.symlink("dir/h", "link");
    repo.commit("more");
    repo
}

/// Staged, unstaged, untracked, deleted, renamed and ignored, all at once.
pub fn mixed() -> TestRepo {
    let repo = clean();
    mix(&repo);
    repo
}

/// Brings a worktree made by [`clean`] into every state that `git status` can show.
fn mix(repo: &TestRepo) {
    repo.write(".gitignore", "*.log\n/build/\n");
    repo.write("staged", "staged\n");
    repo.write("f", "2\n");
    repo.run(["add", "staged", "f", ".gitignore"]);
    repo.write("f", "3\n");
    repo.write("staged", "and edited\n");
    repo.run(["mv", "dir/h", "dir/renamed"]);
    repo.remove("dir/inner/g");
    repo.chmod("run", 0o644);
    repo.write("untracked/deep/u", "u\n");
    repo.write("noise.log", "ignored\n");
    repo.write("build/out", "ignored\n");
    repo.mkdir("empty/nested");
}

/// Everything that a restore of checkpoint `A` must bring back, remove or keep: renames, deletions, files, folders and links that
/// took each other's places, modes, ignored files in the way, what is staged and what is meant to be added. A linked worktree
/// and a repository inside have a say too.
pub fn far_from_checkpoint() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "*.log\n/build/\n");
    for path in ["moved/from", "gone", "thing", "tree/x", "file2", "dir2/y", "private", "build", "same"] {
        repo.write(path, format!("{path}\n"));
    }
    repo.write("report.log", "of A\n");
    repo.write("run", "#!/bin/sh\n");
    repo.chmod("run", 0o755);
    repo.symlink("f", "link");
    repo.run(["add", "-f", "report.log"]);
    repo.commit("all kinds");
    repo.write("same", "stashed\n");
    repo.run(["stash", "-q"]);
    repo.write("f", "staged in A\n");
    repo.run(["add", "f"]);
    repo.write("f", "edited in A\n");
    let linked = repo.linked_worktree("beside");
    linked.write("f", "beside\n");
    linked.save("beside");
    repo.save("A");
    leave_checkpoint(&repo);
    repo
}

fn leave_checkpoint(repo: &TestRepo) {
    repo.run(["mv", "moved/from", "moved/to"]);
    for path in ["gone", "thing", "tree", "file2", "dir2", "link", "build"] {
        repo.remove(path);
    }
    repo.write("thing/now/a/folder", "x\n");
    repo.write("tree", "now a file\n");
    repo.symlink("f", "file2");
    repo.symlink("moved", "dir2");
    repo.write("link", "now a file\n");
    repo.run(["rm", "-q", "--cached", "report.log"]);
    repo.write("report.log", "ignored, and in the way\n");
    repo.write("build/out", "ignored, and in the way\n");
    repo.write("noise.log", "ignored\n");
    repo.chmod("run", 0o644);
    repo.write("private", "nobody's business\n");
    repo.chmod("private", 0o600);
    repo.write("f", "staged\n");
    repo.write("new", "staged\n");
    repo.run(["add", "f", "new"]);
    repo.write("f", "and edited\n");
    repo.write("meant", "to be added\n");
    repo.run(["add", "-N", "meant"]);
    repo.write("made/since/u", "untracked\n");
    repo.mkdir("empty/nested");
    let _nested = repo.nested_repository("nested/inner");
}

/// A mixed worktree whose index has entries of `git add -N`, which makes it version 3.
pub fn intent_to_add() -> TestRepo {
    let repo = mixed();
    repo.write("meant", "to be added\n");
    repo.run(["add", "-N", "meant"]);
    repo
}

/// An index of version 4, with compressed paths.
pub fn index_version_4() -> TestRepo {
    let repo = mixed();
    repo.run(["update-index", "--index-version", "4"]);
    repo
}

/// A split index with changes on both sides.
pub fn split_index() -> TestRepo {
    let repo = clean();
    for number in 0..20 {
        repo.write(format!("many/{number}"), format!("{number}\n"));
    }
    repo.commit("many");
    repo.run(["update-index", "--split-index"]);
    repo.remove("many/3");
    repo.write("many/4", "edited\n");
    repo.run(["add", "-A"]);
    repo.write("many/5", "edited\n");
    repo
}

/// An index with an untracked cache that is filled and then out of date.
pub fn untracked_cache() -> TestRepo {
    let repo = mixed();
    repo.config("core.untrackedCache", "true");
    repo.run(["update-index", "--force-untracked-cache"]);
    repo.run(["status"]);
    repo.write("untracked/later", "not in the cache\n");
    repo
}

/// An index without its checksum, as `index.skipHash` makes it.
pub fn index_without_hash() -> TestRepo {
    let repo = mixed();
    repo.config("index.skipHash", "true");
    repo.run(["update-index", "--force-write-index"]);
    repo
}

/// A sparse checkout of whole folders.
pub fn sparse_cone() -> TestRepo {
    sparse(&["--cone"], &["in"])
}

/// The same with folders as single entries of the index.
pub fn sparse_index() -> TestRepo {
    sparse(&["--cone", "--sparse-index"], &["in"])
}

/// A sparse checkout by patterns.
pub fn sparse_patterns() -> TestRepo {
    sparse(&["--no-cone"], &["/in/", "/f", "!/in/b"])
}

fn sparse(options: &[&str], patterns: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for path in ["in/a", "in/b", "out/c", "out/deep/d"] {
        repo.write(path, path);
    }
    repo.commit("in and out");
    repo.run([&["sparse-checkout", "set"], options, patterns].concat());
    repo.write("in/a", "edited\n");
    repo.write("in/new", "new\n");
    repo
}

/// SHA-256 object names.
pub fn sha256() -> TestRepo {
    let repo = TestRepo::sha256();
    for path in ["dir/inner/g", "dir/h", "run"] {
        repo.write(path, path);
    }
    repo.commit("more");
    mix(&repo);
    repo
}

/// No commit yet, nothing staged.
pub fn unborn() -> TestRepo {
    let repo = TestRepo::unborn();
    repo.write("f", "1\n");
    repo
}

/// No commit yet, one file staged and edited since.
pub fn unborn_with_staged_files() -> TestRepo {
    let repo = unborn();
    repo.write("staged/g", "g\n");
    repo.run(["add", "staged"]);
    repo.write("staged/g", "edited\n");
    repo
}

/// No commit and no file.
pub fn empty() -> TestRepo {
    TestRepo::unborn()
}

/// HEAD off any branch.
pub fn detached() -> TestRepo {
    let repo = mixed();
    repo.detach();
    repo
}

/// Every tracked file removed from the worktree.
pub fn all_deleted() -> TestRepo {
    let repo = clean();
    for path in ["dir", "f", "link", "run"] {
        repo.remove(path);
    }
    repo
}

/// A linked worktree.
pub fn linked() -> TestRepo {
    let linked = clean().linked_worktree("linked");
    mix(&linked);
    linked
}

/// Names that break careless code: bytes that are no UTF-8, control characters, quotes, pathspec magic, dashes, both
/// normal forms of one letter, and what shells and line-based formats trip over.
pub const ODD_NAMES: [&[u8]; 24] = [
    b"caf\xe9",
    b"\xff\xfe",
    b"a\nb",
    b"a\tb",
    b"a\rb",
    b"\x1b[31mred",
    b" lead",
    b"trail ",
    b"-rf",
    b"--",
    b":(top)m",
    b":!x",
    b"*.glob",
    b"[a-z]?",
    b"q\"x",
    b"it's",
    b"b\\s",
    "\u{62a5}\u{544a}.txt".as_bytes(),
    "nfc-\u{e9}".as_bytes(),
    "nfd-e\u{301}".as_bytes(),
    b"~",
    b"a;b$c`d`",
    b"#comment",
    b"CASE",
];

/// Files with odd names, tracked, staged and untracked, at the top and in folders with odd names.
pub fn odd_names() -> TestRepo {
    let repo = TestRepo::new();
    for (number, name) in ODD_NAMES.iter().enumerate() {
        repo.write(raw(name), format!("{number}\n"));
        repo.write(raw(&[b"in/", *name, b"/", *name].concat()), format!("{number}\n"));
    }
    repo.write("case", "beside CASE\n");
    repo.commit("odd");
    for name in ODD_NAMES.iter().step_by(3) {
        repo.remove(raw(name));
        repo.write(raw(&[b"untracked/", *name].concat()), "untracked\n");
        repo.write(raw(&[b"in/", *name, b"/", *name].concat()), "edited\n");
    }
    repo
}

/// Links to a file, a folder, nothing, itself, and out of the worktree; retargeted, replaced by files, and new.
pub fn links() -> TestRepo {
    let repo = TestRepo::new();
    for (path, target) in [("to-file", "f"), ("to-dir", "d"), ("dangling", "nowhere"), ("becomes-file", "f"), ("loop", "loop")] {
        repo.symlink(target, path);
    }
    repo.write("d/in", "in\n");
    repo.write("becomes-link", "file\n");
    repo.commit("links");
    for path in ["to-file", "becomes-file", "becomes-link"] {
        repo.remove(path);
    }
    repo.symlink("d/in", "to-file");
    repo.write("becomes-file", "file\n");
    repo.symlink("f", "becomes-link");
    repo.symlink("/etc/hostname", "out");
    repo.symlink("d/", "with-slash");
    repo
}

/// Files that became folders and folders that became files, staged and not.
pub fn type_changes() -> TestRepo {
    let repo = TestRepo::new();
    for path in ["file", "folder/a", "staged-file", "staged-folder/a"] {
        repo.write(path, path);
    }
    repo.commit("types");
    for (path, below) in [("file", "file/inside"), ("staged-file", "staged-file/inside")] {
        repo.remove(path);
        repo.write(below, "now a folder\n");
    }
    for path in ["folder", "staged-folder"] {
        repo.remove(path);
        repo.write(path, "now a file\n");
    }
    repo.run(["add", "-A", "staged-file", "staged-folder"]);
    repo
}

/// Line endings by attributes, with files that break the rules they fall under.
pub fn line_endings() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.txt text=auto\n*.crlf text eol=crlf\n*.lf text eol=lf\n*.id ident\n*.bin -text\n");
    for extension in ["txt", "crlf", "lf", "bin"] {
        repo.write(format!("tracked.{extension}"), "a\nb\n");
        repo.write(format!("mixed.{extension}"), "a\r\nb\nc\r\n");
        repo.write(format!("zero.{extension}"), "a\0\r\nb");
    }
    repo.write("a.id", "$Id$\n");
    repo.commit("text");
    for extension in ["txt", "crlf", "lf", "bin"] {
        repo.write(format!("tracked.{extension}"), "a\r\nchanged\r\n");
        repo.write(format!("new.{extension}"), "x\r\ny\r\n");
    }
    repo.write("a.id", "$Id: 0000 $\nedited\n");
    repo
}

/// Encodings by attributes, one tracked and edited, one new file of each; the first with line ends of its own.
pub fn encodings() -> TestRepo {
    let repo = TestRepo::new();
    let mut attributes = String::new();
    for (number, (encoding, _)) in ENCODED.iter().enumerate() {
        let eol = if number == 0 { "crlf" } else { "lf" };
        attributes += &format!("*.e{number} working-tree-encoding={encoding} text eol={eol}\n");
    }
    repo.write(".gitattributes", attributes);
    for (number, (_, content)) in ENCODED.iter().enumerate() {
        repo.write(format!("tracked.e{number}"), content);
    }
    repo.commit("encoded");
    for (number, (_, content)) in ENCODED.iter().enumerate() {
        repo.write(format!("new.e{number}"), content);
        // The bytes of any encoding twice are bytes of that encoding; a second byte order mark is a character.
        repo.write(format!("tracked.e{number}"), content.repeat(2));
    }
    repo
}

/// Names of encodings as git knows them, and a word with an umlaut and a line end in each.
pub const ENCODED: [(&str, &[u8]); 6] = [
    ("UTF-16LE-BOM", b"\xff\xfe\xe4\0a\0\r\0\n\0"),
    ("UTF-16", b"\xff\xfe\xe4\0a\0\n\0"),
    ("UTF-16LE", b"\xe4\0a\0\n\0"),
    ("UTF-16BE", b"\0\xe4\0a\0\n"),
    ("ISO-8859-1", b"\xe4a\n"),
    ("SHIFT-JIS", b"\x83\x65\n"),
];

/// A clean and smudge filter that git runs once for each file.
pub fn filtered() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.sec filter=crypt\n");
    repo.config("filter.crypt.clean", "base64");
    repo.config("filter.crypt.smudge", "base64 -d");
    repo.config("filter.crypt.required", "true");
    repo.write("a.sec", "secret\n");
    repo.write("b.sec", "other\n");
    repo.commit("filtered");
    repo.write("a.sec", "edited\n");
    repo.write("new.sec", "new\n");
    repo
}

/// The executable bit does not count.
pub fn without_file_mode() -> TestRepo {
    let repo = clean();
    repo.config("core.fileMode", "false");
    repo.chmod("dir/inner/g", 0o755);
    repo.chmod("run", 0o644);
    repo.write("new", "n\n");
    repo.chmod("new", 0o755);
    repo
}

/// A submodule as it was committed.
pub fn submodule() -> TestRepo {
    let repo = TestRepo::new();
    let _inner = repo.submodule("sub");
    repo.write("f", "2\n");
    repo
}

/// A submodule with edits of its own.
pub fn dirty_submodule() -> TestRepo {
    let repo = submodule();
    let inner = repo.inner("sub");
    inner.write("s", "edited\n");
    inner.write("untracked", "u\n");
    repo
}

/// A submodule that stands on another commit than recorded.
pub fn moved_submodule() -> TestRepo {
    let repo = submodule();
    let inner = repo.inner("sub");
    inner.write("s", "edited\n");
    inner.commit("second");
    repo
}

/// A repository inside the worktree that is not a submodule.
pub fn nested_repository() -> TestRepo {
    let repo = mixed();
    let _nested = repo.nested_repository("nested/inner");
    repo
}

/// Tracked files that `.gitignore` matches, and a file added by force.
pub fn tracked_but_ignored() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("conf/local.ini", "1\n");
    repo.write("kept.log", "1\n");
    repo.commit("before the rule");
    repo.write(".gitignore", "conf/\n*.log\n.env\n");
    repo.write(".env", "forced\n");
    repo.run(["add", ".gitignore"]);
    repo.run(["add", "-f", ".env"]);
    repo.write("conf/local.ini", "edited\n");
    repo.write("kept.log", "edited\n");
    repo.write("conf/other", "ignored\n");
    repo
}

/// Every level at which a file can be ignored, with negations.
pub fn ignores() -> TestRepo {
    let repo = TestRepo::new();
    std::fs::create_dir_all(repo.env().home().join(".config/git")).unwrap();
    std::fs::write(repo.env().home().join(".config/git/ignore"), "by-user\n").unwrap();
    std::fs::write(repo.common_dir().join("info/exclude"), "by-repository\n").unwrap();
    repo.write(".gitignore", "*.log\n!kept.log\n/top\nfolder/\n!folder/inside\n**/deep/*.tmp\n\\#hash\n trailing \n");
    repo.write("a/b/.gitignore", "/*.bin\n!*.log\n");
    for path in ["by-user", "by-repository", "x.log", "kept.log", "top", "a/top", "folder/inside", "a/folder", "a/deep/x.tmp"] {
        repo.write(path, "x\n");
    }
    for path in ["a/b/l.bin", "a/b/c/l.bin", "a/b/x.log", "#hash", " trailing ", " trailing", "sub/by-user"] {
        repo.write(path, "x\n");
    }
    repo
}

fn stopped(operation: Operation) -> TestRepo {
    let repo = TestRepo::new();
    repo.stop_in(operation);
    repo.write("untracked", "u\n");
    repo
}

macro_rules! operations {
    ($($scene:ident $operation:ident)*) => {
        $(#[doc = concat!("Stopped in `Operation::", stringify!($operation), "`.")]
        pub fn $scene() -> TestRepo {
            stopped(Operation::$operation)
        })*
    };
}

operations! {
    in_merge Merge
    in_rebase Rebase
    in_rebase_apply RebaseApply
    in_cherry_pick CherryPick
    in_revert Revert
    in_am Am
    in_bisect Bisect
    in_merge_without_conflict MergeWithoutConflict
}
