//! The commands as a person or a program calls them: what they print, where, and how they end.

mod branch;
mod colour;
mod completion;
mod doctor;
mod drop;
mod list;
mod name;
mod pager;
mod progress;
mod prune;
mod selectors;
mod show;
mod status;
mod streams;
mod usage;
