//! Names that break careless code are exact everywhere.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::support::scenes::ODD_NAMES;
use crate::support::{RepoState, TestRepo, raw};

fn names_in(repo: &TestRepo, folder: &str) -> BTreeSet<OsString> {
    let listing = repo.path(folder).read_dir().unwrap().map(|item| item.unwrap().file_name());
    listing.filter(|name| name != ".git").collect()
}

#[test]
fn every_odd_name_comes_back_byte_for_byte() {
    let repo = TestRepo::new();
    repo.mkdir("in");
    for name in ODD_NAMES {
        repo.write(raw(name), name);
        repo.write(raw(&[b"in/", name, b"/deep"].concat()), name);
        repo.symlink(raw(name), raw(&[b"in/link-", name].concat()));
    }
    let before = (names_in(&repo, ""), names_in(&repo, "in"));

    repo.save("A");
    repo.remove("in");
    ODD_NAMES.iter().for_each(|name| repo.remove(raw(name)));
    repo.restore("A");

    assert_eq!((names_in(&repo, ""), names_in(&repo, "in")), before);
    for name in ODD_NAMES {
        assert_eq!(repo.bytes(raw(name)), name);
        assert_eq!(repo.link_target(raw(&[b"in/link-", name].concat())), Some(raw(name).into()));
    }
    repo.assert_tree_is_gits("A");
}

#[test]
fn edits_and_deletions_of_odd_names_are_reverted_one_by_one() {
    let repo = crate::support::scenes::odd_names();
    let before = RepoState::of(&repo).without_times();
    repo.save("A");

    for name in ODD_NAMES {
        repo.write(raw(&[b"in/", name, b"/", name].concat()), "changed since\n");
        repo.write(raw(&[b"made-", name].concat()), "made since\n");
        repo.restore("A");
        before.assert_same(&RepoState::of(&repo).without_times());
    }
}

#[test]
fn odd_names_can_be_given_as_paths_of_a_partial_restore() {
    for name in ODD_NAMES {
        let repo = TestRepo::new();
        repo.write(raw(name), "saved\n");
        repo.write("other", "saved\n");
        repo.save("A");
        repo.write(raw(name), "later\n");
        repo.write("other", "later\n");

        let mut restore = repo.command("git");
        restore.args(["--literal-pathspecs", "checkpoint", "restore", "--quiet", "--yes", "A", "--"]).arg(raw(name));
        crate::support::Output::of(&mut restore).success();

        assert_eq!(repo.read(raw(name)), "saved\n", "{:?}", raw(name));
        assert_eq!(repo.read("other"), "later\n", "{:?}", raw(name));
    }
}

#[test]
fn names_differing_in_case_or_normal_form_are_different_files() {
    let repo = TestRepo::new();
    let names = ["\u{e9}", "e\u{301}", "\u{c9}", "E", "e"];
    for name in names {
        repo.write(name, name);
    }

    repo.save("A");
    names.iter().for_each(|name| repo.write(name, "later\n"));
    repo.restore("A");

    names.iter().for_each(|name| assert_eq!(repo.read(name), *name));
}

#[test]
fn a_path_as_long_as_the_system_allows_is_captured_and_restored() {
    let repo = TestRepo::new();
    let folder = ["n".repeat(200).as_str(); 15].join("/");
    let name = format!("{folder}/{}", "f".repeat(255));
    repo.write(&name, "deep\n");

    repo.save("A");
    repo.remove(folder.split('/').next().unwrap());
    repo.restore("A");

    assert_eq!(repo.read(&name), "deep\n");
    repo.assert_tree_is_gits("A");
}

#[test]
fn json_gives_names_that_are_no_utf_8_exactly() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write(raw(b"caf\xe9"), "x\n");

    let document = repo.checkpoint(["restore", "--dry-run", "--json", "A"]).success().json();

    let plan = document["plan"].as_array().unwrap();
    let entry = plan.iter().find(|entry| entry["path"].as_str().unwrap().starts_with("caf")).unwrap();
    assert_eq!(entry["bytes"], "Y2Fm6Q==", "{document}");
    assert!(repo.exists(raw(b"caf\xe9")));
}

#[test]
fn checkpoint_names_may_hold_anything_a_line_can_hold() {
    let repo = TestRepo::new();

    for name in ["with space", "caf\u{e9}", "a/b/c", "UPPER.lock", "100%", "..", "~", "x@{1}", "quote\"d", "it's"] {
        let output = repo.try_save(name);
        if output.code() == Some(0) {
            assert!(!repo.field(name, "subject").is_empty());
            assert!(repo.checkpoint(["list", "--format=%(name)"]).success().text().lines().any(|line| line == name), "{name}");
            repo.restore(name);
        } else {
            output.exits(129);
        }
    }
    repo.try_save("a\nb").exits(129);
    repo.try_save("").exits(129);
    repo.try_save("7").exits(129);
}
