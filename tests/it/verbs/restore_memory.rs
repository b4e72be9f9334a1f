//! An agent's memory that goes back with the files.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::conversation::prompts;
use crate::support::{Conversation, TestRepo};

/// Three turns that write a file each; then the conversation is closed.
fn three_turns(repo: &TestRepo) {
    Conversation::three_turns(repo);
    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 2", "turn 3"]);
}

fn conversation_files(repo: &TestRepo) -> Vec<PathBuf> {
    let folder = repo.env().home().join(".claude/projects/-code-demo");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn files(repo: &TestRepo) -> Vec<&'static str> {
    ["alpha", "beta", "gamma"].into_iter().filter(|name| repo.exists(name)).collect()
}

fn restore(repo: &TestRepo, selector: &str, what: &str) -> Value {
    repo.checkpoint(["restore", "--json", "-y", selector, "--what", what]).success().json()
}

#[test]
fn files_and_memory_go_back_together_and_come_forward_again() {
    let repo = TestRepo::new();
    three_turns(&repo);
    let source = Conversation::new(&repo).transcript();
    let before = std::fs::read(&source).unwrap();

    let restored = restore(&repo, "turn:1", "both");

    assert_eq!((&restored["status"], files(&repo)), (&json!("restored"), vec!["alpha"]));
    let memory = &restored["memory"];
    assert_eq!((&memory["status"], &memory["agent"], &memory["error"]), (&json!("forked"), &json!("claude"), &Value::Null));
    assert_eq!(memory["from"]["conversation"], Conversation::ID);
    let fork = memory["to"]["conversation"].as_str().unwrap().to_owned();
    assert_eq!(memory["to"]["resume"], json!(["claude", "--resume", fork, "--permission-mode", "acceptEdits"]));
    assert_eq!(prompts(&memory["to"]), ["add alpha"]);
    assert_eq!(std::fs::read(&source).unwrap(), before);
    assert_eq!(conversation_files(&repo).len(), 2);

    let undone = repo.checkpoint(["undo", "--json", "-y"]).success().json();
    assert_eq!(files(&repo), ["alpha", "beta", "gamma"]);
    assert_eq!(
        (&undone["memory"]["status"], &undone["memory"]["to"]["conversation"]),
        (&json!("named"), &json!(Conversation::ID))
    );
    assert_eq!(prompts(&undone["memory"]["to"]), ["add alpha", "add beta", "add gamma"]);

    let redone = repo.checkpoint(["redo", "--json", "-y"]).success().json();
    assert_eq!(files(&repo), ["alpha"]);
    assert_eq!(redone["memory"]["to"]["conversation"], fork.as_str());
    assert_eq!(std::fs::read(&source).unwrap(), before);
    assert_eq!(conversation_files(&repo).len(), 2);
}

#[test]
fn a_person_is_told_how_to_go_on() {
    let repo = TestRepo::new();
    three_turns(&repo);

    let restored = repo.checkpoint(["restore", "-y", "turn:2", "--what=both"]).success();
    let undone = repo.checkpoint(["undo", "-y"]).success();

    assert!(restored.talk().contains("to go on with it: claude --resume "), "{restored}");
    assert!(undone.talk().contains(&format!("to go on with it: claude --resume {}", Conversation::ID)), "{undone}");
}

#[test]
fn each_side_of_a_turn_has_its_memory() {
    let repo = TestRepo::new();
    three_turns(&repo);
    let side =
        |side: &str| repo.checkpoint(["restore", "--json", "-y", "turn:2", "--what=both", "--turn", side]).success().json();

    assert_eq!(prompts(&side("before")["memory"]["to"]), ["add alpha"]);
    assert_eq!(files(&repo), ["alpha"]);
    assert_eq!(prompts(&side("after")["memory"]["to"]), ["add alpha", "add beta"]);
    assert_eq!(files(&repo), ["alpha", "beta"]);
    let first = restore(&repo, "1", "both");
    assert_eq!((&first["memory"]["status"], &first["memory"]["to"]["conversation"]), (&json!("empty"), &Value::Null));
    assert_eq!(first["memory"]["to"]["resume"], json!(["claude"]));
    assert_eq!(files(&repo), [""; 0]);
}

#[test]
fn memory_alone_leaves_every_file_alone_and_so_does_its_undo() {
    let repo = TestRepo::new();
    three_turns(&repo);
    repo.write("gamma", "edited\n");

    let restored = restore(&repo, "turn:1", "memory");
    repo.write("beta", "edited too\n");
    let undone = repo.checkpoint(["undo", "--json", "-y"]).success().json();

    assert_eq!(prompts(&restored["memory"]["to"]), ["add alpha"]);
    assert_eq!(
        (&restored["status"], &restored["pre_restore"], &restored["code"]["written"]),
        (&json!("restored"), &Value::Null, &json!(0))
    );
    assert_eq!(undone["memory"]["to"]["conversation"], Conversation::ID);
    assert_eq!((repo.read("beta"), repo.read("gamma")), ("edited too\n".to_owned(), "edited\n".to_owned()));
    let redone = repo.checkpoint(["redo", "--json", "-y"]).success().json();
    assert_eq!(redone["memory"]["to"]["conversation"], restored["memory"]["to"]["conversation"]);
    assert_eq!(repo.read("beta"), "edited too\n");
}

#[test]
fn twice_in_a_row_undo_names_one_after_the_other() {
    let repo = TestRepo::new();
    three_turns(&repo);

    let first = restore(&repo, "turn:2", "both");
    let second = restore(&repo, "turn:1", "both");
    let back = repo.checkpoint(["undo", "--json", "-y"]).success().json();
    let further = repo.checkpoint(["undo", "--json", "-y"]).success().json();

    assert_eq!(second["memory"]["from"], first["memory"]["to"]);
    assert_eq!(back["memory"]["to"], first["memory"]["to"]);
    assert_eq!(further["memory"]["to"]["conversation"], Conversation::ID);
    assert_eq!(files(&repo), ["alpha", "beta", "gamma"]);
}

#[test]
fn files_alone_leave_the_memory_alone_and_so_does_a_look() {
    let repo = TestRepo::new();
    three_turns(&repo);

    let code = restore(&repo, "turn:1", "code");
    let look = repo.checkpoint(["restore", "--json", "-n", "turn:1", "--what=both"]).success().json();

    assert_eq!(code["memory"], Value::Null);
    assert_eq!(look["memory"]["status"], "planned");
    assert_eq!(conversation_files(&repo).len(), 1);
    let configured =
        repo.git(["-c", "checkpoint.restore.what=both", "checkpoint", "restore", "--json", "-n", "turn:2"]).success().json();
    assert_eq!(configured["memory"]["status"], "planned");

    // A checkpoint of no agent has no memory to bring back, and nobody asked for it by word.
    let plain = TestRepo::new();
    plain.save("plain");
    plain.write("f", "2\n");
    plain.config("checkpoint.restore.what", "both");
    let restored = plain.checkpoint(["restore", "--json", "-y", "plain"]).success().json();
    assert_eq!((&restored["status"], &restored["memory"]), (&json!("restored"), &Value::Null));
    plain.write("f", "2\n");
    let insisted = plain.checkpoint(["restore", "--json", "-y", "plain", "--what=both"]).exits(6).json();
    assert_eq!(insisted["memory"]["error"]["code"], "boundary-missing");
}

#[test]
fn where_the_memory_cannot_come_back_the_files_do_and_that_is_no_success() {
    let repo = TestRepo::new();
    three_turns(&repo);
    std::fs::remove_file(Conversation::new(&repo).transcript()).unwrap();
    repo.git(["update-ref", "-d", &format!("refs/checkpoint-memory/{}", Conversation::KEY)]);

    let partial = repo.checkpoint(["restore", "--json", "-y", "turn:1", "--what=both"]).exits(6).json();

    assert_eq!((&partial["status"], files(&repo)), (&json!("partial"), vec!["alpha"]));
    assert_eq!(
        (&partial["memory"]["status"], &partial["memory"]["error"]["code"]),
        (&json!("failed"), &json!("transcript-gone"))
    );
    repo.undo();
    assert_eq!(files(&repo), ["alpha", "beta", "gamma"]);

    let refused = repo.checkpoint(["restore", "--json", "-y", "turn:1", "--what=memory"]).exits(3).json();
    assert_eq!((&refused["status"], &refused["memory"]["error"]["code"]), (&json!("refused"), &json!("transcript-gone")));
    let plain = repo.checkpoint(["save", "--json", "--name=plain", "--allow-empty"]).success().json();
    assert_eq!(plain["status"], "captured");
}

#[test]
fn a_refused_restore_leaves_no_new_conversation() {
    let repo = TestRepo::new();
    three_turns(&repo);
    let before = conversation_files(&repo);
    std::fs::write(repo.git_dir().join("MERGE_HEAD"), format!("{}\n", repo.git(["rev-parse", "HEAD"]).text())).unwrap();

    let refused = repo.checkpoint(["restore", "--json", "-y", "turn:1", "--what=both"]).exits(3).json();

    assert_eq!(refused["blockers"][0]["code"], "operation-in-progress");
    assert_eq!((conversation_files(&repo), files(&repo)), (before, vec!["alpha", "beta", "gamma"]));
}

#[test]
fn killed_or_with_a_full_disk_at_any_point_nothing_is_lost_and_the_memory_follows_the_files() {
    for fault in ["kill", "full"] {
        for point in 1.. {
            let repo = TestRepo::new();
            three_turns(&repo);
            let source = Conversation::new(&repo).transcript();
            let before = std::fs::read(&source).unwrap();
            let output = repo.with_fault(&format!("{fault}:{point}"), &["restore", "-q", "-y", "turn:1", "--what=both"]);
            assert_eq!(std::fs::read(&source).unwrap(), before, "{fault} {point}");

            repo.checkpoint(["restore", "-q", "--continue"]).success();
            let is_done = files(&repo) == ["alpha"];
            assert!(is_done || files(&repo) == ["alpha", "beta", "gamma"], "{fault} {point}");
            if is_done {
                let undone = repo.checkpoint(["undo", "--json", "-y"]).success().json();
                assert_eq!(undone["memory"]["to"]["conversation"], Conversation::ID, "{fault} {point}");
                assert_eq!(conversation_files(&repo).len(), 2, "{fault} {point}");
                let redone = repo.checkpoint(["redo", "--json", "-y"]).success().json();
                assert_eq!(prompts(&redone["memory"]["to"]), ["add alpha"], "{fault} {point}");
            }
            assert!(conversation_files(&repo).len() <= 2, "{fault} {point}");
            if output.code() == Some(0) {
                assert!(is_done && point > 5);
                break;
            }
        }
    }
}
