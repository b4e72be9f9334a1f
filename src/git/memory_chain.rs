//! Copies of agents' conversations as commits: one for each turn, which holds what is new since its parent, on a ref for each session.
//!
//! They are plain git: `git show <commit>:tail` prints a piece. What is stored once is stored once, because only what is new is.

use gix::ObjectId;
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Kind, Tree, WriteTo};

use super::commit::encode;
use super::odb::{Keep, ObjectSink};
use super::{GitError, Repo, refs};
use crate::model::{MemoryCopy, Millis, SessionKey};

/// The name of the piece in the tree of a commit.
const TAIL: &str = "tail";

/// A chain longer than this is not followed to its end.
const LONGEST: usize = 100_000;

/// One commit of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The commit.
    pub id: ObjectId,
    /// What it says of itself.
    pub copy: MemoryCopy,
    /// When it was made.
    pub made_at: Millis,
    piece: ObjectId,
}

/// The ref of a session's copies.
pub fn ref_of(session: &SessionKey) -> String {
    format!("{}{session}", refs::MEMORY)
}

/// The session that a ref holds copies for, if it is such a ref.
pub fn session_of(name: &str) -> Option<SessionKey> {
    SessionKey::parse(name.strip_prefix(refs::MEMORY)?).ok()
}

/// Adds a copy after `parent` and points the session's ref to it. Both are on disk when this returns.
pub fn append(
    repo: &Repo,
    session: &SessionKey,
    parent: Option<ObjectId>,
    copy: &MemoryCopy,
    piece: &[u8],
    at: Millis,
) -> Result<ObjectId, GitError> {
    let sink = ObjectSink::new(repo, Keep::Objects);
    let id = add(repo, &sink, parent, copy, piece, at)?;
    sink.flush()?;
    refs::set(repo, &ref_of(session), id)?;
    sink.held_by_ref()?;
    Ok(id)
}

/// Writes a file as a commit without parents or a ref. The same content makes the same commit.
pub fn write_file(repo: &Repo, name: &str, content: &[u8], message: &str, at: Millis) -> Result<ObjectId, GitError> {
    let sink = ObjectSink::new(repo, Keep::Objects);
    let id = add_file(repo, &sink, None, (name, content), message, at)?;
    sink.flush()?;
    Ok(id)
}

/// Writes a chain of copies, oldest first, without a ref. Returns the last commit. The same copies make the same commits.
pub fn write(repo: &Repo, copies: &[(MemoryCopy, Vec<u8>, Millis)]) -> Result<Option<ObjectId>, GitError> {
    let sink = ObjectSink::new(repo, Keep::Objects);
    let mut last = None;
    for (copy, piece, at) in copies {
        last = Some(add(repo, &sink, last, copy, piece, *at)?);
    }
    sink.flush()?;
    Ok(last)
}

fn add(
    repo: &Repo,
    sink: &ObjectSink,
    parent: Option<ObjectId>,
    copy: &MemoryCopy,
    piece: &[u8],
    at: Millis,
) -> Result<ObjectId, GitError> {
    add_file(repo, sink, parent, (TAIL, piece), &copy.message(), at)
}

/// Adds a commit with one file.
fn add_file(
    repo: &Repo,
    sink: &ObjectSink,
    parent: Option<ObjectId>,
    (name, content): (&str, &[u8]),
    message: &str,
    at: Millis,
) -> Result<ObjectId, GitError> {
    let gix = repo.gix();
    let mut writer = sink.writer(&gix);
    let oid = writer.add(Kind::Blob, content)?;
    let tree = Tree { entries: vec![Entry { mode: EntryKind::Blob.into(), filename: name.into(), oid }] };
    let mut data = Vec::new();
    tree.write_to(&mut data).map_err(|source| GitError::other("encode a tree", source))?;
    let tree = writer.add(Kind::Tree, &data)?;
    writer.add(Kind::Commit, &encode(tree, parent.into_iter().collect(), message.into(), at)?)
}

/// The chain that ends with the commit `tip`, newest first. What is no copy of ours ends it.
pub fn chain(gix: &gix::Repository, tip: ObjectId) -> Result<Vec<Link>, GitError> {
    let mut links = Vec::new();
    let mut next = Some(tip);
    while let Some(id) = next.filter(|_| links.len() < LONGEST) {
        let Some((link, parent)) = read(gix, id)? else { break };
        links.push(link);
        next = parent;
    }
    Ok(links)
}

fn read(gix: &gix::Repository, id: ObjectId) -> Result<Option<(Link, Option<ObjectId>)>, GitError> {
    let missing = |_| GitError::ObjectMissing(id);
    let object = gix.find_object(id).map_err(missing)?;
    if object.kind != Kind::Commit {
        return Ok(None);
    }
    let commit = object.into_commit();
    let failed = |source| GitError::other(format!("read commit {id}"), source);
    let decoded = commit.decode().map_err(failed)?;
    let (tree, parent, message) = (decoded.tree(), decoded.parents().next(), decoded.message.to_vec());
    let seconds = commit.time().map_err(|source| GitError::other(format!("read commit {id}"), source))?.seconds;
    let tree = gix.find_object(tree).map_err(|_| GitError::ObjectMissing(tree))?.into_tree();
    let piece = tree.find_entry(TAIL).map(|entry| entry.object_id());
    let copy = MemoryCopy::from_message(&message);
    Ok(copy.zip(piece).map(|(copy, piece)| (Link { id, copy, made_at: seconds.saturating_mul(1000), piece }, parent)))
}

/// The piece of one commit.
pub fn piece(gix: &gix::Repository, link: &Link) -> Result<Vec<u8>, GitError> {
    let object = gix.find_object(link.piece).map_err(|_| GitError::ObjectMissing(link.piece))?;
    Ok(object.detach().data)
}

/// Of `links`, newest first, those that make the file which the first of them ends, oldest first. None if its beginning is missing.
pub fn whole(links: &[Link]) -> Option<Vec<&Link>> {
    let first = links.iter().position(|link| link.copy.from == 0)?;
    let whole: Vec<&Link> = links[..=first].iter().rev().collect();
    let fits =
        |pair: &[&Link]| pair[0].copy.offset == pair[1].copy.from && pair[0].copy.conversation == pair[1].copy.conversation;
    whole.windows(2).all(fits).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    fn copy(from: u64, offset: u64) -> MemoryCopy {
        MemoryCopy { agent: "claude".into(), conversation: "c".into(), from, offset, ..MemoryCopy::default() }
    }

    #[test]
    fn a_chain_gives_back_the_file() {
        let fixture = TestRepo::new();
        let repo = fixture.open();
        let session = SessionKey::parse("claude-c").unwrap();
        let mut tip = None;
        for (from, to, piece) in [(0, 2, "a\n"), (2, 4, "b\n"), (0, 3, "xy\n"), (3, 5, "z\n")] {
            tip = Some(append(&repo, &session, tip, &copy(from, to), piece.as_bytes(), 5_000).unwrap());
        }

        let gix = repo.gix();
        let links = chain(&gix, refs::read(&repo, &ref_of(&session)).unwrap().unwrap()).unwrap();
        let file = |links: &[Link]| {
            let pieces = whole(links).unwrap().into_iter().map(|link| piece(&gix, link).unwrap());
            String::from_utf8(pieces.collect::<Vec<_>>().concat()).unwrap()
        };

        assert_eq!((links.len(), links[0].id, links[0].made_at), (4, tip.unwrap(), 5_000));
        assert_eq!((file(&links), file(&links[2..]), file(&links[3..])), ("xy\nz\n".into(), "a\nb\n".into(), "a\n".into()));
        fixture.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(fixture.git(&["show", &format!("{}:tail", ref_of(&session))]), "z");
    }

    #[test]
    fn a_chain_without_its_beginning_is_no_file() {
        let fixture = TestRepo::new();
        let repo = fixture.open();
        let tip = write(&repo, &[(copy(2, 4), b"b\n".to_vec(), 1_000)]).unwrap().unwrap();
        let gap = write(&repo, &[(copy(0, 2), b"a\n".to_vec(), 1_000), (copy(3, 4), b"b\n".to_vec(), 1_000)]).unwrap().unwrap();

        for tip in [tip, gap] {
            assert_eq!(whole(&chain(&repo.gix(), tip).unwrap()), None);
        }
    }

    #[test]
    fn the_same_copies_make_the_same_commits() {
        let fixture = TestRepo::new();
        let repo = fixture.open();
        let copies = [(copy(0, 2), b"a\n".to_vec(), 1_000), (copy(2, 4), b"b\n".to_vec(), 2_000)];

        assert_eq!(write(&repo, &copies).unwrap(), write(&repo, &copies).unwrap());
        fixture.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        let head = ObjectId::from_hex(fixture.git(&["rev-parse", "HEAD"]).trim().as_bytes()).unwrap();
        assert_eq!(chain(&repo.gix(), head).unwrap(), []);
    }
}
