//! The lines of a conversation as the tree that they are.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::super::lines::Lines;
use super::super::{MemoryError, Turn, Wanted};
use crate::model::{Millis, excerpt};

/// What a line is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A prompt: a turn begins. True if somebody gave it, and not the agent itself.
    Prompt(bool),
    /// The agent speaks.
    Assistant,
    /// Another word of the user's side: the result of a tool, a local command.
    User,
    /// What came before is summarised from here on.
    Compaction,
    /// Something else that has its place.
    Other,
}

/// A line that has a place in the tree.
#[derive(Debug)]
struct Node {
    uuid: String,
    parent: Option<String>,
    /// Where a compaction goes on from, by its own word and by the last line that it kept.
    before: [Option<String>; 2],
    role: Role,
    prompt_id: Option<String>,
    prompt: String,
    at: Option<Millis>,
    is_sidechain: bool,
    end: u64,
}

/// A conversation that was read.
#[derive(Debug)]
pub(in crate::agents::conversation) struct Transcript {
    path: PathBuf,
    nodes: Vec<Node>,
    by_uuid: HashMap<String, usize>,
    parents: HashSet<String>,
    named_leaf: Option<String>,
    /// The title that it has.
    pub(super) title: Option<String>,
    /// The ids that its lines name.
    pub(super) sessions: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "sessionId")]
    session: Option<Value>,
}

/// Reads a conversation. A line that is none, or of a kind that is not known, is passed over: agents add kinds, and a line may be
/// half written.
pub(in crate::agents::conversation) fn read(path: &Path) -> Result<Transcript, MemoryError> {
    let mut transcript = Transcript {
        path: path.to_owned(),
        nodes: Vec::new(),
        by_uuid: HashMap::new(),
        parents: HashSet::new(),
        named_leaf: None,
        title: None,
        sessions: BTreeSet::new(),
    };
    let mut lines = Lines::open(path)?;
    while let Some(line) = lines.next()? {
        let Ok(kind) = serde_json::from_slice::<Kind>(line.bytes) else { continue };
        if let Some(Value::String(session)) = kind.session {
            transcript.sessions.insert(session);
        }
        match kind.kind.as_str() {
            "user" | "assistant" | "attachment" | "system" | "progress" => {
                if let Some(node) = serde_json::from_slice(line.bytes).ok().and_then(|value| node(&kind.kind, &value, line.end)) {
                    transcript.add(node);
                }
            }
            "last-prompt" | "custom-title" | "ai-title" => {
                let Ok(value) = serde_json::from_slice::<Value>(line.bytes) else { continue };
                if let Some(leaf) = text(&value, "leafUuid") {
                    transcript.named_leaf = Some(leaf);
                }
                let title = text(&value, "customTitle").or_else(|| text(&value, "aiTitle"));
                transcript.title = title.or(transcript.title);
            }
            _ => {}
        }
    }
    Ok(transcript)
}

impl Transcript {
    fn add(&mut self, node: Node) {
        self.parents.extend(node.parent.clone());
        self.by_uuid.insert(node.uuid.clone(), self.nodes.len());
        self.nodes.push(node);
    }

    /// The id of a line.
    pub(super) fn uuid(&self, node: usize) -> &str {
        &self.nodes[node].uuid
    }

    /// The line from which the agent would go on: the one named last, if nothing follows it, else the last that was spoken.
    pub(super) fn leaf(&self) -> Option<usize> {
        let named = self.named_leaf.as_ref().filter(|leaf| !self.parents.contains(*leaf));
        let named = named.and_then(|leaf| self.by_uuid.get(leaf)).copied();
        let is_spoken = |node: &Node| !node.is_sidechain && matches!(node.role, Role::Prompt(_) | Role::Assistant | Role::User);
        named.or_else(|| self.nodes.iter().rposition(is_spoken))
    }

    /// The turns on the way to `leaf`, or to where the agent would go on.
    pub(in crate::agents::conversation) fn turns(&self, leaf: Option<usize>) -> Result<Vec<Turn>, MemoryError> {
        let leaf = leaf.or_else(|| self.leaf());
        let leaf = leaf.ok_or_else(|| MemoryError::UnknownFormat(self.path.clone(), "it has no line of a conversation"))?;
        let mut turns: Vec<Turn> = Vec::new();
        // A compaction after the last answer is no part of the turn, and with it what follows; one in mid-turn is.
        let mut is_compacted = false;
        // Lines of another branch may stand between, but none of this one is to be left out.
        let mut end = 0;
        for at in self.branch(leaf) {
            let node = &self.nodes[at];
            match node.role {
                Role::Prompt(is_prompted) => {
                    is_compacted = false;
                    let same = |turn: &Turn| node.prompt_id.is_some() && turn.id == node.prompt_id;
                    if !turns.last().is_some_and(same) {
                        turns.push(Turn {
                            id: node.prompt_id.clone(),
                            prompt: node.prompt.clone(),
                            started_at: node.at,
                            is_prompted,
                            end: node.end,
                            tip: node.uuid.clone(),
                        });
                    }
                }
                Role::Compaction => is_compacted = true,
                Role::Assistant => is_compacted = false,
                Role::User | Role::Other => {}
            }
            if let Some(turn) = turns.last_mut().filter(|_| !is_compacted) {
                end = node.end.max(end);
                turn.end = end;
                turn.tip.clone_from(&node.uuid);
            }
        }
        Ok(turns)
    }

    /// The turn that is wanted, with those before it on its way and after it: its place among them.
    pub(super) fn turn(&self, wanted: &Wanted) -> Option<(Vec<Turn>, usize)> {
        let turns = self.turns(None).unwrap_or_default();
        if let Some(id) = &wanted.turn_id {
            let has_id = |turn: &Turn| turn.id.as_ref() == Some(id);
            if let Some(at) = turns.iter().position(has_id) {
                return Some((turns, at));
            }
            // The conversation went another way since.
            let last = self.nodes.iter().rposition(|node| !node.is_sidechain && node.prompt_id.as_ref() == Some(id))?;
            let turns = self.turns(Some(last)).ok()?;
            let at = turns.iter().position(has_id)?;
            return Some((turns, at));
        }
        let at = turns.iter().rposition(|turn| wanted.fits(turn))?;
        Some((turns, at))
    }

    /// The lines from the first to `leaf`.
    fn branch(&self, leaf: usize) -> Vec<usize> {
        let mut branch = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            branch.push(at);
            next = self.before(at);
        }
        branch.reverse();
        branch
    }

    fn before(&self, at: usize) -> Option<usize> {
        let node = &self.nodes[at];
        let find = |uuid: &String| self.by_uuid.get(uuid).copied();
        if let Some(parent) = &node.parent {
            return find(parent);
        }
        if node.role != Role::Compaction {
            return None;
        }
        // What it names may never have been written.
        node.before.iter().flatten().find_map(find).or_else(|| at.checked_sub(1))
    }
}

/// The place of a line; none if it names no line of its own.
fn node(kind: &str, value: &Value, end: u64) -> Option<Node> {
    let is = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
    let content = value.get("message").and_then(|message| message.get("content"));
    let prompt = content.map(spoken).unwrap_or_default();
    let role = match kind {
        "assistant" => Role::Assistant,
        "system" if value.get("subtype").and_then(Value::as_str) == Some("compact_boundary") => Role::Compaction,
        "user" => {
            let is_result = content.is_some_and(has_results) || value.get("toolUseResult").is_some_and(|found| !found.is_null());
            let is_local =
                ["<local-command-", "<command-name>", "[Request interrupted"].iter().any(|word| prompt.starts_with(word));
            match is_result || is_local || is("isMeta") || is("isCompactSummary") || is("isSidechain") {
                true => Role::User,
                false => Role::Prompt(!is_notification(value)),
            }
        }
        _ => Role::Other,
    };
    let preserved = value.pointer("/compactMetadata/preservedSegment/tailUuid").and_then(Value::as_str).map(str::to_owned);
    Some(Node {
        uuid: text(value, "uuid").filter(|uuid| !uuid.is_empty())?,
        parent: text(value, "parentUuid"),
        before: [text(value, "logicalParentUuid"), preserved],
        role,
        prompt_id: text(value, "promptId"),
        prompt: if matches!(role, Role::Prompt(_)) { excerpt(&prompt) } else { String::new() },
        at: text(value, "timestamp").and_then(|text| text.parse::<Timestamp>().ok()).map(Timestamp::as_millisecond),
        is_sidechain: is("isSidechain"),
        end,
    })
}

fn is_notification(value: &Value) -> bool {
    let origin = value.pointer("/origin/kind").and_then(Value::as_str);
    value.get("turnOrigin").and_then(Value::as_str) == Some("task_notification") || origin == Some("task-notification")
}

fn has_results(content: &Value) -> bool {
    let is_result = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
    content.as_array().is_some_and(|blocks| blocks.iter().any(is_result))
}

/// The text of a message.
fn spoken(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}
