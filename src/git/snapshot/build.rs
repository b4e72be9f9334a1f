//! Makes trees from what is known and what changed, and the cache for the next capture at the same time.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::objs::Tree;
use gix::objs::tree::{Entry, EntryKind};

use super::resolve::{Delta, DirKey, NewDir, Outcome};
use super::stat_cache::{ABSENT, DirRef, DirStat, KEEP_IF_ABSENT, Record, RecordKind, StatCache, StatCacheWriter};
use crate::git::GitError;
use crate::git::index::add_tree;
use crate::git::odb::ObjectWriter;
use crate::git::stat::FileStat;

/// Applies a delta to a cache.
pub(super) struct Builder<'a, 'o> {
    cache: &'a StatCache,
    outcomes: HashMap<DirKey, Vec<(BString, Option<Record>)>>,
    new_children: HashMap<DirKey, Vec<DirKey>>,
    new_dirs: &'a [NewDir],
    stats: HashMap<u32, DirStat>,
    gone: HashSet<u32>,
    dirty: HashSet<u32>,
    objects: &'a mut ObjectWriter<'o>,
    writer: StatCacheWriter,
}

impl<'a, 'o> Builder<'a, 'o> {
    pub(super) fn new(cache: &'a StatCache, delta: &'a mut Delta, objects: &'a mut ObjectWriter<'o>) -> Self {
        let mut outcomes: HashMap<DirKey, Vec<(BString, Option<Record>)>> = HashMap::new();
        let mut new_children: HashMap<DirKey, Vec<DirKey>> = HashMap::new();
        for outcome in delta.outcomes.drain(..) {
            let (dir, name, record) = match outcome {
                Outcome::Put(dir, record) => (dir, record.name.clone(), Some(record)),
                Outcome::Drop(dir, name) => (dir, name, None),
            };
            outcomes.entry(dir).or_default().push((name, record));
        }
        for list in outcomes.values_mut() {
            // Where a path was both found gone and found anew, what is there counts.
            list.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.is_some().cmp(&a.1.is_some())));
            list.dedup_by(|a, b| a.0 == b.0);
        }
        for (at, dir) in delta.new_dirs.iter().enumerate() {
            new_children.entry(dir.parent).or_default().push(cache.dir_count() + at as u32);
        }
        let mut builder = Builder {
            cache,
            outcomes,
            new_children,
            new_dirs: &delta.new_dirs,
            stats: delta.stats.iter().copied().collect(),
            gone: delta.gone.iter().copied().collect(),
            dirty: HashSet::new(),
            objects,
            writer: StatCacheWriter::new(cache.hash(), Some(cache)),
        };
        if cache.index_has_rules() || delta.rules_gone {
            builder.writer.note_index_rules();
        }
        builder.mark_dirty();
        builder
    }

    /// Marks the directories whose trees must be made anew, with all above them.
    fn mark_dirty(&mut self) {
        let known = self.cache.dir_count();
        let changed: HashSet<u32> =
            self.outcomes.keys().chain(self.new_children.keys()).chain(&self.gone).copied().filter(|dir| *dir < known).collect();
        let mut above: Vec<u32> = Vec::new();
        for dir in 0..known {
            while above.last().is_some_and(|last| self.cache.dir(*last).end() <= dir) {
                above.pop();
            }
            above.push(dir);
            if changed.contains(&dir) || self.cache.dir(dir).tree().is_none() {
                for dir in above.iter().rev() {
                    if !self.dirty.insert(*dir) {
                        break;
                    }
                }
            }
        }
    }

    /// Makes all trees; returns the top one and the parts of the new cache.
    pub(super) fn run(mut self) -> Result<(ObjectId, StatCacheWriter), GitError> {
        let tree = self.known(0)?;
        let tree = match tree {
            Some(tree) => tree,
            None => self.objects.add(gix::objs::Kind::Tree, b"")?,
        };
        Ok((tree, self.writer))
    }

    /// Copies the known directory `index` with all below it; returns its tree, none if it holds nothing.
    fn known(&mut self, index: u32) -> Result<Option<ObjectId>, GitError> {
        let dir = self.cache.dir(index);
        let stat = self.stats.get(&index).copied().unwrap_or(dir.stat());
        let place = self.writer.begin_dir(dir.path(), stat);
        if !self.dirty.contains(&index) {
            self.writer.copy_files(dir);
            for child in dir.children() {
                self.known_or_gone(child)?;
            }
            let tree = dir.tree();
            self.writer.end_dir(place, tree.as_deref());
            return Ok(tree.filter(|tree| !tree.is_empty_tree()));
        }
        let mut tree = Tree::empty();
        let outcomes = self.outcomes.remove(&index).unwrap_or_default();
        let absent = self.merge_files(dir, outcomes, &mut tree);
        let mut children: Vec<(BString, DirKey)> =
            dir.children().map(|child| (self.cache.dir(child).name().to_owned(), child)).collect();
        children.extend(self.new_children_of(index));
        self.children(children, &absent, &mut tree)?;
        self.end(place, tree)
    }

    /// A new directory with all below it.
    fn new_dir(&mut self, key: DirKey) -> Result<Option<ObjectId>, GitError> {
        let dir = &self.new_dirs[(key - self.cache.dir_count()) as usize];
        let place = self.writer.begin_dir(dir.path.as_ref(), dir.stat);
        let mut tree = Tree::empty();
        for (_, record) in self.outcomes.remove(&key).unwrap_or_default() {
            self.put(record.as_ref(), &mut tree);
        }
        let children = self.new_children_of(key);
        self.children(children, &[], &mut tree)?;
        self.end(place, tree)
    }

    fn new_children_of(&mut self, key: DirKey) -> Vec<(BString, DirKey)> {
        let children = self.new_children.remove(&key).unwrap_or_default();
        let name = |child: &DirKey| {
            let path = &self.new_dirs[(child - self.cache.dir_count()) as usize].path;
            path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().into()
        };
        children.into_iter().map(|child| (name(&child), child)).collect()
    }

    /// Adds directories to a tree that has its files, `absent` ones among them: those are not on disk, and the index asks not
    /// to look. Where a directory has something in their place, or a file stands where such a directory was, what is on disk
    /// counts, as it does for `git add` (`read-cache.c:check_file_directory_conflict`).
    fn children(&mut self, mut children: Vec<(BString, DirKey)>, absent: &[BString], tree: &mut Tree) -> Result<(), GitError> {
        let files = tree.entries.len();
        let mut replaced = Vec::new();
        // A directory that vanished and came back is both known and new; the new one is what is there.
        children.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        children.dedup_by(|a, b| a.0 == b.0);
        for (name, key) in children {
            let id = if key < self.cache.dir_count() { self.known_or_gone(key)? } else { self.new_dir(key)? };
            if let Some(oid) = id {
                if let Ok(file) = tree.entries[..files].binary_search_by(|file| file.filename.cmp(&name)) {
                    if !absent.contains(&name) {
                        continue;
                    }
                    replaced.push(file);
                }
                tree.entries.push(Entry { mode: EntryKind::Tree.into(), filename: name, oid });
            }
        }
        for file in replaced.into_iter().rev() {
            tree.entries.remove(file);
        }
        Ok(())
    }

    /// Like [`Builder::known`], but a directory that is gone is left out, unless something in it stands all the same.
    fn known_or_gone(&mut self, index: u32) -> Result<Option<ObjectId>, GitError> {
        let holds_something =
            |dir: u32| self.outcomes.get(&dir).is_some_and(|list| list.iter().any(|(_, record)| record.is_some()));
        if self.gone.contains(&index) && !(index..self.cache.dir(index).end()).any(holds_something) {
            return Ok(None);
        }
        self.known(index)
    }

    fn end(&mut self, place: u32, tree: Tree) -> Result<Option<ObjectId>, GitError> {
        let id = if tree.entries.is_empty() { None } else { Some(add_tree(tree, self.objects)?) };
        let recorded = id.unwrap_or_else(|| ObjectId::empty_tree(self.cache.hash()));
        self.writer.end_dir(place, Some(&recorded));
        Ok(id)
    }

    /// Returns the names of those that are not on disk.
    fn merge_files(&mut self, dir: DirRef<'_>, outcomes: Vec<(BString, Option<Record>)>, tree: &mut Tree) -> Vec<BString> {
        let is_absent = |flags: u8, stat: &FileStat| flags & KEEP_IF_ABSENT != 0 && *stat == FileStat::default();
        let mut absent: Vec<BString> = Vec::new();
        for record in outcomes.iter().filter_map(|(_, record)| record.as_ref()) {
            if is_absent(record.flags, &record.stat) {
                absent.push(record.name.clone());
            }
        }
        let mut changed = outcomes.into_iter().peekable();
        for file in dir.files() {
            let name = file.name();
            while let Some((_, record)) = changed.next_if(|(new, _)| BStr::new(new) < name) {
                self.put(record.as_ref(), tree);
            }
            match changed.next_if(|(new, _)| BStr::new(new) == name) {
                Some((_, record)) => self.put(record.as_ref(), tree),
                None => {
                    if is_absent(file.flags(), &file.stat()) {
                        absent.push(name.to_owned());
                    }
                    self.writer.file(name, file.kind(), file.flags(), &file.stat(), file.id());
                    if file.flags() & ABSENT == 0 {
                        push_entry(tree, name, file.kind(), file.id().to_owned());
                    }
                }
            }
        }
        for (_, record) in changed {
            self.put(record.as_ref(), tree);
        }
        absent
    }

    fn put(&mut self, record: Option<&Record>, tree: &mut Tree) {
        if let Some(record) = record {
            self.writer.file(record.name.as_ref(), record.kind, record.flags, &record.stat, &record.id);
            if !record.is_absent() {
                push_entry(tree, record.name.as_ref(), record.kind, record.id);
            }
        }
    }
}

fn push_entry(tree: &mut Tree, name: &BStr, kind: RecordKind, oid: ObjectId) {
    if let Some(mode) = kind.mode() {
        tree.entries.push(Entry { mode, filename: name.to_owned(), oid });
    }
}
