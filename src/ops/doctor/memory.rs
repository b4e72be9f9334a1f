//! The portable copies of conversations: whether each belongs to a session that is there, and can be read.

use gix::ObjectId;

use super::leftovers::files_below;
use super::{ProblemCode, Report};
use crate::agents::Agent;
use crate::agents::session_key::session_key;
use crate::git::memory_chain::{self, Link};
use crate::git::refs;
use crate::model::SessionKey;
use crate::ops::{Context, Error};

pub(super) fn examine(context: &Context, fix: bool, report: &mut Report) -> Result<(), Error> {
    let repo = &context.repo;
    for name in empty_files(context) {
        let message = format!("the ref `{name}` is empty or holds no object id");
        let way = ("removes it: the copy of the conversation begins anew", "removed: the copy of the conversation begins anew");
        report.mendable(fix, (ProblemCode::MemoryBroken, message), way, || Ok(refs::delete(repo, &name, None)?))?;
    }
    for (name, id) in refs::list(repo, refs::MEMORY)? {
        let key = memory_chain::session_of(&name);
        let is_needed = match &key {
            Some(key) => is_known(context, key)?,
            None => true,
        };
        if !is_needed {
            let message = format!("`{name}` keeps a conversation of a session that is gone");
            report.mendable(fix, (ProblemCode::MemoryUnneeded, message), ("removes it", "removed"), || {
                Ok(refs::delete(repo, &name, Some(id))?)
            })?;
            continue;
        }
        if let Some(why) = fault(context, key.as_ref(), id) {
            let hint = format!("look at it with `git show {name}`; without it, memory comes from the agent's own files alone");
            report.by_hand(ProblemCode::MemoryBroken, format!("`{name}` is no copy of a conversation: {why}"), hint);
        }
    }
    Ok(())
}

fn is_known(context: &Context, key: &SessionKey) -> Result<bool, Error> {
    Ok(context.store.session(key)?.is_some() || context.store.newest_of_session(key)?.is_some())
}

/// Why the copy cannot be read; none if it can.
fn fault(context: &Context, session: Option<&SessionKey>, tip: ObjectId) -> Option<String> {
    let gix = context.repo.gix();
    let links = match memory_chain::chain(&gix, tip) {
        Ok(links) => links,
        Err(error) => return Some(error.to_string()),
    };
    let of = |link: &Link| Agent::parse(&link.copy.agent).map(|agent| session_key(agent, &link.copy.conversation));
    if links.is_empty() || !links.iter().all(|link| of(link).as_ref() == session) {
        return Some("it is of another session, or nothing that this program wrote".to_owned());
    }
    if memory_chain::whole(&links).is_none() {
        return Some("its beginning is missing".to_owned());
    }
    links.iter().find_map(|link| memory_chain::piece(&gix, link).err()).map(|error| error.to_string())
}

/// Loose refs of copies that hold no object id: a crash of the machine leaves such.
fn empty_files(context: &Context) -> Vec<String> {
    let common = context.repo.common_dir();
    let names = files_below(&common.join(refs::MEMORY)).into_iter().filter_map(|path| {
        let name = path.strip_prefix(common).ok()?.to_str()?.to_owned();
        let text = std::fs::read(&path).ok()?;
        (!name.ends_with(".lock") && ObjectId::from_hex(text.trim_ascii_end()).is_err()).then_some(name)
    });
    names.collect()
}
