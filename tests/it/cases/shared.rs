//! A repository that a group shares (`core.sharedRepository`): who may use what the program leaves in the git directory.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use crate::support::{Output, TestRepo};

/// The permissions that git gives to each kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Modes {
    folder: u32,
    file: u32,
    object: u32,
}

/// Inode and permissions of everything in a git directory.
fn contents(git_dir: &Path) -> BTreeMap<PathBuf, (u64, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![git_dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.strip_prefix(git_dir).unwrap().to_owned(), (meta.ino(), meta.mode()));
        }
    }
    found
}

/// Runs a command as a process whose umask is `umask`.
fn under(repo: &TestRepo, umask: &str, command: &[&str]) -> Output {
    let script = format!("umask {umask}; exec \"$@\"");
    Output::of(repo.command("sh").args(["-c", &script, "sh"]).args(command))
}

fn init(umask: &str, shared: Option<&str>) -> TestRepo {
    let repo = TestRepo::new();
    let shelf = repo.path("..");
    let option = shared.map(|value| format!("--shared={value}"));
    let words = ["git", "-C", shelf.to_str().unwrap(), "init", "-q"].into_iter().chain(option.as_deref()).chain(["shared"]);
    under(&repo, umask, &words.collect::<Vec<_>>()).success();
    repo.at("shared")
}

/// What git makes of each kind, seen at a repository that only git has worked in.
fn gits_modes(umask: &str, shared: Option<&str>) -> Modes {
    let repo = init(umask, shared);
    repo.write("f", "1\n");
    for command in [
        &["git", "add", "f"][..],
        &["git", "commit", "-q", "-m", "one"],
        &["git", "branch", "a/b"],
        &["git", "repack", "-q"],
        &["git", "pack-refs", "--no-prune", "--all"],
    ] {
        under(&repo, umask, command).success();
    }
    let all = contents(&repo.git_dir());
    let mode = |path: &str| all[Path::new(path)].1 & 0o7777;
    let modes = Modes { folder: mode("refs/heads/a"), file: mode("refs/heads/a/b"), object: objects(&all)[0] };
    assert_eq!((mode("packed-refs"), mode("index")), (modes.file, modes.file));
    assert!(objects(&all).iter().all(|mode| *mode == modes.object), "packs and loose objects are alike");
    modes
}

/// The permissions of loose objects and packs.
fn objects(all: &BTreeMap<PathBuf, (u64, u32)>) -> Vec<u32> {
    let files = all.iter().filter(|(path, (_, mode))| path.starts_with("objects") && mode & 0o170_000 == 0o100_000);
    files.filter(|(path, _)| !path.starts_with("objects/info")).map(|(_, (_, mode))| mode & 0o7777).collect()
}

/// Fails the test for everything that came into being since `before` and has other permissions than git would give it.
#[track_caller]
fn assert_like_gits(git_dir: &Path, before: &BTreeMap<PathBuf, (u64, u32)>, modes: Modes, what: &str) {
    let mut seen = 0;
    for (path, (inode, mode)) in contents(git_dir) {
        // What only has a new name is not new.
        let is_old = before.values().any(|old| old.0 == inode);
        // A worktree's file that is aside has the permissions that it has in the worktree.
        let is_aside = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("restore-"))
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()));
        if is_old || is_aside {
            continue;
        }
        seen += 1;
        let expected = match mode & 0o170_000 {
            0o040_000 => modes.folder,
            _ if path.starts_with("objects") => modes.object,
            _ => modes.file,
        };
        assert_eq!(mode & 0o7777, expected, "{what}: {} has {mode:o}, git would give it {expected:o}", path.display());
    }
    assert!(seen > 3, "{what}: only {seen} files and folders are new");
}

const CASES: [(&str, Option<&str>); 9] = [
    ("022", None),
    ("077", None),
    ("022", Some("group")),
    ("077", Some("group")),
    ("077", Some("all")),
    ("022", Some("0660")),
    ("077", Some("0660")),
    ("022", Some("0640")),
    ("077", Some("0640")),
];

#[test]
fn what_a_save_a_restore_an_undo_and_a_name_make_has_the_permissions_that_git_would_give_it() {
    for (umask, shared) in CASES {
        let (modes, repo) = (gits_modes(umask, shared), init(umask, shared));
        let what = format!("umask {umask}, core.sharedRepository {shared:?}");
        repo.config("core.autocrlf", "input");
        repo.write("f", "1\n");
        repo.commit("init");
        let before = contents(&repo.git_dir());
        let call = |args: &[&str]| under(&repo, umask, &[&["git", "checkpoint"], args].concat()).success();

        call(&["save", "--name", "A"]);
        assert_like_gits(&repo.git_dir(), &before, modes, &format!("{what}, a save"));
        (0..40).for_each(|n| repo.write(format!("many/{n}"), format!("{n}\n")));
        call(&["save", "--name", "many"]);
        // A file with mixed line ends is more than its blob.
        repo.write("f", "1\r\n2\n");
        call(&["restore", "--yes", "A"]);
        assert!(repo.git_dir().join("checkpoint/originals").exists());
        assert_like_gits(&repo.git_dir(), &before, modes, &format!("{what}, a restore"));
        call(&["undo", "--yes"]);
        call(&["redo", "--yes"]);
        repo.run(["pack-refs", "--all"]);
        call(&["name", "--delete", "many"]);
        under(&repo, umask, &["git", "checkpoint", "save", "--best-effort", "--name", "~"]).success();
        under(&repo, umask, &["git", "-c", "checkpoint.maxFileSize=x", "checkpoint", "save", "--best-effort"]).success();
        assert!(repo.git_dir().join("checkpoint/log").exists());

        assert_like_gits(&repo.git_dir(), &before, modes, &what);
    }
}

#[test]
fn what_an_interrupted_restore_leaves_has_the_permissions_that_git_would_give_it() {
    let (umask, shared) = ("077", Some("group"));
    let (modes, repo) = (gits_modes(umask, shared), init(umask, shared));
    repo.write("f", "1\n");
    repo.commit("init");
    let before = contents(&repo.git_dir());
    under(&repo, umask, &["git", "checkpoint", "save", "--name", "A"]).success();
    repo.write("f", "2\n");
    let program = repo.env().program();
    let restore = [program.to_str().unwrap(), "restore", "--quiet", "--yes", "A"];

    for point in 1.. {
        let fault = format!("GIT_CHECKPOINT_FAULT=kill:{point}");
        let output = under(&repo, umask, &[&["env", &fault], &restore[..]].concat());
        assert_eq!(output.code(), None, "{output}");
        if repo.git_dir().join("index.lock").exists() && repo.read("f") == "1\n" {
            break;
        }
        let _ = repo.checkpoint(["restore", "--quiet", "--abort"]);
    }

    assert!(repo.git_dir().join("checkpoint/restore.json").exists());
    assert_like_gits(&repo.git_dir(), &before, modes, "an interrupted restore");
}

#[test]
fn a_folder_aside_in_the_worktree_can_be_used_by_those_who_share_the_repository_and_by_nobody_else() {
    for (shared, expected) in [(None, 0o700), (Some("group"), 0o2770)] {
        let repo = init("077", shared);
        repo.write("f", "1\n");
        repo.commit("init");
        repo.save("A");
        let mut modes = Vec::new();
        for point in 1.. {
            repo.write("f", format!("{point}\n"));
            let output = repo.with_fault(&format!("apart:1,kill:{point}"), &["restore", "--quiet", "--yes", "A"]);
            let entries = repo.top().read_dir().unwrap().map(Result::unwrap);
            let aside = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".git-checkpoint-"));
            modes.extend(aside.map(|entry| entry.metadata().unwrap().mode() & 0o7777));
            let _ = repo.checkpoint(["restore", "--quiet", "--abort"]);
            if output.code() == Some(0) {
                break;
            }
        }
        assert!(!modes.is_empty() && modes.iter().all(|mode| *mode == expected), "{shared:?}: {modes:?}");
    }
}

#[test]
fn refs_that_are_put_together_have_the_permissions_that_git_would_give_them() {
    let (umask, shared) = ("077", Some("group"));
    let (modes, repo) = (gits_modes(umask, shared), init(umask, shared));
    repo.write("f", "1\n");
    repo.commit("init");
    let before = contents(&repo.git_dir());
    let saves = "for n in $(seq 64); do git checkpoint save --quiet --allow-empty || exit 1; done";

    under(&repo, umask, &["sh", "-c", saves]).success();

    assert!(repo.git_dir().join("packed-refs").exists());
    assert!(contents(&repo.git_dir()).keys().any(|path| path.extension().is_some_and(|extension| extension == "pack")));
    assert_like_gits(&repo.git_dir(), &before, modes, "64 saves");
}

#[test]
fn a_linked_worktree_of_a_shared_repository_follows_its_rule() {
    let (umask, shared) = ("077", Some("group"));
    let (modes, repo) = (gits_modes(umask, shared), init(umask, shared));
    repo.write("f", "1\n");
    repo.commit("init");
    repo.run(["worktree", "add", "-q", "../linked"]);
    let before = contents(&repo.git_dir());

    under(&repo.at("linked"), umask, &["git", "checkpoint", "save", "--name", "A"]).success();

    assert!(repo.git_dir().join("worktrees/linked/checkpoint/stat").exists());
    assert_like_gits(&repo.git_dir(), &before, modes, "a save in a linked worktree");
}

#[test]
fn a_value_that_git_refuses_is_refused() {
    let repo = TestRepo::new();
    let git = repo.try_git(["-c", "core.sharedRepository=0400", "add", "f"]);
    git.exits(128).says("filemode value");

    repo.try_git(["-c", "core.sharedRepository=0400", "checkpoint", "save"]).exits(128).says("core.sharedRepository");
}

#[test]
fn two_users_of_one_group_save_restore_and_undo_in_turn() {
    /// Not root, and not the user that everything is given to.
    const OTHER: u32 = 65533;
    const GROUP: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let repo = init("022", Some("group"));
    repo.env().global_config("safe.directory", "*");
    repo.env().global_config("core.autocrlf", "input");
    repo.write("f", "1\n");
    repo.mkdir("d");
    repo.give_away();
    for folder in [repo.env().root(), repo.env().home(), repo.env().shelf()] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for folder in ["", "d"] {
        repo.chmod(folder, 0o2775);
    }
    // Users of one worktree who share its files have a umask that lets them; git directories do not need it.
    let run = |user: u32, umask: &str, words: &[&str]| {
        let script = format!("umask {umask}; exec \"$@\"");
        let mut command = repo.command("sh");
        Output::of(command.args(["-c", &script, "sh"]).args(words).uid(user).gid(GROUP)).success()
    };
    let git = |user: u32, words: &[&str]| {
        let makes_files = words.iter().any(|word| ["restore", "undo", "redo"].contains(word));
        run(user, if makes_files { "002" } else { "022" }, &[&["git"], words].concat())
    };
    let [first, second] = [GROUP, OTHER];
    git(first, &["add", "f"]);
    git(first, &["commit", "-q", "-m", "one"]);
    git(first, &["checkpoint", "save", "--name", "A"]);

    run(second, "002", &["sh", "-c", "echo 2 >d/new && git add -A && rm .git/COMMIT_EDITMSG && git commit -q -m two"]);
    run(second, "002", &["sh", "-c", "printf '3\\r\\n4\\n' >d/other"]);
    git(second, &["checkpoint", "save", "--name", "B"]);
    git(first, &["checkpoint", "save", "--allow-empty", "--name", "C"]);
    git(second, &["checkpoint", "restore", "--yes", "A"]);
    assert!(!repo.exists("d/other"));
    git(first, &["checkpoint", "undo", "--yes"]);
    assert_eq!(repo.read("d/other"), "3\r\n4\n");
    git(second, &["checkpoint", "redo", "--yes"]);
    git(first, &["checkpoint", "name", "--delete", "B"]);
    git(second, &["checkpoint", "name", "A", "again"]);
    for user in [first, second] {
        run(
            user,
            "002",
            &[
                "sh",
                "-c",
                &format!("echo {user} >new && mv -f new f && git add f && rm .git/COMMIT_EDITMSG && git commit -q -m {user}"),
            ],
        );
        git(user, &["checkpoint", "save", "--name", &format!("by-{user}")]);
    }
    assert_eq!(
        repo.git(["checkpoint", "list", "--format=%(name)", "-a"]).text().lines().filter(|name| !name.is_empty()).count(),
        4
    );
}
