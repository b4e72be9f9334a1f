//! Checkpoints to and from a remote repository.

use super::handoff::{Imported, add, choose, held_by, in_order_of_time, refs_of};
use super::memory::travel::{self, Outgoing, Secrets};
use super::restore::refuse_if_interrupted;
use super::save::lock;
use super::{Context, Error};
use crate::git::remote::{self, Pushed};
use crate::git::{memory_chain, refs};
use crate::model::{Checkpoint, CheckpointId, ObjectId, SessionKey};

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
    /// What became of the conversations; none if they were not to be sent.
    pub memory: Option<MemoryPushed>,
}

/// What became of conversations that were pushed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryPushed {
    /// Those that the remote had not, or not as far.
    pub new: Vec<Outgoing>,
    /// How many it had already.
    pub known: usize,
    /// Sessions whose conversation it did not take, each with git's words.
    pub refused: Vec<(SessionKey, String)>,
}

/// What is to be pushed.
#[derive(Debug, Clone, Default)]
pub struct PushRequest {
    /// Where to; by default the only remote.
    pub remote: Option<String>,
    /// Which checkpoints; if none are named, all of the session, or all of this worktree.
    pub selectors: Vec<String>,
    /// Only those of this session.
    pub session: Option<SessionKey>,
    /// Whether the conversations go along, and how.
    pub memory: Option<Secrets>,
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
pub fn push(context: &Context, request: &PushRequest) -> Result<PushOutcome, Error> {
    let remote = choose_remote(context, request.remote.as_deref())?;
    let chosen = choose(context, &request.selectors, request.session.as_ref())?;
    let conversations = request.memory.map(|secrets| travel::outgoing(context, &chosen, secrets)).transpose()?;
    let refs: Vec<_> = refs_of(&chosen).into_iter().map(|name| (name.clone(), name)).collect();
    let told = remote::push(&context.repo, &remote, &refs)?;
    let memory = conversations.map(|outgoing| push_memory(context, &remote, outgoing)).transpose()?;
    let mut outcome = PushOutcome { remote, new: Vec::new(), known: Vec::new(), refused: Vec::new(), taken: Vec::new(), memory };
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

/// Sends conversations that the remote does not have, or not as far.
fn push_memory(context: &Context, remote: &str, outgoing: Vec<Outgoing>) -> Result<MemoryPushed, Error> {
    let mut pushed = MemoryPushed::default();
    if outgoing.is_empty() {
        return Ok(pushed);
    }
    let there = remote::list(&context.repo, remote, &[format!("{}*", refs::MEMORY)])?;
    let name = |one: &Outgoing| memory_chain::ref_of(&one.session);
    // One that goes further there, from an earlier journey, has all of it.
    let (known, new): (Vec<_>, Vec<_>) = outgoing.into_iter().partition(|one| {
        let found = there.iter().find(|(there, _)| *there == name(one));
        found.is_some_and(|(_, id)| one.tip == *id || one.later.contains(id))
    });
    pushed.known = known.len();
    let sent: Vec<_> = new.iter().map(|one| (one.tip.to_string(), name(one))).collect();
    let told = if sent.is_empty() { Vec::new() } else { remote::push(&context.repo, remote, &sent)? };
    for one in new {
        match told.iter().find(|(told, _)| *told == name(&one)).map(|(_, told)| told) {
            Some(Pushed::New) => pushed.new.push(one),
            Some(Pushed::Known) => pushed.known += 1,
            Some(Pushed::Refused(why)) => pushed.refused.push((one.session, why.clone())),
            None => pushed.refused.push((one.session, "git did not tell what became of it".to_owned())),
        }
    }
    Ok(pushed)
}

/// Takes the checkpoints of a remote, or of one session there, that are not here yet: objects, refs and rows are added, nothing else
/// is touched. Returns the remote with what was found.
pub fn fetch(context: &mut Context, remote: Option<&str>, session: Option<&SessionKey>) -> Result<(String, Imported), Error> {
    refuse_if_interrupted(&context.repo)?;
    context.store.require_writable()?;
    let remote = choose_remote(context, remote)?;
    let own = context.store.meta(super::context::ORIGIN)?;
    let mut imported = Imported::default();
    let there = list_there(context, &remote, session)?;
    let wanted = sort_out(context, there, &mut imported)?;
    let holder = remote::holder(&context.repo)?;
    let taken_in = take_in(context, (&remote, &holder), &wanted, own.as_ref(), &mut imported);
    remote::release(&context.repo, &holder)?;
    taken_in.map(|()| (remote, imported))
}

/// The refs of a remote that are of this program, or of one session.
fn list_there(context: &Context, remote: &str, session: Option<&SessionKey>) -> Result<Vec<(String, ObjectId)>, Error> {
    let (checkpoints, memory) = match session {
        Some(key) => (format!("{}{key}/*", refs::CHECKPOINTS), memory_chain::ref_of(key)),
        None => (format!("{}*", refs::CHECKPOINTS), format!("{}*", refs::MEMORY)),
    };
    Ok(remote::list(&context.repo, remote, &[checkpoints, format!("{}*", refs::NAMES), memory])?)
}

/// What of a remote is not here yet.
#[derive(Default)]
struct Wanted {
    checkpoints: Vec<(String, ObjectId)>,
    names: Vec<(String, ObjectId)>,
    memory: Vec<(String, ObjectId)>,
}

fn sort_out(context: &Context, there: Vec<(String, ObjectId)>, imported: &mut Imported) -> Result<Wanted, Error> {
    let mut wanted = Wanted::default();
    for (name, id) in there {
        if let Some(name) = refs::name_of_ref(&name) {
            wanted.names.push((name, id));
            continue;
        }
        if memory_chain::session_of(&name).is_some() {
            match refs::read(&context.repo, &name)? {
                Some(known) if known == id => imported.memory.known += 1,
                _ => wanted.memory.push((name, id)),
            }
            continue;
        }
        let checkpoint = name.rsplit('/').next().and_then(|id| CheckpointId::parse(id).ok());
        let known = checkpoint.map(|id| context.store.by_id(&id)).transpose()?.flatten();
        match known {
            Some(known) if known.ref_name() == name && known.commit == id => imported.known.push(known),
            Some(_) => imported.refused.push(format!("`{name}` is not the checkpoint that has this id here")),
            None if name.starts_with(refs::CHECKPOINTS) => wanted.checkpoints.push((name, id)),
            None => {}
        }
    }
    Ok(wanted)
}

fn take_in(
    context: &mut Context,
    (remote, holder): (&str, &str),
    wanted: &Wanted,
    own: Option<&String>,
    imported: &mut Imported,
) -> Result<(), Error> {
    let mut conversations = Vec::new();
    let refs: Vec<String> = wanted.checkpoints.iter().chain(&wanted.memory).map(|(name, _)| name.clone()).collect();
    if !refs.is_empty() {
        remote::fetch(&context.repo, remote, &refs, holder)?;
        let objects = context.repo.gix();
        for (name, id) in &wanted.checkpoints {
            match held_by(&objects, name, *id, own)? {
                Ok(checkpoint) => imported.new.push(checkpoint),
                Err(why) => imported.refused.push(why),
            }
        }
        in_order_of_time(&mut imported.new);
        for (name, id) in &wanted.memory {
            match travel::check(&objects, name, *id)? {
                Ok(session) => conversations.push((session, *id)),
                Err(why) => imported.refused.push(why),
            }
        }
    }
    let _lock = lock(context)?;
    add(context, imported, &wanted.names)?;
    imported.memory.take_in(context, &conversations)
}
