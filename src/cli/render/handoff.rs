//! The documents of `export` and `import`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::json::{SCHEMA, checkpoint, put_path};
use crate::cli::output::plural;
use crate::model::SessionKey;
use crate::ops::handoff::{Exported, Imported, MemoryImported};
use crate::ops::memory::travel::{Outgoing, Secrets};
use crate::ops::remote::MemoryPushed;

/// The document of `export`.
pub fn exported_document(exported: &Exported, file: &Path) -> Value {
    let mut place = Map::new();
    put_path(&mut place, file.as_os_str().as_bytes());
    json!({
        "schema": SCHEMA,
        "status": "exported",
        "file": place,
        "checkpoints": Value::from_iter(exported.checkpoints.iter().map(checkpoint)),
        "memory": exported.memory.as_deref().map(sent),
    })
}

/// The document of `import`; with `only_check` nothing was written.
pub fn imported_document(imported: &Imported, only_check: bool) -> Value {
    let status = match (only_check, imported.new.is_empty()) {
        (true, _) => "dry-run",
        (false, true) => "unchanged",
        (false, false) => "imported",
    };
    let new = imported.new.iter().map(|new| {
        let mut object = checkpoint(new);
        if only_check {
            // It gets a number when it is imported.
            object["number"] = Value::Null;
        }
        object
    });
    json!({
        "schema": SCHEMA,
        "status": status,
        "new": Value::from_iter(new),
        "known": imported.known.len(),
        "names_taken": imported.taken,
        "memory": taken_in(&imported.memory),
    })
}

/// What the options say of conversations.
pub fn secrets(with_memory: bool, no_redact: bool) -> Option<Secrets> {
    with_memory.then_some(if no_redact { Secrets::Kept } else { Secrets::TakenOut })
}

fn sent(memory: &[Outgoing]) -> Value {
    json!({
        "sessions": memory.iter().map(|one| one.session.as_str()).collect::<Vec<_>>(),
        "redacted": memory.iter().map(|one| one.redacted).sum::<u64>(),
        "left_out": memory.iter().map(|one| one.left_out).sum::<u64>(),
    })
}

/// What became of conversations that were pushed.
pub fn pushed_memory(memory: &MemoryPushed) -> Value {
    let mut object = sent(&memory.new);
    object["known"] = memory.known.into();
    let refused = memory.refused.iter().map(|(session, why)| json!({"session": session.as_str(), "reason": why}));
    object["refused"] = Value::from_iter(refused);
    object
}

/// What became of conversations that came in.
pub fn taken_in(memory: &MemoryImported) -> Value {
    json!({"sessions": memory.new.iter().map(SessionKey::as_str).collect::<Vec<_>>(), "known": memory.known})
}

/// What of conversations was sent, and what is not in them, for a person.
pub fn sent_line(memory: &[Outgoing], verb: &str) -> String {
    let sum = |count: fn(&Outgoing) -> u64| memory.iter().map(count).sum::<u64>();
    let (redacted, left_out) = (sum(|one| one.redacted), sum(|one| one.left_out));
    let left_out = match left_out {
        0 => String::new(),
        left_out => format!(" and {} left out that only this account can read", plural(left_out, "part")),
    };
    format!("{} {verb}, {} taken out{left_out}", plural(memory.len() as u64, "conversation"), plural(redacted, "secret"))
}

/// What of conversations came in, for a person; none if nothing did.
pub fn taken_in_line(memory: &MemoryImported, verb: &str) -> Option<String> {
    let (new, known) = (memory.new.len() as u64, memory.known);
    (new > 0 || known > 0).then(|| format!("{} {verb}, {known} known already", plural(new, "conversation")))
}
