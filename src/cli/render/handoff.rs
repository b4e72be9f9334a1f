//! The documents of `export` and `import`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::json::{SCHEMA, checkpoint, put_path};
use crate::model::Checkpoint;
use crate::ops::handoff::Imported;

/// The document of `export`.
pub fn exported_document(exported: &[Checkpoint], file: &Path) -> Value {
    let mut place = Map::new();
    put_path(&mut place, file.as_os_str().as_bytes());
    json!({
        "schema": SCHEMA,
        "status": "exported",
        "file": place,
        "checkpoints": Value::from_iter(exported.iter().map(checkpoint)),
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
    })
}
