//! Differences between two trees.

mod abbrev;
mod child;
mod comparison;
mod count;
mod hunk;
mod lines;
mod paint;
mod pair;
mod parallel;
mod patch;
mod paths;
mod quote;
mod reader;
mod rename;
mod similarity;
mod tree;

pub use abbrev::Abbreviator;
pub use comparison::{Comparison, Renames, Scope};
pub use count::{Count, FileCount, count, total};
pub use lines::Whitespace;
pub use paint::Palette;
pub use pair::{File, Pair, Status};
pub use patch::{Format, Patcher};
pub use paths::{Paths, limit};
pub use quote::Quoting;
pub use reader::{Differ, Driver, Reader};
pub use rename::find_renames;
pub use tree::{Change, Side, tree_changes};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
