//! What the tests stand on: a private environment, a repository with real git as the judge, whole-state comparison.

pub mod conversation;
mod env;
pub mod golden;
pub mod machine;
pub mod monitor;
mod oracle;
mod output;
mod program;
mod random;
mod repo;
pub mod scenes;
mod shapes;
mod sleeper;
mod state;
pub mod strace;
mod terminal;
pub mod tools;

pub use conversation::{Conversation, feed, quiet};
pub use env::TestEnv;
pub use oracle::Belief;
pub use output::Output;
pub use random::Random;
pub use repo::{TestRepo, raw};
pub use shapes::Operation;
pub use sleeper::Sleeper;
pub use state::RepoState;
pub use terminal::Terminal;

use std::path::Path;

/// How often a long test repeats: the value of an environment variable, or `usual`.
pub fn rounds(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().map_or(usual, |value| value.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// The bytes that a folder takes on disk.
pub fn disk_usage(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let below = folder.read_dir().unwrap().map(|item| {
        let path = item.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() { disk_usage(&path) } else { meta.blocks() * 512 }
    });
    below.sum::<u64>() + folder.metadata().unwrap().blocks() * 512
}
