//! Black-box tests of the program: a shelf of repositories, real git as the judge.

mod cases;
mod completion;
mod install;
mod meta;
mod properties;
mod support;
mod verbs;
