//! What a restore keeps on purpose, and what it saves before it must give way.

use crate::support::{RepoState, TestRepo};

#[test]
fn data_ignored_now_survives_the_ignore_rule_being_rolled_back() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write(".gitignore", "data/\n*.tmp\n");
    repo.write("data/p", "p\n");
    repo.write("deep/x.tmp", "t\n");
    repo.write("deep/y", "y\n");

    repo.restore("A");

    assert!(!repo.exists(".gitignore") && !repo.exists("deep/y"));
    assert_eq!((repo.read("data/p"), repo.read("deep/x.tmp")), ("p\n".into(), "t\n".into()));
}

#[test]
fn data_ignored_at_the_checkpoint_survives_the_rule_having_been_dropped() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "log.txt\n/logs/\n");
    repo.write("sub/.gitignore", "*.cache\n");
    repo.commit("rules");
    repo.write("log.txt", "keep\n");
    repo.save("A");
    repo.write(".gitignore", "");
    repo.remove("sub/.gitignore");
    repo.write("logs/today", "made since\n");
    repo.write("sub/x.cache", "made since\n");
    repo.write("not-ignored", "made since\n");

    repo.restore("A");

    assert_eq!(repo.read("log.txt"), "keep\n");
    assert_eq!((repo.read("logs/today"), repo.read("sub/x.cache")), ("made since\n".into(), "made since\n".into()));
    assert!(!repo.exists("not-ignored"));
    assert_eq!(repo.read(".gitignore"), "log.txt\n/logs/\n");
}

#[test]
fn data_ignored_by_the_exclude_file_or_by_the_user_survives() {
    let repo = TestRepo::new();
    repo.save("A");
    std::fs::write(repo.common_dir().join("info/exclude"), "by-repository\n").unwrap();
    std::fs::write(repo.env().home().join("excludes"), "by-user\n").unwrap();
    repo.env().global_config("core.excludesFile", &repo.env().home().join("excludes").to_string_lossy());
    for path in ["by-repository", "by-user", "neither"] {
        repo.write(path, "x\n");
    }

    repo.restore("A");

    assert_eq!(["by-repository", "by-user", "neither"].map(|path| repo.exists(path)), [true, true, false]);
}

#[test]
fn an_ignored_edit_that_a_restore_overwrites_comes_back_with_undo() {
    let repo = TestRepo::new();
    repo.write("conf", "v1\n");
    repo.save("A");
    repo.write(".gitignore", "conf\n");
    repo.write("conf", "v2\n");
    repo.chmod("conf", 0o755);
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    assert_eq!(repo.read("conf"), "v1\n");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn an_ignored_folder_in_the_place_of_a_file_comes_back_with_undo() {
    let repo = TestRepo::new();
    repo.write("build", "a file at the checkpoint\n");
    repo.save("A");
    repo.remove("build");
    repo.write(".gitignore", "/build/\n");
    repo.write("build/out/deep", "1\n");
    repo.write("build/run", "2\n");
    repo.chmod("build/run", 0o755);
    repo.symlink("run", "build/link");
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    assert_eq!(repo.read("build"), "a file at the checkpoint\n");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn an_ignored_file_in_the_place_of_a_folder_comes_back_with_undo() {
    let repo = TestRepo::new();
    repo.write("cache/a", "a\n");
    repo.write("cache/b/c", "c\n");
    repo.save("A");
    repo.remove("cache");
    repo.write(".gitignore", "cache\n");
    repo.write("cache", "an ignored file\n");
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    assert_eq!((repo.read("cache/a"), repo.read("cache/b/c")), ("a\n".into(), "c\n".into()));
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn an_ignored_file_below_a_removed_folder_keeps_the_folder() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "*.log\n");
    repo.commit("rule");
    repo.save("A");
    repo.write("new/deep/x", "x\n");
    repo.write("new/deep/x.log", "kept\n");
    repo.write("new/other/y", "y\n");

    repo.restore("A");

    assert_eq!(repo.read("new/deep/x.log"), "kept\n");
    assert!(!repo.exists("new/deep/x") && !repo.exists("new/other"));
}

#[test]
fn a_special_file_in_the_way_is_named_in_a_refusal_and_nothing_changes() {
    let repo = TestRepo::new();
    repo.write("place/x", "x\n");
    repo.save("A");
    repo.remove("place");
    repo.write(".gitignore", "place\n");
    repo.fifo("place");
    repo.write("f", "2\n");
    let before = RepoState::of(&repo);

    let output = repo.checkpoint(["restore", "--yes", "--json", "A"]).exits(3);

    assert!(output.text().contains("place"), "{output}");
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn folders_that_were_empty_before_are_left_alone() {
    let repo = TestRepo::new();
    repo.mkdir("empty/nested");
    repo.mkdir("logs");
    repo.save("A");
    repo.mkdir("made-since");
    repo.write("f", "2\n");

    repo.restore("A");

    for folder in ["empty/nested", "logs", "made-since"] {
        assert!(repo.exists(folder), "{folder}");
    }
}

#[test]
fn the_folder_that_the_shell_stands_in_survives() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("here/x", "x\n");

    let here = repo.path("here");
    let mut restore = repo.program();
    restore.current_dir(&here).args(["restore", "--quiet", "--yes", "A"]);
    crate::support::Output::of(&mut restore).success();

    assert!(!repo.exists("here/x"));
}

#[test]
fn unreadable_ignored_files_in_the_way_are_refused_by_name() {
    let repo = TestRepo::new();
    repo.write("place", "x\n");
    repo.save("A");
    repo.write(".gitignore", "place\n");
    repo.write("place", "secret\n");
    repo.give_away();
    repo.chmod("place", 0);

    let output = repo.checkpoint(["restore", "--yes", "--json", "A"]).exits(3);

    assert_eq!(output.json()["blockers"][0]["code"], "pre-restore-partial", "{output}");
    assert!(output.text().contains("place"));
    repo.chmod("place", 0o644);
    assert_eq!(repo.read("place"), "secret\n");
}

#[test]
fn bytes_that_a_filter_drops_are_kept_for_undo_and_for_plain_git() {
    for lost in [false, true] {
        let repo = TestRepo::new();
        repo.write(".gitattributes", "*.key filter=redact\n*.txt text=auto\n");
        repo.config("filter.redact.clean", "sed s/secret-.*/REDACTED/");
        repo.write("in/a.key", "secret-1\n");
        repo.write("mixed.txt", "a\r\nb\n");
        repo.save("A");
        repo.write("in/a.key", "secret-2\nmore\n");
        repo.write("mixed.txt", "a\r\nb\nc\r\n");

        repo.restore("A");
        assert_eq!(repo.blob("pre-restore", "in/a.key"), b"REDACTED\nmore\n");
        let exact = format!("refs/checkpoint-originals/{}", repo.field("pre-restore", "id"));
        let show = |path: &str| repo.git(["cat-file", "blob", &format!("{exact}:{path}")]).stdout;
        assert_eq!((show("in/a.key"), show("mixed.txt")), (b"secret-2\nmore\n".to_vec(), b"a\r\nb\nc\r\n".to_vec()));
        repo.run(["gc", "-q", "--prune=now"]);
        if lost {
            std::fs::remove_dir_all(repo.git_dir().join("checkpoint/originals")).unwrap();
        }
        repo.undo();

        assert_eq!(
            (repo.read("in/a.key"), repo.read("mixed.txt")),
            ("secret-2\nmore\n".into(), "a\r\nb\nc\r\n".into()),
            "{lost}"
        );
        repo.assert_sound();
    }
}

#[test]
fn a_file_that_is_assumed_to_be_unchanged_and_is_gone_comes_back_and_undo_takes_it_away() {
    let repo = TestRepo::new();
    repo.write("z", "zz\n");
    repo.commit("z");
    repo.save("A");
    repo.run(["update-index", "--assume-unchanged", "z"]);
    for with_others in [false, true] {
        match with_others {
            // It is gone already.
            true => repo.write("f", "edited\n"),
            false => repo.remove("z"),
        }

        repo.restore("A");
        assert_eq!(repo.read("z"), "zz\n");
        repo.checkpoint(["undo", "--quiet", "--yes"]).success();

        assert!(!repo.exists("z"));
    }
}
