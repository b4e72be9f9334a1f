//! Copies of conversations, kept with the repository: an agent clears its own files away after a while, rewrites them, or lies on
//! another machine.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::agents::Agent;
use crate::agents::conversation::{Conversation, Homes};
use crate::agents::prefix::{begins_with, prefix_of};
use crate::git::memory_chain::{self, Link};
use crate::git::{GitError, os_path, refs};
use crate::model::{Boundary, BoundaryState, MemoryCopy, SessionKey};
use crate::ops::{Context, Error};
use crate::sys;

/// Keeps what came to the conversation of `session` since the last copy, up to `boundary`. True if there was something.
pub(in crate::ops) fn keep(context: &Context, agent: Agent, session: &SessionKey, boundary: &Boundary) -> Result<bool, Error> {
    let recorded = boundary.transcript.as_ref().map(|path| os_path(path.as_ref()).to_owned());
    let (Some(recorded), Some(offset), Some(sha256)) = (recorded, boundary.offset, &boundary.prefix_sha256) else {
        return Ok(false);
    };
    // Nothing but a conversation of the agent is read, whatever it was told where that is.
    let Ok(conversation) = Conversation::find(agent, &Homes::from_env(), &boundary.conversation, Some(&recorded)) else {
        return Ok(false);
    };
    if conversation.path() != recorded || offset == 0 {
        return Ok(false);
    }
    let tip = refs::read(&context.repo, &memory_chain::ref_of(session))?;
    let last =
        tip.map(|tip| memory_chain::chain(&context.repo.gix(), tip)).transpose()?.and_then(|links| links.into_iter().next());
    let from = match &last {
        Some(last) if goes_on(&last.copy, &boundary.conversation, &recorded, offset) => last.copy.offset,
        _ => 0,
    };
    if from == offset {
        return Ok(false);
    }
    let piece = conversation.piece(from, offset).map_err(|source| GitError::other("copy the conversation", source))?;
    let copy = MemoryCopy {
        agent: agent.to_string(),
        conversation: boundary.conversation.clone(),
        turn_id: boundary.turn_id.clone(),
        from,
        offset,
        prefix_sha256: sha256.clone(),
        ..MemoryCopy::default()
    };
    memory_chain::append(&context.repo, session, tip, &copy, &piece, sys::now_millis())?;
    Ok(true)
}

/// Says of the last turn of a session that nothing more of it comes: something else has happened in the conversation since.
pub(in crate::ops) fn settle(context: &mut Context, session: &SessionKey) -> Result<(), Error> {
    let Some(last) = context.store.last_turn(session)? else { return Ok(()) };
    let Some(boundary) = last.boundary.filter(|boundary| boundary.state == BoundaryState::Provisional) else { return Ok(()) };
    let (Some(offset), Some(sha256), Some(path)) = (boundary.offset, &boundary.prefix_sha256, &boundary.transcript) else {
        return Ok(());
    };
    let path = os_path(path.as_ref());
    if !begins_with(path, offset, sha256).unwrap_or(false) {
        return Ok(());
    }
    let Ok(now) = prefix_of(path) else { return Ok(()) };
    let (offset, sha256) = (Some(now.offset), Some(now.sha256));
    let boundary = Boundary { state: BoundaryState::Final, offset, prefix_sha256: sha256, ..boundary };
    Ok(context.store.set_boundary(&last.id, &boundary)?)
}

/// True if the file still begins with what was copied of it.
fn goes_on(last: &MemoryCopy, conversation: &str, file: &Path, offset: u64) -> bool {
    let is_before = last.conversation == conversation && !last.travels && last.offset <= offset;
    is_before && begins_with(file, last.offset, &last.prefix_sha256).unwrap_or(false)
}

/// A conversation put together from copies, in a file that lasts as long as this.
pub(super) struct Assembled {
    /// The conversation.
    pub(super) conversation: Conversation,
    /// How many parts were left out before it came here, because only the account they were made for can read them.
    pub(super) left_out: u64,
    /// How many secrets were taken out before it came here.
    pub(super) redacted: u64,
    _file: PrivateFile,
}

/// Puts the conversation of `session` together as it was at `boundary`, or as far as there are copies. None if there are none.
pub(super) fn assemble(
    context: &Context,
    agent: Agent,
    session: &SessionKey,
    boundary: &Boundary,
) -> Result<Option<Assembled>, Error> {
    let Some(tip) = refs::read(&context.repo, &memory_chain::ref_of(session))? else { return Ok(None) };
    let gix = context.repo.gix();
    let links = memory_chain::chain(&gix, tip)?;
    let is_turn = |link: &Link| boundary.turn_id.is_some() && link.copy.turn_id == boundary.turn_id;
    let at = links.iter().position(is_turn).unwrap_or(0);
    let Some(whole) = memory_chain::whole(&links[at..]) else { return Ok(None) };
    let path = context.repo.private_dir().join(format!("conversation-{}", std::process::id()));
    let mut file = PrivateFile::make(path)?;
    for link in &whole {
        file.add(&memory_chain::piece(&gix, link)?)?;
    }
    let cwd = directory(context, boundary);
    let conversation = Conversation::of_copy(agent, &Homes::from_env(), &boundary.conversation, &file.path, &cwd);
    let conversation = conversation.map_err(|source| GitError::other("find a place for the conversation", source))?;
    let sum = |count: fn(&MemoryCopy) -> u64| whole.iter().map(|link| count(&link.copy)).sum();
    Ok(Some(Assembled { conversation, left_out: sum(|copy| copy.left_out), redacted: sum(|copy| copy.redacted), _file: file }))
}

/// Where the agent is to go on: where it worked, if that is a directory of this worktree, else at its top.
fn directory(context: &Context, boundary: &Boundary) -> PathBuf {
    let then = boundary.cwd.as_ref().map(|path| os_path(path.as_ref()).to_owned());
    then.filter(|path| path.is_dir() && path.starts_with(context.repo.top())).unwrap_or_else(|| context.repo.top().to_owned())
}

/// A file that only its owner may read, and that goes away with this.
struct PrivateFile {
    path: PathBuf,
    file: std::fs::File,
}

impl PrivateFile {
    fn make(path: PathBuf) -> Result<PrivateFile, GitError> {
        // One of that name is of a process with the same number that died.
        let _ = std::fs::remove_file(&path);
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(&path);
        let file = file.map_err(|source| GitError::io("make", &path, source))?;
        Ok(PrivateFile { path, file })
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), GitError> {
        self.file.write_all(bytes).map_err(|source| GitError::io("write", &self.path, source))
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
