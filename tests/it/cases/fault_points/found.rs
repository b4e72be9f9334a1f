//! Points at which something was lost once, or not said.

use std::cell::Cell;

use super::check_failed;
use super::saving::Save;
use super::scenario::{ABORT, RESTORE, Scenario};
use crate::support::strace::{self, Call, Fault};
use crate::support::{Output, RepoState, scenes};

/// The calls whose text contains `part`, as the only points.
fn only(part: &'static str) -> impl Fn(Vec<Call>) -> Vec<Call> {
    move |calls| calls.into_iter().filter(|call| call.shown.contains(part)).collect()
}

#[test]
fn a_folder_that_cannot_be_removed_is_not_passed_over() {
    if !strace::is_usable() {
        return;
    }
    for scenario in [Scenario::restore(), Scenario::interrupted(ABORT)] {
        let check = |output: &Output, call: &Call| check_failed(&scenario, Fault::Once, output, call);
        scenario.try_some(Fault::Once, only("REMOVEDIR"), check);
    }
}

#[test]
fn a_file_that_cannot_be_read_when_its_permissions_are_kept_for_undo_is_not_replaced() {
    if !strace::is_usable() {
        return;
    }
    let repo = scenes::far_from_checkpoint();
    // Reading back what was written would fail as well, and hide it.
    repo.config("checkpoint.restore.verify", "false");
    let before = RepoState::of(&repo);

    let output = repo.with_unreadable("private", RESTORE).exits(128);

    assert!(output.talk().contains("cannot read `") && output.talk().contains("private`"), "{output}");
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_name_can_be_given_again_although_the_process_that_gave_it_was_killed() {
    if strace::is_usable() {
        let save = Save::new();
        save.scenario.try_some(Fault::Kill, only("refs/checkpoint-names/%53.lock"), |_, _| save.check(None));
    }
}

#[test]
fn a_restore_of_which_nobody_can_tell_whether_it_was_recorded_is_left_to_be_ended() {
    if !strace::is_usable() {
        return;
    }
    for scenario in [Scenario::restore(), Scenario::undo()] {
        let flush = |calls: Vec<Call>| {
            let is_flush = |pair: &&[Call]| pair[0].name == "pwrite64" && pair[1].name == "fsync";
            calls.windows(2).filter(is_flush).map(|pair| pair[1].clone()).collect()
        };
        // How many folders are flushed before depends on names that are made by chance: another flush may have the number.
        let is_told = Cell::new(false);
        for _ in 0..10 {
            scenario.try_some(Fault::Lasting, flush, |output, call| {
                is_told.set(is_told.get() || output.code() == Some(6));
                check_failed(&scenario, Fault::Lasting, output, call);
            });
            if is_told.get() {
                break;
            }
        }
        assert!(is_told.get(), "the flush of the database was not hit once");
    }
}

#[test]
fn a_checkpoint_that_gets_no_row_is_no_ref_either() {
    if strace::is_usable() {
        let save = Save::new();
        let last_of_database =
            |calls: Vec<Call>| calls.into_iter().filter(|call| call.name == "pwrite64").rev().take(2).collect();
        save.scenario.try_some(Fault::Lasting, last_of_database, |output, _| save.check(Some(output)));
    }
}
