//! The `checkpoint.*` configuration, read with git's precedence.

use std::collections::BTreeSet;
use std::time::Duration;

use gix::bstr::{BStr, BString, ByteSlice};

use super::{GitError, Repo};
use crate::model::What;
use crate::model::retention::Limits;
use crate::sys::sharing::Sharing;

/// What `checkpoint.restore.mainWorktree` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MainWorktree {
    /// Restoring the main worktree needs consent like any other; the prompt names it.
    Ask,
    /// Only linked worktrees may be restored.
    Refuse,
    /// The main worktree is like any other.
    Allow,
}

/// Values of `checkpoint.*` in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `checkpoint.enabled`: false makes every capture a no-op.
    pub enabled: bool,
    /// `checkpoint.maxFileSize` in bytes; 0 means no limit. Applies to untracked files only.
    pub max_file_size: u64,
    /// `checkpoint.exclude`: pathspecs of untracked files to leave out.
    pub exclude: Vec<BString>,
    /// `checkpoint.allowHome`: the home directory and `/` may be worktrees.
    pub allow_home: bool,
    /// `checkpoint.lockTimeout`: how long to wait for `index.lock`.
    pub lock_timeout: Duration,
    /// `checkpoint.restore.mainWorktree`.
    pub main_worktree: MainWorktree,
    /// `checkpoint.restore.what`: what comes back unless a restore is told.
    pub restore_what: What,
    /// `checkpoint.restore.verify`: what was written is read again.
    pub verify: bool,
    /// `checkpoint.statCache`: false re-reads every file.
    pub stat_cache: bool,
    /// `checkpoint.keepLast`, `checkpoint.maxAge` and `checkpoint.maxSize`.
    pub retention: Limits,
    /// `checkpoint.autoPrune`: a save removes what the limits let go, once a day.
    pub auto_prune: bool,
    /// `checkpoint.memory`: checkpoints of an agent's turns tell where in the conversation they belong.
    pub memory: bool,
    /// `checkpoint.remote`: where `push` and `fetch` go unless a remote is named.
    pub remote: Option<String>,
    /// `core.fsync` names the index: it is flushed to the disk when it is written.
    pub sync_index: bool,
    /// `core.sharedRepository`: who may use what is made in the git directory.
    pub sharing: Sharing,
}

impl Config {
    /// Reads the configuration of `repo`; a value that cannot be understood is an error.
    pub(super) fn read(repo: &gix::Repository) -> Result<Config, GitError> {
        let snapshot = repo.config_snapshot();
        let boolean = |key: &str, default: bool| match snapshot.try_boolean(key) {
            Ok(value) => Ok(value.unwrap_or(default)),
            Err(_) => Err(bad(key, &snapshot.string(key).map(|v| v.to_string()).unwrap_or_default())),
        };
        let text = |key| Ok::<_, GitError>(values(&snapshot, key)?.pop().map(|value| value.to_string()));
        let number = |key: &'static str, default: u64| match (text(key)?, snapshot.try_integer(key)) {
            (None, _) => Ok(default),
            (Some(_), Ok(Some(value))) if value >= 0 => Ok(value.unsigned_abs()),
            (Some(value), _) => Err(bad(key, &value)),
        };
        let duration = |key: &'static str, default: u64, parse: fn(&str) -> Option<Duration>| match text(key)? {
            None => Ok(Duration::from_secs(default)),
            Some(value) => parse(&value).ok_or_else(|| bad(key, &value)),
        };
        let main_worktree = match text("checkpoint.restore.mainWorktree")?.as_deref() {
            None | Some("ask") => MainWorktree::Ask,
            Some("refuse") => MainWorktree::Refuse,
            Some("allow") => MainWorktree::Allow,
            Some(value) => return Err(bad("checkpoint.restore.mainWorktree", value)),
        };
        let restore_what = match text("checkpoint.restore.what")? {
            None => What::Code,
            Some(value) => What::parse(&value).ok_or_else(|| bad("checkpoint.restore.what", &value))?,
        };
        Ok(Config {
            enabled: boolean("checkpoint.enabled", true)?,
            max_file_size: number("checkpoint.maxFileSize", 100 << 20)?,
            exclude: excluded(&snapshot)?,
            allow_home: boolean("checkpoint.allowHome", false)?,
            lock_timeout: duration("checkpoint.lockTimeout", 5, parse_duration)?,
            main_worktree,
            restore_what,
            verify: boolean("checkpoint.restore.verify", true)?,
            stat_cache: boolean("checkpoint.statCache", true)?,
            retention: Limits {
                keep_last: number("checkpoint.keepLast", 500)?,
                max_age: duration("checkpoint.maxAge", 90 * 24 * 3600, parse_age)?,
                max_size: number("checkpoint.maxSize", 0)?,
            },
            auto_prune: boolean("checkpoint.autoPrune", true)?,
            memory: boolean("checkpoint.memory", true)?,
            remote: text("checkpoint.remote")?.filter(|name| !name.is_empty()),
            sync_index: syncs_index(snapshot.string("core.fsync").as_deref().map(|value| value.as_bstr())),
            sharing: sharing(repo)?,
        })
    }
}

/// The keys below `checkpoint.` that mean something.
pub const SETTINGS: [&str; 15] = [
    "enabled",
    "maxFileSize",
    "exclude",
    "allowHome",
    "lockTimeout",
    "restore.mainWorktree",
    "restore.what",
    "restore.verify",
    "statCache",
    "keepLast",
    "maxAge",
    "maxSize",
    "autoPrune",
    "remote",
    "memory",
];

/// The keys below `checkpoint.` that are set and mean nothing, sorted.
pub fn unknown_settings(repo: &Repo) -> Vec<String> {
    let gix = repo.gix();
    let config = gix.config_snapshot();
    let mut unknown = BTreeSet::new();
    for section in config.plumbing().sections_by_name("checkpoint").into_iter().flatten() {
        let below = section.header().subsection_name().map(|name| format!("{}.", name.to_str_lossy())).unwrap_or_default();
        for key in section.body().value_names() {
            let key = format!("{below}{}", key);
            // The name of a subsection keeps its case, that of a key does not (git-config(1)).
            let is_known = SETTINGS.iter().any(|known| known.eq_ignore_ascii_case(&key) && known.starts_with(&below));
            if !is_known {
                unknown.insert(format!("checkpoint.{key}"));
            }
        }
    }
    unknown.into_iter().collect()
}

/// All values of a key, such as `checkpoint.restore.what`, the one that counts most last. A key that stands there alone has no
/// value, which only a boolean may do without (`config.c:config_error_nonbool`).
fn values(snapshot: &gix::config::Snapshot<'_>, key: &'static str) -> Result<Vec<BString>, GitError> {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let (subsection, name) = rest.rsplit_once('.').map_or((None, rest), |(subsection, name)| (Some(subsection), name));
    let mut all = Vec::new();
    for section in snapshot.plumbing().sections_by_name(section).into_iter().flatten() {
        if section.header().subsection_name() != subsection.map(BStr::new) {
            continue;
        }
        if section.value_implicit(name) == Some(None) {
            return Err(GitError::MissingConfigValue(key));
        }
        all.extend(section.values(name));
    }
    Ok(all)
}

/// The pathspecs of `checkpoint.exclude`, each of which must be one.
fn excluded(snapshot: &gix::config::Snapshot<'_>) -> Result<Vec<BString>, GitError> {
    const KEY: &str = "checkpoint.exclude";
    let patterns = values(snapshot, KEY)?;
    let is_bad = |pattern: &&BString| gix::pathspec::parse(pattern, gix::pathspec::Defaults::default()).is_err();
    match patterns.iter().find(is_bad) {
        Some(pattern) => Err(bad(KEY, &pattern.to_string())),
        None => Ok(patterns),
    }
}

/// What `core.sharedRepository` says (`setup.c:git_config_perm`). A key without a value is true.
pub(super) fn sharing(repo: &gix::Repository) -> Result<Sharing, GitError> {
    const KEY: &str = "sharedRepository";
    let config = repo.config_snapshot();
    let sections = config.plumbing().sections_by_name("core").into_iter().flatten();
    let plain = sections.filter(|section| section.header().subsection_name().is_none());
    let Some(value) = plain.filter_map(|section| section.value_implicit(KEY)).last() else { return Ok(Sharing::Umask) };
    let parsed =
        gix::config::tree::Core::SHARED_REPOSITORY.try_into_shared_repository(value.as_ref().map(|value| value.as_bstr()));
    let malformed = |_| bad("core.sharedRepository", &value.as_ref().map(|value| value.to_string()).unwrap_or_default());
    // As in git, a number below zero stands for a mode that is not to be added but to be set.
    Ok(match parsed.map_err(malformed)? {
        0 => Sharing::Umask,
        mode if mode > 0 => Sharing::Grant(mode.unsigned_abs()),
        mode => Sharing::Exactly(mode.unsigned_abs()),
    })
}

/// True if `core.fsync` includes the index (git-config(1)): git does not wait for it unless asked to. A later component counts
/// more than an earlier one.
fn syncs_index(value: Option<&BStr>) -> bool {
    let mut on = false;
    for component in value.unwrap_or_default().split(|byte| *byte == b',' || *byte == b' ') {
        match component {
            b"index" | b"added" | b"all" => on = true,
            b"-index" | b"-added" | b"-all" | b"none" => on = false,
            _ => {}
        }
    }
    on
}

fn bad(key: &str, value: &str) -> GitError {
    GitError::BadConfig { key: key.to_owned(), value: value.to_owned() }
}

/// Reads a span of time: a number followed by `ms`, `s`, `m`, `h`, `d` or `w`; a bare number counts seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let millis = match text[digits..].trim() {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    number.checked_mul(millis).map(Duration::from_millis)
}

/// Reads the age at which something may be removed; `0` and `never` mean that it may not. Stricter than [`parse_duration`], as a
/// slip removes much: a number needs a unit, and `m` could be minutes or months.
pub fn parse_age(text: &str) -> Option<Duration> {
    let text = text.trim();
    match text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start() {
        _ if text == "0" || text == "never" => Some(Duration::ZERO),
        "" | "m" => None,
        _ => parse_duration(text),
    }
}

/// Reads a number of bytes as git does (git-config(1), `integer`), with `k`, `m` or `g`.
pub fn parse_size(text: &str) -> Option<u64> {
    let number = gix::config::Integer::try_from(BStr::new(text.trim())).ok()?;
    u64::try_from(number.to_decimal()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_flushed_if_git_would_do_so() {
        for (value, on) in [("all", true), ("committed", false), ("objects,index", true), ("added", true), ("all,-index", false)]
        {
            assert_eq!(syncs_index(Some(value.into())), on, "{value}");
        }
        assert!(!syncs_index(None));
    }

    #[test]
    fn an_age_needs_a_unit_that_cannot_be_taken_for_another() {
        let day = 24 * 3600;
        for (text, seconds) in [("90d", 90 * day), ("2w", 14 * day), ("12h", day / 2), ("5 min", 300), ("0", 0), ("never", 0)] {
            assert_eq!(parse_age(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "90", "3m", "3 m", "-1d", "soon", "1y"] {
            assert_eq!(parse_age(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_size_is_read_as_git_reads_it() {
        assert_eq!((parse_size("10"), parse_size("2k"), parse_size("1g")), (Some(10), Some(2048), Some(1 << 30)));
        for bad in ["", "-1", "x", "1.5m", "k"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_of_time_have_a_number_and_a_unit() {
        assert_eq!(parse_duration("5s"), Some(Duration::from_secs(5)));
        assert_eq!(parse_duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("2 h"), Some(Duration::from_secs(7200)));
        assert_eq!(parse_duration("7"), Some(Duration::from_secs(7)));
        for bad in ["", "s", "-1s", "5x", "99999999999999999999s"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
