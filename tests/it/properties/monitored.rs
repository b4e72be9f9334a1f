//! A stand-in for the fsmonitor daemon that finds out itself what changed, and names as little as git's may.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::support::monitor::Monitor;
use crate::support::{Random, TestRepo};

/// What tells that something changed. The times of a folder do not: the daemon names a folder for itself alone.
type Mark = (u64, u32, Option<(u64, i64, i64, i64)>);

/// Starts a daemon that names exactly what changed, and now and then something harmless besides.
pub fn monitor(repo: &TestRepo, seed: u64) -> Monitor {
    let top = repo.top().to_owned();
    let mut random = Random::new(seed);
    let mut before = look(&top);
    let watcher = move || {
        let now = look(&top);
        let mut changed = changes(&before, &now);
        let all: Vec<_> = now.keys().cloned().collect();
        for _ in 0..random.below(3) {
            let mut extra = if all.is_empty() || random.one_in(3) { PathBuf::from("ghost") } else { random.pick(&all) };
            if random.one_in(2) {
                extra = extra.join(random.pick(&["ghost", "a", "b/c", ".git/HEAD"]));
            }
            changed.push(extra.as_os_str().as_bytes().to_vec());
        }
        if random.one_in(2) {
            // Other systems end a folder with a slash.
            let is_folder =
                |path: &[u8]| now.get(Path::new(std::ffi::OsStr::from_bytes(path))).is_some_and(|mark| mark.2.is_none());
            changed.iter_mut().filter(|path| is_folder(path)).for_each(|path| path.push(b'/'));
        }
        before = now;
        changed
    };
    Monitor::watching(repo, Box::new(watcher))
}

/// The paths whose marks differ. Of a folder that came, went or was moved, only the folder: that is all that the daemon is sure to
/// tell of one that was moved away.
fn changes(before: &BTreeMap<PathBuf, Mark>, now: &BTreeMap<PathBuf, Mark>) -> Vec<Vec<u8>> {
    let mut changed: Vec<&Path> = Vec::new();
    let mut all: Vec<&PathBuf> = before.keys().chain(now.keys()).collect();
    all.sort();
    all.dedup();
    for path in all {
        let is_told = changed.last().is_some_and(|last| path.starts_with(last));
        if before.get(path) != now.get(path) && !is_told {
            changed.push(path);
        }
    }
    changed.into_iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect()
}

fn look(top: &Path) -> BTreeMap<PathBuf, Mark> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
            let meta = path.symlink_metadata().unwrap();
            let relative = path.strip_prefix(top).unwrap().to_owned();
            if relative == Path::new(".git") {
                continue;
            }
            let content = (!meta.is_dir())
                .then(|| (meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ctime() * 1_000_000_000 + meta.ctime_nsec()));
            found.insert(relative, (meta.ino(), meta.mode(), content));
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}
