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
