//! Which part of a walk is needed where git's fsmonitor daemon named what changed.
//!
//! A selection only leaves out: in a directory that it holds, the walk does what it does without one. It holds what was named,
//! and what no earlier look has settled. Where the disk contradicts it, everything is to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::{BStr, BString, ByteSlice};

use super::stat_cache::{DirRef, FileRef, INDEX_STAT, KEEP_IF_ABSENT, RECHECK, RecordKind, StatCache};
use super::walk::Event;
use crate::git::stat::{FileStat, settled};

/// What a walk looks at in a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// All its files.
    Whole,
    /// These, and those that no earlier look has settled.
    Named(BTreeSet<BString>),
}

impl Look {
    /// Whether the walk looks at `file`, given that what is known of it was found out after `stamp_ns`.
    pub(super) fn includes(&self, file: FileRef<'_>, stamp_ns: i64) -> bool {
        match self {
            Look::Whole => true,
            Look::Named(names) => is_open(file, stamp_ns) || names.contains(file.name()),
        }
    }
}

/// The directories that a walk looks at, in the order of the cache.
pub(super) struct Selection {
    looks: Vec<(u32, Look)>,
}

impl Selection {
    /// What to look at if all that changed since the cache was filled is at or below `paths`.
    pub(super) fn of(cache: &StatCache, stamp_ns: i64, paths: &[BString]) -> Selection {
        let mut selector =
            Selector { cache, looks: BTreeMap::new(), parent: (BString::default(), 0), unknown: BString::default() };
        for index in 0..cache.dir_count() {
            let dir = cache.dir(index);
            if dir.stat() == super::seed::unread() {
                selector.looks.insert(index, Look::Whole);
            } else if is_open_dir(dir, stamp_ns) || dir.files().any(|file| is_open(file, stamp_ns)) {
                selector.looks.insert(index, Look::Named(BTreeSet::new()));
            }
        }
        for path in paths {
            selector.add(path.strip_suffix(b"/").unwrap_or(path).as_bstr());
        }
        Selection { looks: selector.looks.into_iter().collect() }
    }

    /// How many directories it holds.
    pub(super) fn len(&self) -> u32 {
        self.looks.len() as u32
    }

    /// The directory at `place`, and what to look at in it.
    pub(super) fn at(&self, place: u32) -> (u32, &Look) {
        let (dir, look) = &self.looks[place as usize];
        (*dir, look)
    }

    /// False if `events` tell of a change that was not named: that a directory is gone or closed. Files that the index asks not
    /// to look for may make a directory that was never there.
    pub(super) fn is_borne_out(&self, cache: &StatCache, events: &[Event]) -> bool {
        let is_whole = |dir: u32| {
            let place = self.looks.binary_search_by_key(&dir, |(dir, _)| *dir);
            place.is_ok_and(|place| self.looks[place].1 == Look::Whole)
        };
        let is_absent = |file: FileRef<'_>| file.flags() & KEEP_IF_ABSENT != 0 && file.stat() == FileStat::default();
        events.iter().all(|event| match event {
            Event::DirGone { dir } => {
                is_whole(*dir) || (cache.dir(*dir).file_count() > 0 && cache.dir(*dir).files().all(is_absent))
            }
            Event::DirUnreadable { dir } => is_whole(*dir),
            _ => true,
        })
    }
}

/// True for what must be looked at whatever the daemon says: a later look at it would prove nothing either.
fn is_open(file: FileRef<'_>, stamp_ns: i64) -> bool {
    let stat = file.stat();
    file.flags() & (RECHECK | INDEX_STAT) != 0
        || matches!(file.kind(), RecordKind::Gitlink | RecordKind::Uncaptured)
        || stat == FileStat::default()
        || !stat.is_settled(stamp_ns)
}

fn is_open_dir(dir: DirRef<'_>, stamp_ns: i64) -> bool {
    let stat = dir.stat();
    !settled(stat.mtime_ns, stat.ctime_ns, stamp_ns)
}

struct Selector<'a> {
    cache: &'a StatCache,
    looks: BTreeMap<u32, Look>,
    /// The directory that the last path lies in, if it is known. Paths of one directory come together.
    parent: (BString, u32),
    /// What the last path that leads nowhere begins with: a name that is not known, and a slash. Whatever else lies below it
    /// selects the same.
    unknown: BString,
}

impl Selector<'_> {
    /// Adds what `path` may have changed: the name in its directory, and everything below it if it is a directory. Of a path
    /// in a directory that is not known, the name that leads there counts.
    fn add(&mut self, path: &BStr) {
        if !self.unknown.is_empty() && path.starts_with(&self.unknown) {
            return;
        }
        let (mut dir, mut start) = match path.rfind_byte(b'/') {
            Some(slash) if path[..slash] == *self.parent.0 => (self.parent.1, slash + 1),
            _ => (0, 0),
        };
        loop {
            let end = path[start..].find_byte(b'/').map_or(path.len(), |at| start + at);
            match self.cache.find_dir(path[..end].as_bstr()) {
                Some(child) if end == path.len() => {
                    self.name(dir, &path[start..]);
                    return self.whole(child);
                }
                Some(child) => (dir, start) = (child, end + 1),
                None if end == path.len() => {
                    self.parent = (path[..start.saturating_sub(1)].into(), dir);
                    return self.name(dir, &path[start..]);
                }
                None => {
                    self.unknown = path[..=end].into();
                    return self.name(dir, &path[start..end]);
                }
            }
        }
    }

    fn name(&mut self, dir: u32, name: &[u8]) {
        if let Look::Named(names) = self.looks.entry(dir).or_insert_with(|| Look::Named(BTreeSet::new())) {
            names.insert(name.into());
        }
    }

    /// Adds a directory with all below it.
    fn whole(&mut self, dir: u32) {
        for index in dir..self.cache.dir(dir).end() {
            self.looks.insert(index, Look::Whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sys::Moment;

    use gix::ObjectId;
    use gix::hash::Kind;

    use super::super::stat_cache::{DirStat, Header, StatCacheWriter, TRACKED};
    use super::*;
    use crate::git::index::IndexSignature;

    const STAMP: i64 = 1_000_000_000_000;
    const OLD: i64 = 5;

    /// Top with `f` and the directories `d` (`x`, `y`), `d/e` (`z`), `g` (`x`), `g-h` (`x`); the numbers are the places.
    fn cache(flags: impl Fn(&str) -> u8, time_of: impl Fn(&str) -> i64) -> StatCache {
        let mut writer = StatCacheWriter::new(Kind::Sha1, None);
        let mut open = Vec::new();
        for (depth, path, files) in
            [(0, "", vec!["f"]), (1, "d", vec!["x", "y"]), (2, "d/e", vec!["z"]), (1, "g", vec!["x"]), (1, "g-h", vec!["x"])]
        {
            while open.len() > depth {
                writer.end_dir(open.pop().unwrap(), None);
            }
            let time = time_of(path);
            open.push(writer.begin_dir(path.into(), DirStat { ino: u64::from(time != 0), mtime_ns: time, ctime_ns: time }));
            for name in files {
                let path = format!("{path}/{name}");
                let time = time_of(&path);
                let stat = FileStat { ino: u64::from(time != 0), mtime_ns: time, ctime_ns: time, ..FileStat::default() };
                writer.file(name.into(), RecordKind::File, TRACKED | flags(&path), &stat, &ObjectId::empty_blob(Kind::Sha1));
            }
        }
        while let Some(place) = open.pop() {
            writer.end_dir(place, None);
        }
        let none = ObjectId::null(Kind::Sha1);
        let header = Header {
            taken: Moment { boot: 1, wall_ns: STAMP, up_ns: 1 },
            index: IndexSignature { stat: FileStat::default(), trailer: none },
            rules: [0; 32],
            tree: none,
            index_tree: None,
            anchor: none,
            anchor_ref: String::new(),
            monitor: String::new(),
            intent_to_add: Vec::new(),
        };
        writer.finish(&header)
    }

    fn settled_cache() -> StatCache {
        cache(|_| 0, |_| OLD)
    }

    fn selected(cache: &StatCache, paths: &[&str]) -> Vec<(String, Option<Vec<String>>)> {
        let paths: Vec<BString> = paths.iter().copied().map(BString::from).collect();
        let selection = Selection::of(cache, STAMP, &paths);
        let names = |look: &Look| match look {
            Look::Whole => None,
            Look::Named(names) => Some(names.iter().map(ToString::to_string).collect()),
        };
        (0..selection.len())
            .map(|place| selection.at(place))
            .map(|(dir, look)| (cache.dir(dir).path().to_string(), names(look)))
            .collect()
    }

    fn named(dir: &str, names: &[&str]) -> (String, Option<Vec<String>>) {
        (dir.to_owned(), Some(names.iter().map(ToString::to_string).collect()))
    }

    fn whole(dir: &str) -> (String, Option<Vec<String>>) {
        (dir.to_owned(), None)
    }

    #[test]
    fn where_nothing_is_named_and_all_is_settled_nothing_is_selected() {
        assert_eq!(selected(&settled_cache(), &[]), []);
    }

    #[test]
    fn a_file_is_looked_at_in_its_directory_and_a_directory_with_all_below_it() {
        let cache = settled_cache();

        assert_eq!(selected(&cache, &["f"]), [named("", &["f"])]);
        assert_eq!(selected(&cache, &["d/x", "d/new", "g/x"]), [named("d", &["new", "x"]), named("g", &["x"])]);
        assert_eq!(selected(&cache, &["d"]), [named("", &["d"]), whole("d"), whole("d/e")]);
        assert_eq!(selected(&cache, &["d/e/", "d/e/z", "d/x"]), [named("d", &["e", "x"]), whole("d/e")]);
    }

    #[test]
    fn a_path_in_an_unknown_directory_selects_the_name_that_leads_there() {
        let cache = settled_cache();

        assert_eq!(selected(&cache, &["n/a", "n/b/c", "na", "d/n/a"]), [named("", &["n", "na"]), named("d", &["n"])]);
        assert_eq!(selected(&cache, &["f/was/a/file"]), [named("", &["f"])]);
    }

    #[test]
    fn what_is_not_settled_is_selected_unnamed() {
        let flagged = |flag| move |path: &str| if path == "d/e/z" { flag } else { 0 };
        for flag in [RECHECK, INDEX_STAT] {
            assert_eq!(selected(&cache(flagged(flag), |_| OLD), &[]), [named("d/e", &[])]);
        }
        let at = |odd: &'static str, time| cache(|_| 0, move |path| if path == odd { time } else { OLD });
        for time in [STAMP, 0] {
            assert_eq!(selected(&at("g/x", time), &[]), [named("g", &[])], "a file at {time}");
        }
        assert_eq!(selected(&at("g", STAMP), &[]), [named("g", &[])]);
        assert_eq!(selected(&at("g", 0), &["g/x"]), [whole("g")], "a directory that was not read");
    }

    #[test]
    fn a_directory_that_is_gone_or_closed_and_was_not_named_speaks_against_the_daemon() {
        let cache = settled_cache();
        let selection = Selection::of(&cache, STAMP, &["d".into(), "g/x".into()]);
        let (d, g) = (1, 3);

        assert!(selection.is_borne_out(&cache, &[Event::DirGone { dir: d }, Event::Gone { dir: g, file: 0 }]));
        assert!(!selection.is_borne_out(&cache, &[Event::DirGone { dir: g }]));
        assert!(!selection.is_borne_out(&cache, &[Event::DirUnreadable { dir: g }]));
    }
}
