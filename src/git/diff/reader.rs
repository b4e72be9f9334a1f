//! The contents of files as a difference sees them.

use std::collections::HashMap;
use std::sync::Arc;

use gix::attrs::StateRef;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::worktree::stack::state::attributes::Source;

use super::pair::File;
use crate::git::{GitError, Objects, Repo};

/// Where contents, attributes and settings come from. Each thread reads with a [`Reader`] of its own.
#[derive(Clone)]
pub struct Differ {
    objects: Objects,
    index: Arc<gix::index::State>,
    drivers: Arc<Drivers>,
    big_file: u64,
}

impl Differ {
    /// A source over `objects`. Attributes are those in force in the worktree of `repo`, whatever trees are compared: so does
    /// git (gitattributes(5)).
    pub fn new(repo: &Repo, objects: Objects) -> Result<Differ, GitError> {
        let index = Arc::new(worktree_index(repo));
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
        Ok(Differ { objects, index, drivers, big_file })
    }

    /// The objects that are read.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// A reader for one thread.
    pub fn reader(&self) -> Result<Reader, GitError> {
        let objects = self.objects.clone();
        let stack = objects.repo().attributes_only(&self.index, Source::WorktreeThenIdMapping);
        let stack = stack.map_err(|source| GitError::other("read the attributes", source))?.detach();
        let mut outcome = gix::attrs::search::Outcome::default();
        outcome.initialize_with_selection(stack.attributes_collection(), ["diff"]);
        Ok(Reader { objects, stack, outcome, drivers: self.drivers.clone(), big_file: self.big_file })
    }

    /// A reader for each of `count` threads.
    pub fn readers(&self, count: usize) -> Result<Vec<Reader>, GitError> {
        (0..count).map(|_| self.reader()).collect()
    }
}

/// The index as a stand-in for `.gitattributes` files that are not checked out. One that cannot be read has none.
pub(super) fn worktree_index(repo: &Repo) -> gix::index::State {
    let index = gix::index::File::at(repo.index_path(), repo.hash_kind(), true, Default::default());
    index.map_or_else(|_| gix::index::State::new(repo.hash_kind()), gix::index::State::from)
}

/// Reads contents.
pub struct Reader {
    objects: Objects,
    stack: gix::worktree::Stack,
    outcome: gix::attrs::search::Outcome,
    drivers: Arc<Drivers>,
    big_file: u64,
}

/// The content of one side of a pair.
pub struct Content {
    bytes: Vec<u8>,
    binary: bool,
    size: u64,
}

/// A NUL among so many first bytes makes a file binary.
const PROBE: usize = 8000;

impl Content {
    /// The side that is not there.
    pub fn absent() -> Content {
        Content { bytes: Vec::new(), binary: false, size: 0 }
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
    /// The size of a file's content.
    pub fn size(&self, file: &File) -> Result<u64, GitError> {
        match file.mode.kind() {
            EntryKind::Commit => Ok(subproject(file).len() as u64),
            _ => self.objects.size(&file.id),
        }
    }

    /// The content of a file.
    pub fn read(&mut self, file: &File) -> Result<Content, GitError> {
        if file.mode.kind() == EntryKind::Commit {
            let bytes = subproject(file);
            return Ok(Content { size: bytes.len() as u64, bytes, binary: false });
        }
        let size = self.objects.size(&file.id)?;
        let driver = self.driver(file);
        if size > self.big_file {
            return Ok(Content { bytes: Vec::new(), binary: driver.binary.unwrap_or(true), size });
        }
        let mut bytes = Vec::new();
        self.objects.read(&file.id, &mut bytes)?;
        let binary = driver.binary.unwrap_or_else(|| bytes[..bytes.len().min(PROBE)].contains(&0));
        Ok(Content { bytes, binary, size })
    }

    /// The content of a side that may not be there.
    pub fn read_side(&mut self, side: Option<&File>) -> Result<Content, GitError> {
        side.map_or_else(|| Ok(Content::absent()), |file| self.read(file))
    }

    /// How the file is to be compared. Only regular files have attributes that say so.
    pub fn driver(&mut self, file: &File) -> Driver {
        if !file.is_regular() {
            return self.drivers.default;
        }
        self.outcome.reset();
        let mode = Some(gix::index::entry::Mode::FILE);
        let found = self.stack.at_entry(file.path.as_bstr(), mode, &self.objects.repo().objects);
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

/// What git compares of a submodule.
fn subproject(file: &File) -> Vec<u8> {
    format!("Subproject commit {}\n", file.id).into_bytes()
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
