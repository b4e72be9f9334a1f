//! Killed, or out of disk, at any call by which a command changes something: nothing is lost, the next command says what is
//! the matter, and both ways out lead to a whole state.
//!
//! Each command is run once to learn its calls, then once for each of them with a fault there, on the same repository. A plain
//! run tries some of them; `CHECKPOINT_FAULT_POINTS=all` tries all, a number that many, beginning at `CHECKPOINT_FAULT_OFFSET`.

mod found;
mod saving;
mod scenario;
mod small_disk;

use crate::support::strace::{self, Call, Fault};
use crate::support::{Output, TestRepo};
use scenario::{ABORT, CONTINUE, Scenario, ours};

/// True if the next command says that a restore was interrupted; then the others refuse.
fn is_interrupted(repo: &TestRepo) -> bool {
    let said = ours(repo, &["list"]).success().talk().contains("restore --continue");
    if said {
        ours(repo, &["save"]).exits(3).says("restore --abort");
    }
    said
}

/// After a kill: `end` is the way out that is gone, where there is one.
fn check_killed(scenario: &Scenario, end: &str) {
    let repo = &scenario.repo;
    let interrupted = is_interrupted(repo);

    let output = ours(repo, &["restore", end]).success();

    let is_after = scenario.is_after();
    if interrupted {
        assert_eq!(is_after, end == "--continue", "{end} did the opposite");
    } else {
        output.says("no restore was interrupted");
        assert!(scenario.args != CONTINUE || is_after, "given up half-way");
        assert!(scenario.args != ABORT || !is_after, "given up half-way");
    }
    scenario.check_whole(is_after);
}

/// After an error: the command says what was the matter, and is done, or has taken itself back, or can be.
fn check_failed(scenario: &Scenario, fault: Fault, output: &Output, call: &Call) {
    let repo = &scenario.repo;
    let code = output.code().unwrap_or_else(|| panic!("ended by a signal: {output}"));
    let talk = output.talk();
    assert!(matches!(code, 0 | 3 | 6 | 128), "{output}");
    assert!(!talk.contains("panicked"), "{output}");
    if fault == Fault::Once && code != 0 {
        // A refusal names each of its reasons in a line of its own.
        let lines = if code == 3 { 2 } else { 1 };
        assert!(talk.starts_with("error: ") && talk.matches("error: ").count() == lines, "{output}");
    }
    let interrupted = is_interrupted(repo);
    // One that was interrupted before still is.
    let may_be = code == 6 || code != 0 && (scenario.args == CONTINUE || scenario.args == ABORT);
    assert!(interrupted <= may_be, "it is interrupted and does not say so: {output}");
    let is_after = if interrupted {
        let end = if call.nth.is_multiple_of(2) { "--continue" } else { "--abort" };
        ours(repo, &["restore", end]).success();
        let is_after = scenario.is_after();
        assert_eq!(is_after, end == "--continue");
        is_after
    } else {
        let is_after = scenario.is_after();
        let done = scenario.args != ABORT;
        assert!(code != 0 || is_after == done, "success was reported: {output}");
        assert!(!matches!(code, 3 | 128) || is_after != done, "a failure was reported: {output}");
        is_after
    };
    scenario.check_whole(is_after);
}

fn kill(scenario: &Scenario, end: &str) {
    scenario.try_points(Fault::Kill, |_, _| check_killed(scenario, end));
}

fn fail(scenario: &Scenario, fault: Fault) {
    scenario.try_points(fault, |output, call| check_failed(scenario, fault, output, call));
}

macro_rules! ways_to_fail {
    ($($name:ident: $act:ident($scenario:expr, $how:expr);)*) => {
        $(#[test]
        fn $name() {
            if strace::is_usable() {
                $act(&$scenario, $how);
            }
        })*
    };
}

ways_to_fail! {
    a_restore_killed_at_any_call_can_be_taken_back: kill(Scenario::restore(), "--abort");
    a_restore_killed_at_any_call_can_be_finished: kill(Scenario::restore(), "--continue");
    an_undo_killed_at_any_call_can_be_taken_back: kill(Scenario::undo(), "--abort");
    an_undo_killed_at_any_call_can_be_finished: kill(Scenario::undo(), "--continue");
    finishing_killed_at_any_call_can_be_taken_back: kill(Scenario::interrupted(CONTINUE), "--abort");
    finishing_killed_at_any_call_can_be_finished: kill(Scenario::interrupted(CONTINUE), "--continue");
    taking_back_killed_at_any_call_can_be_taken_back: kill(Scenario::interrupted(ABORT), "--abort");
    taking_back_killed_at_any_call_can_be_finished: kill(Scenario::interrupted(ABORT), "--continue");
    a_restore_out_of_disk_at_any_call_is_whole: fail(Scenario::restore(), Fault::Once);
    a_restore_out_of_disk_from_any_call_on_is_whole: fail(Scenario::restore(), Fault::Lasting);
    an_undo_out_of_disk_at_any_call_is_whole: fail(Scenario::undo(), Fault::Once);
    an_undo_out_of_disk_from_any_call_on_is_whole: fail(Scenario::undo(), Fault::Lasting);
    a_restore_from_another_file_system_killed_at_any_call_can_be_taken_back: kill(Scenario::restore_apart(), "--abort");
    a_restore_from_another_file_system_killed_at_any_call_can_be_finished: kill(Scenario::restore_apart(), "--continue");
    a_restore_from_another_file_system_out_of_disk_at_any_call_is_whole: fail(Scenario::restore_apart(), Fault::Once);
    a_restore_by_plain_renames_killed_at_any_call_can_be_taken_back: kill(Scenario::restore_by_plain_renames(), "--abort");
    a_restore_by_plain_renames_killed_at_any_call_can_be_finished: kill(Scenario::restore_by_plain_renames(), "--continue");
    a_restore_by_plain_renames_out_of_disk_at_any_call_is_whole: fail(Scenario::restore_by_plain_renames(), Fault::Once);
    finishing_out_of_disk_from_any_call_on_is_whole: fail(Scenario::interrupted(CONTINUE), Fault::Lasting);
    taking_back_out_of_disk_from_any_call_on_is_whole: fail(Scenario::interrupted(ABORT), Fault::Lasting);
    finishing_out_of_disk_at_any_call_is_whole: fail(Scenario::interrupted(CONTINUE), Fault::Once);
    taking_back_out_of_disk_at_any_call_is_whole: fail(Scenario::interrupted(ABORT), Fault::Once);
}
