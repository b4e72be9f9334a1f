//! Judges one path: is it captured, and if so as what.

use std::fs::File;
use std::io::Read;

use gix::ObjectId;
use gix::objs::Kind;
use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use rustix::io::Errno;

use super::exclude::Exclude;
use super::kind::Kinds;
use super::nested;
use super::resolve::{NewDir, Outcome, Shared, Task, has_forced_below, is_rules, no_object, top_fd};
use super::seed::unread;
use super::stat_cache::{ABSENT, DirStat, INDEX_STAT, KEEP_IF_ABSENT, RECHECK, Record, RecordKind, TRACKED};
use super::walk::read_names;
use crate::git::beneath::{open_directory, open_file};
use crate::git::facts::nested_head;
use crate::git::filter::{Cleaned, Filters};
use crate::git::ignore::Ignore;
use crate::git::index::join;
use crate::git::objects::LARGE;
use crate::git::odb::ObjectWriter;
use crate::git::path_names::PathNames;
use crate::git::restore::is_area;
use crate::git::stat::FileStat;
use crate::git::{GitError, os_path};
use crate::model::{SkipReason, Skipped};
use crate::sys::progress;

/// How often a file that changes while it is read is read again.
const READ_ATTEMPTS: u32 = 3;

/// One thread's judge.
pub(super) struct Judge<'a> {
    shared: &'a Shared<'a>,
    names: PathNames,
    kinds: Kinds,
    writer: ObjectWriter<'a>,
    ignore: Option<Ignore>,
    filters: Option<Filters>,
    exclude: Option<Exclude>,
    content: Vec<u8>,
    cleaned: Vec<u8>,
    outcomes: Vec<Outcome>,
    skipped: Vec<Skipped>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(shared: &'a Shared<'a>) -> Self {
        Judge {
            shared,
            names: PathNames::of(shared.repo),
            kinds: Kinds::of(shared.repo),
            writer: shared.sink.writer(&shared.repo.gix()),
            ignore: None,
            filters: None,
            exclude: None,
            content: Vec::new(),
            cleaned: Vec::new(),
            outcomes: Vec::new(),
            skipped: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> (Vec<Outcome>, Vec<Skipped>) {
        (self.outcomes, self.skipped)
    }

    /// Judges the path of `task` as it is on disk now.
    pub(super) fn judge(&mut self, mut task: Task) -> Result<(), GitError> {
        let found = statat(top_fd(self.shared), task.path.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
        let is_gone = matches!(found, Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP));
        if is_gone && task.known.as_ref().is_some_and(Record::is_absent) {
            return Ok(());
        }
        self.shared.note_rules(task.name.as_ref());
        let stat = match found {
            Ok(stat) => FileStat::of(&stat),
            Err(_) if is_gone => {
                self.drop_known(task);
                return Ok(());
            }
            Err(_) => {
                self.skip(task, SkipReason::Unreadable, None);
                return Ok(());
            }
        };
        let is_dir = stat.file_type() == FileType::Directory;
        if is_dir && let Some(known) = task.known.as_ref().filter(|known| known.kind != RecordKind::Gitlink) {
            let was_absent = known.is_absent();
            if self.shared.cache.find_dir(task.path.as_ref()).is_some() {
                // The walk has been to the directory; all there is to say is that no file is here.
                if !was_absent {
                    self.drop_known(task);
                }
                return Ok(());
            }
            if was_absent {
                task = Task { known: None, may_be_ignored: true, ..task };
            }
        }
        if is_dir && is_area(self.shared.repo, task.name.as_ref()) {
            // What an interrupted restore keeps there is no part of the worktree.
            self.drop_known(task);
            return Ok(());
        }
        if !self.names.allow(task.name.as_ref(), stat.file_type() == FileType::Symlink) {
            self.skip(task, SkipReason::InvalidPath, None);
            return Ok(());
        }
        let forced = self.shared.forced.contains(&task.path);
        if task.may_be_ignored && !forced && self.is_ignored(&task, is_dir)? {
            return self.ignored(task, is_dir, stat);
        }
        if is_dir {
            return self.directory(task);
        }
        match stat.file_type() {
            FileType::RegularFile | FileType::Symlink => {}
            _ => {
                self.skip(task, SkipReason::Special, None);
                return Ok(());
            }
        }
        let tracked = task.known.as_ref().is_some_and(|known| known.flags & TRACKED != 0);
        if !tracked && !forced {
            if self.exclude()?.matches(task.path.as_ref()) {
                self.skip(task, SkipReason::Excluded, Some(stat.size));
                return Ok(());
            }
            let limit = self.shared.repo.config().max_file_size;
            if limit > 0 && stat.file_type() == FileType::RegularFile && stat.size > limit {
                self.skip(task, SkipReason::TooLarge, Some(stat.size));
                return Ok(());
            }
        }
        self.file(task, stat, forced)
    }

    fn ignored(&mut self, task: Task, is_dir: bool, stat: FileStat) -> Result<(), GitError> {
        if is_dir && has_forced_below(self.shared.forced, task.path.as_ref()) {
            return self.directory(task);
        }
        if !is_dir && is_rules(task.name.as_ref()) {
            let id = no_object(self.shared);
            let record = Record { name: task.name, kind: RecordKind::IgnoredRules, flags: 0, stat, id };
            self.outcomes.push(Outcome::Put(task.dir, record));
        } else {
            self.drop_known(task);
        }
        Ok(())
    }

    fn drop_known(&mut self, task: Task) {
        let outcome = match task.known {
            None => return,
            Some(known) if known.flags & (TRACKED | KEEP_IF_ABSENT) == TRACKED => Outcome::Put(task.dir, known.absent()),
            Some(_) => Outcome::Drop(task.dir, task.name),
        };
        self.outcomes.push(outcome);
    }

    /// Leaves a path out and says so. What the index has of it stays, so that the snapshot does not claim it was deleted.
    fn skip(&mut self, task: Task, reason: SkipReason, size: Option<u64>) {
        self.skipped.push(Skipped { path: task.path, reason, size });
        let record = match task.known {
            Some(known) if known.flags & TRACKED != 0 => {
                Record { flags: (known.flags & !ABSENT) | RECHECK, stat: FileStat::default(), ..known }
            }
            _ => Record {
                name: task.name,
                kind: RecordKind::Uncaptured,
                flags: RECHECK,
                stat: FileStat::default(),
                id: no_object(self.shared),
            },
        };
        self.outcomes.push(Outcome::Put(task.dir, record));
    }

    fn is_ignored(&mut self, task: &Task, is_dir: bool) -> Result<bool, GitError> {
        if self.ignore.is_none() {
            self.ignore = Some(Ignore::worktree(self.shared.repo, &*self.shared.rules_index()?)?);
        }
        let ignore = self.ignore.as_mut().expect("it was just made");
        ignore.is_ignored(task.path.as_ref(), is_dir)
    }

    fn exclude(&mut self) -> Result<&mut Exclude, GitError> {
        if self.exclude.is_none() {
            self.exclude = Some(Exclude::new(self.shared.repo)?);
        }
        Ok(self.exclude.as_mut().expect("it was just made"))
    }

    /// A directory: a submodule, another repository, or a plain one whose names are to be judged.
    fn directory(&mut self, task: Task) -> Result<(), GitError> {
        if task.known.as_ref().is_some_and(|known| known.kind == RecordKind::Gitlink && known.flags & TRACKED != 0) {
            self.gitlink(task);
            return Ok(());
        }
        let handle = match open_directory(top_fd(self.shared), task.path.as_ref()) {
            Ok(handle) => handle,
            Err(Errno::ACCESS | Errno::PERM | Errno::IO) => {
                self.skip(task, SkipReason::Unreadable, None);
                return Ok(());
            }
            Err(_) => {
                self.drop_known(task);
                return Ok(());
            }
        };
        // The stamps before the names: a name that comes later changes the stamps.
        let stat = rustix::fs::fstat(&handle).map(|stat| FileStat::of(&stat)).unwrap_or_default();
        let Ok((names, has_git)) = read_names(std::os::fd::AsFd::as_fd(&handle)) else {
            self.skip(task, SkipReason::Unreadable, None);
            return Ok(());
        };
        if has_git && nested::is_repository(self.shared.repo.top(), task.path.as_ref()) {
            self.gitlink(task);
            return Ok(());
        }
        // What holds a `.git` that is none yet is to be read again: it may become a repository without another name in it.
        let dir_stat = match has_git {
            true => unread(),
            false => DirStat { ino: stat.ino, mtime_ns: stat.mtime_ns, ctime_ns: stat.ctime_ns },
        };
        let key = self.shared.new_dir(NewDir { parent: task.dir, path: task.path.clone(), stat: dir_stat });
        let tasks = names.into_iter().map(|name| Task {
            dir: key,
            path: join(task.path.as_ref(), name.as_ref()),
            name,
            known: None,
            may_be_ignored: true,
        });
        self.shared.push(tasks.collect());
        self.drop_known(task);
        Ok(())
    }

    /// A repository of its own: recorded by the commit it stands at, never entered.
    fn gitlink(&mut self, task: Task) {
        let directory = self.shared.repo.top().join(os_path(&task.path));
        let tracked = task.known.as_ref().filter(|known| known.kind == RecordKind::Gitlink && known.flags & TRACKED != 0);
        let head = if nested::is_repository(self.shared.repo.top(), task.path.as_ref()) { nested_head(&directory) } else { None };
        // The id of a repository with another hash has no place in a tree.
        let head = head.filter(|id| id.kind() == self.shared.repo.hash_kind());
        let Some(id) = head.or(tracked.map(|known| known.id)) else {
            return self.skip(task, SkipReason::NestedRepository, None);
        };
        if nested::is_dirty(&directory) {
            self.skipped.push(Skipped { path: task.path, reason: SkipReason::DirtySubmodule, size: None });
        }
        let flags = RECHECK | tracked.map_or(0, |known| known.flags & TRACKED);
        self.outcomes.push(Outcome::Put(
            task.dir,
            Record { name: task.name, kind: RecordKind::Gitlink, flags, stat: FileStat::default(), id },
        ));
    }

    fn file(&mut self, task: Task, stat: FileStat, forced: bool) -> Result<(), GitError> {
        if task.known.is_none() {
            progress::add_files(1);
        }
        let kind = self.kinds.kind(self.shared, &task, &stat)?;
        let read = if stat.file_type() == FileType::Symlink { self.read_link(&task)? } else { self.read_file(&task, kind)? };
        match read {
            Reading::Stored(id, stat) => {
                let known = task.known.as_ref().map_or(0, |known| known.flags & !(RECHECK | INDEX_STAT | ABSENT));
                // What was forced in for once is judged by the rules again the next time.
                let flags = if forced && known & TRACKED == 0 { known | RECHECK } else { known };
                self.outcomes.push(Outcome::Put(task.dir, Record { name: task.name, kind, flags, stat, id }));
            }
            Reading::Vanished => self.drop_known(task),
            Reading::Unreadable => self.skip(task, SkipReason::Unreadable, Some(stat.size)),
            Reading::Unstable => self.skip(task, SkipReason::Unstable, Some(stat.size)),
            Reading::Unconvertible => self.skip(task, SkipReason::Unconvertible, Some(stat.size)),
        }
        Ok(())
    }

    fn read_link(&mut self, task: &Task) -> Result<Reading, GitError> {
        let path: &[u8] = &task.path;
        let stat = statat(top_fd(self.shared), path, AtFlags::SYMLINK_NOFOLLOW);
        match (stat, readlinkat(top_fd(self.shared), path, Vec::new())) {
            (Ok(stat), Ok(target)) => {
                let id = self.writer.add(Kind::Blob, target.as_bytes())?;
                Ok(Reading::Stored(id, FileStat::of(&stat)))
            }
            (_, Err(Errno::ACCESS | Errno::PERM | Errno::IO)) => Ok(Reading::Unreadable),
            _ => Ok(Reading::Vanished),
        }
    }

    /// Reads, cleans and stores a file. If it changes while it is read it is read again; in the end what was read counts, and
    /// no stat, so that the next capture reads it once more.
    fn read_file(&mut self, task: &Task, kind: RecordKind) -> Result<Reading, GitError> {
        for attempt in 1..=READ_ATTEMPTS {
            let handle = match open_file(top_fd(self.shared), task.path.as_ref()) {
                Ok(handle) => handle,
                Err(Errno::ACCESS | Errno::PERM | Errno::IO | Errno::NXIO) => return Ok(Reading::Unreadable),
                Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                    return Err(GitError::io("open", os_path(&task.path), error));
                }
                Err(_) => return Ok(Reading::Vanished),
            };
            let file = File::from(handle);
            let before = fstat(&file)?;
            if before.file_type() != FileType::RegularFile {
                return Ok(Reading::Vanished);
            }
            let again = file.try_clone().map_err(|source| GitError::io("open", os_path(&task.path), source))?;
            let id = match self.store(task, kind, file, before.size) {
                Ok(id) => id,
                Err(GitError::Io { action: "read", .. }) => return Ok(Reading::Unreadable),
                Err(GitError::Filter { .. }) if self.is_malformed(task)? => return Ok(Reading::Unconvertible),
                Err(error) => return Err(error),
            };
            progress::add_bytes(before.size);
            let stable = fstat(&again)? == before;
            match id {
                Some(id) if stable => return Ok(Reading::Stored(id, before)),
                Some(id) if attempt == READ_ATTEMPTS => return Ok(Reading::Stored(id, FileStat::default())),
                _ => {}
            }
        }
        Ok(Reading::Unstable)
    }

    /// Stores the content of `file`; none if its length was not `size` after all and that could not be helped.
    fn store(&mut self, task: &Task, kind: RecordKind, file: File, size: u64) -> Result<Option<ObjectId>, GitError> {
        let failed = |source| GitError::io("read", os_path(&task.path), source);
        let file = if kind == RecordKind::Link { Some(file) } else { self.clean(task, file)? };
        let Some(mut file) = file else { return self.writer.add(Kind::Blob, &self.cleaned).map(Some) };
        if size > LARGE {
            return self.writer.add_stream(size, file);
        }
        self.content.clear();
        self.content.reserve(usize::try_from(size).unwrap_or_default() + 1);
        file.read_to_end(&mut self.content).map_err(failed)?;
        self.writer.add(Kind::Blob, &self.content).map(Some)
    }

    fn is_malformed(&mut self, task: &Task) -> Result<bool, GitError> {
        match (self.filters.as_mut(), open_file(top_fd(self.shared), task.path.as_ref())) {
            (Some(filters), Ok(handle)) => filters.is_malformed(task.path.as_ref(), File::from(handle)),
            _ => Ok(false),
        }
    }

    fn clean(&mut self, task: &Task, file: File) -> Result<Option<File>, GitError> {
        if self.filters.is_none() {
            self.filters = Some(Filters::lazy(self.shared.repo, &*self.shared.rules_index()?, self.shared.index.clone())?);
        }
        let filters = self.filters.as_mut().expect("it was just made");
        match filters.to_git(task.path.as_ref(), file, &mut self.cleaned)? {
            Cleaned::Unchanged(file) => Ok(Some(file)),
            Cleaned::Changed => Ok(None),
        }
    }
}

/// What became of reading a file.
enum Reading {
    /// It is stored; the stat under which it is known to have this content, or a zero one.
    Stored(ObjectId, FileStat),
    Vanished,
    Unreadable,
    Unstable,
    Unconvertible,
}

fn fstat(file: &File) -> Result<FileStat, GitError> {
    rustix::fs::fstat(file)
        .map(|stat| FileStat::of(&stat))
        .map_err(|source| GitError::other("look at a file", std::io::Error::from(source)))
}
