//! How many bytes of objects only some checkpoints hold: what becomes unreachable without them.
//!
//! An estimate. What refs, HEAD and the index hold is told apart as far as it lies in the index, in HEAD, in the HEADs of the
//! checkpoints, and in commits made since the oldest of them; reflogs are not looked at. Whether git frees the bytes, and when, is its own affair.

use std::collections::HashSet;
use std::path::PathBuf;

use gix::ObjectId;
use gix::objs::{Kind, TreeRefIter};
use gix::odb::pack::Find;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::{Objects, Repo, refs};
use crate::model::Millis;

/// So many commits of all branches are looked at, the newest: more would take longer than the estimate is worth.
const MOST_COMMITS: usize = 10_000;

/// Remembers which objects were seen.
pub struct Reach {
    objects: Objects,
    folder: PathBuf,
    seen: HashSet<ObjectId>,
    /// Seconds before which the history of branches is not looked at.
    since: i64,
}

impl Reach {
    /// Has seen what everything but checkpoints holds, as far as it may be in checkpoints made since `oldest`.
    pub fn of_others(repo: &Repo, oldest: Millis) -> Reach {
        let mut gix = repo.gix();
        // Where an object lies is known only as long as its pack is open.
        gix.objects.prevent_pack_unload();
        let objects = Objects::new(gix.clone(), Default::default());
        let folder = repo.common_dir().join("objects");
        let mut reach = Reach { objects, folder, seen: HashSet::new(), since: oldest.div_euclid(1000) };
        let mut tips: Vec<ObjectId> = gix.head_id().ok().map(|id| id.detach()).into_iter().collect();
        let all = gix.references().ok();
        for mut reference in all.iter().filter_map(|all| all.all().ok()).flatten().flatten() {
            let name = reference.name().as_bstr();
            let ours = [refs::CHECKPOINTS, refs::NAMES, refs::ORIGINALS, refs::MEMORY];
            if !ours.iter().any(|prefix| name.starts_with(prefix.as_bytes())) {
                tips.extend(reference.peel_to_id().ok().map(|id| id.detach()));
            }
        }
        if let Some(head) = tips.first() {
            reach.see_commit(*head);
        }
        reach.see_history(&gix, tips);
        if let Ok(index) = gix.index_or_empty() {
            reach.seen.extend(index.entries().iter().map(|entry| entry.id));
        }
        reach
    }

    /// Sees what the checkpoint in `commit` holds.
    pub fn see_checkpoint(&mut self, commit: ObjectId) {
        self.checkpoint(commit, false);
    }

    /// The bytes on disk of what the checkpoint in `commit` holds and nothing seen so far did.
    pub fn add_checkpoint(&mut self, commit: ObjectId) -> u64 {
        self.checkpoint(commit, true)
    }

    fn checkpoint(&mut self, commit: ObjectId, counted: bool) -> u64 {
        let Some((tree, parents)) = self.commit(commit) else { return 0 };
        // HEAD at the time is taken to be held by a branch.
        if let Some(head) = parents.first() {
            self.see_commit(*head);
        }
        let mut size = self.add(commit, counted) + self.add_tree(tree, counted);
        // The second one holds the index.
        if let Some((tree, _)) = parents.get(1).and_then(|index| self.commit(*index)) {
            size += self.add(parents[1], counted) + self.add_tree(tree, counted);
        }
        size
    }

    /// The same of any commit, such as that of exact bytes.
    pub fn add_commit(&mut self, commit: ObjectId) -> u64 {
        let Some((tree, _)) = self.commit(commit) else { return 0 };
        self.add(commit, true) + self.add_tree(tree, true)
    }

    fn see_history(&mut self, gix: &gix::Repository, tips: Vec<ObjectId>) {
        let is_commit = |id: &ObjectId| gix.find_header(*id).is_ok_and(|header| header.kind() == Kind::Commit);
        let tips: Vec<ObjectId> = tips.into_iter().filter(is_commit).collect();
        let sorting = Sorting::ByCommitTimeCutoff { order: CommitTimeOrder::NewestFirst, seconds: self.since };
        let Ok(walk) = gix.rev_walk(tips).sorting(sorting).all() else { return };
        for commit in walk.map_while(Result::ok).take(MOST_COMMITS) {
            self.see_commit(commit.id);
        }
    }

    fn see_commit(&mut self, id: ObjectId) {
        if self.seen.insert(id)
            && let Some((tree, _)) = self.commit(id)
        {
            self.add_tree(tree, false);
        }
    }

    fn commit(&self, id: ObjectId) -> Option<(ObjectId, Vec<ObjectId>)> {
        let commit = self.objects.repo().find_object(id).ok()?.try_into_commit().ok()?;
        let decoded = commit.decode().ok()?;
        Some((decoded.tree(), decoded.parents().collect()))
    }

    /// Sees a tree and what is below. One that is missing holds nothing.
    fn add_tree(&mut self, tree: ObjectId, counted: bool) -> u64 {
        let (mut size, mut data, mut left) = (0, Vec::new(), vec![tree]);
        while let Some(tree) = left.pop() {
            if self.seen.contains(&tree) || !matches!(self.objects.read(&tree, &mut data), Ok(Kind::Tree)) {
                continue;
            }
            size += self.add(tree, counted);
            for entry in TreeRefIter::from_bytes(&data, self.objects.hash_kind()).map_while(Result::ok) {
                match entry.mode.is_tree() {
                    true => left.push(entry.oid.to_owned()),
                    false if entry.mode.is_commit() => {}
                    false => size += self.add(entry.oid.to_owned(), counted),
                }
            }
        }
        size
    }

    fn add(&mut self, id: ObjectId, counted: bool) -> u64 {
        if self.seen.insert(id) && counted { self.size_on_disk(&id) } else { 0 }
    }

    fn size_on_disk(&self, id: &ObjectId) -> u64 {
        let hex = id.to_string();
        if let Ok(loose) = self.folder.join(&hex[..2]).join(&hex[2..]).metadata() {
            return loose.len();
        }
        let location = self.objects.repo().objects.location_by_oid(id, &mut Vec::new());
        location.ok().flatten().map_or(0, |location| location.entry_size as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::TestRepo;

    /// A checkpoint-like commit of the worktree on top of HEAD.
    fn commit_aside(test: &TestRepo) -> ObjectId {
        let tree = test.worktree_tree().to_string();
        ObjectId::from_hex(test.git(&["commit-tree", &tree, "-p", "HEAD", "-m", "aside"]).as_bytes()).unwrap()
    }

    fn size(test: &TestRepo, id: &str) -> u64 {
        test.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize:disk)"])
            .lines()
            .find_map(|line| line.strip_prefix(id)?.trim().parse().ok())
            .unwrap()
    }

    #[test]
    fn only_what_nothing_else_holds_counts_and_only_once() {
        let test = TestRepo::new();
        test.write("a", "kept\n");
        test.commit_all("first");
        test.write("a", "changed\n");
        test.write("dir/b", "new\n".repeat(1000));
        let commit = commit_aside(&test);
        for packed in [false, true] {
            if packed {
                test.git(&["update-ref", "refs/checkpoints/s/x", &commit.to_string()]);
                test.git(&["repack", "-adq"]);
            }
            let names = ["", "^{tree}", ":a", ":dir", ":dir/b"].map(|part| test.id(&format!("{commit}{part}")).to_string());
            let expected: u64 = names.iter().map(|id| size(&test, id)).sum();
            let mut reach = Reach::of_others(&test.open(), 0);

            assert_eq!(reach.add_checkpoint(commit), expected, "packed: {packed}");
            assert_eq!(reach.add_checkpoint(commit), 0);
        }
    }

    #[test]
    fn what_was_committed_since_is_not_freed() {
        let test = TestRepo::new();
        test.commit_all("first");
        test.write("a", "content\n");
        let commit = commit_aside(&test);
        test.commit_all("the same content");
        test.write("a", "later\n");
        test.commit_all("later");

        let freed = Reach::of_others(&test.open(), 0).add_checkpoint(commit);

        assert_eq!(freed, size(&test, &commit.to_string()), "the commit alone");
    }
}
