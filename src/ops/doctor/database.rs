//! The database: whether it can be read, and a new one in place of one that cannot.

use std::collections::HashMap;

use super::{Cure, Problem, ProblemCode, Report};
use crate::git::{Repo, refs};
use crate::ops::{Context, Error};
use crate::store::{Salvage, Store, StoreError};
use crate::sys;

/// Opens the database of `repo`; none if it cannot be used, which the report then says.
pub(super) fn open(repo: Repo, fix: bool, report: &mut Report) -> Result<Option<Context>, Error> {
    let damage = match read(&repo) {
        Ok(()) => None,
        Err(error @ StoreError::Newer { .. }) => {
            let hint = "use the version of git-checkpoint that wrote it, or a later one";
            report.by_hand(ProblemCode::DatabaseNewer, error.to_string(), hint);
            return Ok(None);
        }
        Err(error @ StoreError::Corrupt { .. }) => Some(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let (code, cure) = (ProblemCode::DatabaseDamaged, if fix { Cure::Done } else { Cure::Possible });
    match damage {
        Some(message) if fix => {
            let (context, hint) = make_anew(repo)?;
            report.problems.push(Problem { code, message, hint, cure });
            Ok(Some(context))
        }
        Some(message) => {
            let hint =
                "`git checkpoint doctor --fix` sets it aside and makes a new one from the refs and from what can be read of it";
            report.problems.push(Problem { code, message, hint: hint.to_owned(), cure });
            Ok(None)
        }
        None => {
            let mut context = Context { store: Store::open(&repo.shared_dir(), repo.sharing())?, repo, pruned: 0 };
            if context.store.was_created()? {
                context.fill_from_refs(&HashMap::new())?;
            }
            Ok(Some(context))
        }
    }
}

/// Reads all of it once.
fn read(repo: &Repo) -> Result<(), StoreError> {
    let Some(store) = Store::open_existing(&repo.shared_dir(), repo.sharing())? else { return Ok(()) };
    store.check()?;
    store.read_everything()
}

/// Sets the database aside and makes a new one of what can be read of it and of the refs. Says what was done and what is lost.
fn make_anew(repo: Repo) -> Result<(Context, String), Error> {
    let folder = repo.shared_dir();
    let salvage = Salvage::read(&folder);
    let aside = format!("damaged-{}", sys::now_millis());
    Store::set_aside(&folder, &aside)?;
    let mut context = Context { store: Store::open(&folder, repo.sharing())?, repo, pruned: 0 };
    context.store.take_over(&salvage)?;
    context.fill_from_refs(&salvage.numbers)?;
    // Those that have no ref any more; whether their commits are there is looked at next.
    context.store.insert_numbered(&salvage.checkpoints, &salvage.numbers)?;
    let lost = lost(&context, &salvage)?;
    Ok((context, format!("set aside as `checkpoints.db.{aside}`, and a new one was made: {lost}")))
}

fn lost(context: &Context, salvage: &Salvage) -> Result<String, Error> {
    if salvage.numbers.is_empty() && salvage.steps() == 0 && salvage.is_cut_short {
        return Ok("nothing of the old one could be read, so numbers and the undo history begin anew".to_owned());
    }
    let counted = |count: u64, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let names = refs::list(&context.repo, refs::CHECKPOINTS)?;
    let known = |name: &str| salvage.numbers.keys().any(|id| name.ends_with(id.as_str()));
    let renumbered = names.iter().filter(|(name, _)| !known(name)).count() as u64;
    let mut lost = Vec::new();
    if renumbered > 0 {
        lost.push(counted(renumbered, "checkpoint has a new number", "checkpoints have new numbers"));
    }
    if salvage.lost_steps > 0 {
        lost.push(counted(salvage.lost_steps, "step of undo is lost", "steps of undo are lost"));
    }
    if salvage.lost_rows > 0 {
        lost.push(counted(salvage.lost_rows, "other row is lost", "other rows are lost"));
    }
    if salvage.is_cut_short {
        lost.push("steps of undo may be lost, because the old one could not be read to its end".to_owned());
    }
    Ok(if lost.is_empty() { "nothing was lost".to_owned() } else { lost.join(", ") })
}
