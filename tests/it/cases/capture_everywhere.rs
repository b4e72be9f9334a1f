//! What every capture promises, in every form that a repository can have.

use crate::support::{RepoState, TestRepo};

fn records_what_git_would(repo: &TestRepo) {
    repo.save("A");

    repo.assert_tree_is_gits("A");
}

fn touches_nothing(repo: &TestRepo) {
    let before = RepoState::of(repo);

    repo.save("A");

    before.assert_same(&RepoState::of(repo));
}

crate::in_every_scene! { the_tree_is_gits, records_what_git_would }
crate::in_every_scene! { nothing_is_touched, touches_nothing }
