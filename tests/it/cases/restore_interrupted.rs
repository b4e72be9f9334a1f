//! An interrupted restore, and what others do before it is finished or taken back: none of it is lost, and none of it is unsaid.

use crate::support::TestRepo;

/// `f1`, `f2` and `f3` differ from checkpoint `A`.
fn three_files() -> TestRepo {
    let repo = TestRepo::new();
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("base{n}\n")));
    repo.commit("three files");
    repo.save("A");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n}\n")));
    repo
}

/// As [`three_files`], with a restore of `A` that was killed when `f1` was in place and `f3` was not.
fn interrupted() -> TestRepo {
    let repo = three_files();
    repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");
    repo
}

/// Edits a file in a way that its size and its modification time do not tell.
fn edit_secretly(repo: &TestRepo, path: &str, content: &str) {
    assert_eq!(repo.read(path).len(), content.len());
    let mtime = repo.mtime(path);
    repo.write(path, content);
    repo.set_mtime(path, mtime);
}

#[test]
fn continuing_overwrites_no_edit_that_keeps_size_and_time() {
    let repo = interrupted();
    edit_secretly(&repo, "f3", "MINE3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f3` changed since the restore was interrupted");

    assert_eq!(repo.read("f3"), "MINE3\n");
    repo.checkpoint(["restore", "--abort"]).success();
    assert_eq!((repo.read("f1"), repo.read("f3")), ("mine1\n".into(), "MINE3\n".into()));
}

#[test]
fn continuing_overwrites_no_edit_of_a_filtered_file_that_keeps_size_and_time() {
    let repo = TestRepo::new();
    repo.config("filter.rot.clean", "tr a-z n-za-m");
    repo.config("filter.rot.smudge", "tr a-z n-za-m");
    repo.write(".gitattributes", "f* filter=rot\n");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("base{n}\n")));
    repo.commit("three files");
    repo.save("A");
    (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n}\n")));
    repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");
    edit_secretly(&repo, "f3", "MINE3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f3`");
    assert_eq!(repo.read("f3"), "MINE3\n");

    // The same content again: only the inode tells that anything happened.
    edit_secretly(&repo, "f3", "mine3\n");
    repo.checkpoint(["restore", "--continue"]).success();
    assert_eq!(repo.read("f3"), "base3\n");
}

#[test]
fn continuing_names_every_path_that_changed() {
    let repo = interrupted();
    repo.write("f1", "others 1\n");
    repo.write("f3", "others 3\n");

    repo.checkpoint(["restore", "--continue"]).exits(3).says("`f1`, `f3` changed since");
    assert_eq!((repo.read("f1"), repo.read("f3")), ("others 1\n".into(), "others 3\n".into()));
}

/// The folders in the worktree in which a restore keeps files whose git directory is on another file system.
fn folders_aside(repo: &TestRepo) -> usize {
    let entries = repo.top().read_dir().unwrap().map(Result::unwrap);
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".git-checkpoint-")).count()
}

#[test]
fn folders_in_the_worktree_are_cleared_away_by_the_next_command_and_never_captured() {
    let repo = three_files();
    let mut seen = 0;
    for point in 1.. {
        let output = repo.with_fault(&format!("apart:1,kill:{point}"), &["restore", "--quiet", "--yes", "A"]);
        let left = folders_aside(&repo);
        let is_over = !repo.git_dir().join("checkpoint/restore.json").exists();
        let difference = repo.checkpoint(["diff", "--name-only", "A"]).success().text();
        assert!(!difference.contains(".git-checkpoint"), "{difference} at point {point}");
        if is_over {
            assert_eq!(folders_aside(&repo), 0, "at point {point}");
            seen += usize::from(left > 0);
        } else {
            repo.checkpoint(["restore", "--quiet", "--abort"]).success();
        }
        repo.save("after");
        assert!(!repo.ls_tree(&repo.tree("after")).iter().any(|entry| format!("{entry:?}").contains(".git-checkpoint")));
        assert_eq!(folders_aside(&repo), 0, "at point {point}");
        if output.code() == Some(0) {
            break;
        }
        (1..=3).for_each(|n| repo.write(format!("f{n}"), format!("mine{n} at {point}\n")));
    }
    assert!(seen > 0, "the clean-up was not interrupted once");
}

#[test]
fn what_was_moved_away_is_written_anew() {
    let repo = interrupted();
    repo.write("f1", "others 1\n");
    repo.write("f3", "others 3\n");
    repo.checkpoint(["restore", "--continue"]).exits(3).says("move");
    for path in ["f1", "f3"] {
        std::fs::rename(repo.path(path), repo.env().root().join(path)).unwrap();
    }

    repo.checkpoint(["restore", "--continue"]).success();

    (1..=3).for_each(|n| assert_eq!(repo.read(format!("f{n}")), format!("base{n}\n")));
    repo.undo();
    (1..=3).for_each(|n| assert_eq!(repo.read(format!("f{n}")), format!("mine{n}\n")));
    assert!(!repo.git_dir().join("checkpoint/rescued").exists(), "nothing was lost that would have to be kept");
}

#[test]
fn what_was_removed_comes_back_when_the_restore_is_taken_back() {
    let repo = interrupted();
    repo.remove("f1");

    repo.checkpoint(["restore", "--abort"]).success();

    (1..=3).for_each(|n| assert_eq!(repo.read(format!("f{n}")), format!("mine{n}\n")));
}

#[test]
fn undo_and_redo_name_the_way_out_even_if_no_restore_was_done() {
    let repo = interrupted();

    for step in ["undo", "redo"] {
        repo.checkpoint([step, "--yes"]).exits(3).says("--continue");
        let document = repo.checkpoint([step, "--yes", "--json"]).exits(3).json();
        assert_eq!(document["error"]["code"], "restore-interrupted", "{document}");
    }
    repo.checkpoint(["restore", "--abort"]).success();
    repo.checkpoint(["undo", "--yes"]).success().says("nothing to undo");
}

#[test]
fn an_index_that_others_changed_is_left_alone_and_that_is_said() {
    for json in [false, true] {
        let repo = three_files();
        repo.run(["add", "f1"]);
        repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");
        std::fs::remove_file(repo.git_dir().join("index.lock")).unwrap();
        repo.run(["add", "f3"]);
        let staged = repo.git(["ls-files", "-s"]).text();

        let output = repo.checkpoint(["restore", "--continue"].iter().chain(json.then_some(&"--json"))).success();

        assert_eq!(repo.git(["ls-files", "-s"]).text(), staged);
        assert_eq!(repo.read("f3"), "base3\n");
        let output = output.says("the index changed since the interruption, and was left as it is");
        if json {
            let document = output.json();
            assert_eq!((&document["code"]["index"], &document["index_left"]), (&"kept".into(), &true.into()), "{document}");
        }
    }
}

#[test]
fn the_index_is_finished_too_and_json_says_how() {
    let repo = three_files();
    repo.run(["add", "f1"]);
    repo.interrupt("A", |repo| repo.read("f1") == "base1\n" && repo.read("f3") == "mine3\n");

    let document = repo.checkpoint(["restore", "--continue", "--json"]).success().json();

    assert_eq!((&document["code"]["index"], &document["index_left"]), (&"captured".into(), &false.into()), "{document}");
    assert_eq!(repo.status(), "");
}

#[test]
fn a_journal_that_cannot_be_read_does_not_bar_the_way_and_nothing_is_lost() {
    for content in ["", "{", "{\"version\": 1}"] {
        let repo = interrupted();
        let journal = repo.git_dir().join("checkpoint/restore.json");
        std::fs::write(&journal, content).unwrap();

        for look in ["list", "show", "diff"] {
            repo.checkpoint([look]).success().says("restore.json` cannot be read");
        }
        assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["restore-interrupted"]);
        for change in [["save", "--allow-empty"], ["undo", "--yes"], ["restore", "--continue"]] {
            repo.checkpoint(change).exits(3).says("checkpoint/restore-").says("restore --abort");
        }

        let output = repo.checkpoint(["restore", "--abort"]).success();
        let talk = output.talk();
        let place = talk.split('`').find(|part| part.contains("/rescued/")).expect("a place is told");
        let aside: Vec<_> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(aside.iter().any(|path| std::fs::read_to_string(path).is_ok_and(|text| text == "mine1\n")), "{aside:?}");
        assert!(!journal.exists() && !repo.git_dir().join("index.lock").exists());
        assert_eq!((repo.read("f1"), repo.read("f3")), ("base1\n".into(), "mine3\n".into()));
        repo.save("B");
        repo.restore("pre-restore");
        (1..=3).for_each(|n| assert_eq!(repo.read(format!("f{n}")), format!("mine{n}\n")));
    }
}

#[test]
fn folders_in_the_worktree_are_kept_too_if_the_journal_cannot_be_read() {
    let repo = three_files();
    for point in 1.. {
        let orders = format!("apart:1,kill:{point}");
        assert_eq!(repo.with_fault(&orders, &["restore", "--quiet", "--yes", "A"]).code(), None);
        if repo.read("f1") == "base1\n" {
            break;
        }
        repo.checkpoint(["restore", "--quiet", "--abort"]).success();
    }
    std::fs::write(repo.git_dir().join("checkpoint/restore.json"), "").unwrap();

    let document = repo.checkpoint(["restore", "--abort", "--json"]).success().json();

    assert_eq!(folders_aside(&repo), 0);
    let places = document["given_up"].as_array().unwrap();
    let file = |place: &serde_json::Value| std::fs::read_to_string(format!("{}/0", place.as_str().unwrap())).ok();
    assert!(places.iter().filter_map(file).any(|content| content == "mine1\n"), "{document}");
}

#[test]
fn a_journal_of_a_newer_version_is_left_to_that_version() {
    let repo = interrupted();
    let journal = repo.git_dir().join("checkpoint/restore.json");
    std::fs::write(&journal, "{\"version\": 1000}").unwrap();

    repo.checkpoint(["list"]).success().says("cannot be read");
    for end in ["--continue", "--abort"] {
        repo.checkpoint(["restore", end]).exits(3).says("the version of git-checkpoint that began it");
    }
    assert!(journal.exists() && repo.git_dir().join("index.lock").exists());
}

#[test]
fn what_is_aside_is_kept_if_the_journal_was_removed_by_hand() {
    let repo = interrupted();
    std::fs::remove_file(repo.git_dir().join("checkpoint/restore.json")).unwrap();

    repo.save("B");

    let rescued = repo.git_dir().join("checkpoint/rescued");
    let folder = rescued.read_dir().unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(folder.join("0")).unwrap(), "mine1\n");
}
