//! Carrying checkpoints to another repository in one file.

use std::fs::File;
use std::path::Path;

use super::restore::refuse_if_interrupted;
use super::save::lock;
use super::{Context, Error, select};
use crate::git::{GitError, bundle, commit, refs};
use crate::model::{Checkpoint, ObjectId, SessionKey};
use crate::store::Filter;

/// Which checkpoints to export.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// Selectors; if there are none, all of the session, or all of this worktree.
    pub selectors: Vec<String>,
    /// Only those of this session.
    pub session: Option<SessionKey>,
    /// Leave out what is reachable from this checkpoint, which the receiver has.
    pub since: Option<String>,
}

/// What an import found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Checkpoints that were not here before, in order of time.
    pub new: Vec<Checkpoint>,
    /// Checkpoints that were here already.
    pub known: Vec<Checkpoint>,
    /// Names that another checkpoint has here, which were therefore not given.
    pub taken: Vec<String>,
}

/// What a bundle holds.
struct Contents {
    checkpoints: Vec<Checkpoint>,
    names: Vec<(String, ObjectId)>,
}

/// Writes checkpoints with their names to `target` as a git bundle.
pub fn export(context: &Context, request: &ExportRequest, target: &Path) -> Result<Vec<Checkpoint>, Error> {
    let mut chosen = Vec::new();
    for selector in &request.selectors {
        chosen.push(select(&context.repo, &context.store, selector)?);
    }
    if chosen.is_empty() {
        let worktree = request.session.is_none().then(|| context.repo.worktree_id().clone());
        chosen = context.store.list(&Filter { worktree, session: request.session.clone(), ..Filter::default() })?;
    }
    if chosen.is_empty() {
        return Err(Error::Usage("there is no checkpoint to export".into()));
    }
    let without: Vec<ObjectId> = match &request.since {
        None => Vec::new(),
        Some(since) => vec![select(&context.repo, &context.store, since)?.commit],
    };
    let names = chosen.iter().flat_map(|checkpoint| checkpoint.names.iter().map(|name| refs::name_ref(name)));
    let wanted: Vec<String> = chosen.iter().map(Checkpoint::ref_name).chain(names).collect();
    let temp = target.with_file_name(format!(
        ".{}.{}.tmp",
        target.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    let written = bundle::write(&context.repo, &temp, &wanted, &without)
        .and_then(|()| std::fs::rename(&temp, target).map_err(|source| GitError::io("write", target, source)));
    if written.is_err() {
        let _ = std::fs::remove_file(&temp);
    }
    written?;
    Ok(chosen)
}

/// Reads the checkpoints in the bundle `source`: objects, refs and rows are added, nothing else is touched. Everything is
/// checked first. With `only_check` nothing is written.
pub fn import(context: &mut Context, source: &Path, only_check: bool) -> Result<Imported, Error> {
    if !only_check {
        refuse_if_interrupted(&context.repo)?;
    }
    let file = File::open(source).map_err(|error| GitError::io("open", source, error))?;
    let incoming = bundle::read(&context.repo, file)?;
    let Contents { checkpoints, names } = check(context, &incoming)?;
    let mut imported = Imported { new: Vec::new(), known: Vec::new(), taken: Vec::new() };
    for checkpoint in checkpoints {
        match context.store.by_id(&checkpoint.id)? {
            Some(known) if known.commit == checkpoint.commit => imported.known.push(known),
            Some(_) => {
                return Err(GitError::BadBundle(format!("checkpoint {} in it is not the one that is here", checkpoint.id)).into());
            }
            None => imported.new.push(checkpoint),
        }
    }
    if only_check {
        return Ok(imported);
    }
    context.store.require_writable()?;
    let _lock = lock(context)?;
    incoming.keep(&context.repo)?;
    for checkpoint in &mut imported.new {
        let name = checkpoint.ref_name();
        match refs::create(&context.repo, &name, checkpoint.commit) {
            Err(GitError::RefExists(_)) if refs::read(&context.repo, &name)? == Some(checkpoint.commit) => {}
            result => result?,
        }
        checkpoint.number = context.store.insert(checkpoint)?;
    }
    give_names(context, &mut imported, &names)?;
    Ok(imported)
}

/// Reads the checkpoints and names of a bundle, and refuses one that holds anything else.
fn check(context: &mut Context, incoming: &bundle::Incoming) -> Result<Contents, Error> {
    let own = context.store.meta(super::context::ORIGIN)?;
    let objects = incoming.objects(&context.repo)?;
    let (mut checkpoints, mut names) = (Vec::new(), Vec::new());
    let bad = |reason: String| Error::from(GitError::BadBundle(reason));
    for (reference, id) in &incoming.header.refs {
        if let Some(name) = refs::name_of_ref(reference) {
            names.push((name, *id));
            continue;
        }
        if !reference.starts_with(refs::CHECKPOINTS) {
            return Err(bad(format!("`{reference}` in it is no checkpoint")));
        }
        let (checkpoint, origin) = commit::read(&objects, *id)?.map_err(|error| bad(format!("`{reference}`: {error}")))?;
        if checkpoint.ref_name() != *reference {
            return Err(bad(format!("`{reference}` holds the checkpoint {}", checkpoint.ref_name())));
        }
        checkpoints.push(Checkpoint { origin: (Some(&origin) != own.as_ref()).then_some(origin), ..checkpoint });
    }
    if checkpoints.is_empty() {
        return Err(bad("there is no checkpoint in it".into()));
    }
    checkpoints.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    Ok(Contents { checkpoints, names })
}

/// Gives the imported checkpoints their names, where those are free.
fn give_names(context: &mut Context, imported: &mut Imported, names: &[(String, ObjectId)]) -> Result<(), Error> {
    for (name, commit) in names {
        let Some(checkpoint) = imported.new.iter().chain(&imported.known).find(|checkpoint| checkpoint.commit == *commit) else {
            continue;
        };
        match context.store.by_name(name)? {
            Some(owner) if owner.id == checkpoint.id => {}
            Some(_) => imported.taken.push(name.clone()),
            None => {
                let named = super::save::name_checkpoint(context, checkpoint.clone(), Some(name))?;
                if let Some(new) = imported.new.iter_mut().find(|new| new.id == named.id) {
                    *new = named;
                }
            }
        }
    }
    Ok(())
}
