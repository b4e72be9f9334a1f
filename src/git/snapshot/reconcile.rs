//! Bringing a cache up to date with an index that changed, in place.
//!
//! Most of what changes in an index says nothing new to a cache: git learned of files, or the file of an entry is known already.
//! Then the records stay, and only their flags change.

use gix::bstr::{BStr, ByteSlice};
use gix::index::State;
use gix::index::entry::{Flags, Mode, Stage};

use super::seed::{IndexProof, kind_of, same_in_index};
use super::stat_cache::{ABSENT, FileRef, INDEX_STAT, KEEP_IF_ABSENT, RECHECK, RecordKind, StatCache, TRACKED};

/// Gives the records of `cache` the flags that follow from the index. Returns the entries, by their number, that have no record
/// which can stay.
pub(super) fn reconcile(cache: &mut StatCache, state: &State, proof: &IndexProof) -> Vec<usize> {
    let Found { flags, new } = compare(cache, state, proof);
    flags.into_iter().for_each(|(file, flags)| cache.set_flags(file, flags));
    new
}

/// What an index has to say to a cache.
#[derive(Default)]
struct Found {
    /// Flags that change, by the number of the file.
    flags: Vec<(u32, u8)>,
    /// Entries that have no record which can stay.
    new: Vec<usize>,
}

/// A directory that leads to the entry at hand.
struct Place {
    dir: u32,
    /// How much of a path leads here, the slash included.
    len: usize,
    /// The first of its files that was not passed yet.
    next: u32,
}

fn compare(cache: &StatCache, state: &State, proof: &IndexProof) -> Found {
    let mut found = Found::default();
    let mut met = vec![false; cache.file_count() as usize];
    let mut places = vec![Place { dir: 0, len: 0, next: 0 }];
    let mut previous: &BStr = BStr::new("");
    for (at, entry) in state.entries().iter().enumerate() {
        let path = entry.path(state);
        if is_further_stage(entry, path, previous) {
            continue;
        }
        let leads_here = |place: &Place| path.len() > place.len && path[..place.len] == previous[..place.len];
        while places.len() > 1 && !places.last().is_some_and(leads_here) {
            places.pop();
        }
        previous = path;
        let Some(file) = find(cache, path, &mut places) else {
            found.new.push(at);
            continue;
        };
        met[file.number() as usize] = true;
        match flags_of(file, entry, proof) {
            None => found.new.push(at),
            Some(flags) if flags != file.flags() => found.flags.push((file.number(), flags)),
            Some(_) => {}
        }
    }
    found.flags.extend(left_the_index(cache, &met));
    found
}

/// The stages of an unmerged path follow one another; the first of them stands for all.
pub(super) fn is_further_stage(entry: &gix::index::Entry, path: &BStr, previous: &BStr) -> bool {
    entry.stage() != Stage::Unconflicted && path == previous
}

/// The record at `path`. It lies after those that were found before, as paths come sorted.
fn find<'c>(cache: &'c StatCache, path: &BStr, places: &mut Vec<Place>) -> Option<FileRef<'c>> {
    enter(cache, path, places)?;
    let place = places.last_mut()?;
    let (dir, name) = (cache.dir(place.dir), path[place.len..].as_bstr());
    while place.next < dir.file_count() && dir.file(place.next).name() < name {
        place.next += 1;
    }
    (place.next < dir.file_count()).then(|| dir.file(place.next)).filter(|file| file.name() == name)
}

/// Goes down to the directory that `path` is in.
fn enter(cache: &StatCache, path: &BStr, places: &mut Vec<Place>) -> Option<()> {
    loop {
        let last = places.last()?;
        let (dir, len) = (last.dir, last.len);
        let Some(slash) = path[len..].find_byte(b'/') else { return Some(()) };
        let child = path[..len + slash].as_bstr();
        // The first in it comes right after it.
        let next = (dir + 1 < cache.dir(dir).end() && cache.dir(dir + 1).path() == child).then_some(dir + 1);
        let dir = next.or_else(|| cache.find_dir(child))?;
        places.push(Place { dir, len: len + slash + 1, next: 0 });
    }
}

/// The flags of the record `file` under its entry; none if the entry says something that the record does not have.
fn flags_of(file: FileRef<'_>, entry: &gix::index::Entry, proof: &IndexProof) -> Option<u8> {
    let (old, kind) = (file.flags(), file.kind());
    let wanted = kind_of(entry.mode);
    let may_be_absent = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
    if may_be_absent && entry.flags.contains(Flags::INTENT_TO_ADD) {
        return None;
    }
    if old & ABSENT != 0 {
        // Should it come back, it is judged anew; until then the entry stands for what it is.
        return (!may_be_absent && kind == wanted && file.id() == entry.id).then_some(old);
    }
    if may_be_absent || entry.mode == Mode::COMMIT {
        let needed = TRACKED | if entry.mode == Mode::COMMIT { RECHECK } else { KEEP_IF_ABSENT };
        return (old & needed == needed && kind == wanted && file.id() == entry.id).then_some(old);
    }
    let is_file = |kind| matches!(kind, RecordKind::File | RecordKind::Executable);
    if !is_file(kind) && kind != RecordKind::Link || !proof.trust.modes && is_file(kind) && is_file(wanted) && kind != wanted {
        return None;
    }
    if file.id() != entry.id && kind == wanted && proof.stat_of(entry).is_some_and(|stat| same_in_index(&stat, &file.stat())) {
        return None;
    }
    Some(TRACKED | old & INDEX_STAT)
}

/// What was tracked before may be ignored or too large now.
fn left_the_index<'a>(cache: &'a StatCache, met: &'a [bool]) -> impl Iterator<Item = (u32, u8)> + use<'a> {
    let files = (0..cache.dir_count()).flat_map(|dir| cache.dir(dir).files());
    let left = files.filter(|file| file.flags() & TRACKED != 0 && !met[file.number() as usize]);
    left.map(|file| (file.number(), file.flags() & INDEX_STAT | RECHECK))
}
