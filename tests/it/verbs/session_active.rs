//! A session that is at work keeps restores from changing files under it, and nothing else.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::support::{Conversation, Output, RepoState, Sleeper, TestRepo};

/// A repository with checkpoint `A`, a restore to undo, and changes made since.
fn changed() -> TestRepo {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.restore("A");
    repo.write("f", "3\n");
    repo
}

/// Starts a command of the program, the first capture of which stays in a filter until there is a file `../go`, but not
/// for ever.
fn held(repo: &TestRepo, words: &[&str]) -> Child {
    let filter = "sh -c 'if mkdir ../began; then n=0; while [ ! -e ../go ] && [ $n -lt 3000 ]; do \
                  sleep 0.02; n=$((n+1)); done; fi; cat' 2>/dev/null";
    repo.config("filter.slow.clean", filter);
    repo.write(".gitattributes", "f filter=slow\n");
    repo.write("f", "5\n");
    let child = repo.program().args(words).spawn().unwrap();
    while !repo.exists("../began") {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_restore_an_undo_and_a_redo_are_refused_while_a_session_is_at_work() {
    let repo = changed();
    repo.undo();
    repo.write("f", "4\n");
    let process = Sleeper::new();
    repo.session_of("ci", &process);
    let before = RepoState::of(&repo);

    for command in [&["restore", "-y", "A"][..], &["redo", "-y"]] {
        assert_eq!(repo.blockers(command), ["session-active"], "{command:?}");
    }
    before.assert_same(&RepoState::of(&repo));
    let document = repo.checkpoint(["restore", "-y", "--json", "A"]).exits(3).json();
    let blocker = &document["blockers"][0];
    let since = repo.session("ci")["started_at"].as_str().unwrap().replace(".000", "");
    let message = format!("session `ci` is running in this worktree: process {}, since {since}", process.pid());
    assert_eq!(blocker["message"], message);
    assert_eq!(blocker["override"], "allow");
    assert!(blocker["hint"].as_str().unwrap().contains("git checkpoint session end ci"), "{blocker}");

    repo.checkpoint(["redo", "-q", "-y", "--allow", "session-active"]).success();
    assert_eq!(repo.read("f"), "3\n");
    assert_eq!(repo.blockers(&["undo", "-y"]), ["session-active"]);
    repo.checkpoint(["undo", "-q", "-y", "--allow", "session-active"]).success();
    assert_eq!(repo.read("f"), "4\n");
    repo.checkpoint(["restore", "-q", "-y", "--allow", "session-active", "A"]).success();
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn it_is_told_beside_all_other_reasons_and_by_a_dry_run() {
    let repo = changed();
    let process = Sleeper::new();
    repo.session_of("ci", &process);

    assert_eq!(repo.blockers(&["restore", "A"]), ["session-active", "confirmation-required"]);
    let document = repo.checkpoint(["restore", "-n", "--json", "A"]).exits(3).json();
    assert_eq!((&document["status"], &document["blockers"][0]["code"]), (&json!("dry-run"), &json!("session-active")));
    assert_eq!(document["plan"], json!([{"path": "f", "op": "replace"}]));
}

#[test]
fn what_changes_no_file_here_works_meanwhile() {
    let repo = changed();
    let linked = repo.linked_worktree("linked");
    linked.write("f", "5\n");
    linked.save("L");
    linked.write("f", "6\n");
    let process = Sleeper::new();
    repo.session_of("ci", &process);
    let outside = repo.env().root().join("out");

    for command in [
        &["list"][..],
        &["show", "A"],
        &["diff", "A"],
        &["session", "list"],
        &["session", "show"],
        &["undo", "--list"],
        &["save", "-q"],
        &["name", "1", "x"],
        &["restore", "A", "--to", outside.to_str().unwrap()],
        &["export", "-o", "../b", "A"],
    ] {
        repo.checkpoint(command).success();
    }
    linked.restore("L");
    assert_eq!(linked.read("f"), "5\n");
}

#[test]
fn a_process_that_is_gone_stands_in_nobodys_way() {
    let repo = changed();
    repo.session_of("ci", &Sleeper::new());

    assert_eq!(repo.session("ci")["state"], "ended");
    repo.restore("A");
    repo.undo();
    repo.redo();

    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn neither_does_another_that_has_got_its_number() {
    let repo = changed();
    let process = Sleeper::new();
    repo.session_of("ci", &process);
    assert_eq!(repo.blockers(&["restore", "-y", "A"]), ["session-active"]);

    for edit in ["json_set(process, '$.started', 1)", "json_set(process, '$.boot', 'another')"] {
        repo.checkpoint(["session", "start", "-q", "ci", "--pid", &process.pid()]).success();
        repo.edit_database(&format!("UPDATE sessions SET process = {edit}"));
        assert_eq!(repo.session("ci")["state"], "ended", "{edit}");
        repo.restore("A");
        assert_eq!(repo.read("f"), "1\n");
        repo.write("f", "3\n");
    }
}

#[test]
fn a_session_without_a_process_and_one_that_was_ended_stand_in_nobodys_way() {
    let repo = changed();
    let process = Sleeper::new();
    repo.session_of("ci", &process);
    repo.checkpoint(["session", "end", "-q"]).success();
    repo.checkpoint(["session", "start", "-q", "open"]).success();

    repo.restore("A");

    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn a_session_that_asks_itself_is_told_so() {
    let repo = changed();
    let script = "git checkpoint session start -q ci --pid $$ && git checkpoint restore -y --json A; echo $? >&2; \
                  git checkpoint restore -q -y A --allow session-active 2>/dev/null; echo $? >&2; \
                  (git checkpoint restore -q -y A --allow session-active --allow running-inside-agent); echo $? >&2";
    let output = Output::of(repo.command("sh").args(["-c", script])).success();

    let document = output.json();
    let codes: Vec<_> =
        document["blockers"].as_array().unwrap().iter().map(|blocker| blocker["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["session-active", "running-inside-agent"]);
    assert_eq!(document["blockers"][1]["override"], "allow");
    let talk = output.talk();
    let exits: Vec<&str> = talk.lines().filter(|line| line.len() == 1).collect();
    assert_eq!(exits, ["3", "3", "0"], "{output}");
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn a_run_that_still_saves_the_state_before_is_pending_and_refuses_restores_too() {
    let repo = changed();
    let mut run = held(&repo, &["run", "--session", "ci", "--step", "test", "--", "true"]);

    let session = repo.session("ci");
    let document = repo.checkpoint(["restore", "-y", "--json", "A"]).exits(3).json();
    repo.write("../go", "");

    assert!(run.wait().unwrap().success());
    assert_eq!((&session["state"], &session["pid"]), (&json!("pending"), &json!(run.id())));
    assert_eq!(document["blockers"].as_array().unwrap().len(), 1, "{document}");
    let message = document["blockers"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("session `ci` (step `test`) is pending in this worktree: process "), "{message}");
    repo.restore("A");
}

#[test]
fn one_that_begins_while_a_restore_waits_for_the_lock_is_seen() {
    let repo = changed();
    let process = Sleeper::new();
    let mut save = held(&repo, &["save", "--quiet"]);
    let mut restore = repo.program();
    restore.args(["restore", "-y", "--json", "--wait", "60s", "A"]).stdout(Stdio::piped());
    let restore = restore.spawn().unwrap();
    // Long enough to have looked for others and to wait for the lock. If it has not, it sees the session all the sooner.
    std::thread::sleep(Duration::from_millis(500));

    let mut start = repo.program().args(["session", "start", "-q", "ci", "--pid", &process.pid()]).spawn().unwrap();
    while !repo.checkpoint(["session", "list"]).text().contains("ci") {
        std::thread::sleep(Duration::from_millis(5));
    }
    repo.write("../go", "");

    let document: serde_json::Value = serde_json::from_slice(&restore.wait_with_output().unwrap().stdout).unwrap();
    assert!(save.wait().unwrap().success() && start.wait().unwrap().success());
    assert_eq!(document["blockers"][0]["code"], "session-active", "{document}");
    assert_eq!(repo.read("f"), "5\n");
}

#[test]
fn only_what_can_be_allowed_is() {
    let repo = changed();

    for command in ["undo", "redo"] {
        repo.checkpoint([command, "-y", "--allow", "index-locked"]).exits(129).says("`index-locked` cannot be allowed");
        repo.checkpoint([command, "-y", "--allow", "no-such"]).exits(129).says("`no-such` is no blocker");
    }
    assert_eq!(repo.read("f"), "3\n");
}

#[test]
fn a_command_that_an_agent_runs_does_not_rewind_the_agent() {
    let repo = TestRepo::new();
    Conversation::three_turns(&repo);
    let restore = |variable: &str, id: &str, more: &[&str]| {
        let mut command = repo.command("git");
        command.args(["checkpoint", "restore", "--json", "-y", "turn:1"]).args(more).env(variable, id);
        Output::of(&mut command)
    };

    let refused = restore("CLAUDE_CODE_SESSION_ID", Conversation::ID, &[]).exits(3).json();
    assert_eq!(
        (&refused["blockers"][0]["code"], &refused["blockers"][0]["override"]),
        (&json!("running-inside-agent"), &json!("allow"))
    );
    assert!(refused["blockers"][0]["message"].as_str().unwrap().contains(Conversation::KEY), "{refused}");
    assert!(repo.exists("gamma"));
    for (variable, id, more) in [
        ("CLAUDE_CODE_SESSION_ID", "another", &[][..]),
        ("CODEX_THREAD_ID", Conversation::ID, &[]),
        ("CLAUDE_CODE_SESSION_ID", Conversation::ID, &["--allow", "running-inside-agent"]),
    ] {
        restore(variable, id, more).success();
        assert!(!repo.exists("gamma"));
        repo.undo();
    }
}
