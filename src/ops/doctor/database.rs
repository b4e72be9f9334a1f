//! The database: whether it can be read, and a new one in place of one that cannot.

use super::{ProblemCode, Report};
use crate::git::Repo;
use crate::ops::{Context, Error};
use crate::store::{Filter, Store, StoreError};
use crate::sys;

/// Opens the database of `repo`; none if it cannot be used, which the report then says.
pub(super) fn open(repo: Repo, fix: bool, report: &mut Report) -> Result<Option<Context>, Error> {
    let folder = repo.shared_dir();
    match read(&repo) {
        Ok(()) => {}
        Err(error @ StoreError::Newer { .. }) => {
            let hint = "use the version of git-checkpoint that wrote it, or a later one";
            report.by_hand(ProblemCode::DatabaseNewer, error.to_string(), hint);
            return Ok(None);
        }
        Err(error @ StoreError::Corrupt { .. }) => {
            let way = "sets it aside and makes a new one from the refs; numbers and the undo history begin anew";
            let done = "set aside, and a new one was made from the refs; numbers and the undo history begin anew";
            let aside = format!("damaged-{}", sys::now_millis());
            report.mendable(fix, (ProblemCode::DatabaseDamaged, error.to_string()), (way, done), || {
                Ok(Store::set_aside(&folder, &aside)?)
            })?;
            if !fix {
                return Ok(None);
            }
        }
        Err(error) => return Err(error.into()),
    }
    let mut context = Context { store: Store::open(&folder, repo.sharing())?, repo, pruned: 0 };
    if context.store.was_created()? {
        context.fill_from_refs()?;
    }
    Ok(Some(context))
}

/// Reads all of it once.
fn read(repo: &Repo) -> Result<(), StoreError> {
    let Some(store) = Store::open_existing(&repo.shared_dir(), repo.sharing())? else { return Ok(()) };
    store.check()?;
    store.list(&Filter::default())?;
    store.restores(repo.worktree_id())?;
    Ok(())
}
