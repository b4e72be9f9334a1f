//! The commands as a person or a program calls them: what they print, where, and how they end.

mod branch;
mod colour;
mod completion;
mod doctor;
mod drop;
mod hook;
mod hook_failures;
mod hooks;
mod hooks_status;
mod list;
mod name;
mod pager;
mod progress;
mod prune;
mod remote;
mod restore_turn;
mod run;
mod run_signals;
mod selectors;
mod session;
mod session_active;
mod session_delete;
mod show;
mod status;
mod streams;
mod usage;
