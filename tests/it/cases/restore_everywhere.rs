//! What every restore promises, in every form that a repository can have: the state is as it was saved, `git status` included,
//! and undo brings back what was there before.

use crate::support::{RepoState, TestRepo};

/// Changes files, the index and the folders since a checkpoint was made.
fn change(repo: &TestRepo) {
    if repo.exists("f") {
        repo.append("f", "changed since\n");
    }
    repo.write("made/since/x", "x\n");
    repo.write("made/staged", "x\n");
    repo.run(["add", "--sparse", "made/staged"]);
    repo.write("made/staged", "edited\n");
    let tracked = repo.git(["ls-files", "-z"]).stdout;
    let first = tracked.split(|byte| *byte == 0).map(crate::support::raw).find(|path| repo.path(path).is_file());
    if let Some(first) = first.filter(|path| !path.is_empty()) {
        repo.remove(first);
    }
}

fn brings_back_the_state(repo: &TestRepo) {
    let saved = RepoState::of(repo).without_times();
    repo.save("A");
    change(repo);
    let changed = RepoState::of(repo).without_times();

    repo.restore("A");
    let restored = RepoState::of(repo).without_times();
    saved.or_checked_out(&restored, repo, "A").assert_same(&restored);
    repo.undo();
    changed.assert_same(&RepoState::of(repo).without_times());
    repo.redo();
    restored.assert_same(&RepoState::of(repo).without_times());
    repo.assert_sound();
}

fn to_the_state_itself_rewrites_nothing(repo: &TestRepo) {
    repo.save("A");
    let mut before = RepoState::of(repo);

    repo.restore("A");

    before.keep_index_file_of(&RepoState::of(repo));
    before.assert_same(&RepoState::of(repo));
}

fn dry_run_changes_nothing(repo: &TestRepo) {
    repo.save("A");
    change(repo);
    let before = RepoState::of(repo);

    repo.checkpoint(["restore", "--dry-run", "A"]).success();

    before.assert_same(&RepoState::of(repo));
}

fn is_refused_and_changes_nothing(repo: &TestRepo) {
    repo.save("A");
    repo.write("untracked", "later\n");
    let before = RepoState::of(repo);

    let blockers = repo.blockers(&["restore", "--yes", "A"]);

    assert!(blockers.iter().any(|code| code == "operation-in-progress"), "{blockers:?}");
    before.assert_same(&RepoState::of(repo));
}

crate::in_every_quiet_scene! { a_restore_and_its_undo, brings_back_the_state }
crate::in_every_quiet_scene! { a_restore_to_the_current_state, to_the_state_itself_rewrites_nothing }
crate::in_every_quiet_scene! { a_dry_run, dry_run_changes_nothing }
crate::in_scenes! { during_an_operation, is_refused_and_changes_nothing:
    in_merge in_rebase in_rebase_apply in_cherry_pick in_revert in_am in_bisect in_merge_without_conflict
}
