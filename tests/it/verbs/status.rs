//! `git checkpoint status`.

use serde_json::{Value, json};

use crate::support::TestRepo;

fn document(repo: &TestRepo) -> Value {
    repo.checkpoint(["status", "--json"]).success().json()
}

fn codes(document: &Value) -> Vec<&str> {
    document["blockers"].as_array().unwrap().iter().map(|blocker| blocker["code"].as_str().unwrap()).collect()
}

#[track_caller]
fn shows(repo: &TestRepo, text: &str) {
    let shown = repo.checkpoint(["status"]).success().text();
    assert!(shown.contains(text), "{shown}");
}

#[test]
fn it_names_the_newest_checkpoint_and_what_changed_since() {
    let repo = TestRepo::new();
    assert_eq!(document(&repo)["newest"], Value::Null);
    repo.write("a", "1\n");
    repo.save("good");

    let same = document(&repo);
    assert_eq!((&same["newest"]["number"], &same["newest"]["names"]), (&json!(1), &json!(["good"])));
    assert_eq!(same["since"], Value::Null);

    repo.write("a", "2\n3\n");
    repo.git(["add", "a"]);
    assert_eq!(document(&repo)["since"], json!({"files": 1, "insertions": 2, "deletions": 1, "index": true, "head": false}));
    shows(&repo, "1 file changed +2 -1, something else is staged");
}

#[test]
fn it_tells_what_would_stop_a_restore_and_how_to_go_on() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("good");
    assert_eq!(codes(&document(&repo)), [] as [&str; 0]);

    repo.git(["bisect", "start"]);
    repo.write(".git/index.lock", "");
    repo.config("checkpoint.restore.mainWorktree", "refuse");

    assert_eq!(codes(&document(&repo)), ["main-worktree", "index-locked", "operation-in-progress"]);
    shows(&repo, "git bisect reset");
}

#[test]
fn an_interrupted_restore_is_among_them() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("good");
    repo.write("a", "2\n");
    repo.write("b", "2\n");
    repo.interrupt("good", |repo| !repo.exists("b"));

    assert_eq!(codes(&document(&repo)), ["restore-interrupted"]);
    repo.checkpoint(["restore", "--abort"]).success();
    assert_eq!(codes(&document(&repo)), [] as [&str; 0]);
}

#[test]
fn it_tells_of_the_way_back_and_forward() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("good");
    repo.write("a", "2\n");
    repo.restore("good");

    let restored = document(&repo);
    assert_eq!((&restored["undo"]["target"]["number"], &restored["redo"]), (&json!(1), &Value::Null));
    repo.undo();
    let undone = document(&repo);
    assert_eq!((&undone["undo"], &undone["redo"]["target"]["number"]), (&Value::Null, &json!(1)));
}

#[test]
fn a_command_at_work_in_the_worktree_is_named() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("good");
    let said = repo.path("../status");
    let script = format!("git checkpoint status --json >'{}'", said.display());

    repo.checkpoint(["run", "--step", "build", "--", "sh", "-c", &script]).success();

    let during: Value = serde_json::from_slice(&std::fs::read(said).unwrap()).unwrap();
    assert_eq!((&during["session"]["state"], &during["session"]["step"]), (&json!("running"), &json!("build")));
    assert!(codes(&during).contains(&"session-active"), "{during}");
    assert_eq!(document(&repo)["session"]["pid"], Value::Null);
}

#[test]
fn the_last_failure_that_a_hook_went_on_in_spite_of_is_shown() {
    let repo = TestRepo::new();
    assert_eq!(document(&repo)["last_failure"], Value::Null);
    repo.write(".gitattributes", "* filter=broken\n");
    repo.config("filter.broken.clean", "false");
    repo.config("filter.broken.required", "true");
    repo.write("a", "1\n");

    repo.checkpoint(["save", "--best-effort"]).success();

    let failure = document(&repo)["last_failure"].clone();
    assert!(failure["message"].as_str().unwrap().starts_with("save: "), "{failure}");
    assert!(failure["at"].as_str().unwrap().ends_with('Z'), "{failure}");
}

#[test]
fn looking_changes_nothing() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.save("good");
    repo.write("a", "2\n");
    let before = (repo.bytes(".git/index"), repo.mtime("a"), repo.checkpoint_refs(), repo.status());

    repo.checkpoint(["status"]).success();

    assert_eq!((repo.bytes(".git/index"), repo.mtime("a"), repo.checkpoint_refs(), repo.status()), before);
}

#[test]
fn without_a_worktree_there_is_no_status() {
    let repo = TestRepo::new();
    repo.config("core.bare", "true");

    repo.checkpoint(["status"]).fails().says("worktree");
}
