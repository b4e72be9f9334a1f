//! What is not captured is said, and kept.

use std::os::unix::fs::FileTypeExt;

use serde_json::Value;

use crate::support::TestRepo;

/// The manifest of a checkpoint as (path, reason) pairs.
fn manifest(repo: &TestRepo, selector: &str) -> Vec<(String, String)> {
    let document = repo.checkpoint(["show", "--json", selector]).success().json();
    let skipped = document["checkpoint"]["skipped"].as_array().unwrap_or_else(|| panic!("{document}")).clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    skipped.iter().map(|entry| (text(&entry["path"]), text(&entry["reason"]))).collect()
}

fn is_complete(repo: &TestRepo, selector: &str) -> bool {
    let document = repo.checkpoint(["show", "--json", selector]).success().json();
    document["checkpoint"]["complete"].as_bool().unwrap()
}

#[test]
fn pipes_and_sockets_are_neither_waited_for_nor_captured_nor_deleted() {
    let repo = TestRepo::new();
    repo.save("before");
    repo.fifo("pipe");
    repo.socket("sock");
    repo.fifo("dir-pipe");
    repo.mkdir("dir");
    repo.fifo("dir/pipe");

    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");
    repo.restore("before");

    let paths: Vec<_> = manifest(&repo, "A").into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["dir-pipe", "dir/pipe", "pipe", "sock"]);
    assert!(!is_complete(&repo, "A"));
    for path in ["pipe", "sock", "dir-pipe", "dir/pipe"] {
        assert!(repo.exists(path), "{path} was deleted");
    }
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_pipe_at_the_place_of_a_tracked_file_refuses_a_restore_and_is_kept() {
    let repo = TestRepo::new();
    repo.write("was-file", "x\n");
    repo.commit("file");
    repo.save("before");
    repo.remove("was-file");
    repo.fifo("was-file");
    repo.save("A");

    assert_eq!(repo.blockers(&["restore", "--yes", "before"]), ["path-blocked"]);
    assert_eq!(manifest(&repo, "A"), [("was-file".to_owned(), "special-file".to_owned())]);
    assert!(std::fs::symlink_metadata(repo.path("was-file")).unwrap().file_type().is_fifo());
}

#[test]
fn an_unreadable_untracked_file_is_skipped_reported_and_kept() {
    let repo = TestRepo::new();
    repo.give_away();
    repo.save("before");
    repo.write("secret", "s\n");
    repo.write("closed/in", "s\n");
    repo.write("f", "2\n");
    repo.give_away();
    repo.chmod("secret", 0);
    repo.chmod("closed", 0);

    let said = repo.checkpoint(["save", "--name", "A"]).success();
    repo.restore("before");

    assert!(said.text().contains("secret") || said.talk().contains("secret"), "{said}");
    assert_eq!(repo.blob("A", "f"), b"2\n");
    let paths: Vec<_> = manifest(&repo, "A").into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["closed", "secret"]);
    assert!(repo.exists("secret") && repo.exists("closed"));
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn an_unreadable_tracked_file_is_named_and_never_lost() {
    let repo = TestRepo::new();
    repo.write("tracked", "1\n");
    repo.commit("tracked");
    repo.write("tracked", "edited\n");
    repo.give_away();
    repo.chmod("tracked", 0);

    repo.save("A");
    repo.chmod("tracked", 0o644);
    repo.write("f", "2\n");
    repo.restore("A");

    assert_eq!(manifest(&repo, "A").into_iter().map(|(path, _)| path).collect::<Vec<_>>(), ["tracked"]);
    assert_eq!(repo.read("tracked"), "edited\n");
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn an_untracked_file_above_the_limit_is_listed_with_its_size_and_kept() {
    let repo = TestRepo::new();
    repo.config("checkpoint.maxFileSize", "10k");
    repo.write("tracked-big", vec![b'x'; 20_000]);
    repo.commit("big files are fine once tracked");
    repo.save("before");
    repo.write("untracked-big", vec![b'y'; 20_000]);
    repo.write("small", "s\n");

    repo.save("A");
    repo.write("untracked-big", vec![b'z'; 20_000]);
    repo.restore("A");
    repo.restore("before");

    let document = repo.checkpoint(["show", "--json", "A"]).success().json();
    assert_eq!(document["checkpoint"]["skipped"][0]["path"], "untracked-big");
    assert_eq!(document["checkpoint"]["skipped"][0]["size"], 20_000);
    assert!(repo.holds("A", "tracked-big") && repo.holds("A", "small") && !repo.holds("A", "untracked-big"));
    assert!(repo.bytes("untracked-big") == vec![b'z'; 20_000]);
}

#[test]
fn no_limit_means_no_file_is_too_large() {
    let repo = TestRepo::new();
    repo.config("checkpoint.maxFileSize", "0");
    repo.write("large", vec![b'x'; 200_000]);

    repo.save("A");

    assert!(repo.holds("A", "large"));
    assert!(is_complete(&repo, "A"));
}

#[test]
fn a_folder_whose_git_file_leads_nowhere_never_stops_a_save() {
    let repo = TestRepo::new();
    repo.write("dead/.git", "gitdir: /nowhere/at/all\n");
    repo.write("dead/x", "x\n");
    repo.write("half/.git/HEAD", "");
    repo.write("half/x", "x\n");
    repo.write("f", "2\n");

    repo.save("A");
    repo.write("f", "3\n");
    repo.restore("A");

    assert_eq!(repo.blob("A", "f"), b"2\n");
    assert_eq!((repo.read("dead/x"), repo.read("half/x")), ("x\n".into(), "x\n".into()));
    assert!(repo.exists("dead/.git") && repo.exists("half/.git"));
}

#[test]
fn paths_named_by_the_exclude_setting_are_not_captured_and_not_deleted() {
    let repo = TestRepo::new();
    repo.save("before");
    repo.run(["config", "--add", "checkpoint.exclude", "scratch"]);
    repo.run(["config", "--add", "checkpoint.exclude", "*.dump"]);
    repo.write("scratch/a", "a\n");
    repo.write("x.dump", "d\n");
    repo.write("kept", "k\n");

    repo.save("A");
    repo.restore("before");

    assert!(repo.holds("A", "kept") && !repo.holds("A", "scratch/a") && !repo.holds("A", "x.dump"));
    assert!(repo.exists("scratch/a") && repo.exists("x.dump") && !repo.exists("kept"));
}

#[test]
fn a_pipe_with_the_name_of_a_rule_file_is_no_rule_file() {
    for name in [".gitignore", ".gitattributes", "sub/.gitignore", "sub/.gitattributes"] {
        let repo = TestRepo::new();
        repo.write(".git/info/exclude", "");
        repo.write("other/.gitignore", "*.log\n");
        repo.write("other/.gitattributes", "*.txt text\n");
        repo.write("sub/x", "1\n");
        repo.save("before");
        repo.fifo(name);
        for path in ["other/a.log", "other/new.txt", "sub/b.log", "sub/x"] {
            repo.write(path, "2\r\n");
        }

        repo.save("A");
        repo.save("again");
        repo.write("sub/x", "3\n");
        repo.restore("before");
        repo.undo();

        assert_eq!(manifest(&repo, "A"), [(name.to_owned(), "special-file".to_owned())]);
        assert!(!repo.holds("A", "other/a.log") && repo.holds("A", "sub/b.log"), "{name}");
        assert_eq!((repo.blob("A", "other/new.txt"), repo.blob("A", "sub/x")), (b"2\n".to_vec(), b"2\r\n".to_vec()), "{name}");
        assert_eq!((repo.tree("A"), repo.read("sub/x")), (repo.tree("again"), "3\n".to_owned()), "{name}");
    }
}

#[test]
fn a_rule_file_that_cannot_be_read_is_skipped_and_rules_nothing() {
    for name in [".gitignore", ".gitattributes"] {
        let repo = TestRepo::new();
        repo.write(name, "*.log\n");
        repo.write("a.log", "x\n");
        repo.write("other/.gitignore", "*.tmp\n");
        repo.write("other/a.tmp", "x\n");
        repo.give_away();
        repo.chmod(name, 0);

        repo.save("A");

        assert_eq!(manifest(&repo, "A"), [(name.to_owned(), "unreadable".to_owned())]);
        assert!(repo.holds("A", "a.log") && !repo.holds("A", "other/a.tmp"), "{name}");
        repo.chmod(name, 0o644);
    }
}
