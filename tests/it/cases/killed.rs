//! Killed in the middle: nothing half-done is left unsaid, and the next command works.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{RepoState, TestRepo, rounds};

/// Starts `command`, waits `delay` and kills it as the kernel would for want of memory. True if it had not ended before.
fn kill_after(mut command: Command, delay: Duration) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(delay);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

fn program(repo: &TestRepo, args: &[&str]) -> Command {
    let mut command = repo.program();
    command.args(args);
    command
}

/// The moments to kill at: close together at first, then further apart.
fn moments() -> impl Iterator<Item = Duration> {
    let kills = u64::try_from(rounds("CHECKPOINT_KILLS", 24)).unwrap();
    (0..kills).map(|step| Duration::from_micros(500 * step + 40 * step * step))
}

#[test]
fn a_save_killed_at_any_moment_leaves_no_trace_in_the_worktree_and_the_next_one_works() {
    let repo = TestRepo::new();
    for number in 0..1500 {
        std::fs::write(repo.path(format!("x{number}")), format!("{number}\n")).unwrap();
    }
    let mut killed = 0;

    for (round, moment) in moments().enumerate() {
        // New content for every round, or there would be nothing left to write.
        (0..300).for_each(|number| std::fs::write(repo.path(format!("x{number}")), format!("{round} {number}\n")).unwrap());
        let before = RepoState::of(&repo);
        killed += u32::from(kill_after(program(&repo, &["save", "--quiet", "--allow-empty"]), moment));
        before.assert_same(&RepoState::of(&repo));
    }
    repo.save("B");

    assert!(killed > 2, "only {killed} saves were still running when they were killed");
    assert_eq!(repo.ls_tree(&repo.tree("B")).len(), 1501);
    repo.assert_tree_is_gits("B");
    repo.assert_sound();
}

/// Two states that differ in every way, with a checkpoint `A` of the first; the worktree has the second.
fn two_states() -> TestRepo {
    let repo = crate::support::scenes::mixed();
    repo.save("A");
    repo.write("f", "later\n");
    repo.chmod("run", 0o755);
    repo.remove("untracked");
    repo.write("untracked", "now a file\n");
    repo.remove("link");
    repo.write("link/now/a/folder", "x\n");
    repo.remove("dir");
    repo.symlink("f", "dir");
    repo.write("staged", "staged anew\n");
    repo.run(["add", "staged", "f"]);
    repo.write("made/since", "x\n");
    repo
}

/// How many points a restore of `A` passes.
fn points(repo: &TestRepo) -> usize {
    let file = repo.env().root().join("points");
    repo.with_fault(&format!("count:{}", file.display()), &["restore", "--quiet", "--yes", "A"]).success();
    repo.undo();
    std::fs::read_to_string(file).expect("a debug build counts the points").parse().unwrap()
}

/// Restores `A` with a fault at every point in turn (a folder that could not be removed may stay) and goes the way that `end` names; then the state must be one of the two,
/// whole, and undo must lead back.
fn fail_restores_and(fault: &str, end: &str) {
    let repo = two_states();
    let now = RepoState::of(&repo).without_times().without_folders();
    let all = points(&repo);
    repo.restore("A");
    let at_a = RepoState::of(&repo).without_times().without_folders();
    repo.undo();
    now.assert_same(&RepoState::of(&repo).without_times().without_folders());
    let mut interrupted = 0;

    for point in 1..=all {
        let output = repo.with_fault(&format!("{fault}:{point}"), &["restore", "--quiet", "--yes", "A"]);
        let left = repo.checkpoint(["save", "--quiet"]).code() != Some(0);
        if left {
            interrupted += 1;
            assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["restore-interrupted"], "{fault} at {point}");
            repo.checkpoint(["list"]).success().says("--continue");
            repo.checkpoint(["restore", end]).success();
        }
        let after = RepoState::of(&repo).without_times().without_folders();
        let (from_a, from_now) = (at_a.differences(&after), now.differences(&after));
        let finished = from_a.is_empty();
        if !finished && !from_now.is_empty() {
            let lines = |differences: Vec<String>| differences.join("\n");
            panic!("{fault} at {point} of {all}: {output}not `A`: {}\nnot as before: {}", lines(from_a), lines(from_now));
        }
        assert!(!left || finished == (end == "--continue"), "{fault} at {point}: {end} did the opposite");
        assert!(output.code() != Some(0) || finished, "{fault} at {point}: success was reported: {output}");
        assert!(!repo.git_dir().join("index.lock").exists(), "{fault} at {point}: the lock is left");
        assert_eq!(steps(&repo).0, usize::from(finished), "{fault} at {point}: restores that undo knows of");
        if finished {
            repo.undo();
            now.assert_same(&RepoState::of(&repo).without_times().without_folders());
        }
    }
    assert!(fault != "kill" || interrupted > 5, "only {interrupted} of {all} restores were interrupted");
}

#[test]
fn a_restore_killed_at_any_point_can_be_taken_back() {
    fail_restores_and("kill", "--abort");
}

#[test]
fn a_restore_killed_at_any_point_can_be_finished() {
    fail_restores_and("kill", "--continue");
}

#[test]
fn a_restore_that_finds_the_disk_full_at_any_point_takes_itself_back() {
    fail_restores_and("full", "--abort");
}

#[test]
fn a_restore_that_is_denied_access_at_any_point_takes_itself_back() {
    fail_restores_and("denied", "--abort");
}

/// How many steps undo and redo can go.
fn steps(repo: &TestRepo) -> (usize, usize) {
    let count = |verb| {
        let document = repo.checkpoint([verb, "--list", "--json"]).success().json();
        document["restores"].as_array().unwrap().len()
    };
    (count("undo"), count("redo"))
}

#[test]
fn an_undo_that_finds_the_disk_full_at_any_point_is_there_to_be_done_again() {
    let repo = two_states();
    let now = RepoState::of(&repo).without_times().without_folders();
    repo.restore("A");
    let at_a = RepoState::of(&repo).without_times().without_folders();
    for point in 1.. {
        let output = repo.with_fault(&format!("full:{point}"), &["undo", "--quiet", "--yes"]);
        let after = RepoState::of(&repo).without_times().without_folders();
        if output.code() == Some(0) {
            now.assert_same(&after);
            assert_eq!(steps(&repo), (0, 1));
            break;
        }
        if repo.checkpoint(["save", "--quiet"]).code() != Some(0) {
            repo.checkpoint(["restore", "--abort"]).success();
        }
        at_a.assert_same(&RepoState::of(&repo).without_times().without_folders());
        assert_eq!(steps(&repo), (1, 0), "full at {point}");
    }
    repo.redo();
    at_a.assert_same(&RepoState::of(&repo).without_times().without_folders());
}

#[test]
fn continue_and_abort_without_an_interrupted_restore_say_so() {
    let repo = TestRepo::new();
    repo.save("A");
    let before = RepoState::of(&repo);

    for end in ["--continue", "--abort"] {
        let output = repo.checkpoint(["restore", end]).success();
        assert!(output.talk().contains("no restore was interrupted"), "{output}");
    }

    before.assert_same(&RepoState::of(&repo));
}
