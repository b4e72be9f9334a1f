//! Refs and rows: whether each has the other, and leads somewhere.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;

use super::leftovers::files_below;
use super::{ProblemCode, Report};
use crate::git::{GitError, commit, refs};
use crate::model::trailers::TrailerError;
use crate::model::{Checkpoint, CheckpointId};
use crate::ops::{Context, Error};
use crate::store::Filter;

pub(super) fn examine(context: &mut Context, fix: bool, report: &mut Report) -> Result<(), Error> {
    let rows: HashMap<CheckpointId, Checkpoint> =
        context.store.list(&Filter::default())?.into_iter().map(|row| (row.id.clone(), row)).collect();
    let by_ref: HashMap<String, &Checkpoint> = rows.values().map(|row| (row.ref_name(), row)).collect();
    let broken = broken_files(context);
    for name in &broken {
        mend_broken(context, name, by_ref.get(name).copied(), fix, report)?;
    }
    let mut held: HashSet<CheckpointId> = HashSet::new();
    // What a deletion left that died half-way is taken away by the next one, and not brought back here.
    let dropped: HashSet<String> = context.store.unfinished_removals()?.into_iter().map(|(name, _)| name).collect();
    for (name, id) in refs::list(&context.repo, refs::CHECKPOINTS)? {
        // One that was written again just now is looked at like any other.
        if (broken.contains(&name) && !fix) || dropped.contains(&name) {
            continue;
        }
        if let Some(row) = by_ref.get(&name) {
            held.insert(row.id.clone());
            if row.commit != id && is_here(context, row) && !is_checkpoint(context, &name, id) {
                let message = format!("`{name}` leads to something else than checkpoint {}", row.number);
                let way = ("points it to the checkpoint again", "pointed to the checkpoint again");
                report
                    .mendable(fix, (ProblemCode::RefBroken, message), way, || Ok(refs::set(&context.repo, &name, row.commit)?))?;
                continue;
            }
        }
        examine_ref(context, (&name, id), by_ref.get(&name).copied(), fix, report)?;
    }
    let mut lost: Vec<&Checkpoint> =
        rows.values().filter(|row| !held.contains(&row.id) && !broken.contains(&row.ref_name())).collect();
    lost.sort_by_key(|row| row.number);
    for row in lost {
        mend_lost(context, row, fix, report)?;
    }
    for (name, id) in refs::list(&context.repo, refs::ORIGINALS)? {
        let is_needed = CheckpointId::parse(&name[refs::ORIGINALS.len()..]).is_ok_and(|id| rows.contains_key(&id));
        if !is_needed {
            let message = format!("`{name}` keeps exact bytes for a checkpoint that is gone");
            report.mendable(fix, (ProblemCode::OriginalsUnneeded, message), ("removes it", "removed"), || {
                Ok(refs::delete(&context.repo, &name, Some(id))?)
            })?;
        }
    }
    Ok(())
}

/// True if the commit of the row is still in the repository.
fn is_here(context: &Context, row: &Checkpoint) -> bool {
    matches!(commit::read(&context.repo.gix(), row.commit), Ok(Ok((found, _))) if found.id == row.id)
}

/// True if `id` is a commit of the checkpoint that belongs at `name`.
fn is_checkpoint(context: &Context, name: &str, id: ObjectId) -> bool {
    matches!(commit::read(&context.repo.gix(), id), Ok(Ok((found, _))) if found.ref_name() == name)
}

/// Loose refs of ours that are empty or hold no object id: a crash of the machine leaves such.
fn broken_files(context: &Context) -> HashSet<String> {
    let common = context.repo.common_dir();
    let files = [refs::CHECKPOINTS, refs::NAMES].map(|prefix| files_below(&common.join(prefix)));
    let names = files.into_iter().flatten().filter_map(|path| {
        let name = path.strip_prefix(common).ok()?.to_str()?.to_owned();
        let text = std::fs::read(&path).ok()?;
        let is_broken =
            !name.ends_with(".lock") && !text.starts_with(b"ref:") && ObjectId::from_hex(text.trim_ascii_end()).is_err();
        is_broken.then_some(name)
    });
    names.collect()
}

fn mend_broken(context: &Context, name: &str, row: Option<&Checkpoint>, fix: bool, report: &mut Report) -> Result<(), Error> {
    let message = format!("the ref `{name}` is empty or holds no object id");
    let target = match row {
        Some(row) => Some(row.commit),
        None => name_target(context, name)?,
    };
    let mut target = target.filter(|id| context.repo.gix().has_object(id));
    if target.is_none() && name.starts_with(refs::CHECKPOINTS) {
        target = commit::all(&context.repo)?.into_iter().find(|id| is_checkpoint(context, name, *id));
    }
    match target {
        Some(commit) => {
            let way = ("writes it again: its commit is there", "written again: its commit is there");
            report.mendable(fix, (ProblemCode::RefBroken, message), way, || Ok(refs::set(&context.repo, name, commit)?))
        }
        None => {
            let path = context.repo.common_dir().join(name);
            let way = ("removes it: nothing tells where it led", "removed: nothing tells where it led");
            report.mendable(fix, (ProblemCode::RefBroken, message), way, || {
                std::fs::remove_file(&path).map_err(|source| GitError::io("remove", &path, source).into())
            })
        }
    }
}

/// Where the ref of a name is to lead.
fn name_target(context: &Context, reference: &str) -> Result<Option<ObjectId>, Error> {
    let Some(name) = refs::name_of_ref(reference) else { return Ok(None) };
    Ok(context.store.by_name(&name)?.map(|checkpoint| checkpoint.commit))
}

fn examine_ref(
    context: &mut Context,
    (name, id): (&str, ObjectId),
    row: Option<&Checkpoint>,
    fix: bool,
    report: &mut Report,
) -> Result<(), Error> {
    let foreign = format!("delete it with `git update-ref -d {name}` if it is not wanted");
    let (checkpoint, origin) = match commit::read(&context.repo.gix(), id) {
        Ok(Ok(read)) => read,
        Ok(Err(TrailerError::Newer(version))) => {
            let message = format!("`{name}` was written by a newer version of git-checkpoint (format {version})");
            report.by_hand(ProblemCode::RefForeign, message, "use a version that knows it");
            return Ok(());
        }
        Ok(Err(why)) => {
            report.by_hand(ProblemCode::RefForeign, format!("`{name}` is no checkpoint of ours: {why}"), foreign);
            return Ok(());
        }
        Err(GitError::ObjectMissing(_)) => return dangling(context, name, row, report),
        Err(error) => {
            report.by_hand(ProblemCode::ObjectDamaged, format!("the commit of `{name}` cannot be read: {error}"), foreign);
            return Ok(());
        }
    };
    if checkpoint.ref_name() != name {
        let message = format!("`{name}` holds a checkpoint whose place is `{}`", checkpoint.ref_name());
        report.by_hand(ProblemCode::RefForeign, message, foreign);
        return Ok(());
    }
    match row {
        None => {
            let message = format!("`{name}` is not in the database");
            report.mendable(fix, (ProblemCode::RowMissing, message), ("adds it", "added"), || add(context, checkpoint, origin))
        }
        Some(row) if row.commit != id || row.tree != checkpoint.tree => {
            let message = format!("the database has another commit for checkpoint {} than `{name}`", row.number);
            let way = ("takes the ref's, under a new number", "taken from the ref, under a new number");
            let old = row.id.clone();
            report.mendable(fix, (ProblemCode::RowWrong, message), way, || {
                context.store.delete(&old)?;
                add(context, checkpoint, origin)
            })
        }
        Some(_) => Ok(()),
    }
}

pub(super) fn add(context: &mut Context, checkpoint: Checkpoint, origin: String) -> Result<(), Error> {
    let origin = if context.origin()? == origin { None } else { Some(origin) };
    context.store.insert(&Checkpoint { origin, ..checkpoint })?;
    Ok(())
}

/// Objects that are not there may come back: an alternate that is not mounted, a copy that is not complete. Only a person can
/// tell.
fn dangling(context: &Context, name: &str, row: Option<&Checkpoint>, report: &mut Report) -> Result<(), Error> {
    let message = match row {
        Some(row) => format!("the commit of checkpoint {} (`{name}`) is missing", row.number),
        None => format!("the commit of `{name}` is missing"),
    };
    let hint = match context.repo.gix().objects.store_ref().alternate_db_paths() {
        Ok(alternates) if !alternates.is_empty() => {
            "see whether the object directories in `objects/info/alternates` are there".to_owned()
        }
        _ => format!(
            "if a copy of the repository has it, fetch it from there; else `git update-ref -d {name}` and `git checkpoint doctor --fix`"
        ),
    };
    report.by_hand(ProblemCode::RefDangling, message, hint);
    Ok(())
}

/// A row whose ref is gone: the commit may be there still.
fn mend_lost(context: &mut Context, row: &Checkpoint, fix: bool, report: &mut Report) -> Result<(), Error> {
    let name = row.ref_name();
    // A capture may have added both since they were listed, and a deletion may have taken both away.
    if refs::read(&context.repo, &name)?.is_some() || context.store.by_id(&row.id)?.is_none() {
        return Ok(());
    }
    let message = format!("checkpoint {} has lost its ref `{name}`", row.number);
    if is_here(context, row) {
        let way = ("makes it again", "made again");
        let repo = &context.repo;
        return report.mendable(fix, (ProblemCode::RefMissing, message), way, || Ok(refs::create(repo, &name, row.commit)?));
    }
    let way = ("forgets the checkpoint: its commit is gone too", "forgotten: its commit is gone too");
    let store = &mut context.store;
    report.mendable(fix, (ProblemCode::RefMissing, message), way, || Ok(store.delete(&row.id).map(|_| ())?))
}
