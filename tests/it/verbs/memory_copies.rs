//! Copies of conversations that are kept with the repository: what they hold, and that the memory comes back from them.

use serde_json::json;

use crate::support::conversation::prompts;
use crate::support::{Conversation, TestRepo};

const REF: &str = "refs/checkpoint-memory/claude-1f6d0000-0000-4000-8000-000000000001";

#[test]
fn each_turn_adds_what_is_new_and_the_pieces_are_the_conversation() {
    let repo = TestRepo::new();
    let agent = Conversation::three_turns(&repo);

    let commits = repo.git(["rev-list", "--reverse", REF]).text();
    let pieces: Vec<String> = commits.lines().map(|id| repo.git(["show", &format!("{id}:tail")]).text()).collect();

    assert_eq!(pieces.len(), 3);
    assert!(pieces[1].contains("add beta") && !pieces[1].contains("add alpha"), "{}", pieces[1]);
    let whole = pieces.iter().map(|piece| format!("{piece}\n")).collect::<String>();
    assert_eq!(whole, std::fs::read_to_string(agent.transcript()).unwrap());
    // Nothing of it is among the checkpoints, which may go where a conversation must not.
    let sent = repo.git(["rev-list", "--objects", "--glob=refs/checkpoints", "--no-object-names"]).text();
    let tail = repo.git(["rev-parse", &format!("{REF}:tail")]).text();
    assert!(!sent.contains(&tail));
    repo.assert_sound();
}

#[test]
fn the_memory_comes_back_when_the_agent_has_cleared_its_file_away() {
    let repo = TestRepo::new();
    let agent = Conversation::three_turns(&repo);
    std::fs::remove_file(agent.transcript()).unwrap();
    repo.git(["gc", "--quiet", "--prune=now"]);

    let restored = repo.checkpoint(["restore", "--json", "-y", "turn:2", "--what=both"]).success().json();
    let memory = &restored["memory"];

    assert_eq!((&restored["status"], &memory["status"]), (&json!("restored"), &json!("forked")));
    assert_eq!(memory["copy"], json!({"redacted": 0, "left_out": 0}));
    assert_eq!(prompts(&memory["to"]), ["add alpha", "add beta"]);
    assert!(repo.exists("beta") && !repo.exists("gamma"));
    let before = repo.checkpoint(["restore", "--json", "-y", "turn:2", "--what=memory", "--turn=before"]).success().json();
    assert_eq!(prompts(&before["memory"]["to"]), ["add alpha"]);
    let told = repo.checkpoint(["restore", "-y", "turn:3", "--what=memory"]).success();
    assert!(told.talk().contains("it comes from the copy that is kept with the checkpoint\n"), "{told}");
    let left = std::fs::read_dir(repo.git_dir().join("checkpoint")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("conversation-")));
}

#[test]
fn the_memory_comes_back_when_the_file_was_written_anew_and_the_copies_go_on_from_that() {
    let repo = TestRepo::new();
    let agent = Conversation::three_turns(&repo);
    std::fs::remove_file(agent.transcript()).unwrap();
    agent.start();
    agent.turn("p-4", "add delta", "delta");
    agent.end();

    let restored = |turn: &str| repo.checkpoint(["restore", "--json", "-y", turn, "--what=memory"]).success().json();
    let (third, fourth) = (restored("turn:3"), restored("turn:4"));

    assert_eq!(prompts(&third["memory"]["to"]), ["add alpha", "add beta", "add gamma"]);
    assert_eq!(third["memory"]["copy"], json!({"redacted": 0, "left_out": 0}));
    assert_eq!((prompts(&fourth["memory"]["to"]), &fourth["memory"]["copy"]), (vec!["add delta".to_owned()], &json!(null)));
    std::fs::remove_file(agent.transcript()).unwrap();
    assert_eq!(prompts(&restored("turn:4")["memory"]["to"]), ["add delta"]);
    repo.assert_sound();
}

#[test]
fn nothing_is_kept_where_that_is_not_wanted_and_nothing_but_a_conversation() {
    let repo = TestRepo::new();
    repo.config("checkpoint.memory", "false");
    Conversation::three_turns(&repo);
    assert_eq!(repo.git(["for-each-ref", "refs/checkpoint-memory"]).text(), "");

    let repo = TestRepo::new();
    let secret = repo.env().home().join(".codex/auth.json");
    std::fs::create_dir_all(secret.parent().unwrap()).unwrap();
    std::fs::write(&secret, "{\"token\":\"x\"}\n").unwrap();
    for event in ["UserPromptSubmit", "Stop"] {
        let payload = json!({"session_id": Conversation::ID, "transcript_path": secret, "cwd": repo.top(), "prompt": "x"});
        repo.hook("claude", event, &payload);
    }
    assert_eq!(repo.story(), ["baseline", "turn 1"]);
    assert_eq!(repo.git(["for-each-ref", "refs/checkpoint-memory"]).text(), "");
}

#[test]
fn copies_go_with_the_last_checkpoint_of_their_session() {
    let repo = TestRepo::new();
    Conversation::three_turns(&repo);
    let copies = || repo.git(["for-each-ref", "refs/checkpoint-memory"]).text();

    repo.checkpoint(["drop", "-y", "turn:3"]).success();
    assert!(copies().contains(REF));
    repo.checkpoint(["session", "delete", "-y", Conversation::KEY]).success();
    assert_eq!(copies(), "");
    repo.assert_sound();
}

#[test]
fn the_place_of_a_turn_is_final_when_something_else_has_happened_since() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.turn("p-1", "add alpha", "alpha");
    agent.turn("p-2", "add beta", "beta");
    let state = |turn: &str| repo.shown(turn)["memory"]["state"].clone();
    assert_eq!((state("turn:1"), state("turn:2")), (json!("final"), json!("provisional")));

    agent.write_transcript("{\"type\":\"system\"}\n");
    agent.end();

    let second = repo.shown("turn:2")["memory"].clone();
    assert_eq!(
        (&second["state"], &second["offset"]),
        (&json!("final"), &json!(std::fs::metadata(agent.transcript()).unwrap().len()))
    );
    let restored = repo.checkpoint(["restore", "--json", "-y", "turn:2", "--what=memory"]).success().json();
    assert_eq!((prompts(&restored["memory"]["to"]).len(), &restored["memory"]["copy"]), (2, &json!(null)));
}

#[test]
fn a_copy_without_a_session_and_one_that_cannot_be_read_are_found() {
    let repo = TestRepo::new();
    Conversation::three_turns(&repo);
    repo.checkpoint(["doctor"]).success();
    repo.run(["update-ref", "refs/checkpoint-memory/claude-stray", REF]);

    assert!(repo.checkpoint(["doctor"]).exits(1).text().contains("(memory-unneeded)"));
    repo.checkpoint(["doctor", "--fix"]).success();
    assert_eq!(repo.git(["for-each-ref", "--format=%(refname)", "refs/checkpoint-memory"]).text(), REF);

    repo.run(["update-ref", REF, "HEAD"]);
    assert!(repo.checkpoint(["doctor"]).exits(1).text().contains("(memory-broken)"));
}
