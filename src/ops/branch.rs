//! Making an ordinary branch of a checkpoint.

use super::restore::refuse_if_interrupted;
use super::{Context, Error, select};
use crate::git::branch;
use crate::model::{Checkpoint, ObjectId};
use crate::sys;

/// Creates the branch `name` with the files of the checkpoint that `selector` names. Returns the checkpoint and the new commit.
pub fn branch(context: &Context, name: &str, selector: &str) -> Result<(Checkpoint, ObjectId), Error> {
    refuse_if_interrupted(&context.repo)?;
    if !branch::is_valid_name(name) {
        return Err(Error::Usage(format!("`{name}` is no name for a branch")));
    }
    let checkpoint = select(&context.repo, &context.store, selector)?;
    let commit = branch::create(&context.repo, name, &checkpoint, sys::now_millis())?;
    Ok((checkpoint, commit))
}
