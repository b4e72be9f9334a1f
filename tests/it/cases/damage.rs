//! Damage and bad input: one sentence, the right exit code, nothing changed.

use crate::support::{RepoState, TestRepo};

/// A repository with checkpoint `A` and a change made since.
fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("f", "two\n");
    repo.write("k", "k\n");
    repo.run(["add", "k"]);
    repo.save("A");
    repo.write("f", "three\n");
    repo.write("k", "k3\n");
    repo
}

fn database(repo: &TestRepo) -> std::path::PathBuf {
    repo.common_dir().join("checkpoint/checkpoints.db")
}

/// Removes the database with the files that SQLite keeps beside it.
fn remove_database(repo: &TestRepo) {
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", database(repo).display());
        if std::fs::exists(&file).unwrap() {
            std::fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn a_missing_blob_is_found_before_anything_changes() {
    let repo = saved();
    let blob = repo.rev(&format!("{}:f", repo.tree("A"))).unwrap();
    repo.lose_object(&blob);
    let before = RepoState::of(&repo);

    let blockers = repo.blockers(&["restore", "--yes", "A"]);

    assert_eq!(blockers, ["objects-missing"]);
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_missing_tree_is_found_before_anything_changes() {
    let repo = saved();
    let tree = repo.field("A", "tree");
    repo.lose_object(&tree);
    let before = RepoState::of(&repo);

    assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["objects-missing"]);

    before.assert_same(&RepoState::of(&repo));
    repo.save("B");
}

#[test]
fn a_missing_commit_whose_tree_is_there_does_not_lose_the_work() {
    let repo = saved();
    let commit = repo.field("A", "commit");
    repo.lose_object(&commit);

    repo.restore("A");

    assert_eq!((repo.read("f"), repo.read("k")), ("two\n".into(), "k\n".into()));
}

#[test]
fn a_missing_blob_that_the_restore_does_not_need_is_no_hindrance() {
    let repo = saved();
    repo.write("other", "x\n");
    repo.save("B");
    let unneeded = repo.rev(&format!("{}:other", repo.tree("B"))).unwrap();
    repo.lose_object(&unneeded);
    repo.remove("other");

    repo.restore("A");

    assert_eq!(repo.read("f"), "two\n");
}

#[test]
fn a_lost_database_is_rebuilt_from_the_refs() {
    let repo = saved();
    let fields = ["id", "commit", "tree", "kind", "name", "subject", "created", "head", "branch"];
    let before = fields.map(|word| repo.field("A", word));
    remove_database(&repo);

    let after = fields.map(|word| repo.field("A", word));

    assert_eq!(after, before);
    repo.restore("A");
    assert_eq!(repo.read("f"), "two\n");
}

#[test]
fn a_database_that_is_none_is_reported_and_left_alone() {
    let repo = saved();
    remove_database(&repo);
    std::fs::write(database(&repo), "this is no database, whatever its name says\n".repeat(200)).unwrap();
    let bytes = std::fs::read(database(&repo)).unwrap();

    for command in [&["save"] as &[&str], &["list"], &["show", "A"], &["restore", "--yes", "A"], &["undo", "--yes"]] {
        let output = repo.checkpoint(command).fails();
        assert!(output.code() == Some(128) && output.talk().contains("database"), "{output}");
    }

    assert!(std::fs::read(database(&repo)).unwrap() == bytes);
    assert_eq!(repo.read("f"), "three\n");
}

#[test]
fn a_database_from_a_newer_version_is_refused_with_a_hint_and_left_alone() {
    let repo = saved();
    repo.checkpoint(["list"]).success();
    repo.set_database_version(9_999);
    let bytes = std::fs::read(database(&repo)).unwrap();

    for command in [&["save"] as &[&str], &["list"], &["restore", "--yes", "A"]] {
        repo.checkpoint(command).exits(128).says("newer").says("hint:");
    }

    assert!(std::fs::read(database(&repo)).unwrap() == bytes);
    assert_eq!(repo.read("f"), "three\n");
}

#[test]
fn empty_dangling_and_foreign_refs_in_our_namespace_are_survived() {
    let repo = saved();
    let folder = repo.common_dir().join("refs/checkpoints/odd");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("empty"), "").unwrap();
    std::fs::write(folder.join("dangling"), "0123456789012345678901234567890123456789\n").unwrap();
    std::fs::write(folder.join("nonsense"), "no object name\n").unwrap();
    repo.run(["update-ref", "refs/checkpoints/odd/foreign", "HEAD"]);
    repo.run(["update-ref", "refs/checkpoints/odd/tree", "HEAD^{tree}"]);

    repo.save("B");
    repo.restore("A");
    remove_database(&repo);

    let listed = repo.checkpoint(["list", "--format=%(subject)"]).success().text();
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert_eq!(repo.read("f"), "two\n");
}

#[test]
fn a_checkpoint_whose_ref_is_gone_does_not_stop_the_others() {
    let repo = saved();
    repo.save("B");
    repo.run(["update-ref", "-d", &repo.field("B", "ref")]);

    repo.checkpoint(["list"]).success();
    repo.restore("A");

    assert_eq!(repo.read("f"), "two\n");
}

#[test]
fn an_unknown_selector_exits_4_and_changes_nothing() {
    let repo = saved();
    let before = RepoState::of(&repo);

    for selector in [
        "99",
        "nothing-of-that-name",
        "@~7",
        "0000",
        "step:none",
        "turn:4",
        "session:none",
        "refs/checkpoints/x/y",
        "@{1 second ago",
    ] {
        let output = repo.checkpoint(["restore", "--yes", selector]).fails();
        assert!(matches!(output.code(), Some(4 | 129)), "{selector}: {output}");
        repo.checkpoint(["show", "--json", selector]).exits(output.code().unwrap());
    }

    before.assert_same(&RepoState::of(&repo));
    let document = repo.checkpoint(["show", "--json", "99"]).exits(4).json();
    assert_eq!(document["schema"], 1);
    assert!(document["error"]["message"].as_str().unwrap().contains("99"), "{document}");
}

#[test]
fn a_selector_is_never_taken_for_an_option() {
    let repo = saved();

    repo.checkpoint(["show", "--", "--help"]).exits(4);
    repo.checkpoint(["show", "--", "-p"]).exits(4);
    repo.checkpoint(["show", "--no-such-option"]).exits(129);
}

#[test]
fn unknown_words_are_errors_and_not_messages() {
    let repo = saved();

    repo.checkpoint(["saave"]).exits(129);
    repo.checkpoint(["my", "message"]).exits(129);

    assert_eq!(repo.checkpoint_refs().len(), 1);
}

#[test]
fn a_repository_that_cannot_be_written_is_left_as_it_is() {
    let repo = saved();
    repo.give_away();
    let checkpoints = repo.checkpoint_refs();
    for folder in ["", "objects", "checkpoint", "refs", "refs/checkpoints"] {
        repo.close(repo.common_dir().join(folder));
    }

    repo.try_save("B").fails();
    repo.try_restore("A").fails();

    assert_eq!(repo.checkpoint_refs(), checkpoints);
    assert_eq!((repo.read("f"), repo.read("k")), ("three\n".into(), "k3\n".into()));
}

#[test]
fn what_is_unchanged_since_a_checkpoint_whose_ref_is_gone_is_recorded_anew() {
    for damage in ["gone", "empty", "dangling"] {
        let repo = TestRepo::new();
        repo.write("precious", "1\n");
        repo.checkpoint(["save", "-q"]).success();
        let name = repo.checkpoint_refs().pop().unwrap();
        match damage {
            "gone" => repo.run(["update-ref", "-d", &name]),
            "empty" => std::fs::write(repo.common_dir().join(&name), "").unwrap(),
            _ => std::fs::write(repo.common_dir().join(&name), "1".repeat(40) + "\n").unwrap(),
        }

        let again = repo.checkpoint(["save", "--json"]).success().json();
        std::fs::remove_file(repo.common_dir().join(&name)).ok();
        repo.run(["gc", "-q", "--prune=now"]);
        repo.remove("precious");
        repo.restore("@");

        assert_eq!((again["status"].as_str(), repo.read("precious")), (Some("captured"), "1\n".to_owned()), "{damage}");
    }
}

/// A tree with one entry, which nobody checks.
fn tree_with(repo: &TestRepo, mode: &str, name: &str, id: &str) -> String {
    let bytes = (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap());
    let entry: Vec<u8> = format!("{mode} {name}\0").into_bytes().into_iter().chain(bytes).collect();
    write_object(repo, "tree", &entry)
}

fn write_object(repo: &TestRepo, kind: &str, content: &[u8]) -> String {
    let path = repo.env().root().join("object");
    std::fs::write(&path, content).unwrap();
    repo.git(["hash-object", "-t", kind, "-w", "--literally", &path.display().to_string()]).text()
}

/// Gives the only checkpoint another tree, as a fetch from a hostile repository would.
fn replace_tree(repo: &TestRepo, tree: &str) {
    let name = repo.checkpoint_refs().pop().unwrap();
    let commit = repo.git(["cat-file", "commit", &name]).text();
    let (_, rest) = commit.split_once('\n').unwrap();
    let commit = write_object(repo, "commit", format!("tree {tree}\n{rest}\n").as_bytes());
    repo.run(["update-ref", &name, &commit]);
    remove_database(repo);
}

#[test]
fn a_checkpoint_that_came_from_elsewhere_writes_nothing_into_a_git_directory() {
    for inner in [".git", ".GIT", "git~1", ".."] {
        let repo = TestRepo::new();
        repo.write("f", "1\n");
        repo.checkpoint(["save", "-q"]).success();
        let blob = repo.git(["hash-object", "-w", "f"]).text();
        let subtree = tree_with(&repo, "100755", "pwned", &blob);
        replace_tree(&repo, &tree_with(&repo, "40000", inner, &subtree));
        let before = RepoState::of(&repo);

        let blockers = repo.blockers(&["restore", "--yes", "@"]);
        let aside = repo.env().shelf().join("aside").display().to_string();
        let exported = repo.checkpoint(["restore", "@", "--to", &aside]).exits(3);

        assert_eq!(blockers, ["path-blocked"], "{inner}");
        assert!(exported.talk().contains("git forbids"), "{exported}");
        assert!(!std::path::Path::new(&aside).join(inner).join("pwned").exists());
        before.assert_same(&RepoState::of(&repo));
    }
}

#[test]
fn what_a_restore_replaces_can_come_back_though_the_repository_had_lost_its_objects() {
    for empties in [true, false] {
        let repo = TestRepo::new();
        repo.save("A");
        repo.write("f", "precious\n");
        repo.write("k", "precious too\n");
        repo.run(["add", "f", "k"]);
        repo.save("B");
        for path in ["f", "k"] {
            let blob = repo.git(["hash-object", path]).text();
            repo.lose_object(&blob);
            if empties {
                // As a crash of the machine leaves it.
                let file = repo.common_dir().join("objects").join(&blob[..2]).join(&blob[2..]);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, "").unwrap();
            }
        }

        repo.restore("A");
        assert_eq!((repo.read("f").as_str(), repo.exists("k")), ("1\n", false));
        repo.undo();

        assert_eq!((repo.read("f"), repo.read("k")), ("precious\n".into(), "precious too\n".into()));
        repo.assert_sound();
    }
}

#[test]
fn an_empty_file_in_place_of_an_object_is_no_object() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "precious\n");
    repo.run(["add", "f"]);
    let blob = repo.rev(":f").unwrap();
    let file = repo.common_dir().join("objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "").unwrap();
    repo.append("f", "more\n");
    repo.write("copy", "precious\n");

    repo.save("B");

    assert_eq!(repo.git(["cat-file", "-p", &format!("{}:copy", repo.tree("B"))]).text(), "precious");
}
