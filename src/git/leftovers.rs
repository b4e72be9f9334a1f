//! What a process leaves in the git directory that dies over a capture or a restore, other than the restore itself: files that
//! were to be moved into place, and locks of refs.
//!
//! Nobody else would take these away for weeks, if ever, and a lock would bar the way.

use std::fs;

use super::lock::Holder;
use super::{Repo, odb, ref_marks};
use crate::sys::process::is_running;

/// Removes what others left who had the lock of the worktree, which the caller has now; `died` is the last of them, if it did.
pub(super) fn clear(repo: &Repo, died: Option<Holder>) {
    if let Some(died) = died {
        let objects = repo.common_dir().join("objects");
        odb::remove_temporary(&objects, |pid, made_ns| pid == died.pid && made_ns >= died.since_ns);
        odb::release_of_dead(&objects, died.pid, died.since_ns);
    }
    ref_marks::clear_dead(repo);
    for entry in fs::read_dir(repo.private_dir()).into_iter().flatten().flatten() {
        // The stat cache before it is whole, and a conversation that was put together for a process that is gone.
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("conversation-")?.parse().ok());
        if name.as_encoded_bytes().starts_with(b"stat.tmp") || pid.is_some_and(|pid| !is_running(pid)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
