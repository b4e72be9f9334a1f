//! What follows from the events that a coding agent tells of.

use serde_json::{Value, json};

use crate::support::{Conversation, RepoState, TestRepo, feed, quiet};

/// The paths that differ between two checkpoints.
fn changed(repo: &TestRepo, from: &str, to: &str) -> Vec<String> {
    let output = repo.checkpoint(["diff", "--name-only", from, to]).success();
    output.text().lines().map(str::to_owned).collect()
}

#[test]
fn a_turn_holds_what_the_agent_did_and_nothing_else() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    repo.write("mine", "1\n");

    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    agent.stop("p-1");
    repo.write("mine", "2\n");
    agent.prompt("p-2", "add beta");
    repo.write("beta", "two\n");
    agent.stop("p-2");
    agent.prompt("p-3", "look");
    agent.stop("p-3");
    agent.end();

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn-start 2", "turn 2", "turn 3"]);
    assert_eq!(changed(&repo, "1", "2"), ["alpha"]);
    assert_eq!(changed(&repo, "2", "3"), ["mine"]);
    assert_eq!(changed(&repo, "3", "4"), ["beta"]);
    assert_eq!(changed(&repo, "4", "5"), [""; 0]);
    for number in 1..=5 {
        let checkpoint = repo.shown(&number.to_string());
        assert_eq!((&checkpoint["session"], &checkpoint["agent"]), (&json!(Conversation::KEY), &json!("claude")));
    }
    assert_eq!(repo.failures(), "");
}

#[test]
fn the_place_in_the_conversation_is_recorded_and_comes_back_from_the_refs() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.tell("SessionStart", &json!({"source": "startup", "model": "claude-x"}));
    agent.prompt("p-1", "add\n\talpha \u{1b}[31m");
    agent.write_transcript("{\"a\":1}\n{\"half");
    repo.write("alpha", "one\n");
    agent.stop("p-1");

    let before = repo.shown("1");
    let turn = repo.shown("turn:1");
    let transcript = agent.transcript();
    assert_eq!(before["memory"]["state"], "missing", "there is no transcript before the first answer: {before}");
    assert_eq!((&before["memory"]["turn_id"], &before["memory"]["end"]), (&json!("p-1"), &Value::Null));
    let by_tool = feed(&mut repo.command("sha256sum"), b"{\"a\":1}\n").text();
    let expected = json!({
        "state": "provisional",
        "conversation": Conversation::ID,
        "turn_id": "p-1",
        "end": "done",
        "prompt": "add alpha [31m",
        "agent_version": null,
        "model": "claude-x",
        "provider": null,
        "permission_mode": "acceptEdits",
        "approval_policy": null,
        "sandbox": null,
        "cwd": {"path": repo.top()},
        "transcript": {"path": transcript},
        "offset": 8,
        "prefix_sha256": by_tool.split(' ').next().unwrap(),
    });
    assert_eq!(turn["memory"], expected);
    assert_eq!(turn["completed_at"], turn["created_at"]);
    assert!(!repo.git(["cat-file", "-p", turn["commit"].as_str().unwrap()]).text().contains("half"));
    std::fs::remove_dir_all(repo.common_dir().join("checkpoint")).unwrap();
    assert_eq!(repo.shown(turn["id"].as_str().unwrap())["memory"], expected);
    let text = repo.checkpoint(["show", "--no-pager", turn["id"].as_str().unwrap()]).success().text();
    assert!(
        text.contains(&format!("Memory:    {}, turn p-1 (provisional)\nPrompt:    add alpha [31m\n", Conversation::ID)),
        "{text}"
    );
}

#[test]
fn no_place_is_recorded_where_that_is_not_wanted() {
    let repo = TestRepo::new();
    repo.config("checkpoint.memory", "false");
    let agent = Conversation::new(&repo);

    agent.start();
    for turn in ["p-1", "p-2"] {
        agent.prompt(turn, "a secret");
        repo.append("f", "x\n");
        agent.stop(turn);
        agent.stop(turn);
    }

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 2"]);
    assert_eq!(repo.shown("turn:2")["memory"], Value::Null);
    let database = std::fs::read(repo.common_dir().join("checkpoint/checkpoints.db-wal")).unwrap();
    assert!(!String::from_utf8_lossy(&database).contains("a secret"));
}

#[test]
fn a_hook_that_is_installed_twice_records_one_turn() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.start();
    agent.prompt("p-1", "add alpha");
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    let twice = |event: &str, more: Value| {
        let both: Vec<_> = (0..2)
            .map(|_| {
                let mut command = repo.command("git");
                command.args(["checkpoint", "hook", "claude", event]).env("CLAUDE_PID", agent.pid());
                let payload = agent.payload(event, &more).to_string();
                std::thread::spawn(move || feed(&mut command, payload.as_bytes()))
            })
            .collect();
        both.into_iter().for_each(|thread| quiet(thread.join().unwrap()));
    };

    twice("Stop", json!({"prompt_id": "p-1"}));
    repo.write("mine", "1\n");
    twice("UserPromptSubmit", json!({"prompt_id": "p-2", "prompt": "more"}));
    twice("Stop", json!({"prompt_id": "p-2"}));

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn-start 2", "turn 2"]);
    assert_eq!(repo.failures(), "");
}

#[test]
fn a_turn_that_ended_without_a_word_is_closed_by_what_comes_next() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    agent.prompt("p-2", "no, beta");
    repo.write("beta", "two\n");
    agent.tell("SessionStart", &json!({"source": "compact"}));
    assert_eq!(repo.story(), ["baseline", "turn 1"], "a conversation made shorter goes on");
    agent.end();
    agent.tell("SessionStart", &json!({"source": "resume"}));
    agent.prompt("p-3", "gamma");
    repo.write("gamma", "three\n");
    agent.tell("SessionStart", &json!({"source": "resume"}));

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 2", "turn 3"]);
    let end = |turn: u32| repo.shown(&format!("turn:{turn}"))["memory"]["end"].clone();
    assert_eq!([end(1), end(2), end(3)], ["inferred", "session-end", "inferred"]);
    let turn = repo.shown("turn:1");
    assert_eq!((&turn["memory"]["turn_id"], &turn["memory"]["prompt"]), (&json!("p-1"), &json!("add alpha")));
    assert_eq!(repo.session(Conversation::KEY)["state"], "pending");
}

#[test]
fn an_event_that_comes_late_or_too_early_belongs_to_the_turn_it_names() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    agent.prompt("p-2", "add beta");
    repo.write("beta", "two\n");

    agent.stop("p-1");
    assert_eq!(repo.session(Conversation::KEY)["turn"], 2, "the turn that runs goes on");
    assert_eq!(repo.story(), ["baseline", "turn 1"]);
    agent.stop("p-2");
    repo.write("gamma", "three\n");
    agent.stop("p-3");
    agent.prompt("p-3", "add gamma");
    agent.prompt("p-1", "add alpha");

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 2", "turn 3"]);
    let ids = [1, 2, 3].map(|turn| repo.shown(&format!("turn:{turn}"))["memory"]["turn_id"].clone());
    assert_eq!(ids, ["p-1", "p-2", "p-3"]);
    assert_eq!(repo.session(Conversation::KEY)["state"], "pending");
}

#[test]
fn a_turn_that_went_on_after_its_end_is_recorded_again() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    agent.stop("p-1");
    let again = json!({"prompt_id": "p-1", "stop_hook_active": true});
    agent.tell("Stop", &again);
    repo.write("alpha", "one, formatted\n");
    agent.tell("Stop", &again);
    agent.tell("Stop", &again);

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 1"]);
    assert_eq!(changed(&repo, "2", "3"), ["alpha"]);
}

#[test]
fn what_an_agent_within_the_agent_does_is_no_turn() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "delegate");
    let within = json!({"prompt_id": "p-9", "agent_id": "a6fc", "agent_type": "general-purpose"});
    for event in ["SubagentStart", "UserPromptSubmit", "SubagentStop", "Stop", "SessionEnd"] {
        agent.tell(event, &within);
    }

    assert_eq!(repo.story(), ["baseline"]);
    assert_eq!(repo.session(Conversation::KEY)["state"], "running");
    assert_eq!(repo.failures(), "");
}

#[test]
fn a_restore_is_refused_while_a_turn_runs_and_the_agent_lives() {
    let repo = TestRepo::new();
    repo.save("A");
    let agent = Conversation::new(&repo);
    agent.start();
    repo.write("f", "2\n");
    assert_eq!(repo.checkpoint(["restore", "-n", "A"]).code(), Some(0), "an agent that waits is not at work");
    agent.prompt("p-1", "edit");
    repo.write("f", "3\n");

    let document = repo.checkpoint(["restore", "-y", "--json", "A"]).exits(3).json();
    assert_eq!(document["blockers"][0]["code"], "session-active");
    let message = document["blockers"][0]["message"].as_str().unwrap();
    let begins =
        format!("session `{}` (turn 1) is running in this worktree: claude, process {}, since ", Conversation::KEY, agent.pid());
    assert!(message.starts_with(&begins), "{message}");
    assert_eq!(repo.read("f"), "3\n");
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    linked.write("f", "9\n");
    linked.restore("L");

    drop(agent);
    repo.restore("A");
    assert_eq!(repo.read("f"), "1\n");
    let agent = Conversation::new(&repo);
    agent.prompt("p-2", "again");
    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["session-active"]);
    agent.stop("p-2");
    repo.write("f", "4\n");
    repo.restore("A");
}

#[test]
fn without_a_number_of_the_agent_the_process_above_is_the_agent() {
    let repo = TestRepo::new();
    repo.save("A");
    let payload = json!({"session_id": "T", "turn_id": "t1", "cwd": repo.top(), "prompt": "add"});

    repo.hook("codex", "UserPromptSubmit", &payload);

    let session = repo.session("codex-t_e632b7095b0bf32c260f");
    assert_eq!((&session["pid"], &session["agent"]), (&json!(std::process::id()), &json!("codex")));
    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["session-active", "running-inside-agent"]);
    repo.hook("codex", "Interrupt", &payload);
    assert_eq!(repo.shown("turn:1")["memory"]["end"], "interrupted");
}

#[test]
fn the_directory_of_the_agent_decides_whatever_the_environment_says() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    repo.run(["init", "-q", "nested"]);
    let nested = repo.at("repo/nested");
    nested.commit("nested");
    let other = TestRepo::new();
    for (at, place) in [(&linked, "linked"), (&nested, "nested")] {
        at.mkdir("deep");
        let payload = json!({"session_id": place, "turn_id": "t1", "cwd": at.path("deep"), "prompt": "add"}).to_string();
        let mut command = other.command("git");
        command.args(["checkpoint", "hook", "codex", "UserPromptSubmit"]);
        command.env("GIT_DIR", other.git_dir()).env("GIT_WORK_TREE", other.top());
        quiet(feed(&mut command, payload.as_bytes()));
    }

    assert_eq!(repo.story(), [""; 0]);
    assert_eq!(linked.story(), ["baseline"]);
    assert_eq!(nested.story(), ["baseline"]);
    assert_eq!(other.checkpoint_refs(), [""; 0]);
}

#[test]
fn an_agent_without_ids_for_its_turns_has_turns_too() {
    let repo = TestRepo::new();
    let tell = |event: &str, prompt: &str| {
        repo.hook("gemini", event, &json!({"session_id": "G", "cwd": repo.top(), "prompt": prompt}));
    };
    tell("SessionStart", "");
    for (prompt, file) in [("add alpha", "alpha"), ("add beta", "beta")] {
        tell("BeforeAgent", prompt);
        tell("BeforeAgent", prompt);
        repo.write(file, "x\n");
        tell("AfterAgent", prompt);
        tell("AfterAgent", prompt);
    }
    tell("SessionEnd", "");

    assert_eq!(repo.story(), ["baseline", "turn 1", "turn 2"]);
    let memory = repo.shown("turn:2")["memory"].clone();
    assert_eq!((&memory["prompt"], &memory["turn_id"], &memory["state"]), (&json!("add beta"), &Value::Null, &json!("missing")));
}

#[test]
fn a_save_meanwhile_belongs_to_the_session_and_one_afterwards_does_not() {
    let repo = TestRepo::new();
    repo.save("A");
    let agent = Conversation::new(&repo);
    agent.start();
    repo.save("B");
    agent.end();
    repo.save("C");

    assert_eq!(repo.field("B", "session"), Conversation::KEY);
    assert_eq!(repo.field("C", "session"), repo.field("A", "session"));
    let session = repo.session(Conversation::KEY);
    assert_eq!((&session["state"], &session["agent"]), (&json!("ended"), &json!("claude")));
}

#[test]
fn capture_touches_nothing() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.run(["add", "f"]);
    repo.write("new", "1\n");
    let agent = Conversation::new(&repo);
    let before = RepoState::of(&repo);

    agent.start();
    agent.prompt("p-1", "look");
    agent.stop("p-1");
    agent.end();

    before.assert_same(&RepoState::of(&repo));
}

/// Writes what Claude Code says of its process `pid` into its own registry.
fn registered(repo: &TestRepo, pid: &str, conversation: &str, status: &str) {
    let folder = repo.env().home().join(".claude/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().to_owned();
    let pid: u32 = pid.parse().unwrap();
    let entry = json!({"pid": pid, "sessionId": conversation, "cwd": repo.top(), "procStart": start, "status": status});
    std::fs::write(folder.join(format!("{pid}.json")), entry.to_string()).unwrap();
}

#[test]
fn an_agent_that_was_stopped_without_a_word_is_not_at_work_when_it_says_so_itself() {
    let repo = TestRepo::new();
    repo.save("A");
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "edit");
    repo.write("f", "2\n");

    registered(&repo, &agent.pid(), Conversation::ID, "busy");
    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["session-active"]);
    registered(&repo, &agent.pid(), Conversation::ID, "waiting");
    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["session-active"]);
    registered(&repo, &agent.pid(), Conversation::ID, "idle");

    repo.restore("A");
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn an_agent_at_work_without_hooks_is_found_by_what_it_says_itself() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    let agent = Conversation::new(&repo);

    registered(&repo, &agent.pid(), "9f6d", "busy");
    let document = repo.checkpoint(["restore", "-y", "--json", "A"]).exits(3).json();
    assert_eq!(document["blockers"][0]["code"], "session-active");
    let message = document["blockers"][0]["message"].as_str().unwrap();
    let begins = format!("session `claude-9f6d` is running in this worktree: claude, process {}, since ", agent.pid());
    assert!(message.starts_with(&begins), "{message}");
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    linked.write("f", "9\n");
    linked.restore("L");

    drop(agent);
    repo.restore("A");
    assert_eq!(repo.read("f"), "1\n");
}
