//! The private stat cache: what the last capture of this worktree saw, in a form that needs no decoding.
//!
//! It holds every file that was captured, tracked or not, with its stat and object id, and every directory that was read.
//! Directories are in pre-order, the files of each sorted by name. Integers are little-endian. The file is thrown away, never
//! repaired, when anything about it is in doubt: the index is then the only source.

mod read;
mod write;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::{EntryKind, EntryMode};

pub(super) use self::read::{DirRef, FileRef, StatCache};
pub(super) use self::write::StatCacheWriter;

use crate::git::index::IndexSignature;
use crate::git::stat::FileStat;
use crate::sys::Moment;

const MAGIC: &[u8; 8] = b"gcpstat4";
const HEADER_LEN: usize = 640;
const DIR_LEN: usize = 96;
/// Length of a file record without its object id.
const FILE_FIXED_LEN: usize = 44;

/// Bits of the header's ninth byte.
const UNMERGED: u8 = 1;
const INDEX_RULES: u8 = 2;

/// What a file record stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    File,
    Executable,
    Link,
    /// A submodule or other nested repository with a commit.
    Gitlink,
    /// Something that is there but not captured, to be judged anew each time.
    Uncaptured,
    /// An ignored `.gitignore` or `.gitattributes`: not captured, but a change of it changes what is.
    IgnoredRules,
}

impl RecordKind {
    const ALL: [RecordKind; 6] = [
        RecordKind::File,
        RecordKind::Executable,
        RecordKind::Link,
        RecordKind::Gitlink,
        RecordKind::Uncaptured,
        RecordKind::IgnoredRules,
    ];

    /// The mode in a tree, for what is captured.
    pub(super) fn mode(self) -> Option<EntryMode> {
        let kind = match self {
            RecordKind::File => EntryKind::Blob,
            RecordKind::Executable => EntryKind::BlobExecutable,
            RecordKind::Link => EntryKind::Link,
            RecordKind::Gitlink => EntryKind::Commit,
            RecordKind::Uncaptured | RecordKind::IgnoredRules => return None,
        };
        Some(kind.into())
    }
}

/// The file is in the index.
pub(super) const TRACKED: u8 = 1;
/// The index asks not to look for the file (skip-worktree, assume-unchanged): if it is absent its entry stands.
pub(super) const KEEP_IF_ABSENT: u8 = 2;
/// The stat comes from the index, which keeps 32 bits of inode and size.
pub(super) const INDEX_STAT: u8 = 4;
/// The path must be judged anew whatever its stat says.
pub(super) const RECHECK: u8 = 8;

/// The index has the path, and nothing is there: it is in no tree, but should it come back no ignore rule keeps it out.
pub(super) const ABSENT: u8 = 16;

/// A file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) name: BString,
    pub(super) kind: RecordKind,
    pub(super) flags: u8,
    pub(super) stat: FileStat,
    pub(super) id: ObjectId,
}

impl Record {
    /// What is left of a tracked file that is not there any more.
    pub(super) fn absent(self) -> Record {
        Record { flags: TRACKED | RECHECK | ABSENT, stat: FileStat::default(), ..self }
    }

    /// True if nothing is known to be at the path.
    pub(super) fn is_absent(&self) -> bool {
        self.flags & ABSENT != 0
    }
}

/// Stamps of a directory; all zero if its names are not known to be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DirStat {
    pub(super) ino: u64,
    pub(super) mtime_ns: i64,
    pub(super) ctime_ns: i64,
}

/// What the whole cache depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// When the scan that filled the cache began.
    pub(super) taken: Moment,
    /// The index file.
    pub(super) index: IndexSignature,
    /// Hash of the configuration and of the files outside the worktree that decide what is captured and how.
    pub(super) rules: [u8; 32],
    /// The snapshot.
    pub(super) tree: ObjectId,
    /// The tree of the index; none if it is unmerged.
    pub(super) index_tree: Option<ObjectId>,
    /// The commit that holds every object named here, and its ref: while they are there, so are the objects.
    pub(super) anchor: ObjectId,
    pub(super) anchor_ref: String,
    /// What git's fsmonitor daemon gave to ask it by for what changed since the scan; empty if it was not there.
    pub(super) monitor: String,
    /// Paths that are intent-to-add in the index.
    pub(super) intent_to_add: Vec<BString>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gix::hash::Kind as HashKind;

    fn header() -> Header {
        Header {
            taken: Moment { boot: 42, wall_ns: 77, up_ns: 66 },
            index: IndexSignature {
                stat: FileStat { ino: 1, size: 2, mtime_ns: 3, ctime_ns: 4, mode: 0 },
                trailer: ObjectId::empty_blob(HashKind::Sha1),
            },
            rules: [9; 32],
            tree: ObjectId::empty_tree(HashKind::Sha1),
            index_tree: None,
            anchor: ObjectId::empty_blob(HashKind::Sha1),
            anchor_ref: "refs/checkpoints/a/b".into(),
            monitor: "builtin:0.1.z:7".into(),
            intent_to_add: vec!["x".into(), "y/z".into()],
        }
    }

    fn record(name: &str) -> Record {
        let stat = FileStat { ino: 5, size: 6, mtime_ns: 7, ctime_ns: 8, mode: 0o100644 };
        Record {
            name: name.into(),
            kind: RecordKind::Link,
            flags: TRACKED | RECHECK,
            stat,
            id: ObjectId::empty_blob(HashKind::Sha1),
        }
    }

    fn sample() -> StatCache {
        let mut writer = StatCacheWriter::new(HashKind::Sha1, None);
        let put = |writer: &mut StatCacheWriter, name: &str| {
            let r = record(name);
            writer.file(r.name.as_ref(), r.kind, r.flags, &r.stat, &r.id);
        };
        let top = writer.begin_dir("".into(), DirStat { ino: 1, mtime_ns: 2, ctime_ns: 3 });
        put(&mut writer, "b");
        put(&mut writer, "file");
        let a = writer.begin_dir("a".into(), DirStat::default());
        put(&mut writer, "x");
        let deep = writer.begin_dir("a/d".into(), DirStat::default());
        writer.end_dir(deep, None);
        writer.end_dir(a, Some(&ObjectId::empty_tree(HashKind::Sha1)));
        let dash = writer.begin_dir("a-b".into(), DirStat::default());
        writer.end_dir(dash, None);
        writer.end_dir(top, None);
        let mut cache = writer.finish(&header());
        cache.set_header(&header());
        cache
    }

    fn bytes_of(cache: &StatCache) -> Vec<u8> {
        let mut bytes = Vec::new();
        cache.write(&mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8], hash: HashKind) -> Option<StatCache> {
        StatCache::read(&mut &bytes[..], bytes.len() as u64, hash)
    }

    #[test]
    fn what_was_written_is_read_back() {
        let cache = read(&bytes_of(&sample()), HashKind::Sha1).unwrap();

        assert_eq!(cache.header().unwrap(), header());
        assert_eq!(cache.dir_count(), 4);
        assert_eq!(cache.dir(0).stat(), DirStat { ino: 1, mtime_ns: 2, ctime_ns: 3 });
        assert_eq!(cache.dir(0).children().map(|c| cache.dir(c).path().to_string()).collect::<Vec<_>>(), ["a", "a-b"]);
        assert_eq!(cache.dir(0).file(1).to_record(), record("file"));
        assert_eq!(cache.dir(0).find_file("file".into()), Some(1));
        assert_eq!(cache.dir(0).find_file("c".into()), None);
        assert_eq!(cache.dir(1).tree(), Some(ObjectId::empty_tree(HashKind::Sha1)));
        assert_eq!(cache.dir(2).tree(), None);
        assert_eq!(cache.dir(2).name(), "d");
        for path in ["", "a", "a/d", "a-b"] {
            assert_eq!(cache.find_dir(path.into()).map(|i| cache.dir(i).path().to_string()), Some(path.to_string()));
        }
        assert_eq!(cache.find_dir("a/c".into()), None);
    }

    #[test]
    fn a_replaced_header_is_read_back_whole() {
        let mut cache = sample();
        for replaced in [
            Header { index_tree: Some(ObjectId::empty_tree(HashKind::Sha1)), intent_to_add: vec!["later".into()], ..header() },
            Header {
                index_tree: None,
                intent_to_add: Vec::new(),
                taken: Moment { wall_ns: 78, ..header().taken },
                monitor: String::new(),
                ..header()
            },
        ] {
            cache.set_header(&replaced);

            let read = read(&bytes_of(&cache), HashKind::Sha1).unwrap();
            assert_eq!(read.header().unwrap(), replaced);
            assert_eq!(read.dir(0).find_file("file".into()), Some(1));
        }
    }

    #[test]
    fn files_can_be_copied_from_another_cache() {
        let old = sample();
        let mut writer = StatCacheWriter::new(HashKind::Sha1, Some(&old));
        let top = writer.begin_dir("".into(), DirStat::default());
        writer.copy_files(old.dir(0));
        writer.end_dir(top, None);

        let new = writer.finish(&header());

        assert_eq!(new.dir(0).files().map(FileRef::to_record).collect::<Vec<_>>(), [record("b"), record("file")]);
    }

    #[test]
    fn a_cache_that_is_not_whole_is_not_used() {
        let whole = bytes_of(&sample());

        for at in 0..whole.len() {
            for bit in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= bit;
                assert!(read(&bytes, HashKind::Sha1).is_none(), "{bit:#x} at byte {at}");
            }
            assert!(read(&whole[..at], HashKind::Sha1).is_none(), "the first {at} bytes");
        }
        assert!(read(&whole, HashKind::Sha256).is_none());
        assert!(read(&whole, HashKind::Sha1).is_some());
    }
}
