//! The contents of files as a difference sees them.

use std::collections::HashMap;
use std::sync::Arc;

use gix::ObjectId;
use gix::attrs::StateRef;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::worktree::stack::state::attributes::Source;

use super::pair::File;
use crate::git::rule_files::RuleFiles;
use crate::git::{GitError, Objects, Repo};

/// Where contents, attributes and settings come from. Each thread reads with a [`Reader`] of its own.
#[derive(Clone)]
pub struct Differ {
    objects: Objects,
    drivers: Arc<Drivers>,
    big_file: u64,
    kept: Arc<Kept>,
}

/// Blobs that were read before and will be needed again.
pub(super) type Kept = HashMap<ObjectId, Arc<Vec<u8>>>;

impl Differ {
    /// A source over `objects`. Attributes are those of the files in the worktree of `repo`, whatever trees are compared: so
    /// does git, which has no index at hand then.
    pub fn new(repo: &Repo, objects: Objects) -> Result<Differ, GitError> {
        let gix = repo.gix();
        let config = gix.config_snapshot();
        let big_file = match config.try_integer("core.bigFileThreshold") {
            Ok(size) => size.unwrap_or(512 << 20).unsigned_abs(),
            Err(_) => {
                let value = config.string("core.bigFileThreshold").map(|value| value.to_string()).unwrap_or_default();
                return Err(GitError::BadConfig { key: "core.bigFileThreshold".into(), value });
            }
        };
        let drivers = Arc::new(Drivers::of(&config));
        Ok(Differ { objects, drivers, big_file, kept: Arc::default() })
    }

    /// Lets readers take these blobs from memory.
    pub(super) fn keep(&mut self, kept: Kept) {
        self.kept = Arc::new(kept);
    }

    /// The objects that are read.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// A reader for one thread.
    pub fn reader(&self) -> Result<Reader, GitError> {
        let mut objects = self.objects.clone();
        objects.forget_each_object();
        let stack = attributes(objects.repo())?;
        let mut outcome = gix::attrs::search::Outcome::default();
        outcome.initialize_with_selection(stack.attributes_collection(), ["diff"]);
        let (drivers, kept) = (self.drivers.clone(), self.kept.clone());
        let files = objects.repo().workdir().map(|top| RuleFiles::new(top, ".gitattributes")).transpose()?;
        Ok(Reader { objects, stack, files, outcome, drivers, big_file: self.big_file, kept })
    }

    /// A reader for each of `count` threads.
    pub fn readers(&self, count: usize) -> Result<Vec<Reader>, GitError> {
        (0..count).map(|_| self.reader()).collect()
    }
}

/// Looks up the attributes of paths in the files of the worktree.
pub(super) fn attributes(repo: &gix::Repository) -> Result<gix::worktree::Stack, GitError> {
    let no_index = gix::index::State::new(repo.object_hash());
    let stack = repo.attributes_only(&no_index, Source::WorktreeThenIdMapping);
    Ok(stack.map_err(|source| GitError::other("read the attributes", source))?.detach())
}

/// Reads contents.
pub struct Reader {
    objects: Objects,
    stack: gix::worktree::Stack,
    /// Watches over the attribute files; none without a worktree.
    files: Option<RuleFiles>,
    outcome: gix::attrs::search::Outcome,
    drivers: Arc<Drivers>,
    big_file: u64,
    kept: Arc<Kept>,
}

/// The content of one side of a pair.
pub struct Content {
    bytes: Arc<Vec<u8>>,
    binary: bool,
    size: u64,
}

/// A NUL among so many first bytes makes a file binary.
const PROBE: usize = 8000;

impl Content {
    /// The side that is not there.
    pub fn absent() -> Content {
        Content { bytes: Arc::default(), binary: false, size: 0 }
    }

    /// The bytes, to be kept.
    pub(super) fn shared(&self) -> Arc<Vec<u8>> {
        self.bytes.clone()
    }

    /// The bytes; empty for a file that is too large to be compared.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if it is not shown line by line.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Reader {
    /// The content of a file.
    pub fn read(&mut self, file: &File) -> Result<Content, GitError> {
        if file.mode.kind() == EntryKind::Commit {
            // This is what git compares of a submodule.
            let bytes = format!("Subproject commit {}\n", file.id).into_bytes();
            return Ok(Content { size: bytes.len() as u64, bytes: Arc::new(bytes), binary: false });
        }
        let read = match self.kept.get(&file.id) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.objects.blob(&file.id, self.big_file)?,
        };
        let driver = self.driver(file);
        Ok(match read {
            Ok(bytes) => {
                let binary = driver.binary.unwrap_or_else(|| bytes[..bytes.len().min(PROBE)].find_byte(0).is_some());
                Content { size: bytes.len() as u64, bytes, binary }
            }
            Err(size) => Content { bytes: Arc::default(), binary: driver.binary.unwrap_or(true), size },
        })
    }

    /// The content of a side that may not be there.
    pub fn read_side(&mut self, side: Option<&File>) -> Result<Content, GitError> {
        side.map_or_else(|| Ok(Content::absent()), |file| self.read(file))
    }

    /// How the file is to be compared. Only regular files have attributes that say so.
    pub fn driver(&mut self, file: &File) -> Driver {
        let path = file.path.as_bstr();
        // Where an attribute file cannot be read, it says nothing, as if it were not there.
        let is_sound = self.files.as_mut().is_none_or(|files| files.are_sound(path));
        if !file.is_regular() || !is_sound {
            return self.drivers.default;
        }
        self.outcome.reset();
        let mode = Some(gix::index::entry::Mode::FILE);
        let found = self.stack.at_entry(path, mode, &self.objects.repo().objects);
        // A path that cannot be looked up, because a file stands where a directory was, has no attributes of its own.
        if !found.is_ok_and(|platform| platform.matching_attributes(&mut self.outcome)) {
            return self.drivers.default;
        }
        match self.outcome.iter_selected().next().map(|found| found.assignment.state) {
            Some(StateRef::Set) => Driver { binary: Some(false), special: false },
            Some(StateRef::Unset) => Driver { binary: Some(true), special: false },
            Some(StateRef::Value(name)) => self.drivers.named(name.as_bstr()),
            Some(StateRef::Unspecified) | None => self.drivers.default,
        }
    }
}

/// How a kind of file is compared (gitattributes(5), "Generating diff text").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Driver {
    /// Whether it is binary; none if the content decides.
    pub binary: Option<bool>,
    /// It has rules of its own for function names or another algorithm, which only git knows.
    pub special: bool,
}

/// The kinds of file for which git has rules of its own for function names.
const BUILT_IN: [&str; 29] = [
    "ada",
    "bash",
    "bibtex",
    "cpp",
    "csharp",
    "css",
    "dts",
    "elixir",
    "fortran",
    "fountain",
    "golang",
    "html",
    "ini",
    "java",
    "kotlin",
    "markdown",
    "matlab",
    "objc",
    "pascal",
    "perl",
    "php",
    "python",
    "r",
    "ruby",
    "rust",
    "scheme",
    "tex",
    "xml",
    "typescript",
];

struct Drivers {
    default: Driver,
    configured: HashMap<BString, Driver>,
}

impl Drivers {
    fn of(config: &gix::config::Snapshot<'_>) -> Drivers {
        let mut configured = HashMap::new();
        let sections = config.plumbing().sections_by_name("diff").into_iter().flatten();
        for name in sections.filter_map(|section| section.header().subsection_name().map(ToOwned::to_owned)) {
            let has = |key: &str| config.plumbing().string_by("diff", Some(name.as_bstr()), key).is_some();
            let binary = config.plumbing().boolean_by("diff", Some(name.as_bstr()), "binary").ok().flatten();
            let built_in = BUILT_IN.iter().any(|known| name == *known);
            let special = built_in || has("xfuncname") || has("funcname") || has("algorithm");
            configured.insert(name, Driver { binary, special });
        }
        let default = configured.get(BStr::new("default")).copied().unwrap_or_default();
        Drivers { default, configured }
    }

    fn named(&self, name: &BStr) -> Driver {
        if let Some(&driver) = self.configured.get(name) {
            return driver;
        }
        if BUILT_IN.iter().any(|known| name == *known) {
            return Driver { binary: None, special: true };
        }
        self.default
    }
}
