//! Restoring random checkpoints, with a model of what must come out.

use std::collections::BTreeSet;

use super::ROUNDS_IN_A_WORLD;
use super::world::{Tricks, World};
use crate::support::{RepoState, TestRepo};

/// What was there when a checkpoint was saved.
struct Saved {
    name: String,
    tree: String,
    head: Option<String>,
    index: String,
    status: BTreeSet<String>,
}

impl Saved {
    fn of(repo: &TestRepo, name: &str) -> Saved {
        let (head, index, status) = (repo.rev("HEAD"), repo.index_entries(), status(repo));
        repo.save(name);
        Saved { name: name.to_owned(), tree: repo.tree(name), head, index, status }
    }
}

fn status(repo: &TestRepo) -> BTreeSet<String> {
    let args = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "--untracked-files=all"];
    listed(repo, &args).iter().map(|record| String::from_utf8_lossy(record).into_owned()).collect()
}

/// Files that ignore rules match now, tracked ones too: a restore deletes none of them.
fn ignored(repo: &TestRepo) -> BTreeSet<Vec<u8>> {
    let of = |which| listed(repo, &["ls-files", "-z", which, "--ignored", "--exclude-standard"]);
    of("--others").union(&of("--cached")).cloned().collect()
}

fn listed(repo: &TestRepo, args: &[&str]) -> BTreeSet<Vec<u8>> {
    repo.git(args).stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// What undo must bring back. Where a folder was empty before, undo empties it again, and so removes it: no tree tells that it
/// was there.
fn state(repo: &TestRepo) -> RepoState {
    let state = RepoState::of(repo).without_times().without_folders();
    let modes = repo.git(["config", "--default", "true", "core.fileMode"]).text();
    if modes == "true" { state } else { state.without_modes() }
}

/// Saves after every few changes, restores some checkpoint, looks at everything, undoes, and looks again.
pub fn any_saved_state_comes_back(seed: u64) {
    let mut world = World::new(seed, Tricks::None);
    let mut all = Vec::new();
    for round in 0..ROUNDS_IN_A_WORLD {
        world.change(8);
        let name = format!("round-{round}");
        world.tell(format!("save {name}"));
        all.push(Saved::of(&world.repo, &name));
        world.repo.assert_tree_is_gits(&name);
        if world.random.one_in(2) {
            world.change(6);
        }
        let target = world.random.below(all.len());
        world.tell(format!("restore {}", all[target].name));
        if comes_back(&world.repo, &all[target]) && world.random.one_in(3) {
            // Go on from there instead of from before.
            world.tell("redo");
            world.repo.redo();
        }
    }
    world.repo.assert_sound();
}

/// Restores, looks, undoes and looks again. False if there was nothing to restore.
fn comes_back(repo: &TestRepo, saved: &Saved) -> bool {
    let before = state(repo);
    let ignored_before = ignored(repo);
    let unmoved = repo.rev("HEAD") == saved.head;

    let result = repo.checkpoint(["restore", "--yes", "--json", &saved.name]).success().json();
    if result["status"] == "unchanged" {
        before.assert_same(&state(repo));
        return false;
    }

    let target = listed(repo, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", &saved.tree]);
    let ignored_after = ignored(repo);
    let kept: BTreeSet<_> = ignored_before.union(&ignored_after).cloned().collect();
    assert_files_are(repo, &saved.tree, &target);
    for path in repo.files() {
        assert!(target.contains(&path) || kept.contains(&path), "left behind: {}", String::from_utf8_lossy(&path));
    }
    if unmoved {
        assert_eq!(repo.index_entries(), saved.index, "index entries after the restore");
        // What was kept on purpose shows up in one status and not in the other; a kept rule file hides others that are ignored.
        let strangers: BTreeSet<_> = kept.difference(&target).cloned().collect();
        let has_rules = strangers.iter().any(|path| path.ends_with(b".gitignore"));
        let hidden = if has_rules { &kept } else { &strangers };
        let kept: Vec<_> = hidden.iter().map(|path| format!(" {}", String::from_utf8_lossy(path))).collect();
        let of_others = |status: &BTreeSet<String>| -> BTreeSet<String> {
            status.iter().filter(|record| !kept.iter().any(|path| record.ends_with(path))).cloned().collect()
        };
        let (now, then) = (of_others(&status(repo)), of_others(&saved.status));
        let lines: Vec<_> = now.symmetric_difference(&then).collect();
        assert!(lines.is_empty(), "status after the restore, in one of the two: {lines:#?}");
    } else {
        assert_eq!(repo.git(["diff", "--cached", "--name-only"]).text(), "", "HEAD moved: the index is HEAD's");
    }

    repo.undo();
    before.assert_same(&state(repo));
    true
}

/// Fails unless every file of the tree stands in the worktree with its mode and content, by git's own comparison.
fn assert_files_are(repo: &TestRepo, tree: &str, target: &BTreeSet<Vec<u8>>) {
    let index = repo.env().root().join("index of the target");
    let git =
        |args: &[&str]| crate::support::Output::of(repo.command("git").env("GIT_INDEX_FILE", &index).args(args)).success().text();
    git(&["read-tree", tree]);
    assert_eq!(git(&["diff", "--name-status", "--no-ext-diff"]), "", "files that are not as saved, of {}", target.len());
    std::fs::remove_file(index).unwrap();
}
