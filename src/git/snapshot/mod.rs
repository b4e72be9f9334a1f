//! The snapshot of a worktree: the tree that `git add -A` on a copy of the index and `git write-tree` would make, without
//! touching the index or any file.
//!
//! `seed` (what is known) → `walk` (what differs; where git's fsmonitor daemon runs, `select` says what of it is needed) →
//! `resolve` and `judge` (what it is now) → `build` (trees and the cache for the next time). Nothing is visible before
//! [`Snapshot::commit_to`] writes the gathered objects.

mod build;
mod exclude;
mod judge;
mod kind;
mod nested;
mod reconcile;
mod resolve;
mod rules;
mod seed;
mod select;
mod stat_cache;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryMode;

use self::build::Builder;
pub(crate) use self::nested::{is_bare_repository, is_repository};
use self::resolve::Shared;
pub(crate) use self::resolve::rules_not_checked_out;
pub(crate) use self::rules::excludes_file;
use self::select::Selection;
use self::stat_cache::{ABSENT, Header, INDEX_STAT, RecordKind, StatCache};
use self::walk::{Event, Walk};
use super::beneath::open_top;
use super::facts::{Head, operation};
use super::fsmonitor::{self, Answer};
use super::index::{self, IndexSignature, LazyIndex};
use super::objects::Overlay;
pub use super::odb::Keep;
use super::odb::ObjectSink;
use super::stat::FileStat;
use super::{GitError, Objects, Repo};
use crate::model::Skipped;
use crate::sys::Moment;
use crate::sys::progress::{self, Phase};

/// The state of a worktree at one instant.
pub struct Snapshot {
    /// The tree of all captured files.
    pub tree: ObjectId,
    /// The tree of the index; none while it has unmerged entries.
    pub index_tree: Option<ObjectId>,
    /// Where HEAD stood.
    pub head: Head,
    /// The operation in progress, if any.
    pub operation: Option<String>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Paths that are intent-to-add.
    pub intent_to_add: Vec<BString>,
    /// Objects that are not in the repository (yet).
    pub overlay: Arc<Overlay>,
    sink: ObjectSink,
    cache: StatCache,
    header: Header,
    cache_changed: bool,
    changes: usize,
}

/// What a snapshot saw at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Mode as in the tree.
    pub mode: EntryMode,
    /// The blob, or the commit of a nested repository.
    pub id: ObjectId,
    /// The stat under which the file has this content; all zero if it changed while it was read.
    pub stat: FileStat,
}

/// Takes a snapshot. Paths in `forced` are captured though they are ignored or too large. The caller holds the worktree's
/// lock if it keeps the objects.
pub fn take(repo: &Repo, keep: Keep, forced: &[BString]) -> Result<Snapshot, GitError> {
    take_by(repo, keep, forced, Sight::Disk)
}

/// The same, but every file is read, and no object taken to be there because it was there before.
pub fn take_anew(repo: &Repo, keep: Keep, forced: &[BString]) -> Result<Snapshot, GitError> {
    take_by(repo, keep, forced, Sight::Content)
}

/// The same, but where git's fsmonitor daemon runs, files that it says did not change are not looked at. Good enough to record
/// a state, but not to overwrite it: the daemon may miss what the disk shows.
pub fn take_watched(repo: &Repo, keep: Keep) -> Result<Snapshot, GitError> {
    take_by(repo, keep, &[], Sight::Monitor)
}

/// What tells of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// The content of every file.
    Content,
    /// Only the disk.
    Disk,
    /// Also git's fsmonitor daemon.
    Monitor,
}

fn take_by(repo: &Repo, keep: Keep, forced: &[BString], sight: Sight) -> Result<Snapshot, GitError> {
    let now = Moment::now();
    let top = open_top(repo.top())?;
    let signature = IndexSignature::read(repo)?;
    let rules = rules::fingerprint(repo)?;
    let known = if sight == Sight::Content { None } else { read_cache(repo) };
    let trusted = known.and_then(|cache| trust(repo, cache, &rules, &now));
    let since = trusted.as_ref().map(|(_, header)| header.monitor.as_str()).unwrap_or_default();
    let answer = ask_monitor(repo, keep, sight, since);
    let forced = forced.iter().cloned().collect();
    let taker = Taker { repo, keep, sight, top, signature, rules, now, answer, forced };
    match taker.with(trusted)? {
        Some(snapshot) => Ok(snapshot),
        // Rules changed under the cache: what it knows of captured and ignored files does not hold.
        None => taker.with(None)?.ok_or_else(|| GitError::other("capture the worktree", "its rules changed twice")),
    }
}

/// Asks the daemon, before anything is looked at: what changes later is told the next time. A capture that looks at everything
/// asks too if it is kept, so that the next one can know what changed since.
fn ask_monitor(repo: &Repo, keep: Keep, sight: Sight, since: &str) -> Option<Answer> {
    let helps_now = sight == Sight::Monitor && !since.is_empty();
    let is_of_use = repo.config().stat_cache && (helps_now || keep == Keep::Objects);
    if is_of_use { fsmonitor::ask(repo, since) } else { None }
}

struct Taker<'a> {
    repo: &'a Repo,
    keep: Keep,
    sight: Sight,
    top: std::os::fd::OwnedFd,
    signature: IndexSignature,
    rules: [u8; 32],
    now: Moment,
    answer: Option<Answer>,
    forced: BTreeSet<BString>,
}

impl Taker<'_> {
    /// Takes the snapshot with what `cache` knows; none if it turns out that the cache does not hold.
    fn with(&self, cache: Option<(StatCache, Header)>) -> Result<Option<Snapshot>, GitError> {
        let repo = self.repo;
        let sink = ObjectSink::new(repo, self.keep);
        let from_cache = cache.is_some();
        let mut lazy = LazyIndex::new(repo);
        let (baseline, stamp_ns, index_facts) = match cache {
            Some((cache, header)) if header.index == self.signature && self.signature.is_conclusive(header.taken.wall_ns) => {
                (cache, header.taken.wall_ns, Some((header.index_tree, header.intent_to_add)))
            }
            other => {
                let state = lazy.get()?;
                let stamp = other.as_ref().map_or(self.now.wall_ns, |(_, header)| header.taken.wall_ns);
                let seeded = self.seed(other.map(|(cache, _)| cache), &state);
                lazy = LazyIndex::ready(repo, state);
                (seeded, stamp, None)
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
        let sure_device = if from_cache && self.forced.is_empty() { rules::sure_device(&self.top) } else { None };
        let walk = Walk {
            cache: &baseline,
            top: &self.top,
            stamp_ns,
            sure_device,
            judge_ignored_rules: !self.forced.is_empty(),
            selection: None,
            threads,
        };
        // Only a cache that is taken over as it is describes the moment that its token stands for.
        let events = if index_facts.is_some() { self.changes(&walk) } else { walk.run() };
        let mut shared = Shared::new(repo, &self.top, &baseline, &sink, &self.forced);
        shared.from_cache = from_cache;
        shared.threads = threads;
        shared.index = Arc::new(lazy);
        let mut delta = shared.run(events)?;
        if delta.rules_changed {
            return Ok(None);
        }
        let mut writer = sink.writer(&repo.gix());
        let (index_tree, intent_to_add) = match index_facts {
            Some(facts) => facts,
            None => {
                let state = shared.index.get()?;
                (index::write_tree(&state, &mut writer)?, index::intent_to_add(&state))
            }
        };
        drop(shared);
        let skipped = std::mem::take(&mut delta.skipped);
        let unchanged = delta.outcomes.is_empty() && delta.new_dirs.is_empty() && delta.gone.is_empty() && delta.stats.is_empty();
        let changes = delta.outcomes.len();
        let known_tree = baseline.dir(0).tree();
        let mut header = self.header(index_tree, intent_to_add.clone());
        let (tree, cache, cache_changed) = match known_tree {
            Some(tree) if unchanged => (tree, baseline, false),
            _ => {
                let (tree, parts) = Builder::new(&baseline, &mut delta, &mut writer).run()?;
                header.tree = tree;
                (tree, parts.finish(&header), true)
            }
        };
        header.tree = tree;
        drop(writer);
        Ok(Some(Snapshot {
            tree,
            index_tree,
            head: Head::read(repo)?,
            operation: operation(repo),
            skipped,
            intent_to_add,
            overlay: Arc::new(sink.overlay()),
            sink,
            cache,
            header,
            cache_changed,
            changes,
        }))
    }

    /// What is known by the cache and the index.
    fn seed(&self, cache: Option<StatCache>, state: &gix::index::State) -> StatCache {
        let modes = self.repo.gix().config_snapshot().boolean("core.fileMode").unwrap_or(true);
        let stats = self.repo.config().stat_cache && self.sight != Sight::Content;
        let trust = seed::Trust { stats, modes };
        let proof = seed::IndexProof::new(state, trust, cache.is_some());
        let header = self.header(None, Vec::new());
        seed::seed(cache, state, &header, &proof)
    }

    /// What differs from a cache that was made for this index: as far as that is known, only what changed is looked at.
    fn changes(&self, walk: &Walk<'_>) -> Vec<Event> {
        let named = self.answer.as_ref().and_then(|answer| answer.changed.as_ref());
        let is_same_top = rustix::fs::fstat(&self.top).is_ok_and(|stat| stat.st_ino == walk.cache.dir(0).stat().ino);
        let Some(paths) = named.filter(|_| self.sight == Sight::Monitor && self.forced.is_empty() && is_same_top) else {
            return walk.run();
        };
        let selection = Selection::of(walk.cache, walk.stamp_ns, paths);
        let events = Walk { selection: Some(&selection), ..*walk }.run();
        if selection.is_borne_out(walk.cache, &events) { events } else { walk.run() }
    }

    fn header(&self, index_tree: Option<ObjectId>, intent_to_add: Vec<BString>) -> Header {
        let none = ObjectId::null(self.repo.hash_kind());
        Header {
            taken: self.now,
            index: self.signature,
            rules: self.rules,
            tree: none,
            index_tree,
            anchor: none,
            anchor_ref: String::new(),
            monitor: self.answer.as_ref().map(|answer| answer.token.clone()).unwrap_or_default(),
            intent_to_add,
        }
    }
}

fn cache_path(repo: &Repo) -> PathBuf {
    repo.private_dir().join("stat")
}

fn read_cache(repo: &Repo) -> Option<StatCache> {
    if !repo.config().stat_cache {
        return None;
    }
    let mut file = File::open(cache_path(repo)).ok()?;
    let len = file.metadata().ok()?.len();
    StatCache::read(&mut file, len, repo.hash_kind())
}

/// The cache with its header, if what it depends on is as it was: the rules outside the worktree, and the checkpoint that keeps
/// its objects from being pruned.
fn trust(repo: &Repo, cache: StatCache, rules: &[u8; 32], now: &Moment) -> Option<(StatCache, Header)> {
    let header = cache.header()?;
    if now.was_set_back_since(&header.taken) {
        // A file that changed could have the times that it had before.
        return None;
    }
    let anchored = super::refs::read(repo, &header.anchor_ref).is_ok_and(|id| id == Some(header.anchor));
    (header.rules == *rules && anchored).then_some((cache, header))
}

impl Snapshot {
    /// What was seen at `path`, if it was captured.
    pub fn entry(&self, path: &BStr) -> Option<Entry> {
        let (directory, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
            None => (BStr::new(""), path),
        };
        let dir = self.cache.dir(self.cache.find_dir(directory)?);
        let file = dir.file(dir.find_file(name)?);
        if file.flags() & ABSENT != 0 {
            return None;
        }
        let stat = if file.flags() & INDEX_STAT == 0 { file.stat() } else { FileStat::default() };
        Some(Entry { mode: file.kind().mode()?, id: file.id().to_owned(), stat })
    }

    /// True if the object was made from what was read for this snapshot, and is not only known from an earlier one.
    pub fn has_made(&self, id: &ObjectId) -> bool {
        self.sink.has_made(id)
    }

    /// A reader of the repository's objects and those of this snapshot.
    pub fn objects(&self, repo: &Repo) -> Objects {
        Objects::new(repo.gix(), self.overlay.clone())
    }

    /// True if the index may have rule files that are not on disk, so that whoever applies rules must ask it.
    pub fn index_has_rules(&self) -> bool {
        self.cache.index_has_rules()
    }

    /// The `.gitignore` files that are ignored themselves.
    pub fn ignored_rules(&self) -> Vec<BString> {
        let mut found = Vec::new();
        for directory in (0..self.cache.dir_count()).map(|number| self.cache.dir(number)) {
            let rules = directory.files().filter(|file| file.kind() == RecordKind::IgnoredRules && file.name() == ".gitignore");
            found.extend(rules.map(|file| index::join(directory.path(), file.name())));
        }
        found
    }

    /// How many paths were looked at anew: an upper bound of what changed since the last capture.
    pub(crate) fn changes(&self) -> usize {
        self.changes
    }

    /// Adds an object to those of the snapshot.
    pub(crate) fn add_object(&self, repo: &Repo, kind: gix::objs::Kind, data: &[u8]) -> Result<ObjectId, GitError> {
        self.sink.writer(&repo.gix()).add(kind, data)
    }

    /// Writes the objects of the snapshot; they are on disk when this returns.
    pub(crate) fn flush(&self) -> Result<(), GitError> {
        progress::begin(Phase::Write, 0);
        self.sink.flush()
    }

    /// Says that a ref holds the objects of the snapshot from now on.
    pub(crate) fn held_by_ref(&self) -> Result<(), GitError> {
        self.sink.held_by_ref()
    }

    /// The packs that its objects went into, and the ids of those that are loose.
    pub(crate) fn written(&self) -> Vec<String> {
        self.sink.written()
    }

    /// Keeps what this snapshot learned for the next one. `anchor` is the commit, held by `anchor_ref`, that has all its
    /// objects. A cache that cannot be written is not a failure: the next capture is slower, nothing else.
    pub(crate) fn save_cache(&mut self, repo: &Repo, anchor: ObjectId, anchor_ref: &str) {
        if !repo.config().stat_cache {
            return;
        }
        let header = Header { anchor, anchor_ref: anchor_ref.to_owned(), ..self.header.clone() };
        let is_same = |old: Header| old.anchor == anchor && old.index == header.index && old.monitor == header.monitor;
        if !self.cache_changed && self.cache.header().is_some_and(is_same) {
            return;
        }
        self.cache.set_header(&header);
        let path = cache_path(repo);
        let temp = path.with_extension(format!("tmp{}", std::process::id()));
        let written = repo.sharing().create(&temp).and_then(|mut file| self.cache.write(&mut file));
        // Some file systems flush a file at once that is renamed over another; this one is not worth waiting for.
        let _ = std::fs::remove_file(&path);
        let written = written.and_then(|()| std::fs::rename(&temp, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&temp);
            let _ = std::fs::remove_file(&path);
        }
    }
}
