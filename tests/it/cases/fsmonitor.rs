//! Saves where git's fsmonitor daemon runs: what it names is looked at, and everything wherever its word is in doubt.
//!
//! That something is not looked at shows where a file changes and the daemon does not say so.

use std::time::{Duration, Instant};

use crate::support::monitor::{self, Manner, Monitor, packet};
use crate::support::{Output, TestRepo};

/// A repository of some folders with a daemon that has been asked once, and nothing in it so young that it must be looked at.
fn watched() -> (TestRepo, Monitor) {
    let repo = TestRepo::new();
    for folder in ["a", "a/deep", "b", "c"] {
        for file in 0..20 {
            repo.write(format!("{folder}/{file}"), "old\n");
        }
    }
    repo.write(".gitignore", "ignored\n");
    repo.write("ignored/x", "old\n");
    repo.commit("files");
    repo.write("untracked", "old\n");
    repo.settle();
    let monitor = Monitor::of(&repo);
    repo.save("first");
    (repo, monitor)
}

/// Changes a file behind the daemon's back: seen by whoever looks at everything.
fn change_unseen(repo: &TestRepo) {
    repo.write("c/7", "unseen\n");
}

fn saw_everything(repo: &TestRepo, name: &str) -> bool {
    repo.save(name);
    repo.blob(name, "c/7") == b"unseen\n"
}

#[test]
fn a_save_looks_only_at_what_the_daemon_names() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    repo.write("a/deep/3", "new\n");
    monitor.tell("a/deep/3");

    assert!(!saw_everything(&repo, "A"));

    assert_eq!(repo.blob("A", "a/deep/3"), b"new\n");
    assert_eq!(monitor.questions(), ["builtin:fake", "builtin:0.1.first:0"]);
    monitor.tell("c/7");
    repo.save("B");
    repo.assert_tree_is_gits("B");
}

#[test]
fn a_save_where_the_daemon_names_nothing_finds_the_state_recorded() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    monitor.tell("ignored/x");
    monitor.tell("ignored/y/z");

    let unchanged = repo.checkpoint(["save", "--json"]).success().json();

    assert_eq!(unchanged["status"], "unchanged");
    // The new token was kept although nothing else was new.
    let _again = repo.checkpoint(["save", "--json"]).success();
    assert_eq!(monitor.questions().last().unwrap(), "builtin:0.1.first:1");
}

#[test]
fn named_files_folders_and_renames_are_captured_as_git_records_them() {
    let (repo, monitor) = watched();
    let mut saves = 0;
    let mut check = |what: &str, paths: &[&str]| {
        paths.iter().for_each(|path| monitor.tell(path));
        saves += 1;
        let name = format!("save-{saves}");
        repo.save(&name);
        assert_eq!(repo.tree(&name), repo.git_tree(crate::support::Belief::None).0, "after {what}");
    };

    repo.write("a/3", "new\n");
    check("an edit", &["a/3"]);
    repo.chmod("a/4", 0o755);
    check("a change of mode", &["a/4"]);
    repo.remove("b/1");
    check("a removal", &["b/1"]);
    repo.write("b/new", "new\n");
    check("a new file", &["b/new"]);
    repo.write("n/e/w", "new\n");
    check("a new folder", &["n"]);
    repo.write("n/e/v", "new\n");
    repo.write("n/o/w", "new\n");
    check("files in folders, one of them new", &["n/e/v", "n/o/w"]);
    repo.rename("a", "z");
    check("a renamed folder, with the slash of other systems", &["a/", "z/"]);
    repo.rename("z/deep", "b/deep");
    check("a folder moved to another", &["z/deep", "b/deep"]);
    repo.write("p/q/1", "p\n");
    repo.write("r/q/1", "r\n");
    check("two folders", &["p", "r"]);
    repo.rename("p", "aside");
    repo.rename("r", "p");
    check("a folder replaced by one with the same names", &["p", "aside", "r"]);
    repo.remove("b");
    check("a removed folder", &["b"]);
    repo.remove("c");
    repo.write("c", "file\n");
    check("a file in the place of a folder", &["c"]);
    repo.remove("c");
    repo.write("c/x", "folder\n");
    check("a folder in the place of a file", &["c"]);
    repo.write(".gitignore", "f\nn\n");
    check("ignore rules that changed", &[".gitignore"]);
    repo.remove(".gitignore");
    check("ignore rules that are gone", &[".gitignore"]);
    repo.write("z/.gitattributes", "* -text\n");
    repo.write("z/5", "new\r\n");
    check("attributes", &["z/.gitattributes", "z/5"]);
    repo.assert_sound();
}

#[test]
fn everything_is_looked_at_where_the_word_of_the_daemon_is_in_doubt() {
    let (repo, monitor) = watched();
    let answer = |text: &str| [packet(text.as_bytes()), b"0000".to_vec()].concat();
    let token = "builtin:0.1.first:99\0";
    let whole = answer(token);
    let answers = [
        ("a gap", answer("builtin:0.1.second:99\0")),
        ("a count that runs backwards", answer("builtin:0.1.first:0\0")),
        ("everything", answer(&format!("{token}/\0"))),
        ("a path that leads out", answer(&format!("{token}a/1\0a/../../x\0"))),
        ("an absolute path", answer(&format!("{token}/c/7\0"))),
        ("a path that is none", answer(&format!("{token}a/1\0\0"))),
        ("a path without an end", answer(&format!("{token}a/1"))),
        ("garbage", b"garbage\n".to_vec()),
        ("a packet cut short", whole[..whole.len() - 8].to_vec()),
        ("no end", whole[..whole.len() - 4].to_vec()),
        ("a packet of an odd length", b"0003".to_vec()),
        ("nothing", Vec::new()),
    ];

    for (what, bytes) in [("an answer", whole.clone())].into_iter().chain(answers) {
        repo.write("c/7", "old\n");
        monitor.be(Manner::Faithful);
        monitor.tell("c/7");
        repo.settle();
        repo.save("base");
        change_unseen(&repo);
        monitor.be(Manner::Bytes(bytes));

        assert_eq!(saw_everything(&repo, "A"), what != "an answer", "after {what}");
    }
    repo.assert_tree_is_gits("A");
}

#[test]
fn a_daemon_that_hangs_or_is_dead_delays_no_save_and_hides_nothing() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    monitor.be(Manner::Silent);
    let start = Instant::now();

    assert!(saw_everything(&repo, "hanging"));

    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(monitor.questions().len(), 2);
    std::fs::remove_file(monitor::socket(&repo)).unwrap();
    repo.socket(".git/fsmonitor--daemon.ipc");
    repo.write("c/7", "refused\n");
    repo.save("refused");
    repo.assert_tree_is_gits("refused");
}

#[test]
fn the_daemon_starts_anew_and_is_believed_again_from_then_on() {
    let (repo, monitor) = watched();
    monitor.restart("1.1.second");
    change_unseen(&repo);

    assert!(saw_everything(&repo, "A"));

    repo.settle();
    repo.save("B");
    repo.write("c/7", "again\n");
    repo.save("C");
    assert_eq!(repo.blob("C", "c/7"), b"unseen\n", "it was not named");
}

#[test]
fn the_daemon_is_not_asked_unless_the_configuration_says_so() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    let asked = monitor.questions().len();
    let save = |setting: &str| {
        Output::of(repo.command("git").args(["-c", setting, "checkpoint", "save", "--quiet", "--allow-empty"])).success()
    };

    let settings =
        ["core.fsmonitor=false", "core.fsmonitor=.git/hooks/query-watchman", "core.fsmonitor=", "checkpoint.statCache=false"];
    for setting in settings.into_iter().chain(["core.ignoreCase=true"]) {
        let _saved = save(setting);
        assert_eq!(monitor.questions().len(), asked, "with {setting}");
    }
    repo.run(["config", "--unset", "core.fsmonitor"]);
    assert!(saw_everything(&repo, "A"));
    assert_eq!(monitor.questions().len(), asked);
}

#[test]
fn a_socket_that_is_not_ones_own_is_not_asked() {
    let (repo, monitor) = watched();
    let asked = monitor.questions().len();
    change_unseen(&repo);
    let socket = monitor::socket(&repo);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&socket, Some(12), None).unwrap();
        assert!(saw_everything(&repo, "foreign"));
    }
    let elsewhere = repo.env().root().join("socket");
    std::fs::rename(&socket, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &socket).unwrap();

    assert!(saw_everything(&repo, "linked"));

    assert_eq!(monitor.questions().len(), asked);
}

#[test]
fn the_daemon_of_a_git_directory_is_not_asked_about_another_folder() {
    let (repo, monitor) = watched();
    let other = repo.env().root().join("other");
    std::fs::create_dir(&other).unwrap();
    let asked = monitor.questions().len();

    for content in ["1\n", "2\n"] {
        std::fs::write(other.join("f"), content).unwrap();
        let mut command = repo.command("git");
        command.env("GIT_WORK_TREE", &other).env("GIT_DIR", repo.git_dir());
        Output::of(command.args(["checkpoint", "save", "--quiet", "--name", "other"])).success();
        assert_eq!(repo.blob("other", "f"), content.as_bytes());
    }

    assert_eq!(monitor.questions().len(), asked);
}

#[test]
fn everything_is_looked_at_after_the_index_changed() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    repo.write("a/1", "staged\n");
    monitor.tell("a/1");
    repo.run(["add", "a/1"]);

    assert!(saw_everything(&repo, "A"));

    repo.assert_tree_is_gits("A");
}

#[test]
fn what_the_daemon_missed_is_in_the_checkpoint_before_a_restore() {
    let (repo, monitor) = watched();
    change_unseen(&repo);
    repo.write("b/2", "seen\n");
    monitor.tell("b/2");
    assert!(!saw_everything(&repo, "A"));

    repo.restore("first");

    assert_eq!((repo.read("c/7"), repo.read("b/2")), ("old\n".into(), "old\n".into()));
    repo.undo();
    assert_eq!((repo.read("c/7"), repo.read("b/2")), ("unseen\n".into(), "seen\n".into()));
}

#[test]
fn a_folder_that_is_gone_without_a_word_is_noticed_where_it_was_to_be_looked_into() {
    let (repo, monitor) = watched();
    repo.fifo("b/pipe");
    monitor.tell("b/pipe");
    repo.save("A");
    change_unseen(&repo);
    repo.remove("b");

    assert!(saw_everything(&repo, "B"));

    repo.assert_tree_is_gits("B");
}

#[test]
fn a_linked_worktree_and_a_long_path_have_a_daemon_of_their_own() {
    let main = TestRepo::new();
    let name = format!("linked-{}", "x".repeat(80));
    main.run(["worktree", "add", "-q", &format!("../{name}")]);
    let repo = main.at(&name);
    repo.write("c/7", "old\n");
    repo.settle();
    let monitor = Monitor::of(&repo);
    repo.save("first");
    change_unseen(&repo);

    assert!(!saw_everything(&repo, "A"));

    assert_eq!(monitor.questions().len(), 2);
    monitor.tell("c/7");
    repo.save("B");
    repo.assert_tree_is_gits("B");
}

#[test]
fn submodules_and_nested_repositories_are_looked_at_unasked() {
    let (repo, monitor) = watched();
    let inner = repo.nested_repository("inner");
    monitor.tell("inner");
    repo.save("A");
    inner.commit("moved on");

    repo.save("B");

    assert_ne!(repo.tree("A"), repo.tree("B"));
    repo.assert_tree_is_gits("B");
}

#[test]
fn a_sparse_checkout_is_captured_as_without_the_daemon() {
    let (repo, monitor) = watched();
    repo.run(["sparse-checkout", "set", "--no-cone", "/*", "!/a/deep", "!/b/1"]);
    ["a/deep", "b/1"].iter().for_each(|path| monitor.tell(path));
    repo.settle();
    repo.save("sparse");
    repo.assert_tree_is_gits("sparse");
    change_unseen(&repo);
    repo.write("a/2", "new\n");
    monitor.tell("a/2");

    assert!(!saw_everything(&repo, "A"));

    assert_eq!((repo.blob("A", "a/2"), repo.blob("A", "b/1")), (b"new\n".to_vec(), b"old\n".to_vec()));
    monitor.tell("c/7");
    repo.write("a/deep/4", "back\n");
    monitor.tell("a/deep");
    repo.save("B");
    repo.config("core.fsmonitor", "false");
    repo.save("C");
    assert_eq!(repo.tree("B"), repo.tree("C"));
    assert_eq!((repo.blob("B", "a/deep/4"), repo.blob("B", "a/deep/5")), (b"back\n".to_vec(), b"old\n".to_vec()));
}

#[test]
fn what_is_not_captured_is_named_by_every_save() {
    let (repo, monitor) = watched();
    repo.config("checkpoint.maxFileSize", "10");
    repo.write("b/large", [b'x'; 11]);
    repo.fifo("c/pipe");
    let _empty = repo.empty_nested_repository("a/inner");
    ["b/large", "c/pipe", "a/inner"].iter().for_each(|path| monitor.tell(path));
    let skipped = || repo.checkpoint(["save", "--allow-empty", "--json"]).success().json()["checkpoint"]["skipped"].clone();
    let first = skipped();
    repo.settle();

    assert_eq!(skipped(), first);

    assert_eq!(skipped(), first);
    assert_eq!(first.as_array().unwrap().len(), 3, "{first}");
}
