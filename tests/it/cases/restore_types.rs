//! Files, folders and links that changed into one another; nothing is ever written or deleted through a link.

use std::path::{Path, PathBuf};

use crate::support::{RepoState, TestRepo};

/// A folder outside of the worktree with one file.
fn outside(repo: &TestRepo) -> PathBuf {
    let outside = repo.env().root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("x"), "keep\n").unwrap();
    outside
}

fn assert_untouched(outside: &Path) {
    assert_eq!(std::fs::read(outside.join("x")).unwrap(), b"keep\n");
    assert_eq!(outside.read_dir().unwrap().count(), 1);
}

#[test]
fn links_are_stored_as_links_and_come_back_as_they_were() {
    let repo = TestRepo::new();
    repo.write("d/r", "r\n");
    let links =
        [("ld", "d"), ("dang", "nowhere"), ("out", "/etc/hostname"), ("self", "self"), ("slash", "d/"), ("up", "../../..")];
    links.iter().for_each(|(path, target)| repo.symlink(target, path));
    let long = "t".repeat(3000);
    repo.symlink(&long, "long");

    repo.save("A");
    links.iter().for_each(|(path, _)| repo.remove(path));
    repo.restore("A");

    for (path, target) in links {
        assert_eq!(repo.mode("A", path), "120000");
        assert_eq!(repo.link_target(path).as_deref(), Some(Path::new(target)));
    }
    assert_eq!(repo.link_target("long").as_deref(), Some(Path::new(&long)));
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_folder_that_became_a_link_to_the_outside_is_restored_without_touching_the_outside() {
    let repo = TestRepo::new();
    let outside = outside(&repo);
    repo.write("s/x", "in\n");
    repo.write("s/deep/y", "in\n");
    repo.commit("folder");
    repo.save("folder");
    repo.remove("s");
    repo.symlink(&outside, "s");
    repo.save("link");

    for _ in 0..2 {
        repo.restore("folder");
        assert_eq!((repo.read("s/x"), repo.link_target("s")), ("in\n".into(), None));
        assert_untouched(&outside);
        repo.restore("link");
        assert_eq!(repo.link_target("s"), Some(outside.clone()));
        assert_untouched(&outside);
    }
}

#[test]
fn an_ignored_link_in_the_place_of_a_folder_is_never_followed() {
    let repo = TestRepo::new();
    let outside = outside(&repo);
    repo.write("s/x", "in\n");
    repo.save("A");
    repo.remove("s");
    repo.symlink(&outside, "s");
    repo.write(".gitignore", "s\n");
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    assert_untouched(&outside);
    assert_eq!(repo.read("s/x"), "in\n");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
    assert_untouched(&outside);
}

#[test]
fn a_link_to_a_file_is_replaced_and_its_target_keeps_its_content() {
    let repo = TestRepo::new();
    let outside = outside(&repo);
    repo.write("p", "file\n");
    repo.save("A");
    repo.remove("p");
    repo.symlink(outside.join("x"), "p");

    repo.restore("A");

    assert_eq!((repo.read("p"), repo.link_target("p")), ("file\n".into(), None));
    assert_untouched(&outside);
}

#[test]
fn deletions_below_a_folder_that_became_a_link_stay_inside() {
    let repo = TestRepo::new();
    let outside = outside(&repo);
    repo.save("A");
    repo.write("s/x", "made since\n");
    repo.save("B");
    repo.remove("s");
    repo.symlink(&outside, "s");

    repo.restore("A");
    assert_untouched(&outside);
    assert!(!repo.exists("s"));
    repo.restore("B");

    assert_eq!(repo.read("s/x"), "made since\n");
    assert_untouched(&outside);
}

#[test]
fn files_and_folders_swap_in_both_directions() {
    let repo = TestRepo::new();
    repo.write("p", "1\n");
    repo.write("q/a", "2\n");
    repo.write("q/b/c", "2\n");
    repo.commit("types");
    repo.save("A");
    let at_a = RepoState::of(&repo).without_times();
    repo.remove("p");
    repo.write("p/z", "3\n");
    repo.remove("q");
    repo.write("q", "4\n");
    repo.save("B");
    let at_b = RepoState::of(&repo).without_times();

    for _ in 0..2 {
        repo.restore("A");
        at_a.assert_same(&RepoState::of(&repo).without_times());
        repo.restore("B");
        at_b.assert_same(&RepoState::of(&repo).without_times());
    }
}

#[test]
fn every_type_turns_into_every_other_and_back() {
    type Make = fn(&TestRepo);
    let shapes: [(&str, Make); 6] = [
        ("nothing", |_| {}),
        ("file", |repo| repo.write("p", "file\n")),
        ("program", |repo| {
            repo.write("p", "file\n");
            repo.chmod("p", 0o755);
        }),
        ("link", |repo| repo.symlink("f", "p")),
        ("link to folder", |repo| repo.symlink("elsewhere", "p")),
        ("folder", |repo| repo.write("p/in/side", "x\n")),
    ];
    let repo = TestRepo::new();
    repo.write("elsewhere/in/side", "not to be touched\n");
    let mut states = Vec::new();
    for (name, make) in shapes {
        if repo.exists("p") {
            repo.remove("p");
        }
        make(&repo);
        repo.save(name);
        states.push((name, RepoState::of(&repo).without_times()));
    }

    for (from, _) in &states {
        for (to, expected) in &states {
            repo.restore(from);
            repo.restore(to);
            expected.assert_same(&RepoState::of(&repo).without_times());
        }
    }
    assert_eq!(repo.read("elsewhere/in/side"), "not to be touched\n");
}

#[test]
fn a_rename_in_case_alone_is_restored() {
    let repo = TestRepo::new();
    repo.write("readme", "1\n");
    repo.save("lower");
    std::fs::rename(repo.path("readme"), repo.path("README")).unwrap();
    repo.save("upper");

    repo.restore("lower");
    assert!(repo.exists("readme") && !repo.exists("README"));
    repo.restore("upper");

    assert!(!repo.exists("readme") && repo.exists("README"));
}

#[test]
fn links_are_files_with_the_target_where_links_are_switched_off() {
    let repo = TestRepo::new();
    repo.symlink("f", "link");
    repo.commit("link");
    repo.config("core.symlinks", "false");
    repo.run(["checkout", "-q", "-f", "HEAD"]);
    repo.remove("link");
    repo.write("link", "f");

    repo.save("A");
    repo.write("link", "g");
    repo.restore("A");

    assert_eq!(repo.read("link"), "f");
    assert_eq!(repo.mode("A", "link"), "120000");
    repo.assert_tree_is_gits("A");
}
