//! What is known before a scan: the cache of the last capture brought up to date with the index, or the index alone.

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage};
use gix::index::{Entry, State};

use super::resolve::is_rules;
use super::stat_cache::{
    DirRef, DirStat, FileRef, Header, INDEX_STAT, KEEP_IF_ABSENT, RECHECK, Record, RecordKind, StatCache, StatCacheWriter,
    TRACKED,
};
use crate::git::index::{join, known_trees};
use crate::git::stat::{FileStat, settled};

/// Merges `cache` (if there is one that can be trusted) with the index. A tracked file whose stat matches its index entry
/// has the entry's object, as git itself would have it.
pub(super) fn seed(cache: Option<&StatCache>, state: &State, header: &Header, trust: Trust) -> StatCache {
    let nodes = Nodes::of(state);
    let mut seeder = Seeder {
        cache,
        state,
        nodes: &nodes,
        known: if cache.is_none() { known_trees(state) } else { Default::default() },
        index_time: state.timestamp().unix_seconds() * 1_000_000_000 + i64::from(state.timestamp().nanoseconds()),
        trust,
        writer: StatCacheWriter::new(state.object_hash(), cache),
    };
    seeder.directory(BStr::new(""), cache.map(|cache| cache.dir(0)), Some(0));
    seeder.writer.finish(header, 0)
}

/// What is taken from the file system's word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust {
    /// A file whose stat is the same has the same content.
    pub(super) stats: bool,
    /// The executable bit means something (`core.fileMode`); else that of the index counts.
    pub(super) modes: bool,
}

struct Seeder<'a> {
    cache: Option<&'a StatCache>,
    state: &'a State,
    nodes: &'a Nodes,
    known: std::collections::HashMap<BString, ObjectId>,
    index_time: i64,
    trust: Trust,
    writer: StatCacheWriter,
}

impl Seeder<'_> {
    /// Writes the directory at `path` with all below it. Returns true if it holds what the cache held.
    fn directory(&mut self, path: &BStr, cached: Option<DirRef<'_>>, node: Option<usize>) -> bool {
        let place = self.writer.begin_dir(path, cached.map(|dir| dir.stat()).unwrap_or_default());
        let mut same = self.files(path, cached, node);
        let old: Vec<DirRef<'_>> = match (cached, self.cache) {
            (Some(dir), Some(cache)) => dir.children().map(|child| cache.dir(child)).collect(),
            _ => Vec::new(),
        };
        let new = node.map(|node| self.nodes.children(node)).unwrap_or_default();
        for (name, old, new) in merge(&old, |dir| dir.name(), &new, |node| self.nodes.name(*node)) {
            let known = self.directory(join(path, name).as_ref(), old.copied(), new.copied());
            same &= known && old.is_some();
        }
        let tree = match cached {
            Some(dir) if same => dir.tree(),
            Some(_) => None,
            None if !self.trust.stats => None,
            None => self.known.get(path).copied(),
        };
        self.writer.end_dir(place, tree.as_deref());
        same
    }

    fn files(&mut self, path: &BStr, cached: Option<DirRef<'_>>, node: Option<usize>) -> bool {
        let old: Vec<FileRef<'_>> = cached.map(|dir| dir.files().collect()).unwrap_or_default();
        let new: &[usize] = node.map(|node| self.nodes.0[node].entries.as_slice()).unwrap_or_default();
        let state = self.state;
        let offset = if path.is_empty() { 0 } else { path.len() + 1 };
        let entry_name = |at: &usize| -> &BStr { state.entries()[*at].path(state)[offset..].as_bstr() };
        let mut same = true;
        for (name, old, new) in merge(&old, |file| file.name(), new, entry_name) {
            let record = match (old, new) {
                (Some(old), None) => untracked(old.to_record()),
                (old, Some(at)) => self.tracked(name, old.map(|old| old.to_record()), &state.entries()[*at]),
                (None, None) => continue,
            };
            same &= old.is_some_and(|old| old.id() == record.id && old.kind() == record.kind);
            self.writer.file(name, record.kind, record.flags, &record.stat, &record.id);
        }
        same
    }

    fn tracked(&self, name: &BStr, old: Option<Record>, entry: &Entry) -> Record {
        let kind = match entry.mode {
            Mode::COMMIT => RecordKind::Gitlink,
            Mode::SYMLINK => RecordKind::Link,
            Mode::FILE_EXECUTABLE => RecordKind::Executable,
            _ => RecordKind::File,
        };
        let keep = if entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID) { KEEP_IF_ABSENT } else { 0 };
        let recheck = if kind == RecordKind::Gitlink { RECHECK } else { 0 };
        let stat = self.entry_stat(entry);
        if let Some(old) = old
            && keep == 0
            && recheck == 0
            && matches!(old.kind, RecordKind::File | RecordKind::Executable | RecordKind::Link)
        {
            let is_file = |kind| matches!(kind, RecordKind::File | RecordKind::Executable);
            let old = if self.trust.modes || !(is_file(old.kind) && is_file(kind)) { old } else { Record { kind, ..old } };
            let clean = stat.is_some_and(|stat| old.kind == kind && same_in_index(&stat, &old.stat));
            let id = if clean { entry.id } else { old.id };
            let full = if old.flags & INDEX_STAT == 0 { 0 } else { INDEX_STAT };
            return Record { flags: TRACKED | full, id, ..old };
        }
        Record {
            name: name.to_owned(),
            kind,
            flags: TRACKED | INDEX_STAT | keep | recheck,
            // Rules that the cache was made without are to be met as news on the walk: what it knows does not hold under them.
            stat: stat.filter(|_| self.cache.is_none() || !is_rules(name)).unwrap_or_default(),
            id: entry.id,
        }
    }

    /// The stat in an index entry, if a file with that stat is proven to have the entry's content.
    fn entry_stat(&self, entry: &Entry) -> Option<FileStat> {
        let uncertain = entry.flags.contains(Flags::INTENT_TO_ADD) || entry.stage() != Stage::Unconflicted || !self.trust.stats;
        let nanos = |time: gix::index::entry::stat::Time| i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs);
        let (mtime_ns, ctime_ns) = (nanos(entry.stat.mtime), nanos(entry.stat.ctime));
        // Only the modification time counts against the index's own: a rename or chmod long after says nothing of content.
        // Without a cache, attributes may have changed since the entry was made. Git notices that only where it looks into a
        // file because its time and that of the index are in the same second (`read-cache.c:is_racy_stat`); so do we.
        let settled = match self.cache {
            Some(_) => settled(mtime_ns, mtime_ns, self.index_time),
            None => i64::from(entry.stat.mtime.secs) < self.index_time.div_euclid(1_000_000_000),
        };
        if uncertain || mtime_ns == 0 || !settled {
            return None;
        }
        Some(FileStat { ino: entry.stat.ino.into(), size: entry.stat.size.into(), mtime_ns, ctime_ns, mode: 0 })
    }
}

/// A file that the index no longer has, or never had. What was tracked before may be ignored or too large now.
fn untracked(old: Record) -> Record {
    let recheck = if old.flags & TRACKED != 0 { RECHECK } else { old.flags & RECHECK };
    Record { flags: (old.flags & INDEX_STAT) | recheck, ..old }
}

/// Compares a stat from the index, which keeps the lower 32 bits of inode and size, with a whole one.
pub(super) fn same_in_index(index: &FileStat, whole: &FileStat) -> bool {
    let low = |value: u64| value & u64::from(u32::MAX);
    low(index.ino) == low(whole.ino)
        && low(index.size) == low(whole.size)
        && index.mtime_ns == whole.mtime_ns
        && index.ctime_ns == whole.ctime_ns
}

/// Walks two lists sorted by name side by side.
fn merge<'l, 'n, A, B>(
    left: &'l [A],
    left_name: impl Fn(&'l A) -> &'n BStr,
    right: &'l [B],
    right_name: impl Fn(&'l B) -> &'n BStr,
) -> Vec<(&'n BStr, Option<&'l A>, Option<&'l B>)> {
    let mut out = Vec::with_capacity(left.len().max(right.len()));
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return out,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(x), Some(y)) => left_name(x).cmp(right_name(y)),
        };
        let x = if order.is_le() { a.next() } else { None };
        let y = if order.is_ge() { b.next() } else { None };
        let name = x.map(&left_name).or_else(|| y.map(&right_name)).unwrap_or_default();
        out.push((name, x, y));
    }
}

/// The directories of an index. The first is the top.
struct Nodes(Vec<Node>);

#[derive(Default)]
struct Node {
    name: BString,
    path_len: usize,
    entries: Vec<usize>,
    children: Vec<usize>,
}

impl Nodes {
    fn of(state: &State) -> Nodes {
        let mut nodes = vec![Node::default()];
        let mut stack = vec![0usize];
        let mut previous: &BStr = BStr::new("");
        for (at, entry) in state.entries().iter().enumerate() {
            let path = entry.path(state);
            let common = |node: &Node| {
                node.path_len == 0
                    || (path.len() > node.path_len
                        && path[node.path_len] == b'/'
                        && path[..node.path_len] == previous[..node.path_len])
            };
            while stack.len() > 1 && !common(&nodes[*stack.last().expect("the top stays on the stack")]) {
                stack.pop();
            }
            let mut current = *stack.last().expect("the top stays on the stack");
            let mut start = if nodes[current].path_len == 0 { 0 } else { nodes[current].path_len + 1 };
            while let Some(slash) = path[start..].find_byte(b'/') {
                let child = nodes.len();
                nodes.push(Node { name: path[start..start + slash].into(), path_len: start + slash, ..Node::default() });
                nodes[current].children.push(child);
                stack.push(child);
                current = child;
                start += slash + 1;
            }
            // The stages of an unmerged path follow one another; one of them stands for all.
            if path != previous || at == 0 {
                nodes[current].entries.push(at);
            }
            previous = path;
        }
        for at in 0..nodes.len() {
            let mut children = std::mem::take(&mut nodes[at].children);
            children.sort_by(|a, b| nodes[*a].name.cmp(&nodes[*b].name));
            nodes[at].children = children;
        }
        Nodes(nodes)
    }

    fn children(&self, node: usize) -> Vec<usize> {
        self.0[node].children.clone()
    }

    fn name(&self, node: usize) -> &BStr {
        self.0[node].name.as_ref()
    }
}

/// Stamps that are never equal to those of a directory.
pub(super) fn unread() -> DirStat {
    DirStat::default()
}
