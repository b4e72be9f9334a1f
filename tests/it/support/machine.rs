//! A machine with agents of its own: a clone, and the folders in which the agents keep their conversations there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::conversation::{feed, quiet};
use super::{Output, TestRepo};

/// A clone with homes for agents.
pub struct Machine {
    /// The clone.
    pub repo: TestRepo,
    homes: PathBuf,
}

impl Machine {
    /// One whose agents live in a folder of this name.
    pub fn new(repo: TestRepo, name: &str) -> Machine {
        let homes = repo.env().root().join(name);
        Machine { repo, homes }
    }

    /// A command on this machine.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.repo.command(program);
        command.env("CLAUDE_CONFIG_DIR", self.home("claude")).env("CODEX_HOME", self.home("codex"));
        command
    }

    /// Runs the program under test.
    pub fn checkpoint<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Output {
        Output::of(self.command("git").arg("checkpoint").args(args))
    }

    /// The document that it prints.
    #[track_caller]
    pub fn document<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Value {
        self.checkpoint(args).success().json()
    }

    /// Where an agent keeps its conversations here.
    pub fn home(&self, agent: &str) -> PathBuf {
        self.homes.join(agent)
    }

    /// Which of these files are there.
    pub fn files<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        names.iter().copied().filter(|name| self.repo.exists(name)).collect()
    }
}

/// A conversation that goes on on a machine.
pub struct Talk<'m> {
    machine: &'m Machine,
    agent: &'static str,
    /// The agent's id of it.
    pub id: String,
    /// Its file.
    pub file: PathBuf,
}

impl<'m> Talk<'m> {
    /// A new one.
    pub fn new(machine: &'m Machine, agent: &'static str, id: &str) -> Self {
        let file = match agent {
            "claude" => machine.home(agent).join("projects/-code-demo").join(format!("{id}.jsonl")),
            _ => machine.home(agent).join("sessions/2026/10/05").join(format!("rollout-2026-10-05T10-00-00-{id}.jsonl")),
        };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let talk = Talk { machine, agent, id: id.to_owned(), file };
        if agent == "codex" {
            let payload = json!({"id": id, "session_id": id, "cwd": machine.repo.top(), "history_mode": "legacy"});
            talk.add(&json!({"type": "session_meta", "payload": payload}));
        }
        talk
    }

    /// The one that a restore led to: `thread` is what the document says of it.
    pub fn resumed(machine: &'m Machine, agent: &'static str, thread: &Value) -> Self {
        let text = |key: &str| thread[key].as_str().unwrap().to_owned();
        Talk { machine, agent, id: text("conversation"), file: text("path").into() }
    }

    fn add(&self, line: &Value) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&self.file);
        file.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn tell(&self, event: &str, turn: &str, prompt: &str) {
        let payload = json!({"session_id": self.id, "transcript_path": self.file, "cwd": self.machine.repo.top(), "prompt": prompt,
                             "hook_event_name": event, "prompt_id": turn, "turn_id": turn});
        let mut command = self.machine.command("git");
        quiet(feed(command.args(["checkpoint", "hook", self.agent, event]), payload.to_string().as_bytes()));
    }

    /// A whole turn, in which the agent writes one file. Returns the number of its checkpoint.
    #[track_caller]
    pub fn turn(&self, prompt: &str, file: &str) -> String {
        let turn = format!("t-{file}");
        self.tell("UserPromptSubmit", &turn, prompt);
        self.machine.repo.write(file, format!("{prompt}\n"));
        match self.agent {
            "claude" => self.say_as_claude(&turn, prompt),
            _ => self.say_as_codex(&turn, prompt),
        }
        self.tell("Stop", &turn, prompt);
        let newest = self.machine.document(["show", "--json", "@"]);
        assert_eq!(newest["checkpoint"]["kind"], "turn");
        newest["checkpoint"]["id"].as_str().unwrap().to_owned()
    }

    fn say_as_claude(&self, turn: &str, prompt: &str) {
        let before = std::fs::read_to_string(&self.file).unwrap_or_default();
        let last =
            before.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|line| !line["uuid"].is_null());
        let parent = last.map_or(Value::Null, |line| line["uuid"].clone());
        let (asked, answered) = (format!("u-{turn}"), format!("a-{turn}"));
        self.add(&json!({"parentUuid": parent, "isSidechain": false, "promptId": turn, "type": "user", "uuid": asked,
                         "sessionId": self.id, "message": {"role": "user", "content": prompt}}));
        self.add(&json!({"parentUuid": asked, "isSidechain": false, "type": "assistant", "uuid": answered, "sessionId": self.id,
                         "message": {"role": "assistant", "model": "m", "stop_reason": "end_turn",
                                     "content": [{"type": "text", "text": "done"}]}}));
    }

    fn say_as_codex(&self, turn: &str, prompt: &str) {
        let event = |payload: Value| self.add(&json!({"type": "event_msg", "payload": payload}));
        event(json!({"type": "task_started", "turn_id": turn}));
        event(json!({"type": "user_message", "message": prompt}));
        self.add(&json!({"type": "response_item", "payload": {"type": "reasoning", "id": "rs", "encrypted_content": "RU5D"}}));
        event(json!({"type": "task_complete", "turn_id": turn}));
    }
}

/// The prompts in the file of a conversation, in order.
pub fn prompts_in(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let prompt = |line: Value| match (line["type"].as_str(), line["payload"]["type"].as_str()) {
        (Some("user"), _) => line["message"]["content"].as_str().map(str::to_owned),
        (Some("event_msg"), Some("user_message")) => line["payload"]["message"].as_str().map(str::to_owned),
        _ => None,
    };
    text.lines().filter_map(|line| prompt(serde_json::from_str(line).unwrap())).collect()
}
