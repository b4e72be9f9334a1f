//! Ignore rules that go away between a restore and its undo: what they kept out of both stays as it is.

use crate::support::TestRepo;

/// Something to restore, and an ignored file that no restore has to do with.
fn restored(prepare: impl FnOnce(&TestRepo)) -> TestRepo {
    let repo = TestRepo::new();
    prepare(&repo);
    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");
    repo
}

#[track_caller]
fn assert_left_alone(repo: &TestRepo, path: &str, content: &str) {
    let time = repo.mtime(path);
    repo.write("made since", "n\n");

    let undone = repo.checkpoint(["undo", "--yes", "--json"]).success().json();
    assert_eq!((repo.read("f").as_str(), repo.exists("made since")), ("2\n", false), "it was not undone");
    assert_eq!((repo.read(path).as_str(), repo.mtime(path)), (content, time), "it was not left alone by undo");
    assert!(undone["kept"].to_string().contains(path), "{undone}");
    repo.redo();
    assert_eq!((repo.read("f").as_str(), repo.read("made since").as_str()), ("1\n", "n\n"));
    assert_eq!((repo.read(path).as_str(), repo.mtime(path)), (content, time), "it was not left alone by redo");
}

#[test]
fn of_a_captured_file() {
    let repo = restored(|repo| {
        repo.write(".gitignore", "*.log\n");
        repo.write("x.log", "mine\n");
    });
    repo.remove(".gitignore");

    assert_left_alone(&repo, "x.log", "mine\n");
}

#[test]
fn of_a_file_that_ignores_itself() {
    let repo = restored(|repo| {
        repo.write("env/.gitignore", "*\n");
        repo.write("env/deep/x", "mine\n");
    });
    repo.remove("env/.gitignore");

    assert_left_alone(&repo, "env/deep/x", "mine\n");
}

#[test]
fn of_the_exclude_file() {
    let exclude = |repo: &TestRepo, content| std::fs::write(repo.git_dir().join("info/exclude"), content).unwrap();
    let repo = restored(|repo| {
        exclude(repo, "*.log\n!keep.log\n");
        repo.write("d/x.log", "mine\n");
        repo.write("keep.log", "captured\n");
    });
    exclude(&repo, "");
    repo.write("keep.log", "edited\n");

    assert_left_alone(&repo, "d/x.log", "mine\n");
}

#[test]
fn of_the_users_own_file() {
    let repo = restored(|repo| {
        let rules = repo.env().home().join("my rules");
        std::fs::write(&rules, "*.log\n").unwrap();
        repo.env().global_config("core.excludesFile", rules.to_str().unwrap());
        repo.write("x.log", "mine\n");
    });
    repo.env().global_config("core.excludesFile", "/dev/null");

    assert_left_alone(&repo, "x.log", "mine\n");
}

#[test]
fn what_the_restore_made_goes_although_it_was_ignored() {
    let repo = TestRepo::new();
    repo.write("x.log", "captured\n");
    repo.save("A");
    repo.remove("x.log");
    std::fs::write(repo.git_dir().join("info/exclude"), "*.log\n").unwrap();
    repo.write("y.log", "mine\n");
    repo.restore("A");
    assert_eq!(repo.read("x.log"), "captured\n");
    std::fs::write(repo.git_dir().join("info/exclude"), "").unwrap();

    repo.undo();

    assert_eq!((repo.exists("x.log"), repo.read("y.log").as_str()), (false, "mine\n"));
}
