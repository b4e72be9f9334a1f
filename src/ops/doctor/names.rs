//! Names: each is in the database and, to outlive it, a ref.

use std::collections::{HashMap, HashSet};

use super::{ProblemCode, Report};
use crate::git::{commit, refs};
use crate::ops::{Context, Error};

/// What is done for a name that only the refs have, and what was done.
const KNOWN_AGAIN: (&str, &str) = ("adds it", "added");

fn unknown_name(name: &str) -> String {
    format!("the database does not know the name `{name}`")
}

pub(super) fn examine(context: &mut Context, fix: bool, report: &mut Report) -> Result<(), Error> {
    let mut rows: HashMap<String, u64> = context.store.names()?.into_iter().collect();
    let held: HashSet<String> = refs::list(&context.repo, refs::CHECKPOINTS)?.into_iter().map(|(name, _)| name).collect();
    for (reference, id) in refs::list(&context.repo, refs::NAMES)? {
        let Some(name) = refs::name_of_ref(&reference) else {
            let hint = format!("delete it with `git update-ref -d {reference}` if it is not wanted");
            report.by_hand(ProblemCode::RefForeign, format!("`{reference}` is no name of ours"), hint);
            continue;
        };
        let number = rows.remove(&name);
        let named = context.store.by_commit_prefix(&id.to_string())?.into_iter().next();
        let Some(named) = named else {
            if matches!(commit::read(&context.repo.gix(), id), Ok(Ok((found, _))) if held.contains(&found.ref_name())) {
                // Its checkpoint has lost its row, which `--fix` makes again before it comes to the names.
                report.mendable(fix, (ProblemCode::NameMissing, unknown_name(&name)), KNOWN_AGAIN, || Ok(()))?;
                continue;
            }
            let message = format!("the name `{name}` leads to no checkpoint");
            let (repo, store) = (&context.repo, &mut context.store);
            report.mendable(fix, (ProblemCode::NameDangling, message), ("removes it", "removed"), || {
                store.delete_name(&name)?;
                Ok(refs::delete(repo, &reference, Some(id))?)
            })?;
            continue;
        };
        if number != Some(named.number) {
            let store = &mut context.store;
            report.mendable(fix, (ProblemCode::NameMissing, unknown_name(&name)), KNOWN_AGAIN, || {
                Ok(store.set_name(&name, &named.id).map(|_| ())?)
            })?;
        }
    }
    let mut without_ref: Vec<(String, u64)> = rows.into_iter().collect();
    without_ref.sort();
    for (name, number) in without_ref {
        let Some(checkpoint) = context.store.by_number(number)? else { continue };
        let message = format!("the name `{name}` of checkpoint {number} has no ref to outlive the database");
        let repo = &context.repo;
        report.mendable(fix, (ProblemCode::NameMissing, message), ("makes it", "made"), || {
            Ok(refs::set(repo, &refs::name_ref(&name), checkpoint.commit)?)
        })?;
    }
    Ok(())
}
