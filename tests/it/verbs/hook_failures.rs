//! A hook prints nothing and exits with 0, whatever it is given and wherever it is run.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Conversation, TestRepo, feed, quiet};

/// A word that must be found nowhere.
const SECRET: &str = "hunter2";

fn prompt(repo: &TestRepo) -> Vec<u8> {
    json!({"session_id": "S", "prompt_id": "p-1", "cwd": repo.top(), "prompt": SECRET}).to_string().into_bytes()
}

#[test]
fn a_payload_that_makes_no_sense_is_a_line_in_the_log_without_a_word_of_it() {
    let repo = TestRepo::new();
    let broken = format!("{{\"session_id\":\"{SECRET}\",\"cwd\":{SECRET}");
    let long = [b"{\"session_id\":\"S\",\"prompt\":\"".as_slice(), &SECRET.as_bytes().repeat(200_000)].concat();
    for payload in [broken.as_bytes(), b"", b"[]", b"\xff\xfe", &long, &b"[".repeat(100_000)] {
        quiet(repo.tell("claude", "UserPromptSubmit", payload));
    }

    let log = repo.failures();
    assert_eq!(log.lines().count(), 6, "{log}");
    assert!(log.lines().all(|line| line.contains(" hook claude UserPromptSubmit: the payload ")), "{log}");
    assert!(log.contains("is no JSON object") && log.contains("larger than 1 MiB"), "{log}");
    assert!(!log.contains(SECRET), "{log}");
    assert_eq!(repo.checkpoint_refs(), [""; 0]);
    let failure = repo.checkpoint(["status", "--json"]).success().json()["last_failure"].clone();
    assert!(failure["message"].as_str().unwrap().starts_with("hook claude UserPromptSubmit: "), "{failure}");
}

#[test]
fn an_unknown_agent_or_event_or_a_wrong_command_line_is_no_reason_to_fail() {
    let repo = TestRepo::new();
    let lines: [&[&str]; 6] = [
        &["hook", "hal", "Stop"],
        &["hook", "claude", "Stopp"],
        &["hook"],
        &["hook", "claude"],
        &["hook", "claude", "Stop", "--nope"],
        &["hook", "cl\u{1b}aude", "Stop\n"],
    ];
    for line in lines {
        quiet(feed(repo.command("git").arg("checkpoint").args(line), &prompt(&repo)));
    }

    let log = repo.failures();
    assert_eq!(log.lines().count(), lines.len(), "{log}");
    assert!(
        log.contains("hook hal Stop: the agent is unknown") && log.contains("hook claude Stopp: the event is unknown"),
        "{log}"
    );
    assert!(!log.contains('\u{1b}') && !log.contains(SECRET), "{log}");
    assert!(repo.checkpoint(["hook", "-h"]).success().text().contains("<EVENT>"));
}

#[test]
fn what_does_not_concern_us_leaves_nothing_behind() {
    let repo = TestRepo::new();
    let outside = repo.env().root().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let no_session = json!({"cwd": repo.top(), "prompt": SECRET});
    let no_repository = json!({"session_id": "S", "prompt_id": "p", "cwd": outside, "prompt": SECRET});
    repo.hook("claude", "UserPromptSubmit", &no_session);
    repo.hook("claude", "UserPromptSubmit", &no_repository);
    for (name, value) in [("GIT_CHECKPOINT_DISABLE", "1"), ("GIT_CONFIG_PARAMETERS", "'checkpoint.enabled'='false'")] {
        let mut command = repo.command("git");
        quiet(feed(command.args(["checkpoint", "hook", "claude", "UserPromptSubmit"]).env(name, value), &prompt(&repo)));
    }

    assert!(!repo.common_dir().join("checkpoint").exists());
    assert!(outside.read_dir().unwrap().next().is_none());
}

#[test]
fn a_directory_that_is_gone_or_is_no_path_is_no_reason_to_fail() {
    let repo = TestRepo::new();
    let gone = repo.path("gone");
    for cwd in [json!(gone), json!("relative/x"), json!("\u{0}"), json!("/"), json!(7), json!("x".repeat(10_000))] {
        let payload = json!({"session_id": "S", "prompt_id": "p", "cwd": cwd, "prompt": SECRET});
        quiet(repo.tell("claude", "Stop", payload.to_string().as_bytes()));
    }
}

#[test]
fn one_who_never_writes_is_not_waited_for() {
    let repo = TestRepo::new();
    let started = std::time::Instant::now();
    let mut child = repo
        .command("git")
        .args(["checkpoint", "hook", "claude", "Stop"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{").unwrap();

    let output = child.wait_with_output().unwrap();

    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert!(started.elapsed() >= std::time::Duration::from_millis(900) && started.elapsed().as_secs() < 20);
    assert!(repo.failures().contains("did not come within a second"), "{}", repo.failures());
    drop(pipe);
}

#[test]
fn a_database_that_is_damaged_or_newer_is_a_line_in_the_log() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.set_database_version(99);
    quiet(repo.tell("claude", "UserPromptSubmit", &prompt(&repo)));
    std::fs::write(repo.common_dir().join("checkpoint/checkpoints.db"), b"nothing of a database".repeat(400)).unwrap();
    quiet(repo.tell("claude", "Stop", &prompt(&repo)));

    let log = repo.failures();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("hook claude UserPromptSubmit: ") && log.contains("hook claude Stop: "), "{log}");
    assert!(!log.contains(SECRET), "{log}");
}

#[test]
fn a_repository_that_cannot_be_written_is_no_reason_to_fail() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.give_away();
    let shared = repo.common_dir().join("checkpoint");
    for folder in [shared.clone(), repo.common_dir().join("objects"), repo.common_dir().join("refs")] {
        repo.close(folder);
    }
    quiet(repo.tell("claude", "UserPromptSubmit", &prompt(&repo)));
    quiet(repo.tell("claude", "Stop", &prompt(&repo)));
    for folder in [shared, repo.common_dir().join("objects"), repo.common_dir().join("refs")] {
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_full_disk_and_a_panic_are_lines_in_the_log() {
    let repo = TestRepo::new();
    for fault in ["full:1", "panic:1"] {
        let mut command = repo.program();
        command.env("GIT_CHECKPOINT_FAULT", fault).args(["hook", "claude", "UserPromptSubmit"]);
        quiet(feed(&mut command, &prompt(&repo)));
    }
    repo.write("big", "x".repeat(400_000));
    let script = "ulimit -f 8; exec git checkpoint hook claude UserPromptSubmit";
    quiet(feed(repo.command("sh").args(["-c", script]), &prompt(&repo)));

    let log = repo.failures();
    assert!(log.contains("No space left on device") && log.contains("internal error at src/"), "{log}");
    assert!(!log.contains(SECRET), "{log}");
    repo.assert_sound();
}

#[test]
fn a_turn_whose_end_could_not_be_captured_is_captured_with_the_next_event() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    repo.config("filter.broken.clean", "false");
    repo.config("filter.broken.required", "true");
    repo.write(".git/info/attributes", "alpha filter=broken\n");
    agent.stop("p-1");
    assert_eq!(repo.story(), ["baseline"]);
    assert_eq!(repo.session(Conversation::KEY)["state"], "pending", "the agent is done all the same");
    agent.prompt("p-2", "go on");
    assert_eq!(repo.session(Conversation::KEY)["state"], "running", "it is at work all the same");
    std::fs::remove_file(repo.path(".git/info/attributes")).unwrap();
    agent.stop("p-2");

    assert_eq!(repo.story(), ["baseline", "turn 2"]);
    assert_eq!(repo.failures().lines().count(), 2, "{}", repo.failures());
}

#[test]
fn the_log_does_not_grow_without_end() {
    let repo = TestRepo::new();
    repo.save("A");
    let log = repo.common_dir().join("checkpoint/log");
    std::fs::write(&log, "2026-01-01T00:00:00.000Z hook: old\n".repeat(20_000)).unwrap();

    quiet(repo.tell("hal", "Stop", b"{}"));

    assert_eq!(repo.failures().lines().count(), 1);
    assert!(log.with_extension("old").exists());
}
