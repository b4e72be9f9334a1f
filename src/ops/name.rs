//! Giving names to checkpoints and taking them away.

use super::restore::refuse_if_interrupted;
use super::save::{self, name_checkpoint};
use super::{Context, Error, select};
use crate::git::refs;
use crate::model::{Checkpoint, validate_name};

/// A checkpoint that got a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The checkpoint, with its new name.
    pub checkpoint: Checkpoint,
    /// The checkpoint that had the name before, if it was another.
    pub moved_from: Option<Checkpoint>,
}

/// Gives `name` to the checkpoint that `selector` names, in the database and as a ref that survives it.
pub fn name(context: &mut Context, selector: &str, name: &str) -> Result<Named, Error> {
    validate_name(name)?;
    let _lock = save::lock(context)?;
    let checkpoint = select(&context.repo, &context.store, selector)?;
    let before = context.store.by_name(name)?.filter(|before| before.id != checkpoint.id);
    let checkpoint = name_checkpoint(context, checkpoint, Some(name))?;
    Ok(Named { checkpoint, moved_from: before })
}

/// Takes `name` away and returns the checkpoint that had it; an error if none has.
pub fn delete_name(context: &mut Context, name: &str) -> Result<Checkpoint, Error> {
    refuse_if_interrupted(&context.repo)?;
    let Some(mut checkpoint) = context.store.by_name(name)? else {
        let candidates = context.store.names()?.into_iter().map(|(name, _)| name).collect();
        return Err(Error::UnknownSelector { selector: name.to_owned(), candidates });
    };
    refs::delete(&context.repo, &refs::name_ref(name), None)?;
    context.store.delete_name(name)?;
    checkpoint.names.retain(|known| known != name);
    Ok(checkpoint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ObjectId;
    use crate::ops::testing::{Fixture, git};
    use crate::store::testing::sample;

    #[test]
    fn a_name_is_given_moved_and_taken_away() {
        let mut fixture = Fixture::new();
        let commit: ObjectId = git(fixture.folder.path(), &["rev-parse", "HEAD"]).parse().unwrap();
        let (a, b) = (Checkpoint { commit, ..sample(1) }, Checkpoint { commit, ..sample(2) });
        fixture.context.store.insert(&a).unwrap();
        fixture.context.store.insert(&b).unwrap();
        let refs = |fixture: &Fixture| git(fixture.folder.path(), &["for-each-ref", "refs/checkpoint-names"]);

        let given = name(&mut fixture.context, "1", "good").unwrap();
        let moved = name(&mut fixture.context, "2", "good").unwrap();

        assert_eq!((given.checkpoint.names, given.moved_from), (vec!["good".to_owned()], None));
        assert_eq!((moved.checkpoint.number, moved.moved_from.unwrap().id), (2, a.id));
        assert_eq!(refs(&fixture), format!("{commit} commit\trefs/checkpoint-names/good"));
        let taken = delete_name(&mut fixture.context, "good").unwrap();
        assert_eq!((taken.number, taken.names), (2, vec![]));
        assert_eq!(refs(&fixture), "");
        assert!(matches!(delete_name(&mut fixture.context, "good"), Err(Error::UnknownSelector { .. })));
    }

    #[test]
    fn a_name_that_reads_as_a_selector_is_refused() {
        let mut fixture = Fixture::new();
        fixture.context.store.insert(&sample(1)).unwrap();

        assert!(matches!(name(&mut fixture.context, "1", "@x"), Err(Error::Invalid(_))));
        assert!(matches!(name(&mut fixture.context, "9", "x"), Err(Error::UnknownSelector { .. })));
    }
}
