//! The commands as a person or a program calls them: what they print, where, and how they end.

mod branch;
mod colour;
mod completion;
mod doctor;
mod list;
mod name;
mod pager;
mod progress;
mod selectors;
mod show;
mod status;
mod streams;
mod usage;
