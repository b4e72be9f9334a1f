//! Hooks go into the settings of agents and out again, and nothing else in these changes.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Output, TestRepo};

const AGENTS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "cursor", "copilot"];

fn hooks(repo: &TestRepo, words: &[&str]) -> Output {
    repo.checkpoint(["hooks"].iter().chain(words))
}

/// Everything below a folder: names, kinds, modes and contents.
fn everything(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
        let meta = path.symlink_metadata().unwrap();
        let content = match (meta.is_dir(), meta.is_symlink()) {
            (true, _) => Vec::new(),
            (_, true) => std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            _ => std::fs::read(&path).unwrap(),
        };
        found.push((path.clone(), meta.mode(), content));
        if meta.is_dir() && !path.ends_with(".git") {
            found.extend(everything(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_installed_is_what_each_agent_reads() {
    let repo = TestRepo::new();
    hooks(&repo, &["install", "-q"].iter().chain(&AGENTS).copied().collect::<Vec<_>>()).success();
    let read = |path: PathBuf| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap();

    let claude = read(repo.path(".claude/settings.local.json"));
    let entry = json!([{"hooks": [{"type": "command", "command": "git checkpoint hook claude Stop", "timeout": 30}]}]);
    assert_eq!(claude["hooks"]["Stop"], entry);
    let events: Vec<_> = claude["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"]);
    let codex = read(repo.env().home().join(".codex/hooks.json"));
    assert_eq!(codex["hooks"]["Interrupt"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    let gemini = read(repo.path(".gemini/settings.json"));
    assert_eq!(gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"], 30_000);
    let cursor = read(repo.path(".cursor/hooks.json"));
    assert_eq!(
        (&cursor["version"], &cursor["hooks"]["stop"][0]["command"]),
        (&json!(1), &json!("git checkpoint hook cursor stop"))
    );
    let copilot = read(repo.path(".github/hooks/git-checkpoint.json"));
    assert_eq!(copilot["hooks"]["agentStop"][0]["bash"], "git checkpoint hook copilot agentStop");
    assert!(repo.read(".opencode/plugins/git-checkpoint.js").contains("\"checkpoint\", \"hook\", \"opencode\", event"));
}

#[test]
fn what_was_not_there_is_not_there_afterwards() {
    for kept in [None, Some(".claude"), Some(".github")] {
        let repo = TestRepo::new();
        let _ = kept.map(|folder| repo.mkdir(folder));
        let (top, home) = (everything(repo.top()), everything(&repo.env().home()));

        for agent in AGENTS {
            hooks(&repo, &["install", "-q", agent]).success();
        }
        for agent in ["claude", "gemini", "opencode", "cursor"] {
            hooks(&repo, &["install", "-q", "--user", agent]).success();
        }
        let document = hooks(&repo, &["uninstall", "--json"]).success().json();

        assert_eq!(document["files"].as_array().unwrap().iter().filter(|file| file["action"] == "removed").count(), 10);
        assert_eq!(everything(repo.top()), top);
        assert_eq!(everything(&repo.env().home()), home);
    }
}

#[test]
fn settings_that_were_there_come_back_byte_for_byte() {
    let others = r#"{"hooks":[{"type":"command","command":"notify"}]}"#;
    let texts = [
        "{}".to_owned(),
        "{}\n".to_owned(),
        "// mine\n{\n\t\"model\": \"x\", // why\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}".to_owned(),
        "{\r\n    \"model\": \"x\"\r\n}\r\n".to_owned(),
        format!("{{\n  \"hooks\": {{\n    \"Stop\": [{others}],\n    \"BeforeAgent\": [{others}]\n  }}\n}}\n"),
    ];
    for text in &texts {
        let repo = TestRepo::new();
        repo.write(".claude/settings.local.json", text);
        repo.write("dotfiles/gemini.json", text);
        repo.chmod("dotfiles/gemini.json", 0o640);
        repo.symlink("../dotfiles/gemini.json", ".gemini/settings.json");
        repo.symlink("../dotfiles/none.json", ".cursor/hooks.json");
        let before = everything(repo.top());

        hooks(&repo, &["install", "-q", "claude", "gemini", "cursor"]).success();
        assert_eq!(repo.link_target(".gemini/settings.json"), Some("../dotfiles/gemini.json".into()));
        assert_eq!(repo.path("dotfiles/gemini.json").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(repo.read("dotfiles/gemini.json").contains("git checkpoint hook gemini AfterAgent"));
        assert!(repo.read("dotfiles/none.json").contains("git checkpoint hook cursor stop"));
        let installed = everything(repo.top());
        let again = hooks(&repo, &["install", "--json", "claude", "gemini", "cursor"]).success().json();
        assert_eq!(again["status"], "unchanged");
        assert_eq!(everything(repo.top()), installed, "twice is once");
        hooks(&repo, &["uninstall", "-q"]).success();

        assert_eq!(everything(repo.top()), before, "{text}");
    }
}

#[test]
fn entries_of_another_version_are_replaced() {
    let repo = TestRepo::new();
    let own = r#"{"hooks":[{"type":"command","command":"git checkpoint hook claude Old --flag"}]}"#;
    repo.write(".claude/settings.local.json", format!("{{\n  \"a\": 1,\n  \"hooks\": {{\n    \"Old\": [{own}]\n  }}\n}}\n"));
    let problems = repo.checkpoint(["doctor", "--json"]).exits(1).json()["problems"].clone();
    assert_eq!((&problems[0]["code"], problems.as_array().unwrap().len()), (&json!("hooks-outdated"), 1));

    hooks(&repo, &["install", "-q", "claude"]).success();
    let text = repo.read(".claude/settings.local.json");
    assert!(!text.contains("Old") && text.contains("hook claude Stop"), "{text}");
    repo.checkpoint(["doctor"]).success();
    hooks(&repo, &["uninstall", "-q", "claude"]).success();

    assert_eq!(repo.read(".claude/settings.local.json"), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_file_that_somebody_added_to_stays() {
    let repo = TestRepo::new();
    hooks(&repo, &["install", "-q", "claude"]).success();
    let text = repo.read(".claude/settings.local.json");
    repo.write(".claude/settings.local.json", text.replacen("{\n", "{\n  \"model\": \"x\",\n", 1));

    hooks(&repo, &["uninstall", "-q"]).success();

    assert_eq!(repo.read(".claude/settings.local.json").trim(), "{\n  \"model\": \"x\"\n}");
}

#[test]
fn a_file_that_cannot_be_edited_keeps_all_as_they_are() {
    let repo = TestRepo::new();
    repo.write(".gemini/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n");
    repo.write(".opencode/plugins/git-checkpoint.js", "// mine\n");
    let before = everything(repo.top());

    let output = hooks(&repo, &["install", "--json", "claude", "gemini"]).exits(3);
    let message = format!(
        "`{}` is not changed: line 3: a comma or a closing bracket is missing",
        repo.path(".gemini/settings.json").display()
    );
    assert_eq!(output.json()["error"]["message"], message);
    assert_eq!(output.json()["error"]["code"], "settings-malformed");
    hooks(&repo, &["uninstall"]).exits(3);
    hooks(&repo, &["install", "claude", "opencode"]).exits(3).says("not as git-checkpoint wrote it");
    repo.write(".gemini/settings.json", b"{\n\"\xff\": 1}");
    hooks(&repo, &["install", "gemini"]).exits(3).says("line 2: it is no UTF-8");
    repo.write(".gemini/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n");

    assert_eq!(everything(repo.top()), before);
}

#[test]
fn a_plugin_that_was_edited_stays() {
    let repo = TestRepo::new();
    hooks(&repo, &["install", "-q", "opencode"]).success();
    repo.append(".opencode/plugins/git-checkpoint.js", "// mine\n");

    for words in [&["install", "opencode"][..], &["uninstall"]] {
        hooks(&repo, words).exits(3).says("not as git-checkpoint wrote it");
    }
    assert!(repo.read(".opencode/plugins/git-checkpoint.js").ends_with("// mine\n"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let repo = TestRepo::new();
    let before = (everything(repo.top()), everything(&repo.env().home()));

    let would = hooks(&repo, &["install", "-n", "claude", "codex"]).success().text();
    let path = repo.path(".claude/settings.local.json");
    assert_eq!(would.lines().next(), Some(format!("claude: {} would be created", path.display()).as_str()));
    assert_eq!(hooks(&repo, &["uninstall", "-n", "--json"]).success().json()["status"], "dry-run");

    assert_eq!((everything(repo.top()), everything(&repo.env().home())), before);
}

#[test]
fn an_agent_must_be_named_and_known() {
    let repo = TestRepo::new();

    hooks(&repo, &["install"]).exits(129);
    let known = AGENTS.join(", ");
    hooks(&repo, &["install", "hal"]).exits(129).says(&known);
    hooks(&repo, &["install", "--user", "--project", "claude"]).exits(129);
    hooks(&repo, &["install", "--user", "copilot"]).exits(129).says("Copilot CLI has no hooks for a person");
    assert!(hooks(&repo, &["uninstall"]).success().talk().contains("no hooks are installed"));
}

#[test]
fn hooks_for_a_person_need_no_repository_and_those_for_a_worktree_do() {
    let repo = TestRepo::new();
    let outside = repo.env().root();
    let at_root =
        |words: &[&str]| Output::of(repo.command("git").current_dir(&outside).args(["checkpoint", "hooks"]).args(words));

    at_root(&["install", "-q", "claude"]).exits(128).says("repository");
    at_root(&["install", "-q", "--user", "claude"]).success();
    assert!(repo.env().home().join(".claude/settings.json").exists());
    let config = outside.join("config");
    let words = ["checkpoint", "hooks", "install", "-q", "--user", "claude"];
    Output::of(repo.command("git").args(words).env("CLAUDE_CONFIG_DIR", &config)).success();
    assert!(config.join("settings.json").exists());
    at_root(&["uninstall", "-q", "claude"]).success();
    assert!(!repo.env().home().join(".claude").exists());
}

#[test]
fn what_is_installed_works_as_the_agent_runs_it() {
    let repo = TestRepo::new();
    hooks(&repo, &["install", "-q", "claude"]).success();
    let settings: Value = serde_json::from_str(&repo.read(".claude/settings.local.json")).unwrap();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let command = groups[0]["hooks"][0]["command"].as_str().unwrap();
        let payload = json!({"session_id": "S", "prompt_id": "p-1", "cwd": repo.top(), "hook_event_name": event});
        let output = crate::support::feed(repo.command("sh").args(["-c", command]), payload.to_string().as_bytes());
        crate::support::quiet(output);
    }

    assert_eq!(repo.story(), ["baseline", "turn 1"]);
    assert_eq!(repo.failures(), "");
}
