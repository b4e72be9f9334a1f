//! Carrying checkpoints to another repository in one file.

use std::fs::File;
use std::path::Path;

use super::memory::travel::{self, Outgoing, Secrets};
use super::restore::refuse_if_interrupted;
use super::save::lock;
use super::{Context, Error, select};
use crate::git::{GitError, bundle, commit, memory_chain, refs, remote};
use manifest::Manifest;

mod manifest;
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
    /// Whether the conversations go along, and how.
    pub memory: Option<Secrets>,
}

/// What an import or a fetch found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Checkpoints that were not here before, in order of time.
    pub new: Vec<Checkpoint>,
    /// Checkpoints that were here already.
    pub known: Vec<Checkpoint>,
    /// Names that another checkpoint has here, which were therefore not given.
    pub taken: Vec<String>,
    /// Why refs among those of checkpoints were left out.
    pub refused: Vec<String>,
    /// What became of the conversations that came along.
    pub memory: MemoryImported,
}

/// What became of conversations that came in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryImported {
    /// The sessions of those that were not here before, or not as far.
    pub new: Vec<SessionKey>,
    /// How many were here already.
    pub known: usize,
}

impl MemoryImported {
    /// Takes conversations in that were checked, and whose objects are here.
    pub(super) fn take_in(&mut self, context: &Context, conversations: &[(SessionKey, ObjectId)]) -> Result<(), Error> {
        for (session, id) in conversations {
            if travel::take_in(context, session, *id)? {
                self.new.push(session.clone());
            } else {
                self.known += 1;
            }
        }
        Ok(())
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The checkpoints.
    pub checkpoints: Vec<Checkpoint>,
    /// The conversations; none if they were not to go along.
    pub memory: Option<Vec<Outgoing>>,
}

/// What a bundle holds.
struct Contents {
    checkpoints: Vec<Checkpoint>,
    names: Vec<(String, ObjectId)>,
    memory: Vec<(SessionKey, ObjectId)>,
}

/// Writes checkpoints with their names to `target` as a git bundle.
pub fn export(context: &Context, request: &ExportRequest, target: &Path) -> Result<Exported, Error> {
    let checkpoints = choose(context, &request.selectors, request.session.as_ref())?;
    let without: Vec<ObjectId> = match &request.since {
        None => Vec::new(),
        Some(since) => vec![select(&context.repo, &context.store, since)?.commit],
    };
    let memory = request.memory.map(|secrets| travel::outgoing(context, &checkpoints, secrets)).transpose()?;
    let exported = Exported { checkpoints, memory };
    let holder = remote::holder(&context.repo)?;
    let written = write(context, &exported, &without, target, &holder);
    remote::release(&context.repo, &holder)?;
    written.map(|()| exported)
}

/// What is in no ref of its own, the manifest and conversations on their way, is held by refs below `holder` meanwhile.
fn write(context: &Context, exported: &Exported, without: &[ObjectId], target: &Path, holder: &str) -> Result<(), Error> {
    let repo = &context.repo;
    let mut wanted: Vec<(String, ObjectId)> = exported.checkpoints.iter().map(|one| (one.ref_name(), one.commit)).collect();
    for one in &exported.checkpoints {
        wanted.extend(one.names.iter().map(|name| (refs::name_ref(name), one.commit)));
    }
    wanted.sort();
    wanted.dedup();
    let memory = exported.memory.iter().flatten().map(|one| (memory_chain::ref_of(&one.session), one.tip));
    let (stored, mut held) = (wanted.len(), wanted);
    held.extend(memory);
    let manifest = Manifest::of(exported, &held);
    held.push((manifest::REF.to_owned(), manifest.write(repo, &exported.checkpoints)?));
    let mut names: Vec<String> = held[..stored].iter().map(|(name, _)| name.clone()).collect();
    for (name, id) in &held[stored..] {
        let held = format!("{holder}{name}");
        refs::create(repo, &held, *id)?;
        names.push(held);
    }
    let temp = target.with_file_name(format!(
        ".{}.{}.tmp",
        target.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    let written = bundle::write(repo, &temp, &names, without, holder)
        .and_then(|()| std::fs::rename(&temp, target).map_err(|source| GitError::io("write", target, source)));
    if written.is_err() {
        let _ = std::fs::remove_file(&temp);
    }
    Ok(written?)
}

/// Reads the checkpoints in the bundle `source`: objects, refs and rows are added, nothing else is touched. Everything is
/// checked first. With `only_check` nothing is written.
pub fn import(context: &mut Context, source: &Path, only_check: bool) -> Result<Imported, Error> {
    if !only_check {
        refuse_if_interrupted(&context.repo)?;
    }
    let file = File::open(source).map_err(|error| GitError::io("open", source, error))?;
    let incoming = bundle::read(&context.repo, file)?;
    let Contents { checkpoints, names, memory } = check(context, &incoming)?;
    let mut imported = Imported::default();
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
        imported.memory.new = memory.into_iter().map(|(session, _)| session).collect();
        return Ok(imported);
    }
    context.store.require_writable()?;
    let _lock = lock(context)?;
    incoming.keep(&context.repo)?;
    add(context, &mut imported, &names)?;
    imported.memory.take_in(context, &memory)?;
    Ok(imported)
}

/// The checkpoints that are named; if none is, all of the session, or all of this worktree.
pub(super) fn choose(context: &Context, selectors: &[String], session: Option<&SessionKey>) -> Result<Vec<Checkpoint>, Error> {
    let mut chosen = Vec::new();
    for selector in selectors {
        chosen.push(select(&context.repo, &context.store, selector)?);
    }
    if chosen.is_empty() {
        let worktree = session.is_none().then(|| context.repo.worktree_id().clone());
        chosen = context.store.list(&Filter { worktree, session: session.cloned(), ..Filter::default() })?;
    }
    if chosen.is_empty() {
        return Err(Error::Usage("there is no checkpoint to send".into()));
    }
    Ok(chosen)
}

/// The refs of checkpoints and of their names.
pub(super) fn refs_of(checkpoints: &[Checkpoint]) -> Vec<String> {
    let names = checkpoints.iter().flat_map(|checkpoint| checkpoint.names.iter().map(|name| refs::name_ref(name)));
    checkpoints.iter().map(Checkpoint::ref_name).chain(names).collect()
}

/// Gives the new checkpoints refs and rows, and all of them their names. Their objects are here; the caller has the lock.
pub(super) fn add(context: &mut Context, imported: &mut Imported, names: &[(String, ObjectId)]) -> Result<(), Error> {
    for checkpoint in &mut imported.new {
        let name = checkpoint.ref_name();
        match refs::create(&context.repo, &name, checkpoint.commit) {
            Err(GitError::RefExists(_)) if refs::read(&context.repo, &name)? == Some(checkpoint.commit) => {}
            result => result?,
        }
        checkpoint.number = context.store.insert(checkpoint)?;
    }
    give_names(context, imported, names)
}

/// Reads the checkpoints and names of a bundle, and refuses one that holds anything else.
fn check(context: &mut Context, incoming: &bundle::Incoming) -> Result<Contents, Error> {
    let own = context.store.meta(super::context::ORIGIN)?;
    let objects = incoming.objects(&context.repo)?;
    let (mut checkpoints, mut names, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    let bad = |reason: String| Error::from(GitError::BadBundle(reason));
    manifest::check(&objects, &incoming.header.refs)?.map_err(bad)?;
    for (reference, id) in incoming.header.refs.iter().filter(|(name, _)| name != manifest::REF) {
        if let Some(name) = refs::name_of_ref(reference) {
            names.push((name, *id));
            continue;
        }
        if reference.starts_with(refs::MEMORY) {
            memory.push((travel::check(&objects, reference, *id)?.map_err(bad)?, *id));
            continue;
        }
        if !reference.starts_with(refs::CHECKPOINTS) {
            return Err(bad(format!("`{reference}` in it is no checkpoint")));
        }
        checkpoints.push(held_by(&objects, reference, *id, own.as_ref())?.map_err(bad)?);
    }
    if checkpoints.is_empty() {
        return Err(bad("there is no checkpoint in it".into()));
    }
    in_order_of_time(&mut checkpoints);
    Ok(Contents { checkpoints, names, memory })
}

/// The checkpoint that `reference` holds; the inner error says why it is none. `own` is the origin of this repository.
pub(super) fn held_by(
    objects: &gix::Repository,
    reference: &str,
    id: ObjectId,
    own: Option<&String>,
) -> Result<Result<Checkpoint, String>, Error> {
    let (checkpoint, origin) = match commit::read(objects, id)? {
        Ok(read) => read,
        Err(error) => return Ok(Err(format!("`{reference}`: {error}"))),
    };
    if checkpoint.ref_name() != *reference {
        return Ok(Err(format!("`{reference}` holds the checkpoint {}", checkpoint.ref_name())));
    }
    Ok(Ok(Checkpoint { origin: (Some(&origin) != own).then_some(origin), ..checkpoint }))
}

pub(super) fn in_order_of_time(checkpoints: &mut [Checkpoint]) {
    checkpoints.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
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

#[cfg(test)]
mod tests;
