//! How the hooks of agents stand.

use serde_json::{Value, json};

use crate::support::{Conversation, TestRepo};

fn status(repo: &TestRepo, agent: &str) -> Value {
    let document = repo.checkpoint(["hooks", "status", "--json", agent]).success().json();
    assert_eq!(document["agents"].as_array().unwrap().len(), 1);
    document["agents"][0].clone()
}

#[test]
fn an_agent_is_told_to_be_installed_incomplete_or_not_installed() {
    let repo = TestRepo::new();
    let all = repo.checkpoint(["hooks", "status", "--json"]).success().json();
    let states: Vec<_> = all["agents"].as_array().unwrap().iter().map(|agent| &agent["state"]).collect();
    assert_eq!(states, [&json!("not-installed"); 6]);
    assert!(!repo.common_dir().join("checkpoint").exists(), "looking writes nothing");

    repo.checkpoint(["hooks", "install", "-q", "claude", "opencode"]).success();
    assert_eq!(status(&repo, "opencode")["state"], "installed");
    let claude = status(&repo, "claude");
    let path = repo.path(".claude/settings.local.json");
    let place = json!({"level": "project", "path": path, "missing": [], "stale": [],
        "events": ["SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"]});
    assert_eq!((&claude["state"], &claude["places"]), (&json!("installed"), &json!([place])));
    let text = repo.read(".claude/settings.local.json").replace("claude Stop\"", "claude Halt\"");
    repo.write(".claude/settings.local.json", text);

    let claude = status(&repo, "claude");
    assert_eq!(claude["state"], "incomplete");
    assert_eq!((&claude["places"][0]["missing"], &claude["places"][0]["stale"]), (&json!(["Stop"]), &json!(["Stop"])));
}

#[test]
fn a_setting_that_turns_hooks_off_is_named() {
    let repo = TestRepo::new();
    repo.checkpoint(["hooks", "install", "-q", "claude", "gemini"]).success();
    let shared = repo.path(".claude/settings.json");
    let own = repo.path(".claude/settings.local.json");
    for (setting, file) in [("disableAllHooks", &shared), ("allowManagedHooksOnly", &shared)] {
        repo.write(".claude/settings.json", format!("{{\"{setting}\": true}}"));
        let claude = status(&repo, "claude");
        assert_eq!((&claude["state"], &claude["disabled_by"]), (&json!("disabled"), &json!({"setting": setting, "path": file})));
    }
    repo.write(".claude/settings.json", "{\"disableAllHooks\": true}");
    repo.write(
        ".claude/settings.local.json",
        std::fs::read_to_string(&own).unwrap().replacen('{', "{\"disableAllHooks\": false,", 1),
    );
    assert_eq!(status(&repo, "claude")["disabled_by"], Value::Null, "the settings of the worktree count more");
    let gemini = repo.read(".gemini/settings.json").replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1);
    repo.write(".gemini/settings.json", gemini);

    assert_eq!(status(&repo, "gemini")["disabled_by"]["setting"], "hooksConfig.enabled");
    let text = repo.checkpoint(["hooks", "status", "gemini"]).success().text();
    assert!(text.starts_with("gemini: disabled by `hooksConfig.enabled` in "), "{text}");
}

#[test]
fn the_last_event_and_the_last_failure_are_told() {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    agent.start();
    agent.prompt("p-1", "add");
    agent.tell("SubagentStop", &json!({"agent_id": "a"}));
    repo.tell("claude", "Stop", b"no JSON").success();
    repo.tell("codex", "Stop", b"no JSON").success();

    let claude = status(&repo, "claude");
    assert_eq!(claude["last_event"]["event"], "SubagentStop");
    assert!(claude["last_event"]["at"].as_str().unwrap().starts_with("2025-01-01T00:0"));
    let message = claude["last_failure"]["message"].as_str().unwrap();
    assert!(message.starts_with("hook claude Stop: the payload is no JSON object"), "{message}");
    assert_eq!(status(&repo, "codex")["last_event"], Value::Null);
    let text = repo.checkpoint(["hooks", "status", "claude"]).success().text();
    assert!(text.contains("  last event: SubagentStop, ") && text.contains("  last failure: 2025-01-01T"), "{text}");
}

#[test]
fn whether_codex_runs_them_is_known_when_one_has_run() {
    let repo = TestRepo::new();
    repo.checkpoint(["hooks", "install", "codex"]).success().says("type `/hooks` there");
    let file = repo.env().home().join(".codex/hooks.json");
    assert_eq!(status(&repo, "codex")["trust"], "unknown");
    let text = repo.checkpoint(["hooks", "status", "codex"]).success().text();
    assert!(text.contains("  trust unknown: approve with /hooks"), "{text}");

    repo.hook("codex", "SessionStart", &json!({"session_id": "T", "cwd": repo.top()}));
    // The clock of the test stands in the past.
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();

    assert_eq!(status(&repo, "codex")["trust"], "seen");
    assert_eq!(status(&repo, "claude")["trust"], Value::Null);
}

#[test]
fn settings_that_cannot_be_read_are_told_and_no_failure() {
    let repo = TestRepo::new();
    repo.write(".gemini/settings.json", "{");

    let gemini = status(&repo, "gemini");

    assert_eq!(gemini["state"], "not-installed");
    assert!(gemini["unreadable"].as_str().unwrap().contains("line 1"), "{gemini}");
}
