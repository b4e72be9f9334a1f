//! The walk over everything that is known: finds what differs from the cache, and names that are not in it.
//!
//! A directory whose stamps are unchanged has the same names, so only its known files are looked at. Nothing here fails because
//! a file or directory vanishes: that is simply seen as gone.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use gix::bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, FileType, RawDir, fstat, statat};
use rustix::io::Errno;

use super::seed::same_in_index;
use super::select::{Look, Selection};
use super::stat_cache::{DirStat, FileRef, INDEX_STAT, RECHECK, RecordKind, StatCache};
use crate::git::beneath::open_directory;
use crate::git::stat::{FileStat, settled};
use crate::sys::progress;

/// Directories are handed to threads in batches of this many.
const BATCH: u32 = 32;
/// Below this many directories a second thread costs more than it saves.
const FEW: u32 = 48;

/// Something that differs from the cache.
#[derive(Debug)]
pub(super) enum Event {
    /// A known file has another stat: its content must be read.
    Changed { dir: u32, file: u32 },
    /// A known file is proven unchanged by the index's stat; this is the whole one.
    Verified { dir: u32, file: u32, stat: FileStat },
    /// A known file is not there any more.
    Gone { dir: u32, file: u32 },
    /// A known file that must be judged anew.
    Recheck { dir: u32, file: u32 },
    /// A name that the cache does not have.
    Unknown { dir: u32, name: BString },
    /// A known directory that now holds a `.git`.
    HasGit { dir: u32 },
    /// The directory was read; these are its stamps.
    Read { dir: u32, stat: DirStat },
    /// A known directory is not there any more, or is not a directory.
    DirGone { dir: u32 },
    /// A known directory cannot be read.
    DirUnreadable { dir: u32 },
}

/// What the walk needs to know.
pub(super) struct Walk<'a> {
    pub(super) cache: &'a StatCache,
    /// The top of the worktree.
    pub(super) top: &'a OwnedFd,
    /// The time that the stats in the cache were taken after.
    pub(super) stamp_ns: i64,
    /// The device on which unchanged stamps of a directory prove that its names are unchanged; none if they do nowhere. What
    /// is mounted inside the worktree may be of another kind.
    pub(super) sure_device: Option<u64>,
    /// Whether ignored rule files are judged anew because some ignored files are to be captured.
    pub(super) judge_ignored_rules: bool,
    /// What to look at; none for everything.
    pub(super) selection: Option<&'a Selection>,
    pub(super) threads: usize,
}

impl Walk<'_> {
    /// Looks at every known directory and file, or those selected.
    pub(super) fn run(&self) -> Vec<Event> {
        let next = AtomicU32::new(0);
        let count = self.count();
        if self.threads < 2 || count < FEW {
            return self.worker(&next);
        }
        let all = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(|| {
                    let events = self.worker(&next);
                    all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(events);
                });
            }
            let events = self.worker(&next);
            all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(events);
        });
        all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn count(&self) -> u32 {
        self.selection.map_or(self.cache.dir_count(), Selection::len)
    }

    fn worker(&self, next: &AtomicU32) -> Vec<Event> {
        let mut reader =
            Reader { events: Vec::new(), buffer: Vec::with_capacity(1 << 15), seen: Vec::new(), children: Vec::new() };
        let count = self.count();
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= count {
                return reader.events;
            }
            for place in first..count.min(first + BATCH) {
                let (dir, look) = self.selection.map_or((place, &Look::Whole), |selection| selection.at(place));
                self.directory(dir, look, &mut reader);
            }
        }
    }

    fn directory(&self, index: u32, look: &Look, reader: &mut Reader) {
        let known = self.cache.dir(index);
        let handle = match open_directory(self.top.as_fd(), known.path()) {
            Ok(handle) => handle,
            Err(Errno::ACCESS | Errno::PERM | Errno::IO) => return reader.events.push(Event::DirUnreadable { dir: index }),
            Err(_) => return reader.events.push(Event::DirGone { dir: index }),
        };
        progress::add_files(known.file_count() as usize);
        let Ok(stat) = fstat(&handle) else { return reader.events.push(Event::DirGone { dir: index }) };
        let is_sure = self.sure_device == Some(stat.st_dev);
        let stat = FileStat::of(&stat);
        let now = DirStat { ino: stat.ino, mtime_ns: stat.mtime_ns, ctime_ns: stat.ctime_ns };
        let same_names = is_sure && known.stat() == now && settled(now.mtime_ns, now.ctime_ns, self.stamp_ns);
        if same_names {
            for file in 0..known.file_count() {
                if look.includes(known.file(file), self.stamp_ns) {
                    self.file(index, file, known.file(file), handle.as_fd(), reader);
                }
            }
            return;
        }
        reader.events.push(Event::Read { dir: index, stat: now });
        if self.names(index, look, handle.as_fd(), reader).is_err() {
            reader.events.push(Event::DirUnreadable { dir: index });
        }
    }

    /// Reads the names in a directory and compares them with the known ones.
    fn names(&self, index: u32, look: &Look, handle: BorrowedFd<'_>, reader: &mut Reader) -> Result<(), Errno> {
        let known = self.cache.dir(index);
        let Reader { events, buffer, seen, children } = &mut *reader;
        seen.clear();
        seen.resize(known.file_count() as usize, false);
        children.clear();
        children.extend(known.children());
        buffer.clear();
        let mut entries = RawDir::new(handle, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::NOENT) => break,
                Err(error) => return Err(error),
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." || (name == b".git" && index == 0) {
                continue;
            }
            let name = name.as_bstr();
            if name == ".git" {
                events.push(Event::HasGit { dir: index });
                continue;
            }
            let maybe_dir = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            if let Some(file) = known.find_file(name)
                && (entry.file_type() != FileType::Directory || known.file(file).flags() & RECHECK != 0)
            {
                seen[file as usize] = true;
                continue;
            }
            let is_child = children.binary_search_by(|child| self.cache.dir(*child).name().cmp(name)).is_ok();
            if !(maybe_dir && is_child) {
                events.push(Event::Unknown { dir: index, name: name.to_owned() });
            }
        }
        let seen = std::mem::take(seen);
        for (file, seen) in seen.iter().enumerate() {
            let file = file as u32;
            let known = known.file(file);
            if *seen && !look.includes(known, self.stamp_ns) {
                continue;
            }
            if *seen || known.kind() != RecordKind::Gitlink {
                self.file(index, file, known, handle, reader);
            } else {
                reader.events.push(Event::Gone { dir: index, file });
            }
        }
        reader.seen = seen;
        Ok(())
    }

    fn file(&self, dir: u32, file: u32, known: FileRef<'_>, handle: BorrowedFd<'_>, reader: &mut Reader) {
        let only_rules = known.kind() == RecordKind::IgnoredRules;
        if known.flags() & RECHECK != 0 || (only_rules && self.judge_ignored_rules) {
            return reader.events.push(Event::Recheck { dir, file });
        }
        let name: &[u8] = known.name();
        let event = match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.compare(dir, file, known, FileStat::of(&stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Some(Event::Gone { dir, file }),
            // Reading it will tell what is wrong.
            Err(_) => Some(Event::Changed { dir, file }),
        };
        reader.events.extend(event);
    }

    fn compare(&self, dir: u32, file: u32, known: FileRef<'_>, now: FileStat) -> Option<Event> {
        if now.file_type() == FileType::Directory {
            return Some(Event::Gone { dir, file });
        }
        let before = known.stat();
        if known.flags() & INDEX_STAT != 0 {
            let same_kind = now.entry_mode() == known.kind().mode();
            return if same_kind && same_in_index(&before, &now) {
                Some(Event::Verified { dir, file, stat: now })
            } else {
                Some(Event::Changed { dir, file })
            };
        }
        let same = before == now && before.is_settled(self.stamp_ns);
        (!same).then_some(Event::Changed { dir, file })
    }
}

/// Space that one thread uses again for each directory.
struct Reader {
    events: Vec<Event>,
    buffer: Vec<u8>,
    seen: Vec<bool>,
    children: Vec<u32>,
}

/// The names in a directory that is not known, but for `.`, `..` and `.git`; and whether a `.git` is there.
pub(super) fn read_names(handle: BorrowedFd<'_>) -> Result<(Vec<BString>, bool), Errno> {
    let mut buffer = Vec::with_capacity(1 << 15);
    let mut entries = RawDir::new(handle, buffer.spare_capacity_mut());
    let (mut names, mut has_git) = (Vec::new(), false);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Errno::NOENT) => break,
            Err(error) => return Err(error),
        };
        match entry.file_name().to_bytes() {
            b"." | b".." => {}
            b".git" => has_git = true,
            name => names.push(BStr::new(name).to_owned()),
        }
    }
    Ok((names, has_git))
}
