//! `git checkpoint`: exact, reversible snapshots of a git worktree.
//!
//! The house has seven rooms and one direction, `cli → ops → {git, store, agents} → model`:
//!
//! * [`model`]: values and rules, without any input or output.
//! * [`git`]: everything that names `gix`, the worktree's files and git's own files.
//! * [`store`]: everything that names `rusqlite`; an index of the refs that can be rebuilt from them.
//! * [`agents`]: everything that knows a coding agent's own files: its settings, hooks and transcripts.
//! * [`ops`]: one file per operation; joins the rooms below.
//! * [`cli`]: the command line and the terminal.
//! * [`sys`]: the few facts of the running process and machine that the others ask for.

pub mod agents;
pub mod cli;
pub mod git;
pub mod model;
pub mod ops;
pub mod store;
pub mod sys;
