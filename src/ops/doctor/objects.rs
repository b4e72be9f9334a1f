//! Objects: whether what a checkpoint needs is there, and whether it is what its name says.

use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use gix::objs::{CommitRefIter, Kind, TreeRefIter};

use super::{ProblemCode, Report};
use crate::git::{GitError, Objects};
use crate::model::Checkpoint;
use crate::ops::{Context, Error, select};
use crate::store::Filter;
use crate::sys::progress::{self, Phase};

/// How much was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verified {
    /// Checkpoints whose objects were read.
    pub checkpoints: usize,
    /// Objects that were read and have the content that their ids name.
    pub objects: u64,
}

/// Looks whether the commits and top trees of all checkpoints are there; reads all objects of those in `verify`.
pub(super) fn examine(context: &Context, verify: Option<&[String]>, report: &mut Report) -> Result<(), Error> {
    let all = context.store.list(&Filter::default())?;
    let objects = Objects::new(context.repo.gix(), Arc::default());
    let chosen = match verify {
        None => {
            for checkpoint in &all {
                let needed = [Some(checkpoint.tree), checkpoint.index_tree].into_iter().flatten();
                // The commit itself was looked at together with its ref.
                if let Some(missing) = needed.into_iter().find(|id| objects.contains(&checkpoint.commit) && !objects.contains(id))
                {
                    report.missing(context, checkpoint, &missing.to_string());
                }
            }
            return Ok(());
        }
        Some([]) => all,
        Some(selectors) => selectors.iter().map(|text| select(&context.repo, &context.store, text)).collect::<Result<_, _>>()?,
    };
    let mut reader = Reader { objects: &objects, seen: HashSet::new(), buffer: Vec::new() };
    progress::begin(Phase::Verify, 0);
    for checkpoint in &chosen {
        match reader.checkpoint(checkpoint) {
            Ok(()) => {}
            Err(Fault::Missing(id)) => report.missing(context, checkpoint, &id.to_string()),
            Err(Fault::Damaged(id, why)) => {
                let message = format!("object {id} of checkpoint {} is damaged: {why}", checkpoint.number);
                report.by_hand(
                    ProblemCode::ObjectDamaged,
                    message,
                    "`git fsck --full` tells more; another copy of the repository may have it",
                );
            }
        }
    }
    report.verified = Some(Verified { checkpoints: chosen.len(), objects: reader.seen.len() as u64 });
    Ok(())
}

impl Report {
    fn missing(&mut self, context: &Context, checkpoint: &Checkpoint, what: &str) {
        let is_partial = context.repo.gix().config_snapshot().string("extensions.partialClone").is_some();
        let hint = if is_partial {
            "the repository is a partial clone: git fetches it when it needs it".to_owned()
        } else {
            format!("another copy of the repository may have it; else: git checkpoint drop {}", checkpoint.number)
        };
        let message = format!("checkpoint {} cannot be restored whole: object {what} is missing", checkpoint.number);
        self.by_hand(ProblemCode::ObjectsMissing, message, hint);
    }
}

/// What is wrong with an object.
enum Fault {
    Missing(ObjectId),
    Damaged(ObjectId, String),
}

struct Reader<'a> {
    objects: &'a Objects,
    /// Those that were read and found in order.
    seen: HashSet<ObjectId>,
    buffer: Vec<u8>,
}

impl Reader<'_> {
    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), Fault> {
        if self.read(checkpoint.commit)?.is_none() {
            return Ok(());
        }
        let commit = std::mem::take(&mut self.buffer);
        let parents: Vec<ObjectId> = CommitRefIter::from_bytes(&commit, self.objects.hash_kind()).parent_ids().collect();
        self.tree(checkpoint.tree)?;
        // Besides HEAD of then, which is the repository's own, it has the commit of its index.
        for parent in parents.into_iter().filter(|parent| Some(*parent) != checkpoint.head) {
            if self.read(parent)?.is_some() {
                let index = std::mem::take(&mut self.buffer);
                let tree = CommitRefIter::from_bytes(&index, self.objects.hash_kind()).tree_id();
                self.tree(tree.map_err(|why| Fault::Damaged(parent, why.to_string()))?)?;
            }
        }
        Ok(())
    }

    fn tree(&mut self, id: ObjectId) -> Result<(), Fault> {
        if self.read(id)?.is_none() {
            return Ok(());
        }
        let tree = std::mem::take(&mut self.buffer);
        let read = self.entries(&tree, id);
        if read.is_err() {
            // Another checkpoint that has it lacks the same.
            self.seen.remove(&id);
        }
        read
    }

    fn entries(&mut self, tree: &[u8], id: ObjectId) -> Result<(), Fault> {
        for entry in TreeRefIter::from_bytes(tree, self.objects.hash_kind()) {
            let entry = entry.map_err(|why| Fault::Damaged(id, why.to_string()))?;
            let child = entry.oid.to_owned();
            match entry.mode.kind() {
                EntryKind::Tree => self.tree(child)?,
                EntryKind::Commit => {}
                EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => self.blob(child)?,
            }
        }
        Ok(())
    }

    fn blob(&mut self, id: ObjectId) -> Result<(), Fault> {
        if self.seen.contains(&id) {
            return Ok(());
        }
        progress::add_files(1);
        let damaged = |why: String| Fault::Damaged(id, why);
        match self.objects.large_blob(&id) {
            Ok(Some(large)) => {
                let mut hasher = gix::hash::hasher(self.objects.hash_kind());
                hasher.update(format!("blob {}\0", large.size).as_bytes());
                let (mut content, mut piece) = (large.content, vec![0; 1 << 16]);
                loop {
                    match content.read(&mut piece).map_err(|why| damaged(why.to_string()))? {
                        0 => break,
                        count => hasher.update(&piece[..count]),
                    }
                }
                let found = hasher.try_finalize().map_err(|why| damaged(why.to_string()))?;
                if found != id {
                    return Err(damaged("its content has another id".to_owned()));
                }
                self.seen.insert(id);
                Ok(())
            }
            Ok(None) | Err(GitError::ObjectMissing(_)) => self.read(id).map(|_| ()),
            Err(why) => Err(damaged(why.to_string())),
        }
    }

    /// Reads an object into the buffer, unless that was done before.
    fn read(&mut self, id: ObjectId) -> Result<Option<Kind>, Fault> {
        if self.seen.contains(&id) {
            return Ok(None);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let kind = match self.objects.read(&id, &mut buffer) {
            Ok(kind) => kind,
            Err(GitError::ObjectMissing(id)) => return Err(Fault::Missing(id)),
            Err(why) => return Err(Fault::Damaged(id, why.to_string())),
        };
        let found = gix::objs::compute_hash(self.objects.hash_kind(), kind, &buffer);
        if found.is_ok_and(|found| found == id) {
            self.seen.insert(id);
            self.buffer = buffer;
            return Ok(Some(kind));
        }
        Err(Fault::Damaged(id, "its content has another id".to_owned()))
    }
}
