//! Differences between two trees.

mod tree;

pub use tree::{Change, Side, tree_changes};
