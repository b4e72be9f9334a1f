//! From values to text, without any input or output.

pub mod diffstat;
pub mod doctor;
pub mod format;
pub mod handoff;
pub mod hooks;
pub mod json;
pub mod list;
pub mod memory;
pub mod restore;
pub mod retention;
pub mod session;
pub mod show;
pub mod status;
