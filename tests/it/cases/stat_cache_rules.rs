//! What a save knows from the one before must not outlive the rules that it was found out under.

use std::path::Path;
use std::time::Duration;

use crate::support::{Belief, TestRepo};

/// Files that rules of every kind can say something about, some tracked and some not, and a checkpoint of them.
fn known() -> TestRepo {
    let repo = TestRepo::new();
    for folder in ["", "deep/", "deep/er/"] {
        repo.write(format!("{folder}tracked.txt"), "one\r\n");
    }
    repo.write("odd.tmp", "tracked\n");
    repo.write(".gitattributes", "*.up filter=case\n");
    repo.config("filter.case.clean", "tr a-z A-Z");
    repo.symlink("f", "link");
    repo.commit("files");
    repo.remove("link");
    repo.write("link", "f");
    for folder in ["", "deep/", "deep/er/"] {
        repo.write(format!("{folder}new.txt"), "two\r\n");
        repo.write(format!("{folder}new.tmp"), "three\n");
    }
    repo.write("new.up", "abc\n");
    repo.write("tool", "#!/bin/sh\n");
    repo.chmod("tool", 0o755);
    settle();
    repo.save("before");
    repo.assert_tree_is_gits_in("before", Belief::Usual);
    repo
}

/// What changes, and how.
type Change = (&'static str, fn(&TestRepo));

/// Lets the time stamps of files age until they prove something.
fn settle() {
    std::thread::sleep(Duration::from_millis(40));
}

/// Fails unless `change` makes a difference to the next save, the one that git makes, whether the cache is used or not.
#[track_caller]
fn counts(what: &str, repo: &TestRepo, change: impl FnOnce(&TestRepo)) {
    change(repo);
    repo.save("after");

    assert_ne!(repo.tree("before"), repo.tree("after"), "{what} made no difference");
    repo.assert_tree_is_gits_in("after", Belief::Usual);
    repo.config("checkpoint.statCache", "false");
    repo.save("paranoid");
    repo.assert_tree_is_gits_in("paranoid", Belief::None);
}

/// Takes what [`counts`] left as what is known.
fn start_again(repo: &TestRepo) {
    repo.run(["config", "--unset", "checkpoint.statCache"]);
    settle();
    repo.save("before");
}

fn home_file(repo: &TestRepo, path: &str, content: &str) -> String {
    let path = repo.env().home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

fn repository_file(repo: &TestRepo, path: &str, content: &str) {
    std::fs::write(repo.common_dir().join(path), content).unwrap();
}

/// Changes the content of a file, of which neither size nor time tells.
fn edit_unseen(repo: &TestRepo, path: &str, content: &str) {
    let (size, time) = (repo.bytes(path).len(), repo.mtime(path));
    assert_eq!(size, content.len());
    repo.write(path, content);
    repo.set_mtime(path, time);
}

#[test]
fn a_change_of_ignore_rules_outside_the_worktree_counts() {
    let changes: [Change; 5] = [
        ("info/exclude", |repo| repository_file(repo, "info/exclude", "*.tmp\n")),
        ("the person's own file", |repo| drop(home_file(repo, ".config/git/ignore", "*.tmp\n"))),
        ("core.excludesFile", |repo| {
            let file = home_file(repo, "other", "*.tmp\n");
            repo.config("core.excludesFile", &file);
        }),
        ("a file that core.excludesFile has named before", |repo| {
            let file = home_file(repo, "other", "nothing\n");
            repo.env().global_config("core.excludesFile", &file);
            repo.save("before");
            home_file(repo, "other", "*.tmp\n");
        }),
        ("core.excludesFile by an included file", |repo| {
            let file = home_file(repo, "other", "*.tmp\n");
            let included = home_file(repo, "included", "");
            repo.config("include.path", &included);
            repo.save("before");
            home_file(repo, "included", &format!("[core]\n\texcludesFile = {file}\n"));
        }),
    ];
    for (what, change) in changes {
        let repo = known();

        counts(what, &repo, change);

        assert!(!repo.holds("after", "deep/new.tmp") && repo.holds("after", "odd.tmp"), "{what}");
    }
}

#[test]
fn a_change_of_attributes_outside_the_worktree_counts() {
    let changes: [Change; 4] = [
        ("info/attributes", |repo| repository_file(repo, "info/attributes", "*.txt text\n")),
        ("the person's own file", |repo| drop(home_file(repo, ".config/git/attributes", "*.txt text\n"))),
        ("core.attributesFile", |repo| {
            let file = home_file(repo, "other", "*.txt text\n");
            repo.config("core.attributesFile", &file);
        }),
        ("a file that core.attributesFile has named before", |repo| {
            let file = home_file(repo, "other", "\n");
            repo.env().global_config("core.attributesFile", &file);
            repo.save("before");
            home_file(repo, "other", "*.txt text\n");
        }),
    ];
    for (what, change) in changes {
        let repo = known();

        counts(what, &repo, change);

        assert_eq!(repo.blob("after", "deep/new.txt"), b"two\n", "{what}");
    }
}

#[test]
fn a_change_of_settings_that_decide_what_is_recorded_counts() {
    let values = [
        ("filter.case.clean", "tr a-z n-za-m"),
        ("core.autocrlf", "input"),
        ("core.autocrlf", "true"),
        ("core.fileMode", "false"),
        ("core.symlinks", "false"),
        ("checkpoint.maxFileSize", "5"),
        ("checkpoint.exclude", "*.tmp"),
    ];
    for (key, value) in values {
        let repo = known();
        repo.config(key, value);

        repo.save("after");

        assert_ne!(repo.tree("before"), repo.tree("after"), "{key}");
        if !key.starts_with("checkpoint.") {
            repo.assert_tree_is_gits_in("after", Belief::Usual);
        }
        repo.run(["config", "--unset", key]);
        if key == "filter.case.clean" {
            repo.config("filter.case.clean", "tr a-z A-Z");
        }
        repo.save("back");
        assert_eq!(repo.tree("before"), repo.tree("back"), "{key} taken back");
    }
}

#[test]
fn a_setting_given_for_one_command_counts_for_that_command() {
    let repo = known();
    let save = |setting: &str, name: &str| {
        repo.run(["-c", setting, "checkpoint", "save", "--quiet", "--allow-empty", "--name", name]);
        repo.blob(name, "new.txt")
    };

    let found =
        ["core.autocrlf=true", "core.autocrlf=", "core.autocrlf", "core.autocrlf=false"].map(|setting| save(setting, "after"));

    assert_eq!(found, [&b"two\n"[..], b"two\r\n", b"two\n", b"two\r\n"]);
}

#[test]
fn patterns_match_by_case_as_soon_as_the_setting_says_so() {
    let repo = known();
    repo.write(".gitignore", "*.TMP\n");
    repo.save("before");

    counts("core.ignoreCase", &repo, |repo| repo.config("core.ignoreCase", "true"));

    assert!(repo.holds("before", "new.tmp") && !repo.holds("after", "new.tmp"));
}

#[test]
fn rules_in_a_folder_count_when_they_come_change_and_go() {
    let kinds = [(".gitignore", "*.tmp\n", "*.txt\n"), (".gitattributes", "*.txt text\n", "*.tmp ident\n")];
    for (name, first, second) in kinds {
        let file = format!("deep/{name}");
        let repo = known();
        let replace = |repo: &TestRepo| {
            repo.write("aside", first);
            std::fs::rename(repo.path("aside"), repo.path(&file)).unwrap();
        };

        counts("a new file", &repo, |repo| repo.write(&file, first));
        start_again(&repo);
        counts("an edit", &repo, |repo| repo.write(&file, second));
        start_again(&repo);
        counts("another file in its place, under its time", &repo, |repo| {
            let time = repo.mtime(&file);
            replace(repo);
            repo.set_mtime(&file, time);
        });
        start_again(&repo);
        counts("its end", &repo, |repo| repo.remove(&file));
        start_again(&repo);
        counts("its return by a rename", &repo, replace);
    }
}

#[test]
fn rules_that_change_neither_size_nor_time_count() {
    let kinds = [(".gitignore", "*.tmp\n", "*.txt\n"), (".gitattributes", "*.txt text\n", "*.tmp text\n")];
    for (name, first, second) in kinds {
        let repo = known();
        let file = format!("deep/{name}");
        repo.write(&file, first);
        settle();
        repo.save("before");

        counts(name, &repo, |repo| edit_unseen(repo, &file, second));
    }
}

#[test]
fn rules_that_are_ignored_themselves_count() {
    let repo = known();
    repo.write("deep/.gitignore", ".gitignore\n.gitattributes\n*.log\n");
    repo.write("deep/new.log", "four\r\n");
    settle();
    repo.save("before");

    counts("an edit", &repo, |repo| repo.write("deep/.gitignore", ".gitignore\n.gitattributes\n*.tmp\n"));
    assert!(repo.holds("after", "deep/new.log") && !repo.holds("after", "deep/new.tmp"));
    start_again(&repo);
    counts("attributes", &repo, |repo| repo.write("deep/.gitattributes", "*.txt text\n"));
}

#[test]
fn rules_of_a_folder_that_was_moved_count_where_it_is_now() {
    let repo = known();
    repo.write("rules/.gitignore", "*.tmp\n");
    settle();
    repo.save("before");

    counts("a move", &repo, |repo| std::fs::rename(repo.path("rules/.gitignore"), repo.path("deep/er/.gitignore")).unwrap());

    assert!(!repo.holds("after", "deep/er/new.tmp") && repo.holds("after", "deep/new.tmp"));
}

/// Git takes such rules from the index (`dir.c:add_patterns_from_index`).
#[test]
fn rules_that_are_not_to_be_on_disk_count_as_the_index_changes() {
    let repo = known();
    let stage = |mode: &str, content: &str| {
        repo.write("aside", content);
        let id = repo.git(["hash-object", "-w", "aside"]).text();
        repo.remove("aside");
        repo.run(["update-index", "--add", "--cacheinfo", &format!("{mode},{id},deep/.gitignore")]);
        repo.run(["update-index", "--skip-worktree", "deep/.gitignore"]);
    };
    let held = |name: &str| {
        repo.save(name);
        repo.assert_tree_is_gits(name);
        ["deep/new.tmp", "deep/new.txt"].map(|path| repo.holds(name, path))
    };

    stage("100644", "*.tmp\n");
    let came = held("came");
    stage("100755", "*.txt\n");
    let changed = held("changed");
    repo.run(["update-index", "--force-remove", "deep/.gitignore"]);
    let gone = held("gone");

    assert_eq!([came, changed, gone], [[false, true], [true, false], [true, true]]);
}

#[test]
fn rules_that_stay_behind_in_the_index_when_their_file_goes_count() {
    let repo = known();
    repo.write("deep/.gitignore", "*.tmp\n");
    repo.run(["add", "deep/.gitignore"]);
    repo.write("deep/.gitignore", "*.txt\n");
    settle();
    repo.save("before");

    repo.run(["update-index", "--skip-worktree", "deep/.gitignore"]);
    repo.remove("deep/.gitignore");
    repo.save("after");

    assert_eq!(["deep/new.tmp", "deep/new.txt"].map(|path| repo.holds("before", path)), [true, false]);
    assert_eq!(["deep/new.tmp", "deep/new.txt"].map(|path| repo.holds("after", path)), [false, true]);
    repo.assert_tree_is_gits("after");
}

/// A save that comes while `git init` is at work sees a `.git` that is no repository yet. That it became one does not change
/// the times of the folder around it.
#[test]
fn a_folder_is_a_repository_of_its_own_as_soon_as_its_git_directory_is_whole() {
    let repo = known();
    repo.run(["init", "-q", "deep/er"]);
    repo.run(["-C", "deep/er", "commit", "-q", "--allow-empty", "-m", "inner"]);
    let whole = repo.path("deep/er/.git/HEAD");
    let aside = repo.env().root().join("HEAD");
    std::fs::rename(&whole, &aside).unwrap();
    repo.run(["rm", "-q", "-r", "--cached", "deep/er"]);
    settle();
    repo.save("half");
    settle();
    repo.save("half again");

    std::fs::rename(&aside, &whole).unwrap();
    repo.save("whole");

    assert!(repo.holds("half again", "deep/er/new.txt"));
    assert_eq!(repo.mode("whole", "deep/er"), "160000");
    repo.assert_tree_is_gits("whole");
}

#[test]
fn a_link_in_the_place_of_rules_is_none() {
    let repo = known();
    let target = home_file(&repo, "rules", "*.tmp\n");
    for name in ["deep/.gitignore", "deep/.gitattributes"] {
        repo.symlink(Path::new(&target), name);
    }

    repo.save("links");

    assert!(repo.holds("links", "deep/new.tmp"));
    repo.assert_tree_is_gits("links");
}
