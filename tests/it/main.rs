//! Black-box tests of the program: a shelf of repositories, real git as the judge.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

mod cases;
mod completion;
mod install;
mod meta;
mod properties;
mod support;
mod verbs;
