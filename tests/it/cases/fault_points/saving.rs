//! Saves with a fault at every call.

use std::path::PathBuf;

use super::scenario::{Scenario, assert_listed, git_tree_of, litter, nothing, ours};
use crate::support::strace::{self, Fault};
use crate::support::{Output, RepoState, scenes};

/// A worktree with something to save, and an older checkpoint.
pub(super) struct Save {
    pub(super) scenario: Scenario,
}

pub(super) const SAVE: &[&str] = &["save", "--quiet", "--name", "S", "-m", "under fault"];

impl Save {
    pub(super) fn new() -> Save {
        Save { scenario: Scenario::new(scenes::far_from_checkpoint(), SAVE, nothing, SAVE, "") }
    }

    /// Whether it is there after all or not at all, nothing was touched, and the next save works.
    pub(super) fn check(&self, output: Option<&Output>) {
        let repo = &self.scenario.repo;
        self.scenario.before.state.assert_same(&RepoState::of(repo));
        if let Some(output) = output {
            let code = output.code().unwrap_or_else(|| panic!("ended by a signal: {output}"));
            assert!(matches!(code, 0 | 128) && !output.talk().contains("panicked"), "{output}");
            let found = repo.checkpoint(["list", "--grep", "under fault", "--json"]).success().json();
            let found = found["checkpoints"].as_array().unwrap().len();
            assert!(code != 0 || found == 1, "success was reported: {output}");
        }
        repo.assert_sound();
        let _next = ours(repo, SAVE).success();
        assert_eq!(git_tree_of(repo, "%53"), self.scenario.before.tree);
        assert_eq!(litter(&repo.common_dir()), Vec::<PathBuf>::new(), "left behind");
        assert_listed(repo);
        repo.run(["add", "-A"]);
    }
}

#[test]
fn a_save_killed_at_any_call_leaves_no_trace_and_the_next_one_works() {
    if strace::is_usable() {
        let save = Save::new();
        save.scenario.try_points(Fault::Kill, |_, _| save.check(None));
    }
}

#[test]
fn a_save_out_of_disk_at_any_call_touches_nothing_and_the_next_one_works() {
    if strace::is_usable() {
        let save = Save::new();
        for fault in [Fault::Once, Fault::Lasting] {
            save.scenario.try_points(fault, |output, _| save.check(Some(output)));
        }
    }
}
