//! What is known before a scan: the cache of the last capture brought up to date with the index, or the index alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage};
use gix::index::{Entry, State};

use super::reconcile::{is_further_stage, reconcile};
use super::resolve::is_rules;
use super::stat_cache::{
    ABSENT, DirRef, DirStat, Header, INDEX_STAT, KEEP_IF_ABSENT, RECHECK, Record, RecordKind, StatCache, StatCacheWriter, TRACKED,
};
use crate::git::index::{join, known_trees};
use crate::git::stat::{FileStat, settled};

/// Merges `cache` (if there is one that can be trusted) with the index. A tracked file whose stat matches its index entry
/// has the entry's object, as git itself would have it.
pub(super) fn seed(cache: Option<StatCache>, state: &State, header: &Header, proof: &IndexProof) -> StatCache {
    let Some(mut cache) = cache else { return Seeder::new(None, state, proof, all_paths(state)).run(header) };
    let new = reconcile(&mut cache, state, proof);
    if new.is_empty() { cache } else { Seeder::new(Some(&cache), state, proof, new).run(header) }
}

/// The number of an entry for each path.
fn all_paths(state: &State) -> Vec<usize> {
    let mut previous = BStr::new("");
    let is_first = |(at, entry): (usize, &Entry)| {
        let path = entry.path(state);
        let is_further = is_further_stage(entry, path, previous);
        previous = path;
        (!is_further).then_some(at)
    };
    state.entries().iter().enumerate().filter_map(is_first).collect()
}

/// What is taken from the file system's word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust {
    /// A file whose stat is the same has the same content.
    pub(super) stats: bool,
    /// The executable bit means something (`core.fileMode`); else that of the index counts.
    pub(super) modes: bool,
}

/// What index entries prove of files.
pub(super) struct IndexProof {
    pub(super) trust: Trust,
    /// When the index was written.
    index_time: i64,
    has_cache: bool,
}

impl IndexProof {
    pub(super) fn new(state: &State, trust: Trust, has_cache: bool) -> IndexProof {
        let time = state.timestamp();
        let index_time = time.unix_seconds() * 1_000_000_000 + i64::from(time.nanoseconds());
        IndexProof { trust, index_time, has_cache }
    }

    /// The stat in an index entry, if a file with that stat is proven to have the entry's content.
    pub(super) fn stat_of(&self, entry: &Entry) -> Option<FileStat> {
        let uncertain = entry.flags.contains(Flags::INTENT_TO_ADD) || entry.stage() != Stage::Unconflicted || !self.trust.stats;
        let nanos = |time: gix::index::entry::stat::Time| i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs);
        let (mtime_ns, ctime_ns) = (nanos(entry.stat.mtime), nanos(entry.stat.ctime));
        // Only the modification time counts against the index's own: a rename or chmod long after says nothing of content.
        // Without a cache, attributes may have changed since the entry was made. Git notices that only where it looks into a
        // file because its time and that of the index are in the same second (`read-cache.c:is_racy_stat`); so do we.
        let settled = match self.has_cache {
            true => settled(mtime_ns, mtime_ns, self.index_time),
            false => i64::from(entry.stat.mtime.secs) < self.index_time.div_euclid(1_000_000_000),
        };
        if uncertain || mtime_ns == 0 || !settled {
            return None;
        }
        Some(FileStat { ino: entry.stat.ino.into(), size: entry.stat.size.into(), mtime_ns, ctime_ns, mode: 0 })
    }
}

/// What a file with this mode in the index is recorded as.
pub(super) fn kind_of(mode: Mode) -> RecordKind {
    match mode {
        Mode::COMMIT => RecordKind::Gitlink,
        Mode::SYMLINK => RecordKind::Link,
        Mode::FILE_EXECUTABLE => RecordKind::Executable,
        _ => RecordKind::File,
    }
}

/// Adds entries to what a cache holds.
struct Seeder<'a> {
    cache: Option<&'a StatCache>,
    state: &'a State,
    proof: &'a IndexProof,
    /// The numbers of the entries that are added, by directory.
    new: BTreeMap<BString, Vec<usize>>,
    /// The directories on the way to them. All others stay as they are.
    ways: BTreeSet<BString>,
    known: HashMap<BString, ObjectId>,
    writer: StatCacheWriter,
}

impl<'a> Seeder<'a> {
    fn new(cache: Option<&'a StatCache>, state: &'a State, proof: &'a IndexProof, entries: Vec<usize>) -> Seeder<'a> {
        let mut new: BTreeMap<BString, Vec<usize>> = BTreeMap::new();
        let mut last: (&BStr, Vec<usize>) = (BStr::new(""), Vec::new());
        for at in entries {
            let path = state.entries()[at].path(state);
            let directory = path.rfind_byte(b'/').map_or(BStr::new(""), |slash| path[..slash].as_bstr());
            if directory != last.0 {
                let (before, entries) = std::mem::replace(&mut last, (directory, Vec::new()));
                new.entry(before.to_owned()).or_default().extend(entries);
            }
            last.1.push(at);
        }
        new.entry(last.0.to_owned()).or_default().extend(last.1);
        let above = |directory: &BString| directory.find_iter("/").map(|at| directory[..at].into()).collect::<Vec<BString>>();
        let mut ways: BTreeSet<BString> = new.keys().flat_map(above).collect();
        ways.extend(new.keys().cloned());
        Seeder {
            cache,
            state,
            proof,
            new,
            ways,
            known: if cache.is_none() { known_trees(state) } else { HashMap::new() },
            writer: StatCacheWriter::new(state.object_hash(), cache),
        }
    }

    fn run(mut self, header: &Header) -> StatCache {
        self.directory(BStr::new(""), self.cache.map(|cache| cache.dir(0)));
        self.writer.finish(header)
    }

    /// Writes the directory at `path` with all below it. Returns true if it holds what the cache held.
    fn directory(&mut self, path: &BStr, cached: Option<DirRef<'a>>) -> bool {
        if let Some(dir) = cached.filter(|_| !path.is_empty() && !self.ways.contains(path)) {
            self.copy(dir);
            return true;
        }
        let place = self.writer.begin_dir(path, cached.map(|dir| dir.stat()).unwrap_or_default());
        let mut same = self.files(path, cached);
        for (name, old) in self.children(path, cached) {
            let known = self.directory(join(path, name.as_bstr()).as_ref(), old);
            same &= known && old.is_some();
        }
        let tree = match cached {
            Some(dir) if same => dir.tree(),
            Some(_) => None,
            None if !self.proof.trust.stats => None,
            None => self.known.get(path).copied(),
        };
        self.writer.end_dir(place, tree.as_deref());
        same
    }

    /// Writes a directory as it is in the cache, with all below it.
    fn copy(&mut self, dir: DirRef<'a>) {
        let place = self.writer.begin_dir(dir.path(), dir.stat());
        self.writer.copy_files(dir);
        for child in dir.children() {
            self.copy(dir.cache().dir(child));
        }
        self.writer.end_dir(place, dir.tree().as_deref());
    }

    /// The directories in the one at `path`, by name, with what the cache has of them.
    fn children(&self, path: &BStr, cached: Option<DirRef<'a>>) -> BTreeMap<BString, Option<DirRef<'a>>> {
        let mut prefix = path.to_owned();
        if !path.is_empty() {
            prefix.push(b'/');
        }
        let below = self.ways.range(prefix.clone()..).take_while(|way| way.starts_with(&prefix));
        let names = below.filter(|way| way.len() > prefix.len() && !way[prefix.len()..].contains(&b'/'));
        let mut children: BTreeMap<BString, Option<DirRef<'a>>> = names.map(|way| (way[prefix.len()..].into(), None)).collect();
        if let Some(dir) = cached {
            let known = dir.children().map(|child| dir.cache().dir(child));
            children.extend(known.map(|child| (child.name().to_owned(), Some(child))));
        }
        children
    }

    fn files(&mut self, path: &BStr, cached: Option<DirRef<'a>>) -> bool {
        let offset = if path.is_empty() { 0 } else { path.len() + 1 };
        let state = self.state;
        let mut new = self.new.remove(path).unwrap_or_default().into_iter().map(|at| &state.entries()[at]).peekable();
        let name_of = |entry: &Entry| state_name(entry, state, offset);
        let mut same = true;
        for old in cached.into_iter().flat_map(DirRef::files) {
            while let Some(entry) = new.next_if(|entry| name_of(entry) < old.name()) {
                same = false;
                self.put(self.tracked(name_of(entry), None, entry));
            }
            match new.next_if(|entry| name_of(entry) == old.name()) {
                Some(entry) => {
                    let record = self.tracked(old.name(), Some(old.to_record()), entry);
                    same &= old.flags() & ABSENT == 0 && old.id() == record.id && old.kind() == record.kind;
                    self.put(record);
                }
                None => self.writer.file(old.name(), old.kind(), old.flags(), &old.stat(), old.id()),
            }
        }
        for entry in new {
            same = false;
            self.put(self.tracked(name_of(entry), None, entry));
        }
        same
    }

    fn put(&mut self, record: Record) {
        self.writer.file(record.name.as_ref(), record.kind, record.flags, &record.stat, &record.id);
    }

    fn tracked(&self, name: &BStr, old: Option<Record>, entry: &Entry) -> Record {
        let kind = kind_of(entry.mode);
        // Of an entry that is only meant to be added nothing can stand.
        let may_be_absent = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
        let keep = if may_be_absent && !entry.flags.contains(Flags::INTENT_TO_ADD) { KEEP_IF_ABSENT } else { 0 };
        let recheck = if kind == RecordKind::Gitlink || self.has_new_rules(name, old.as_ref(), entry) { RECHECK } else { 0 };
        let stat = self.proof.stat_of(entry);
        if let Some(old) = old
            && keep == 0
            && recheck == 0
            && matches!(old.kind, RecordKind::File | RecordKind::Executable | RecordKind::Link)
        {
            let is_file = |kind| matches!(kind, RecordKind::File | RecordKind::Executable);
            let old = if self.proof.trust.modes || !(is_file(old.kind) && is_file(kind)) { old } else { Record { kind, ..old } };
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

    /// True for rules that count although they are not on disk, if the cache was not made under the same ones.
    fn has_new_rules(&self, name: &BStr, old: Option<&Record>, entry: &Entry) -> bool {
        let was_in_force =
            |old: &Record| old.flags & KEEP_IF_ABSENT != 0 && old.stat == FileStat::default() && old.id == entry.id;
        let may_be_absent = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
        self.cache.is_some() && may_be_absent && is_rules(name) && !old.is_some_and(was_in_force)
    }
}

/// Compares a stat from the index, which keeps the lower 32 bits of inode and size, with a whole one.
pub(super) fn same_in_index(index: &FileStat, whole: &FileStat) -> bool {
    let low = |value: u64| value & u64::from(u32::MAX);
    low(index.ino) == low(whole.ino)
        && low(index.size) == low(whole.size)
        && index.mtime_ns == whole.mtime_ns
        && index.ctime_ns == whole.ctime_ns
}

fn state_name<'s>(entry: &Entry, state: &'s State, offset: usize) -> &'s BStr {
    entry.path(state)[offset..].as_bstr()
}

/// Stamps that are never equal to those of a directory.
pub(super) fn unread() -> DirStat {
    DirStat::default()
}
