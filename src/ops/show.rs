//! What a checkpoint is compared with when its own change is shown or counted.

use super::{Context, Error};
use crate::git::facts::tree_of;
use crate::model::{Checkpoint, ObjectId};

/// The tree that `checkpoint` changed: that of the checkpoint before it in its worktree, else that of its HEAD, else none (the
/// empty tree).
pub fn base_tree(context: &Context, checkpoint: &Checkpoint) -> Result<ObjectId, Error> {
    if let Some(previous) = context.store.previous(checkpoint)? {
        return Ok(previous.tree);
    }
    match checkpoint.head {
        None => Ok(ObjectId::empty_tree(context.repo.hash_kind())),
        Some(head) => Ok(tree_of(&context.repo.gix(), head)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{Fixture, git};
    use crate::store::testing::{object, sample};

    #[test]
    fn the_first_checkpoint_is_compared_with_head_and_the_next_with_the_first() {
        let mut fixture = Fixture::new();
        let head = git(fixture.folder.path(), &["rev-parse", "HEAD"]).parse().unwrap();
        let tree: ObjectId = git(fixture.folder.path(), &["rev-parse", "HEAD^{tree}"]).parse().unwrap();
        for checkpoint in [Checkpoint { head: Some(head), ..sample(1) }, sample(2)] {
            fixture.context.store.insert(&checkpoint).unwrap();
        }
        let base = |n| base_tree(&fixture.context, &fixture.context.store.by_number(n).unwrap().unwrap()).unwrap();

        assert_eq!(base(1), tree);
        assert_eq!(base(2), object(1));
    }

    #[test]
    fn on_an_unborn_branch_everything_is_new() {
        let mut fixture = Fixture::new();
        fixture.context.store.insert(&sample(1)).unwrap();
        let first = fixture.context.store.by_number(1).unwrap().unwrap();

        assert!(base_tree(&fixture.context, &first).unwrap().is_empty_tree());
    }
}
