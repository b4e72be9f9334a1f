//! Paths that the system lets nobody replace are found before the first change. Where the tests may not mount or mark anything,
//! nothing of it can be seen.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{RepoState, TestRepo};

/// Something that is set up by one command and taken away by another at the end of the test.
struct Held {
    release: Vec<PathBuf>,
}

impl Held {
    /// None if the test may not do it.
    fn by(command: &[&str], path: &Path, release: &[&str]) -> Option<Held> {
        let done = Command::new(command[0]).args(&command[1..]).arg(path).output().ok()?;
        let release = release.iter().map(PathBuf::from).chain([path.to_owned()]).collect();
        done.status.success().then_some(Held { release })
    }

    /// An empty file system over a folder, or a file over itself.
    fn mounted(at: &Path) -> Option<Held> {
        let command = if at.is_dir() { ["mount", "-t", "tmpfs", "none"] } else { ["mount", "--bind", "-v", at.to_str()?] };
        Held::by(&command, at, &["umount"])
    }

    fn marked(how: &str, at: &Path) -> Option<Held> {
        Held::by(&["chattr", &format!("+{how}")], at, &["chattr", &format!("-{how}")])
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        assert!(Command::new(&self.release[0]).args(&self.release[1..]).status().unwrap().success());
    }
}

#[track_caller]
fn assert_refused(repo: &TestRepo, selector: &str, path: &str) {
    let before = RepoState::of(repo);
    let refs = repo.checkpoint_refs();
    for restore in [&["restore", "--dry-run", selector][..], &["restore", "--yes", selector]] {
        let document = repo.checkpoint([restore, &["--json"]].concat()).json();
        let blockers = document["blockers"].as_array().unwrap();
        assert_eq!(blockers.len(), 1, "{document}");
        assert_eq!(blockers[0]["code"], "path-blocked");
        assert!(blockers[0]["message"].as_str().unwrap().contains(&format!("`{path}`")), "{document}");
    }
    repo.try_restore(selector).exits(3).says(path);
    before.assert_same(&RepoState::of(repo));
    assert_eq!(repo.checkpoint_refs(), refs, "a refused restore makes no checkpoint");
}

#[test]
fn a_file_that_is_a_mount_point() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("new", "n\n");
    repo.write("other", "o\n");
    for path in ["f", "new"] {
        let Some(_held) = Held::mounted(&repo.path(path)) else { return };

        assert_refused(&repo, "A", path);
    }
    repo.restore("A");
}

#[test]
fn a_folder_that_is_a_mount_point_where_a_file_must_go() {
    let repo = TestRepo::new();
    repo.write("d", "a file\n");
    repo.write("e", "a file\n");
    repo.save("A");
    repo.remove("d");
    repo.remove("e");
    repo.mkdir("d");
    repo.mkdir("e/deep");
    {
        let Some(_held) = Held::mounted(&repo.path("d")) else { return };
        assert_refused(&repo, "A", "d");
    }
    {
        let Some(_held) = Held::mounted(&repo.path("e/deep")) else { return };
        assert_refused(&repo, "A", "e/deep");
    }
    repo.restore("A");
    assert_eq!(repo.read("d"), "a file\n");
}

#[test]
fn what_lies_in_a_mounted_folder_is_restored() {
    let repo = TestRepo::new();
    repo.mkdir("d");
    let Some(_held) = Held::mounted(&repo.path("d")) else { return };
    repo.write("d/x", "1\n");
    repo.save("A");
    repo.write("d/x", "2\n");

    repo.restore("A");

    assert_eq!(repo.read("d/x"), "1\n");
}

#[test]
fn a_file_or_a_folder_that_is_immutable_or_append_only() {
    let repo = TestRepo::new();
    repo.write("d/x", "1\n");
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("d/x", "2\n");
    for (how, held, named) in [("i", "f", "f"), ("a", "f", "f"), ("i", "d/x", "d/x"), ("a", "d", "d/x"), ("i", "d", "d/x")] {
        let Some(_held) = Held::marked(how, &repo.path(held)) else { return };

        assert_refused(&repo, "A", named);
    }
    repo.restore("A");
    assert_eq!(repo.read("d/x"), "1\n");
}
