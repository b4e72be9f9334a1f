//! What a running agent says of itself: Claude Code keeps a file for each of its processes, with what it is at.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::conversation::Homes;
use crate::model::Millis;
use crate::sys::process::Process;

/// No such file is larger.
const LARGEST: u64 = 64 << 10;

/// A conversation that a living process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The agent's own id of it.
    pub conversation: String,
    /// Where the agent works.
    pub directory: PathBuf,
    /// The agent.
    pub process: Process,
    /// What it is at, where that is known.
    pub is_busy: Option<bool>,
    /// Since when.
    pub since: Millis,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    pid: u32,
    session_id: String,
    cwd: PathBuf,
    proc_start: String,
    status: Option<String>,
    status_updated_at: Option<Millis>,
    started_at: Option<Millis>,
}

/// The conversations of Claude Code that are open. What cannot be read is none: what hooks told counts then.
pub fn open_conversations(homes: &Homes) -> Vec<Open> {
    let Some(home) = &homes.claude else { return Vec::new() };
    let entries = std::fs::read_dir(home.join("sessions")).into_iter().flatten().flatten();
    // What lies beside them with another ending is a secret.
    let files = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.filter_map(|path| read(&path)).collect()
}

fn read(path: &Path) -> Option<Open> {
    let meta = path.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let entry: Entry = serde_json::from_slice(&bytes).ok()?;
    let process = Process::of(entry.pid).filter(|process| process.began_at(entry.proc_start.parse().ok()))?;
    let is_busy = match entry.status.as_deref() {
        Some("idle") => Some(false),
        Some("busy") => Some(true),
        // Whatever else it says, it is not known to rest.
        _ => None,
    };
    Some(Open {
        conversation: entry.session_id,
        directory: entry.cwd,
        process,
        is_busy,
        since: entry.status_updated_at.or(entry.started_at).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_living_process_says_counts() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        let homes = Homes { claude: Some(folder.path().to_owned()), ..Homes::default() };
        let this = Process::this();
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let start = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().to_owned();
        let put = |name: &str, pid: u32, start: &str, status: &str| {
            let text = format!(
                r#"{{"pid":{pid},"sessionId":"{name}","cwd":"/w","procStart":"{start}","status":"{status}","startedAt":5,"more":1}}"#
            );
            std::fs::write(sessions.join(format!("{name}.json")), text).unwrap();
        };
        put("busy", this.pid, &start, "busy");
        put("idle", this.pid, &start, "idle");
        put("other", this.pid, &start, "thinking");
        put("again", this.pid, "1", "busy");
        put("dead", u32::MAX / 2, &start, "busy");
        std::fs::write(sessions.join("broken.json"), "{").unwrap();
        std::fs::write(sessions.join("1.key"), "secret").unwrap();

        let mut open = open_conversations(&homes);
        open.sort_by(|a, b| a.conversation.cmp(&b.conversation));

        let found: Vec<_> = open.iter().map(|open| (open.conversation.as_str(), open.is_busy)).collect();
        assert_eq!(found, [("busy", Some(true)), ("idle", Some(false)), ("other", None)]);
        assert_eq!((open[0].process.pid, open[0].since), (this.pid, 5));
    }
}
