//! Sessions: started, ended, listed and shown.

use serde_json::json;

use crate::support::{Output, RepoState, Sleeper, TestRepo};

/// Kinds of the checkpoints of a session, oldest first.
fn kinds(repo: &TestRepo, session: &str) -> Vec<String> {
    let list = ["list", "--reverse", "--format=%(kind)", "--session", session];
    repo.checkpoint(list).success().text().lines().map(str::to_owned).collect()
}

#[test]
fn a_session_begins_with_the_state_before_it_and_owns_what_is_saved_until_it_ends() {
    let repo = TestRepo::new();
    repo.save("before");
    let own = repo.field("before", "session");

    let start = repo.checkpoint(["session", "start", "ci-1", "--agent", "claude"]).success();
    repo.write("f", "2\n");
    repo.checkpoint(["-q", "--step", "build"]).success();
    let end = repo.checkpoint(["session", "end"]).success();
    repo.write("f", "3\n");
    repo.save("after");

    assert_eq!(start.text(), "session ci-1: checkpoint 2 is the state before it");
    assert_eq!(end.text(), "ended session ci-1 with 2 checkpoints");
    assert_eq!(kinds(&repo, "ci-1"), ["baseline", "step"]);
    assert_eq!(repo.tree("2"), repo.tree("before"));
    assert_eq!((repo.field("3", "session"), repo.field("after", "session")), ("ci-1".to_owned(), own));
    let step = repo.checkpoint(["show", "--json", "step:build"]).success().json();
    assert_eq!(step["checkpoint"]["agent"], "claude");
}

#[test]
fn starting_touches_nothing_of_the_repository() {
    let repo = TestRepo::new();
    repo.write("n", "n\n");
    let before = RepoState::of(&repo);

    repo.checkpoint(["session", "start", "-q", "s"]).success();
    repo.checkpoint(["session", "end", "-q", "s"]).success();

    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_session_that_is_started_again_goes_on_without_another_baseline() {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q", "s", "--agent", "codex"]).success();
    repo.write("f", "2\n");
    let first = repo.session("s");

    let again = repo.checkpoint(["session", "start", "s"]).success();
    assert_eq!(again.text(), "session s");
    assert_eq!(repo.session("s"), first);
    repo.checkpoint(["session", "end", "-q"]).success();
    repo.checkpoint(["session", "start", "-q", "s"]).success();

    let last = repo.session("s");
    assert_eq!((&last["state"], &last["agent"], &last["ended_at"]), (&json!("pending"), &json!("codex"), &json!(null)));
    assert_ne!(last["started_at"], first["started_at"]);
    assert_eq!(kinds(&repo, "s"), ["baseline"]);
}

#[test]
fn a_session_is_pending_running_or_ended() {
    let repo = TestRepo::new();
    let state = |key: &str| repo.session(key)["state"].clone();
    repo.checkpoint(["session", "start", "-q", "open"]).success();
    let process = Sleeper::new();
    repo.session_of("bound", &process);

    assert_eq!((state("open"), state("bound")), (json!("pending"), json!("running")));
    assert_eq!(repo.session("bound")["pid"].to_string(), process.pid());
    drop(process);
    assert_eq!((state("open"), state("bound")), (json!("pending"), json!("ended")));
    assert_eq!(repo.session("bound")["pid"], json!(null));
    repo.checkpoint(["session", "end", "-q", "open"]).success();
    assert_eq!(state("open"), json!("ended"));
    repo.checkpoint(["save", "-q", "--allow-empty", "--session", "loose"]).success();
    assert_eq!(state("loose"), json!(null));
}

#[test]
fn a_session_whose_process_is_gone_owns_nothing_any_more() {
    let repo = TestRepo::new();
    repo.save("A");
    let process = Sleeper::new();
    repo.session_of("bound", &process);
    repo.write("f", "2\n");
    repo.save("B");
    drop(process);
    repo.write("f", "3\n");
    repo.save("C");

    assert_eq!(repo.field("B", "session"), "bound");
    assert_eq!(repo.field("C", "session"), repo.field("A", "session"));
}

#[test]
fn the_documents_have_the_keys_of_the_contract() {
    let repo = TestRepo::new();
    let process = Sleeper::new();
    let start = ["session", "start", "--json", "s", "--agent", "claude", "--pid", &process.pid()];
    let started = repo.checkpoint(start).success().json();

    let session = json!({
        "key": "s",
        "state": "running",
        "current": true,
        "agent": "claude",
        "worktree": {"id": "main", "path": repo.top().to_str().unwrap()},
        "origin": null,
        "pid": process.pid().parse::<u32>().unwrap(),
        "step": null,
        "turn": null,
        "active_since": started["session"]["started_at"],
        "started_at": started["session"]["started_at"],
        "ended_at": null,
        "checkpoint_count": 1,
        "baseline": 1,
        "newest": 1,
        "first_checkpoint_at": started["baseline"]["created_at"],
        "last_checkpoint_at": started["baseline"]["created_at"],
    });
    assert!(started["session"]["started_at"].as_str().unwrap().starts_with("2025-01-01T00:0"), "{started}");
    assert_eq!((&started["schema"], &started["status"]), (&json!(1), &json!("started")));
    assert_eq!(started["baseline"]["kind"], "baseline");
    assert_eq!(started["session"], session);
    assert_eq!(repo.checkpoint(["session", "list", "--json"]).success().json(), json!({"schema": 1, "sessions": [session]}));
    assert_eq!(repo.checkpoint(["session", "show", "--json"]).success().json(), json!({"schema": 1, "session": session}));
    let ended = repo.checkpoint(["session", "end", "--json"]).success().json();
    assert_eq!((&ended["status"], &ended["session"]["state"]), (&json!("ended"), &json!("ended")));
    let nothing = repo.checkpoint(["session", "end", "--json"]).success().json();
    assert_eq!(nothing, json!({"schema": 1, "status": "unchanged", "session": null}));
}

#[test]
fn the_list_has_a_line_for_each_session_with_the_owner_marked() {
    let repo = TestRepo::new();
    repo.checkpoint(["save", "-q", "--session", "loose"]).success();
    let process = Sleeper::new();
    repo.session_of("bound", &process);
    repo.write("f", "2\n");
    repo.checkpoint(["-q", "--step", "b"]).success();

    let list = repo.checkpoint(["session", "list"]).success();
    let running = format!("running (process {})", process.pid());
    let lines = [
        format!("* bound  {running}  2 checkpoints  1 second ago"),
        format!("  loose  {:w$}  1 checkpoint", "-", w = running.len()),
    ];

    let text = list.text();
    let found: Vec<&str> = text.lines().collect();
    assert_eq!(found.len(), 2, "{list}");
    assert_eq!(found[0], lines[0]);
    assert!(found[1].starts_with(&lines[1]), "{list}");
    let shown = repo.checkpoint(["session", "show"]).success().text();
    assert!(shown.starts_with("session bound (owns this worktree)\nState:       running: process "), "{shown}");
    assert!(shown.contains("\nCheckpoints: 2\nBaseline:    2\nNewest:      3, 2025-01-01T"), "{shown}");
}

#[test]
fn a_list_is_about_this_worktree_unless_all_are_asked_for() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    repo.checkpoint(["session", "start", "-q", "here"]).success();
    linked.checkpoint(["session", "start", "-q", "there"]).success();
    let keys = |options: &[&str]| {
        let document = repo.checkpoint(["session", "list", "--json"].iter().chain(options)).success().json();
        let sessions = document["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(keys(&[]), ["here"]);
    assert_eq!(keys(&["-a"]), ["there", "here"]);
    assert_eq!(linked.field("@", "session"), "there");
    let none = TestRepo::new().checkpoint(["session", "list"]).success();
    assert_eq!((none.text(), none.talk()), (String::new(), "no sessions\n".to_owned()));
}

#[test]
fn without_a_key_a_new_one_is_made_up() {
    let repo = TestRepo::new();
    let key = |options: &[&str]| {
        let document = repo.checkpoint(["session", "start", "--json"].iter().chain(options)).success().json();
        document["session"]["key"].as_str().unwrap().to_owned()
    };

    let (plain, agent, odd) = (key(&[]), key(&["--agent", "Claude Code"]), key(&["--agent", "报告"]));

    assert!(
        plain.starts_with("main-") && agent.starts_with("claude-code-") && odd.starts_with("session-"),
        "{plain} {agent} {odd}"
    );
    assert_ne!(key(&[]), plain);
}

#[test]
fn ending_what_is_not_open_is_no_failure_but_an_unknown_key_is() {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q", "s"]).success();
    repo.checkpoint(["session", "end", "-q", "s"]).success();

    repo.checkpoint(["session", "end", "s"]).success().says("session s was not open");
    repo.checkpoint(["session", "end"]).success().says("no session is open in this worktree");
    for action in [&["end"][..], &["show"], &["delete", "-y"]] {
        let error = repo.checkpoint([&["session", "--json"], action, &["t"]].concat()).exits(4).json();
        assert_eq!((&error["error"]["code"], &error["error"]["candidates"]), (&json!("unknown-session"), &json!(["s"])));
    }
}

#[test]
fn wrong_input_is_told_in_one_sentence_and_starts_nothing() {
    let repo = TestRepo::new();
    for options in [
        &["start", "Not/A key"][..],
        &["start", "--pid", "0"],
        &["start", "--pid", "x"],
        &["start", "--pid", "4194305"],
        &["start", "--agent", "a\nb"],
        &["start", "--agent", ""],
        &["stop"],
        &["show", "a", "b"],
        &["delete"],
        &["delete", "-y", "A"],
        &[],
    ] {
        let error = repo.checkpoint([&["session"], options, &["--json"]].concat()).exits(129).json();
        assert_eq!(error["error"]["code"], "usage", "{options:?}");
    }
    repo.checkpoint(["session", "show"]).exits(4).says("no session owns this worktree yet");
    assert_eq!(repo.checkpoint_refs(), [""; 0]);
}

#[test]
fn a_start_that_cannot_save_the_first_state_is_a_start_all_the_same() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "* filter=broken\n");
    repo.config("filter.broken.clean", "false");
    repo.config("filter.broken.required", "true");

    let start = repo.checkpoint(["session", "start", "s"]).success();

    assert_eq!(start.text(), "session s");
    assert_eq!(start.talk().lines().count(), 1, "{start}");
    assert!(start.talk().starts_with("warning: the state before the first step was not saved: a filter failed"), "{start}");
    let log = std::fs::read_to_string(repo.common_dir().join("checkpoint/log")).unwrap();
    assert!(log.contains(" session start: a filter failed"), "{log}");
    assert_eq!(repo.session("s")["state"], "pending");
}

#[test]
fn with_best_effort_no_failure_reaches_the_pipeline() {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q"]).success();
    repo.set_database_version(99);

    for action in ["start", "end"] {
        repo.checkpoint(["session", action, "s"]).exits(128);
        let lenient = repo.checkpoint(["session", action, "--best-effort", "s"]).success();
        assert_eq!(lenient.talk().lines().count(), 1, "{lenient}");
    }
    let outside =
        Output::of(repo.command("git").current_dir(repo.env().home()).args(["checkpoint", "session", "start", "--best-effort"]));
    assert!(outside.success().talk().starts_with("warning: no session was started: not a git repository"));
}

#[test]
fn while_an_interrupted_restore_waits_sessions_are_only_looked_at() {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q", "s"]).success();
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("g", "2\n");
    repo.interrupt("A", |repo| repo.read("f") == "1\n" || !repo.exists("g"));

    for action in [&["start", "t"][..], &["end", "s"], &["delete", "-y", "s"]] {
        let error = repo.checkpoint([&["session", "--json"], action].concat()).exits(3).json();
        assert_eq!(error["error"]["code"], "restore-interrupted", "{action:?}");
    }
    for action in [&["list"][..], &["show", "s"]] {
        repo.checkpoint([&["session"], action].concat()).success().says("was interrupted");
    }
}

#[test]
fn keys_are_offered_to_a_shell_with_or_without_checkpoints() {
    let repo = TestRepo::new();
    repo.config("checkpoint.enabled", "false");
    repo.checkpoint(["session", "start", "-q", "empty-1"]).success();
    repo.config("checkpoint.enabled", "true");
    repo.checkpoint(["session", "start", "-q", "full-1"]).success();

    for (line, expected) in [("show", "empty-1"), ("delete", "full-1"), ("end", "empty-1")] {
        let mut command = repo.program();
        command.env("COMPLETE", "bash").env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", "3");
        command.args(["--", "git-checkpoint", "session", line, &expected[..2]]);
        assert_eq!(Output::of(&mut command).success().text(), expected, "{line}");
    }
}

#[test]
fn a_session_that_is_at_work_in_another_worktree_is_told_with_its_place_and_a_way_out_that_works() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    let process = crate::support::Sleeper::new();
    linked.session_of("s", &process);

    let refused = repo.checkpoint(["session", "start", "--json", "s"]).exits(3).json();

    let blocker = &refused["error"]["blockers"][0];
    let place = linked.top().canonicalize().unwrap();
    assert_eq!(blocker["code"], "session-active");
    assert!(blocker["message"].as_str().unwrap().contains(&format!("in the worktree `{}`", place.display())), "{blocker}");
    assert!(!blocker["hint"].as_str().unwrap().contains("--allow"), "there is no such option here: {blocker}");
    assert!(blocker["hint"].as_str().unwrap().contains("another key"), "{blocker}");
}
