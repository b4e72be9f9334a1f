//! Stat data and the file they are kept in, where they are no proof: the tree is right all the same.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::{TestRepo, tools};

/// A few files, tracked and not, and a checkpoint of them.
fn known() -> TestRepo {
    let repo = TestRepo::new();
    for name in ["tracked", "deep/tracked"] {
        repo.write(name, "aaaa\n");
    }
    repo.commit("files");
    for name in ["new", "deep/new", "deep/er/new"] {
        repo.write(name, "aaaa\n");
    }
    settle();
    repo.save("before");
    repo
}

/// Lets the time stamps of files age until they prove something.
fn settle() {
    std::thread::sleep(Duration::from_millis(40));
}

fn cache(repo: &TestRepo) -> PathBuf {
    repo.git_dir().join("checkpoint/stat")
}

/// Saves, and fails unless the tree is git's.
#[track_caller]
fn is_right(repo: &TestRepo, what: &str) {
    let output = repo.try_save("after");
    assert!(output.code() == Some(0) && output.stderr.is_empty(), "{what}: {output}");
    repo.assert_tree_is_gits("after");
}

#[test]
fn an_edit_of_the_same_size_under_any_old_time_is_captured() {
    let second = 1_000_000_000;
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap() * second;
    for time in [now - 10 * second, now - 3600 * second + 5, now, now + 3600 * second, now + 3600 * second + 5, second] {
        let repo = TestRepo::new();
        for name in ["f", "new"] {
            repo.write(name, "aaaa\n");
            repo.set_mtime(name, time);
        }
        repo.run(["add", "f"]);
        for content in ["bbbb\n", "cccc\n", "dddd\n"] {
            repo.save("before");
            for name in ["f", "new"] {
                repo.write(name, content);
                repo.set_mtime(name, time);
            }

            repo.save("after");

            let held = ["f", "new"].map(|name| repo.blob("after", name));
            assert_eq!(held, [content.as_bytes(), content.as_bytes()], "under the time {time}");
        }
    }
}

#[test]
fn a_damaged_cache_does_no_harm() {
    let repo = known();
    let whole = std::fs::read(cache(&repo)).unwrap();
    for at in (0..whole.len()).step_by(23) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(cache(&repo), bytes).unwrap();
        is_right(&repo, &format!("byte {at} of {}", whole.len()));
    }
    for length in (0..whole.len()).step_by(200) {
        std::fs::write(cache(&repo), &whole[..length]).unwrap();
        is_right(&repo, &format!("the first {length} bytes"));
    }
    for (what, bytes) in [("zeros", vec![0; whole.len()]), ("twice", [&whole[..], &whole[..]].concat())] {
        std::fs::write(cache(&repo), bytes).unwrap();
        is_right(&repo, what);
    }
}

#[test]
fn what_is_no_readable_file_is_no_cache() {
    let repo = known();
    std::fs::remove_file(cache(&repo)).unwrap();
    std::fs::create_dir_all(cache(&repo).join("sub")).unwrap();
    repo.write("new", "bbbb\n");
    is_right(&repo, "a folder");

    let repo = known();
    repo.give_away();
    std::fs::set_permissions(cache(&repo), std::fs::Permissions::from_mode(0o0)).unwrap();
    repo.write("new", "bbbb\n");
    repo.save("after");
    assert_eq!(repo.blob("after", "new"), b"bbbb\n");
}

#[test]
fn the_cache_of_another_repository_says_nothing() {
    let (repo, other) = (known(), known());
    other.write("new", "bbbb\n");
    other.save("before");
    std::fs::copy(cache(&other), cache(&repo)).unwrap();
    is_right(&repo, "another repository's");

    let copy = copied(&repo, &["-r"]);
    copy.write("new", "cccc\n");
    is_right(&copy, "a copy of the repository");

    let twin = copied(&repo, &["-a"]);
    for name in ["new", "deep/new"] {
        let time = twin.mtime(name);
        twin.write(name, "dddd\n");
        twin.set_mtime(name, time);
    }
    is_right(&twin, "a copy with all its times");
}

/// Copies the whole repository to a place of its own.
fn copied(repo: &TestRepo, options: &[&str]) -> TestRepo {
    let name = format!("copy{}", options.concat());
    repo.command("cp").args(options).arg(repo.top()).arg(repo.env().shelf().join(&name)).status().unwrap();
    repo.at(&name)
}

#[test]
fn another_directory_in_the_place_of_the_worktree_is_captured_as_it_is() {
    let repo = known();
    let twin = copied(&repo, &["-a"]);
    twin.write("deep/new", "bbbb\n");
    twin.set_mtime("deep/new", repo.mtime("deep/new"));
    twin.write("deep/more", "more\n");
    let aside = repo.env().shelf().join("aside");
    std::fs::rename(repo.top(), &aside).unwrap();
    std::fs::rename(twin.top(), repo.top()).unwrap();
    std::fs::remove_dir_all(repo.path(".git")).unwrap();
    std::fs::rename(aside.join(".git"), repo.path(".git")).unwrap();

    is_right(&repo, "a twin of the worktree");

    assert_eq!(repo.blob("after", "deep/new"), b"bbbb\n");
}

/// A mount inside the worktree may be of a file system whose directories do not tell of new names; and in a mount that comes
/// and goes, what was there before is there again.
#[test]
fn a_mount_inside_the_worktree_is_captured_as_it_is() {
    if !can_mount() {
        return tools::skip("nothing can be mounted here");
    }
    let repo = known();
    let other = repo.env().root().join("mounted");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("new"), "mount\n").unwrap();
    let script = r#"
        set -e
        mount --bind "$2" deep/er
        "$1" save -q --allow-empty --name mounted
        echo more > deep/er/more
        "$1" save -q --allow-empty --name more
        umount deep/er
        "$1" save -q --allow-empty --name unmounted
    "#;
    let mut command = repo.command("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).args([repo.env().program().as_path(), Path::new(&other)]);
    crate::support::Output::of(&mut command).success();

    assert_eq!(repo.blob("mounted", "deep/er/new"), b"mount\n");
    assert_eq!(repo.blob("more", "deep/er/more"), b"more\n");
    assert_eq!(repo.tree("unmounted"), repo.tree("before"));
}

fn can_mount() -> bool {
    std::process::Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_cache_is_left_alone_where_it_is_not_wanted() {
    let repo = known();
    let before = std::fs::read(cache(&repo)).unwrap();
    repo.config("checkpoint.statCache", "false");
    repo.write("new", "bbbb\n");

    repo.save("after");

    assert!(std::fs::read(cache(&repo)).unwrap() == before);
    repo.assert_tree_is_gits("after");
    repo.config("checkpoint.statCache", "true");
    repo.write("new", "cccc\n");
    is_right(&repo, "the old cache");
}
