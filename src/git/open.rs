//! Finding and opening the repository, and refusing what cannot be handled.
//!
//! Follows git's own discovery, including `GIT_DIR`, `GIT_WORK_TREE` and the configuration that `git -c` passes on. An
//! inherited `GIT_INDEX_FILE` is ignored on purpose: the index of a worktree is always `<git-dir>/index`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice};
use gix::sec::trust::Mapping;

use super::{Config, GitError};
use crate::model::{WorktreeId, WorktreeRef};
use crate::sys;
use crate::sys::sharing::Sharing;

/// Extensions (gitformat-repository(5)… `Documentation/technical/repository-version`) that this program understands.
const KNOWN_EXTENSIONS: [&str; 8] =
    ["noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "relativeworktrees", "refstorage"];

/// An open repository, seen from one of its worktrees.
pub struct Repo {
    shared: gix::ThreadSafeRepository,
    hash: gix::hash::Kind,
    git_dir: PathBuf,
    common_dir: PathBuf,
    top: PathBuf,
    worktree: WorktreeId,
    config: Config,
}

impl Repo {
    /// Opens the repository and worktree that `directory` lies in, or that the environment names.
    pub fn open(directory: &Path) -> Result<Repo, GitError> {
        let parameters = sys::env::git_config_parameters().unwrap_or_default();
        let overrides = parse_config_parameters(parameters.as_encoded_bytes())?;
        let options = || options().cli_overrides(overrides.clone());
        let trust = Mapping { full: options(), reduced: options() };
        let opened = gix::ThreadSafeRepository::discover_with_environment_overrides_opts(directory, Default::default(), trust);
        let mut opened = opened.map_err(|error| open_error(error, directory))?;
        if sys::env::git_dir_is_set() && !sys::env::git_work_tree_is_set() {
            opened = use_as_top(opened, directory)?;
        }
        let repo = Self::from_gix(opened)?;
        repo.check_top(&absolute(directory)?)?;
        Ok(repo)
    }

    /// Opens the repository whose top is `directory`, whatever the environment says.
    pub(crate) fn open_nested(directory: &Path) -> Result<Repo, GitError> {
        let opened = gix::ThreadSafeRepository::open_opts(directory, options());
        Self::from_gix(opened.map_err(|error| open_error(error, directory))?)
    }

    fn from_gix(shared: gix::ThreadSafeRepository) -> Result<Repo, GitError> {
        let local = shared.to_thread_local();
        check_extensions(&local)?;
        let git_dir = absolute(local.git_dir())?;
        let common_dir = absolute(local.common_dir())?;
        let Some(top) = local.workdir() else { return Err(GitError::Bare) };
        let top = absolute(top)?;
        let worktree = match git_dir.file_name() {
            Some(name) if git_dir != common_dir => WorktreeId::linked(&name.to_string_lossy()),
            _ => WorktreeId::main(),
        };
        let worktree = if is_own_top(&local, &git_dir, &common_dir, &top) {
            worktree
        } else {
            WorktreeId::placed(&worktree, &mark_of(&top)?)
        };
        let config = Config::read(&local)?;
        let hash = local.object_hash();
        Ok(Repo { shared, hash, git_dir, common_dir, top, worktree, config })
    }

    /// A handle on the `gix` repository for the calling thread. Cheap, but not free: keep it for a loop.
    pub(crate) fn gix(&self) -> gix::Repository {
        let mut local = self.shared.to_thread_local();
        local.object_cache_size_if_unset(4 * 1024 * 1024);
        local
    }

    /// The git directory of this worktree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory shared by all worktrees.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top directory of this worktree, absolute and without symbolic links.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// `directory` relative to the top, if it is the top or below it.
    pub fn prefix(&self, directory: &Path) -> Option<PathBuf> {
        Some(directory.canonicalize().ok()?.strip_prefix(&self.top).ok()?.to_owned())
    }

    /// Where this worktree's index lies.
    pub fn index_path(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// The folder for our own files of this worktree: `<git-dir>/checkpoint`, or one in it for each directory that the environment
    /// puts this git directory to work on.
    pub fn private_dir(&self) -> PathBuf {
        let folder = self.git_dir.join("checkpoint");
        match self.worktree.mark() {
            Some(mark) => folder.join(format!("at-{mark}")),
            None => folder,
        }
    }

    /// The folder for our own files of the repository: `<common-dir>/checkpoint`.
    pub fn shared_dir(&self) -> PathBuf {
        self.common_dir.join("checkpoint")
    }

    /// Which worktree this is.
    pub fn worktree_id(&self) -> &WorktreeId {
        &self.worktree
    }

    /// This worktree as checkpoints record it.
    pub fn worktree_ref(&self) -> WorktreeRef {
        WorktreeRef { id: self.worktree.clone(), path: path_bytes(&self.top) }
    }

    /// All worktrees of the repository that are still there.
    pub fn worktrees(&self) -> Vec<WorktreeRef> {
        let gix = self.gix();
        let mut found = vec![self.worktree_ref()];
        let main = gix.main_repo().ok().and_then(|main| main.workdir()?.canonicalize().ok());
        found.extend(main.map(|top| WorktreeRef { id: WorktreeId::main(), path: path_bytes(&top) }));
        for linked in gix.worktrees().unwrap_or_default() {
            if let Some(top) = linked.base().ok().and_then(|base| base.canonicalize().ok()) {
                let Ok(id) = linked.id() else { continue };
                found.push(WorktreeRef { id: WorktreeId::linked(&id.to_string()), path: path_bytes(&top) });
            }
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        found.dedup();
        found
    }

    /// The tree of what `text` names for git (gitrevisions(7)): of a commit, or the tree itself.
    pub fn tree_named(&self, text: &str) -> Option<gix::ObjectId> {
        let gix = self.gix();
        // What begins with a dash is no revision for git either.
        let id = if text.starts_with('-') { None } else { gix.rev_parse_single(text).ok() }?;
        Some(id.object().ok()?.peel_to_tree().ok()?.id)
    }

    /// The rule for everything that is made in the git directory.
    pub fn sharing(&self) -> Sharing {
        self.config.sharing
    }

    /// The `checkpoint.*` configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The hash that names objects here.
    pub fn hash_kind(&self) -> gix::hash::Kind {
        self.hash
    }

    fn check_top(&self, directory: &Path) -> Result<(), GitError> {
        if directory.starts_with(&self.common_dir) && !self.top.starts_with(&self.common_dir) && !sys::env::git_work_tree_is_set()
        {
            return Err(GitError::InsideGitDirectory);
        }
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        if !self.config.allow_home && (self.top == Path::new("/") || home.as_deref() == Some(&self.top)) {
            return Err(GitError::HomeRefused(self.top.clone()));
        }
        // Where a `.git` file leads nowhere git ends (`setup.c:setup_discovered_git_dir`, `read_gitfile_gently`); the library beneath
        // goes on to whatever lies above.
        let below = directory.ancestors().take_while(|above| *above != self.top && above.starts_with(&self.top));
        if let Some(dead) = below.filter(|_| !sys::env::git_dir_is_set()).find(|above| above.join(".git").is_file()) {
            return Err(GitError::NotWorktreeRoot(dead.to_owned()));
        }
        // A linked worktree whose `.git` file was removed lies inside another worktree's files: what git finds from there is
        // that other worktree, and a capture of it would be a capture of the wrong thing.
        for entry in std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten() {
            let Ok(link) = std::fs::read(entry.path().join("gitdir")) else { continue };
            let link = entry.path().join(os_path(link.trim()));
            let Some(linked_top) = link.parent().and_then(|top| top.canonicalize().ok()) else { continue };
            if linked_top != self.top && linked_top.starts_with(&self.top) && directory.starts_with(&linked_top) {
                return Err(GitError::NotWorktreeRoot(linked_top));
            }
        }
        Ok(())
    }
}

/// How repositories are opened. Packs may become many more while a process runs, and there must be room for them.
fn options() -> gix::open::Options {
    let slots = gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 512 };
    gix::open::Options::default().bail_if_untrusted(true).object_store_slots(slots)
}

/// True if `top` is the worktree that the git directory belongs to, or the only one that can be meant. Several directories may
/// be put to work with one git directory by `GIT_WORK_TREE`; what is known of one says nothing of another.
fn is_own_top(repo: &gix::Repository, git_dir: &Path, common_dir: &Path, top: &Path) -> bool {
    if git_dir != common_dir {
        let link = std::fs::read(git_dir.join("gitdir")).unwrap_or_default();
        let own = git_dir.join(os_path(link.trim())).parent().and_then(|own| own.canonicalize().ok());
        // A worktree that was moved by hand is found only from within.
        return own.is_none_or(|own| own == top);
    }
    let config = repo.config_snapshot();
    // The environment's word is in the configuration too.
    let is_of_repository = |meta: &gix::config::file::Metadata| meta.source.kind() == gix::config::source::Kind::Repository;
    let own = match config.plumbing().string_filter("core.worktree", is_of_repository) {
        Some(path) => git_dir.join(os_path(&path)),
        None if git_dir.file_name() == Some(OsStr::new(".git")) => git_dir.join(".."),
        None => return !(sys::env::git_work_tree_is_set() || sys::env::git_dir_is_set()),
    };
    own.canonicalize().is_ok_and(|own| own == top)
}

/// A few characters that stand for a directory.
fn mark_of(top: &Path) -> Result<String, GitError> {
    let hash = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, top.as_os_str().as_bytes());
    Ok(hash.map_err(|source| GitError::other("hash a path", source))?.to_hex_with_len(12).to_string())
}

/// With `GIT_DIR` and nothing that names the worktree, the current directory is its top (git(1), `GIT_WORK_TREE`).
fn use_as_top(opened: gix::ThreadSafeRepository, directory: &Path) -> Result<gix::ThreadSafeRepository, GitError> {
    let mut local = opened.to_thread_local();
    let config = local.config_snapshot();
    let named = config.string("core.worktree").is_some() || config.boolean("core.bare") == Some(true);
    if named {
        return Ok(opened);
    }
    let top = absolute(directory)?;
    local.set_workdir(top).map_err(|source| GitError::other("use the current directory as the worktree", source))?;
    Ok(local.into_sync())
}

/// The folder for our own files of the repository around `directory`, and who may use them, even if that cannot be worked with:
/// for the log of failures.
pub fn shared_dir_around(directory: &Path) -> Option<(PathBuf, Sharing)> {
    let found = gix::ThreadSafeRepository::discover_with_environment_overrides(directory).ok()?.to_thread_local();
    let sharing = super::config::sharing(&found).unwrap_or_default();
    Some((absolute(found.common_dir()).ok()?.join("checkpoint"), sharing))
}

/// A path of the file system as the bytes that git sees.
pub fn path_bytes(path: &Path) -> BString {
    path.as_os_str().as_bytes().into()
}

/// The bytes that git sees as a path of the file system.
pub fn os_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn absolute(path: &Path) -> Result<PathBuf, GitError> {
    path.canonicalize().map_err(|source| GitError::io("resolve", path, source))
}

fn open_error(error: gix::Error, directory: &Path) -> GitError {
    let text = std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source())
        .map(|e| e.to_string())
        .collect::<Vec<_>>()
        .join(": ");
    if text.contains("safe") || text.contains("trust") || text.contains("owned") {
        return GitError::UnsafeOwnership(directory.to_owned());
    }
    if error.is_not_found() || text.contains("Could not find a git repository") || text.contains("not a git repository") {
        return GitError::NotARepository;
    }
    GitError::other("open the repository", error)
}

fn check_extensions(repo: &gix::Repository) -> Result<(), GitError> {
    let config = repo.config_snapshot();
    for section in config.plumbing().sections_by_name("extensions").into_iter().flatten() {
        for name in section.value_names() {
            let name = name.to_string().to_ascii_lowercase();
            let value = section.value(name.as_str()).map(|value| value.to_string()).unwrap_or_default();
            if !KNOWN_EXTENSIONS.contains(&name.as_str()) {
                return Err(GitError::UnsupportedExtension(name));
            }
            if name == "refstorage" && value != "files" {
                return Err(GitError::UnsupportedExtension(format!("refStorage = {value}")));
            }
        }
    }
    Ok(())
}

/// Reads `GIT_CONFIG_PARAMETERS`: words in git's shell quoting, each `'key'='value'`, `'key'=`, `'key=value'` or `'key'`
/// (`config.c:parse_config_env_list`). Returns `key=value` words.
fn parse_config_parameters(text: &[u8]) -> Result<Vec<BString>, GitError> {
    let malformed = || GitError::BadConfig { key: "GIT_CONFIG_PARAMETERS".into(), value: text.to_str_lossy().into_owned() };
    let mut words = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (mut word, after) = unquote_word(rest).ok_or_else(malformed)?;
        rest = after;
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = value;
            // Nothing after the sign stands for a key without a value, which is true; an empty value is false.
            if rest.first() == Some(&b'\'') {
                word.push(b'=');
                let (value, after) = unquote_word(rest).ok_or_else(malformed)?;
                word.extend_from_slice(&value);
                rest = after;
            }
        }
        if !(rest.is_empty() || rest.starts_with(b" ")) {
            return Err(malformed());
        }
        rest = rest.trim_start();
        words.push(BString::from(word));
    }
    Ok(words)
}

/// Takes one word in single quotes off the front; inside, only `'\''` and `'\!'` are special (`quote.c:sq_dequote_step`).
fn unquote_word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"'")?;
    let mut word = Vec::new();
    loop {
        let end = rest.find_byte(b'\'')?;
        word.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest {
            [b'\\', escaped @ (b'\'' | b'!'), b'\'', after @ ..] => {
                word.push(*escaped);
                rest = after;
            }
            _ => return Some((word, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_parameters_are_read_in_both_of_gits_forms() {
        let table: [(&[u8], &[&str]); 7] = [
            (b"", &[]),
            (b"'a.b'='c'", &["a.b=c"]),
            (b"'a.b=c' 'd.e'='f g'", &["a.b=c", "d.e=f g"]),
            (b"'a.b'='it'\\''s'", &["a.b=it's"]),
            (b"'a.b'=''", &["a.b="]),
            (b"'a.b'=", &["a.b"]),
            (b"'a.b'", &["a.b"]),
        ];
        for (text, expected) in table {
            let words = parse_config_parameters(text).unwrap();
            assert_eq!(words, expected, "{}", text.as_bstr());
        }
    }

    #[test]
    fn malformed_config_parameters_are_refused() {
        for text in ["a.b=c", "'a.b", "'a'b"] {
            assert!(parse_config_parameters(text.as_bytes()).is_err(), "{text}");
        }
    }
}
