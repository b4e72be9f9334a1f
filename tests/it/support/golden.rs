//! Whole JSON documents with placeholders for what differs from run to run, to be compared with what a test writes down.

use serde_json::{Map, Value};

use super::{Output, TestRepo};

/// The keys of a checkpoint inside a document, in their order, with the types that the contract allows.
const CHECKPOINT: [(&str, &[&str]); 24] = [
    ("number", &["number"]),
    ("id", &["string"]),
    ("ref", &["string"]),
    ("commit", &["string"]),
    ("tree", &["string"]),
    ("index_tree", &["string", "null"]),
    ("head", &["string", "null"]),
    ("branch", &["string", "null"]),
    ("kind", &["string"]),
    ("session", &["string"]),
    ("step", &["string", "null"]),
    ("turn", &["number", "null"]),
    ("agent", &["string", "null"]),
    ("names", &["array"]),
    ("message", &["string", "null"]),
    ("created_at", &["string"]),
    ("completed_at", &["string", "null"]),
    ("worktree", &["object"]),
    ("origin", &["string", "null"]),
    ("complete", &["boolean"]),
    ("skipped", &["array"]),
    ("stat", &["object", "null"]),
    ("meta", &["object"]),
    ("memory", &["object", "null"]),
];

/// The keys of a session, in the same way.
const SESSION: [(&str, &[&str]); 17] = [
    ("key", &["string"]),
    ("state", &["string", "null"]),
    ("current", &["boolean"]),
    ("agent", &["string", "null"]),
    ("worktree", &["object"]),
    ("origin", &["string", "null"]),
    ("pid", &["number", "null"]),
    ("step", &["string", "null"]),
    ("turn", &["number", "null"]),
    ("active_since", &["string", "null"]),
    ("started_at", &["string", "null"]),
    ("ended_at", &["string", "null"]),
    ("checkpoint_count", &["number"]),
    ("baseline", &["number", "null"]),
    ("newest", &["number", "null"]),
    ("first_checkpoint_at", &["string", "null"]),
    ("last_checkpoint_at", &["string", "null"]),
];

/// How much of the checkpoints and sessions inside a document is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inner {
    /// Everything.
    Whole,
    /// A word for each, after a look at its keys, their order and types: a document full of them is hard to read.
    Word,
}

/// The one document on standard output, on one line, as pretty text in which ids, times, paths and sizes are placeholders.
#[track_caller]
pub fn document(repo: &TestRepo, output: &Output, inner: Inner) -> String {
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "one line: {output}");
    assert!(output.stdout.ends_with(b"\n"), "{output}");
    let root = repo.env().root().display().to_string();
    let redacted = redact("", output.json(), &root, inner);
    assert_eq!(redacted["schema"], 1, "{output}");
    serde_json::to_string_pretty(&redacted).unwrap() + "\n"
}

/// What was said on standard error, with the same placeholders, each line marked.
pub fn talk(repo: &TestRepo, output: &Output) -> String {
    let root = repo.env().root().display().to_string();
    // As in documents, sizes depend on the libraries that pack objects.
    let sizes = |line: &str| match line.split_once(" free about ") {
        Some((before, after)) => format!("{before} free about <bytes>{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => text(line),
    };
    output.talk().replace(&root, "<root>").lines().map(|line| format!("| {}\n", sizes(line))).collect()
}

fn redact(key: &str, value: Value, root: &str, inner: Inner) -> Value {
    match value {
        Value::Object(object) => object_of(object, root, inner),
        Value::Array(items) => items.into_iter().map(|item| redact(key, item, root, inner)).collect(),
        Value::String(text) => self::text(&text.replace(root, "<root>")).into(),
        // How much room objects take depends on the libraries that pack them.
        Value::Number(number) if key == "bytes" && number.as_u64() != Some(0) => "<bytes>".into(),
        Value::Number(_) if key == "pid" => "<pid>".into(),
        other => other,
    }
}

fn object_of(object: Map<String, Value>, root: &str, inner: Inner) -> Value {
    for key in object.keys() {
        let is_snake = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(is_snake, "`{key}` is no snake case");
    }
    let word = if object.contains_key("ref") && object.contains_key("index_tree") {
        // `prune` adds a reason.
        let reason = object.get("reason").map(|reason| format!(", {}", reason.as_str().unwrap()));
        check_keys(&object, &CHECKPOINT, &["reason"]);
        Some(format!("<checkpoint {}: {}{}>", object["number"], object["kind"].as_str().unwrap(), reason.unwrap_or_default()))
    } else if object.contains_key("checkpoint_count") {
        check_keys(&object, &SESSION, &[]);
        Some(format!("<session {}>", text(object["key"].as_str().unwrap())))
    } else {
        None
    };
    match word {
        Some(word) if inner == Inner::Word => word.into(),
        _ => object.into_iter().map(|(key, value)| (key.clone(), redact(&key, value, root, inner))).collect::<Map<_, _>>().into(),
    }
}

fn check_keys(object: &Map<String, Value>, expected: &[(&str, &[&str])], more: &[&str]) {
    let keys: Vec<&str> = object.keys().map(String::as_str).filter(|key| !more.contains(key)).collect();
    let in_order: Vec<&str> = expected.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, in_order);
    for (key, types) in expected {
        let is = type_of(&object[*key]);
        // One that is only looked at by `import` has no number yet.
        assert!(types.contains(&is) || (*key == "number" && is == "null"), "{key} is {is}");
        if key.ends_with("_at") && is == "string" {
            assert_eq!(text(object[*key].as_str().unwrap()), "<time>", "{key}");
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A text with placeholders for ids, commits, session keys made from paths, and times in RFC 3339.
fn text(text: &str) -> String {
    if is_rfc3339(text) {
        return "<time>".to_owned();
    }
    let mut shown = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-').len();
        let (word, rest) = word.split_at(end);
        let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
        let is_key = word != "main-worktree" && word.strip_prefix("main-").is_some_and(|rest| rest.len() == 8);
        match word.len() {
            26 if word.starts_with("01") => shown.push_str("<id>"),
            40 if is_hex => shown.push_str("<object>"),
            _ if is_key => shown.push_str("<session>"),
            _ => shown.push_str(word),
        }
        shown.push_str(rest);
    }
    shown
}

fn is_rfc3339(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}
