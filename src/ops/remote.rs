//! Checkpoints to and from a remote repository.

use super::handoff::{Imported, add, choose, held_by, in_order_of_time, refs_of};
use super::restore::refuse_if_interrupted;
use super::save::lock;
use super::{Context, Error};
use crate::git::refs;
use crate::git::remote::{self, Pushed};
use crate::model::{Checkpoint, CheckpointId, SessionKey};

/// What a push came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushOutcome {
    /// The remote.
    pub remote: String,
    /// Checkpoints that it had not.
    pub new: Vec<Checkpoint>,
    /// Checkpoints that it had already.
    pub known: Vec<Checkpoint>,
    /// Checkpoints that it did not take, each with git's words.
    pub refused: Vec<(Checkpoint, String)>,
    /// Names that lead to another checkpoint there, and were left so.
    pub taken: Vec<String>,
}

/// The remote to use: the one that is named, else `checkpoint.remote`, else the only one. Never one of several by chance.
pub fn choose_remote(context: &Context, named: Option<&str>) -> Result<String, Error> {
    let configured = context.repo.config().remote.clone();
    if let Some(remote) = named.map(str::to_owned).or(configured) {
        return Ok(remote);
    }
    match remote::names(&context.repo).as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Error::Usage("there is no remote; name one, or add one with `git remote add`".into())),
        several => {
            Err(Error::Usage(format!("there are several remotes ({}); name one, or set `checkpoint.remote`", several.join(", "))))
        }
    }
}

/// Sends the chosen checkpoints, with their names, to a remote.
pub fn push(
    context: &Context,
    remote: Option<&str>,
    selectors: &[String],
    session: Option<&SessionKey>,
) -> Result<PushOutcome, Error> {
    let remote = choose_remote(context, remote)?;
    let chosen = choose(context, selectors, session)?;
    let told = remote::push(&context.repo, &remote, &refs_of(&chosen))?;
    let mut outcome = PushOutcome { remote, new: Vec::new(), known: Vec::new(), refused: Vec::new(), taken: Vec::new() };
    for checkpoint in chosen {
        let name = checkpoint.ref_name();
        match told.iter().find(|(told, _)| *told == name).map(|(_, pushed)| pushed) {
            Some(Pushed::New) => outcome.new.push(checkpoint),
            Some(Pushed::Known) => outcome.known.push(checkpoint),
            Some(Pushed::Refused(why)) => outcome.refused.push((checkpoint, why.clone())),
            None => outcome.refused.push((checkpoint, "git did not tell what became of it".to_owned())),
        }
    }
    let is_refused = |(name, pushed): &(String, Pushed)| {
        if matches!(pushed, Pushed::Refused(_)) { refs::name_of_ref(name) } else { None }
    };
    outcome.taken = told.iter().filter_map(is_refused).collect();
    Ok(outcome)
}

/// Takes the checkpoints of a remote, or of one session there, that are not here yet: objects, refs and rows are added, nothing else
/// is touched. Returns the remote with what was found.
pub fn fetch(context: &mut Context, remote: Option<&str>, session: Option<&SessionKey>) -> Result<(String, Imported), Error> {
    refuse_if_interrupted(&context.repo)?;
    context.store.require_writable()?;
    let remote = choose_remote(context, remote)?;
    let checkpoints = session.map_or_else(|| format!("{}*", refs::CHECKPOINTS), |key| format!("{}{key}/*", refs::CHECKPOINTS));
    let there = remote::list(&context.repo, &remote, &[checkpoints, format!("{}*", refs::NAMES)])?;
    let own = context.store.meta(super::context::ORIGIN)?;
    let mut imported = Imported::default();
    let (mut wanted, mut names) = (Vec::new(), Vec::new());
    for (name, id) in there {
        if let Some(name) = refs::name_of_ref(&name) {
            names.push((name, id));
            continue;
        }
        let checkpoint = name.rsplit('/').next().and_then(|id| CheckpointId::parse(id).ok());
        let known = checkpoint.map(|id| context.store.by_id(&id)).transpose()?.flatten();
        match known {
            Some(known) if known.ref_name() == name && known.commit == id => imported.known.push(known),
            Some(_) => imported.refused.push(format!("`{name}` is not the checkpoint that has this id here")),
            None if name.starts_with(refs::CHECKPOINTS) => wanted.push((name, id)),
            None => {}
        }
    }
    let holder = remote::holder(&context.repo)?;
    let taken_in = take_in(context, (&remote, &holder), &wanted, own.as_ref(), &mut imported, &names);
    remote::release(&context.repo, &holder)?;
    taken_in.map(|()| (remote, imported))
}

fn take_in(
    context: &mut Context,
    (remote, holder): (&str, &str),
    wanted: &[(String, gix::ObjectId)],
    own: Option<&String>,
    imported: &mut Imported,
    names: &[(String, gix::ObjectId)],
) -> Result<(), Error> {
    if !wanted.is_empty() {
        let refs: Vec<String> = wanted.iter().map(|(name, _)| name.clone()).collect();
        remote::fetch(&context.repo, remote, &refs, holder)?;
        let objects = context.repo.gix();
        for (name, id) in wanted {
            match held_by(&objects, name, *id, own)? {
                Ok(checkpoint) => imported.new.push(checkpoint),
                Err(why) => imported.refused.push(why),
            }
        }
        in_order_of_time(&mut imported.new);
    }
    let _lock = lock(context)?;
    add(context, imported, names)
}
