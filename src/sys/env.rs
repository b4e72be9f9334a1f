//! The environment variables that the program reads, each in one place.

use std::ffi::OsString;

/// The configuration that `git -c key=value` hands to its children (`git.c`, `config.c:git_config_from_parameters`).
pub fn git_config_parameters() -> Option<OsString> {
    std::env::var_os("GIT_CONFIG_PARAMETERS")
}

/// A fixed clock for tests, in milliseconds since the Unix epoch.
pub fn test_clock() -> Option<i64> {
    std::env::var("GIT_CHECKPOINT_NOW").ok()?.parse().ok()
}

/// The home of the person.
pub fn home() -> Option<std::path::PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(Into::into)
}

/// A file for the times that the screen of `browse` took to answer.
pub fn browse_times() -> Option<OsString> {
    std::env::var_os("GIT_CHECKPOINT_BROWSE_TIMES")
}

/// The value of `name` where it is set and text.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// True if `name` is set and not empty.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// True if `name` is set to `value`.
pub fn is(name: &str, value: &str) -> bool {
    std::env::var_os(name).is_some_and(|set| set == value)
}

/// True if standard output leads to a pager that git started (`pager.c:pager_in_use`).
pub fn git_pager_in_use() -> bool {
    text("GIT_PAGER_IN_USE").is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
}

/// The terminal's width as `COLUMNS` gives it.
pub fn columns() -> Option<usize> {
    text("COLUMNS")?.parse().ok()
}

/// True if `GIT_DIR` names the repository.
pub fn git_dir_is_set() -> bool {
    std::env::var_os("GIT_DIR").is_some()
}

/// True if `GIT_WORK_TREE` names the top of the worktree.
pub fn git_work_tree_is_set() -> bool {
    std::env::var_os("GIT_WORK_TREE").is_some()
}
