//! Operations: one file each. An operation takes a request, works on a [`Context`] and returns a value; it prints nothing.

mod context;
mod error;

pub use context::Context;
pub use error::Error;
