//! A coding agent at work in a repository, as far as its hooks tell: the lines it gives them, with the paths of the test.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Output, Sleeper, TestRepo};

/// A conversation with Claude Code in a worktree.
pub struct Conversation<'a> {
    repo: &'a TestRepo,
    process: Sleeper,
}

impl TestRepo {
    /// Gives a hook its event and what the agent says on standard input.
    pub fn tell(&self, agent: &str, event: &str, payload: &[u8]) -> Output {
        feed(self.command("git").args(["checkpoint", "hook", agent, event]), payload)
    }

    /// The same, where nothing may be printed and nothing may fail.
    #[track_caller]
    pub fn hook(&self, agent: &str, event: &str, payload: &Value) {
        quiet(self.tell(agent, event, payload.to_string().as_bytes()));
    }

    /// The log of failures.
    pub fn failures(&self) -> String {
        std::fs::read_to_string(self.common_dir().join("checkpoint/log")).unwrap_or_default()
    }

    /// All checkpoints, oldest first: kind, turn, and the files in it with their content, in one line each.
    #[track_caller]
    pub fn story(&self) -> Vec<String> {
        let list = self.checkpoint(["list", "--json", "--reverse"]).success().json();
        let line = |checkpoint: &Value| {
            let turn = checkpoint["turn"].as_u64().map(|turn| format!(" {turn}")).unwrap_or_default();
            format!("{}{turn}", checkpoint["kind"].as_str().unwrap())
        };
        list["checkpoints"].as_array().unwrap().iter().map(line).collect()
    }

    /// One checkpoint as a document.
    #[track_caller]
    pub fn shown(&self, selector: &str) -> Value {
        self.checkpoint(["show", "--json", selector]).success().json()["checkpoint"].clone()
    }
}

/// The prompts that a conversation holds, by its own lines: `thread` is what a document says of it.
pub fn prompts(thread: &Value) -> Vec<String> {
    let text = std::fs::read_to_string(thread["path"].as_str().unwrap()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let prompts = lines.filter(|line| line["type"] == "user").map(|line| line["message"]["content"].as_str().unwrap().to_owned());
    prompts.collect()
}

/// Runs a command with this on its standard input.
pub fn feed(command: &mut Command, input: &[u8]) -> Output {
    let shown = format!("{command:?}");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that needs nothing of it does not read it.
    let _ = child.stdin.take().unwrap().write_all(input);
    Output::from_parts(shown, child.wait_with_output().unwrap())
}

/// Fails the test unless a hook ended as it always must.
#[track_caller]
pub fn quiet(output: Output) {
    let output = output.success();
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output}");
}

impl<'a> Conversation<'a> {
    /// The agent's id of it.
    pub const ID: &'static str = "1f6d0000-0000-4000-8000-000000000001";
    /// The key of the session that it is.
    pub const KEY: &'static str = "claude-1f6d0000-0000-4000-8000-000000000001";

    /// One that has not begun.
    pub fn new(repo: &'a TestRepo) -> Self {
        Conversation { repo, process: Sleeper::new() }
    }

    /// The number of the agent's process.
    pub fn pid(&self) -> String {
        self.process.pid()
    }

    /// Where its transcript is.
    pub fn transcript(&self) -> PathBuf {
        self.repo.env().home().join(".claude/projects/-code-demo").join(format!("{}.jsonl", Self::ID))
    }

    /// Adds to the transcript.
    pub fn write_transcript(&self, text: &str) {
        std::fs::create_dir_all(self.transcript().parent().unwrap()).unwrap();
        let file = std::fs::OpenOptions::new().append(true).create(true).open(self.transcript());
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Adds the lines of a turn to the transcript as the agent writes them, with its answer.
    pub fn say(&self, turn_id: &str, prompt: &str) {
        let before = std::fs::read_to_string(self.transcript()).unwrap_or_default();
        let last =
            before.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).rfind(|line| !line["uuid"].is_null());
        let parent = last.map_or(Value::Null, |line| line["uuid"].clone());
        let (asked, answered) = (format!("u-{turn_id}"), format!("a-{turn_id}"));
        let prompt = json!({"parentUuid": parent, "isSidechain": false, "promptId": turn_id, "type": "user",
                            "message": {"role": "user", "content": prompt}, "uuid": asked, "sessionId": Self::ID});
        let answer = json!({"parentUuid": asked, "isSidechain": false, "type": "assistant", "uuid": answered, "sessionId": Self::ID,
                            "message": {"role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
                                        "content": [{"type": "text", "text": "done"}]}});
        self.write_transcript(&format!("{prompt}\n{answer}\n"));
    }

    /// A whole turn: the prompt, one file that the agent writes, its answer, and the end.
    #[track_caller]
    pub fn turn(&self, turn_id: &str, prompt: &str, file: &str) {
        self.prompt(turn_id, prompt);
        self.repo.write(file, format!("{prompt}\n"));
        self.say(turn_id, prompt);
        self.stop(turn_id);
    }

    /// What the agent says with every event.
    pub fn payload(&self, event: &str, more: &Value) -> Value {
        let mut payload = json!({
            "session_id": Self::ID,
            "transcript_path": self.transcript(),
            "cwd": self.repo.top(),
            "hook_event_name": event,
        });
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload
    }

    /// Tells of an event.
    #[track_caller]
    pub fn tell(&self, event: &str, more: &Value) {
        let mut command = self.repo.command("git");
        command.args(["checkpoint", "hook", "claude", event]).env("CLAUDE_PID", self.pid());
        quiet(feed(&mut command, self.payload(event, more).to_string().as_bytes()));
    }

    /// The conversation begins.
    #[track_caller]
    pub fn start(&self) {
        self.tell("SessionStart", &json!({"source": "startup"}));
    }

    /// The person asks for something.
    #[track_caller]
    pub fn prompt(&self, turn_id: &str, prompt: &str) {
        self.tell("UserPromptSubmit", &json!({"prompt_id": turn_id, "permission_mode": "acceptEdits", "prompt": prompt}));
    }

    /// The agent is done.
    #[track_caller]
    pub fn stop(&self, turn_id: &str) {
        let more = json!({"prompt_id": turn_id, "permission_mode": "acceptEdits", "stop_hook_active": false,
                          "last_assistant_message": "done", "background_tasks": [], "session_crons": []});
        self.tell("Stop", &more);
    }

    /// Three turns that write `alpha`, `beta` and `gamma`; then the conversation is closed.
    pub fn three_turns(repo: &'a TestRepo) -> Self {
        let agent = Conversation::new(repo);
        agent.start();
        for (id, prompt, file) in [("p-1", "add alpha", "alpha"), ("p-2", "add beta", "beta"), ("p-3", "add gamma", "gamma")] {
            agent.turn(id, prompt, file);
        }
        agent.end();
        agent
    }

    /// The conversation is closed.
    #[track_caller]
    pub fn end(&self) {
        self.tell("SessionEnd", &json!({"reason": "other"}));
    }
}
