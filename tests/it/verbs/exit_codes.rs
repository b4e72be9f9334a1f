//! The table of exit codes: each code with every command where it can happen.

use std::os::fd::OwnedFd;

use crate::support::{Output, Terminal, TestRepo, tools};

/// How a command ends: the words after `git checkpoint`, and the code.
type Row = (&'static [&'static str], i32);

/// Two checkpoints, 1 (`good`) and 2, of which 1 was restored, so that there is something to undo; `f` was edited since. The
/// session `ci` has 2.
fn worked() -> TestRepo {
    let repo = TestRepo::new();
    repo.run(["clone", "-q", "--bare", ".", "../hub.git"]);
    repo.run(["remote", "add", "hub", "../hub.git"]);
    repo.save("good");
    repo.write("f", "2\n");
    repo.checkpoint(["save", "-q", "--session", "ci", "--step", "build"]).success();
    repo.restore("good");
    repo.write("f", "edited\n");
    repo
}

/// Runs every row in a repository of its own, through git, with and without `--json`.
#[track_caller]
fn all_end_so(build: impl Fn() -> TestRepo, rows: &[Row]) {
    for (args, code) in rows {
        for json in [false, true] {
            let repo = build();
            let option: &[&str] = if json { &["--json"] } else { &[] };
            let output = repo.checkpoint([option, args].concat());

            assert_eq!(output.code(), Some(*code), "{output}");
            assert!(!output.talk().contains("panicked"), "{output}");
            if json && args[0] != "run" && args[0] != "completions" && args[0] != "help" {
                assert_eq!(output.json()["schema"], 1, "{output}");
            }
            if matches!(code, 3..=6 | 128..) {
                assert!(output.talk().starts_with("error: "), "{output}");
            }
        }
    }
}

#[test]
fn zero_is_done_or_nothing_to_do() {
    let rows: [Row; 33] = [
        (&["save"], 0),
        (&["list"], 0),
        (&["list", "--session", "none"], 0),
        (&["show"], 0),
        (&["diff"], 0),
        (&["diff", "good", "good"], 0),
        (&["diff", "--", "nothing"], 0),
        (&["restore", "good", "--yes"], 0),
        (&["restore", "good", "--dry-run"], 0),
        (&["restore", "good", "--to", "../copy"], 0),
        (&["restore", "--continue"], 0),
        (&["restore", "--abort"], 0),
        (&["undo", "--yes"], 0),
        (&["undo", "--list"], 0),
        (&["redo", "--yes"], 0),
        (&["redo", "--list"], 0),
        (&["status"], 0),
        (&["name", "1", "x"], 0),
        (&["name", "--delete", "good"], 0),
        (&["branch", "side"], 0),
        (&["drop", "--yes", "--allow", "needed-by-undo", "1"], 0),
        (&["prune"], 0),
        (&["run", "--", "true"], 0),
        (&["session", "start"], 0),
        (&["session", "end"], 0),
        (&["session", "list"], 0),
        (&["session", "show"], 0),
        (&["session", "delete", "ci", "--yes"], 0),
        (&["export", "-o", "../x.bundle"], 0),
        (&["push"], 0),
        (&["fetch"], 0),
        (&["doctor"], 0),
        (&["completions", "bash"], 0),
    ];
    all_end_so(worked, &rows);
}

#[test]
fn one_is_the_answer_no() {
    let unchanged = || {
        let repo = worked();
        repo.save("now");
        repo.config("checkpoint.keepLats", "1");
        repo
    };
    let rows: [Row; 5] = [
        (&["save", "--exit-code"], 1),
        (&["diff", "--exit-code", "good"], 1),
        (&["diff", "--exit-code", "--stat", "1", "2"], 1),
        (&["doctor"], 1),
        (&["doctor", "--fix"], 1),
    ];
    all_end_so(unchanged, &rows);
}

#[test]
fn three_is_refused() {
    let rows: [Row; 6] = [
        (&["restore", "good"], 3),
        (&["undo"], 3),
        (&["drop", "2"], 3),
        (&["drop", "1", "--yes"], 3),
        (&["session", "delete", "ci"], 3),
        (&["restore", "good", "--allow", "other-worktree"], 3),
    ];
    all_end_so(worked, &rows);
    let undone = || {
        let repo = worked();
        repo.undo();
        repo
    };
    all_end_so(undone, &[(&["redo"], 3)]);
    let running = || {
        let repo = worked();
        let own = std::process::id().to_string();
        repo.checkpoint(["session", "start", "-q", "work", "--pid", &own]).success();
        repo
    };
    let at_work: [Row; 3] =
        [(&["restore", "good", "--yes"], 3), (&["undo", "--yes"], 3), (&["session", "delete", "work", "--yes"], 3)];
    all_end_so(running, &at_work);
}

#[test]
fn what_would_change_something_is_refused_while_a_restore_is_interrupted() {
    let interrupted = || {
        let repo = worked();
        repo.checkpoint(["export", "-q", "-o", "../x.bundle"]).success();
        repo.write("new", "n\n");
        repo.interrupt("good", |repo| !repo.exists("new"));
        repo
    };
    let rows: [Row; 15] = [
        (&["save"], 3),
        (&["restore", "good", "--yes"], 3),
        (&["undo", "--yes"], 3),
        (&["redo", "--yes"], 3),
        (&["name", "2", "x"], 3),
        (&["drop", "2", "--yes"], 3),
        (&["prune", "--keep-last", "1"], 3),
        (&["session", "delete", "ci", "--yes"], 3),
        (&["import", "../x.bundle"], 3),
        (&["fetch"], 3),
        (&["list"], 0),
        (&["show"], 0),
        (&["diff"], 0),
        (&["status"], 0),
        (&["undo", "--list"], 0),
    ];
    all_end_so(interrupted, &rows);
}

#[test]
fn four_is_what_names_nothing_or_several() {
    let rows: [Row; 20] = [
        (&["show", "nowhere"], 4),
        (&["show", "0"], 4),
        (&["diff", "nowhere"], 4),
        (&["diff", "1", "nowhere"], 4),
        (&["restore", "nowhere"], 4),
        (&["restore", "nowhere", "--yes"], 4),
        (&["restore", "good", "--yes", "--", "nothing"], 4),
        (&["restore", "good", "--dry-run", "--", "nothing"], 4),
        (&["name", "nowhere", "x"], 4),
        (&["name", "--delete", "nowhere"], 4),
        (&["branch", "side", "nowhere"], 4),
        (&["drop", "nowhere", "--yes"], 4),
        (&["drop", "2", "nowhere", "--yes"], 4),
        (&["export", "-o", "../x.bundle", "nowhere"], 4),
        (&["export", "-o", "../x.bundle", "--since", "nowhere"], 4),
        (&["push", "hub", "nowhere"], 4),
        (&["doctor", "--verify", "nowhere"], 4),
        (&["session", "end", "nowhere"], 4),
        (&["session", "show", "nowhere"], 4),
        (&["session", "delete", "nowhere", "--yes"], 4),
    ];
    all_end_so(worked, &rows);
}

#[test]
fn five_is_a_lock_that_was_not_free_in_time() {
    let hasty = || {
        let repo = worked();
        repo.config("checkpoint.lockTimeout", "50ms");
        repo
    };
    let index_locked = || {
        let repo = hasty();
        repo.write(".git/index.lock", "");
        repo
    };
    all_end_so(index_locked, &[(&["restore", "good", "--yes"], 5), (&["undo", "--yes"], 5)]);
    let interrupted = || {
        let repo = hasty();
        repo.write("new", "n\n");
        repo.interrupt("good", |repo| !repo.exists("new"));
        let _ = std::fs::remove_file(repo.path(".git/index.lock"));
        repo.write(".git/index.lock", "");
        repo
    };
    all_end_so(interrupted, &[(&["restore", "--continue"], 5)]);
    let refs_locked = || {
        let repo = hasty();
        repo.run(["pack-refs", "--all"]);
        repo.write(".git/packed-refs.lock", "");
        repo
    };
    let rows: [Row; 2] = [(&["drop", "2", "--yes"], 5), (&["prune", "--keep-last", "1"], 5)];
    all_end_so(refs_locked, &rows);
}

#[test]
fn five_is_also_a_worktree_at_which_another_process_is_at_work() {
    let repo = worked();
    repo.config("checkpoint.lockTimeout", "50ms");
    let lock = OwnedFd::from(std::fs::File::open(repo.git_dir().join("checkpoint/lock")).unwrap());
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();

    // A save is not among them: it waits until it can be made.
    for args in [&["restore", "good", "--yes"][..], &["undo", "--yes"], &["drop", "2", "--yes"], &["prune"]] {
        repo.checkpoint(args).exits(5).says("error: ");
    }
}

#[test]
fn six_is_an_interruption_in_the_middle() {
    let repo = worked();
    let ends_so = |args: &[&str]| {
        (1..200).any(|at| {
            let output = repo.with_fault(&format!("denied:{at},denied:{}", at + 1), args);
            let _ = repo.checkpoint(["restore", "--quiet", "--abort"]);
            repo.write("f", "edited\n");
            output.code() == Some(6)
        })
    };

    assert!(ends_so(&["restore", "good", "--yes"]));
    assert!(ends_so(&["undo", "--yes"]));
}

#[test]
fn a_hundred_and_twenty_eight_is_a_failure() {
    let rows: [Row; 5] = [
        (&["branch", "main"], 128),
        (&["import", "../nothing.bundle"], 128),
        (&["import", "f"], 128),
        (&["push", "nowhere"], 128),
        (&["fetch", "nowhere"], 128),
    ];
    all_end_so(worked, &rows);
    let outside = || worked().at("hub.git/objects");
    let everything: [Row; 22] = [
        (&["save"], 128),
        (&["list", "--", "x"], 128),
        (&["diff"], 128),
        (&["status"], 128),
        (&["restore", "1"], 3),
        (&["undo"], 3),
        (&["redo"], 3),
        (&["show"], 128),
        (&["name", "1", "x"], 128),
        (&["branch", "x"], 128),
        (&["drop", "1", "-y"], 128),
        (&["prune"], 128),
        (&["run", "--", "true"], 0),
        (&["session", "start"], 128),
        (&["session", "end"], 128),
        (&["session", "list"], 128),
        (&["session", "show"], 128),
        (&["export", "-o", "../../x"], 128),
        (&["import", "x"], 128),
        (&["push"], 128),
        (&["fetch"], 128),
        (&["doctor"], 128),
    ];
    for (args, code) in everything {
        let output = outside().checkpoint(args);
        assert_eq!(output.code(), Some(code), "{output}");
    }
}

#[test]
fn a_hundred_and_twenty_nine_is_a_command_line_without_sense() {
    let rows: [Row; 30] = [
        (&["lst"], 129),
        (&["save", "words"], 129),
        (&["save", "--turn", "x"], 129),
        (&["save", "--name", ""], 129),
        (&["list", "-n", "many"], 129),
        (&["list", "--grep", "("], 129),
        (&["show", "1", "2"], 129),
        (&["diff", "1", "2", "3"], 129),
        (&["diff", "-U", "x"], 129),
        (&["restore"], 129),
        (&["restore", "1", "--allow", "everything"], 129),
        (&["restore", "1", "--wait", "long"], 129),
        (&["restore", "--continue", "--abort"], 129),
        (&["undo", "1"], 129),
        (&["redo", "--allow", "everything"], 129),
        (&["status", "x"], 129),
        (&["name", "1"], 129),
        (&["name", "1", "a\nb"], 129),
        (&["branch"], 129),
        (&["branch", "a..b"], 129),
        (&["drop"], 129),
        (&["prune", "--max-age", "90"], 129),
        (&["run"], 129),
        (&["session", "start", "A B"], 129),
        (&["export"], 129),
        (&["import"], 129),
        (&["push", "a", "1", "--nope"], 129),
        (&["fetch", "a", "b"], 129),
        (&["doctor", "1"], 129),
        (&["completions", "tcsh"], 129),
    ];
    all_end_so(worked, &rows);
}

#[test]
fn a_hundred_and_thirty_is_ctrl_c_at_the_question() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    for command in ["restore good", "undo", "drop --allow needed-by-undo 2", "session delete ci"] {
        let repo = worked();
        let script = format!("trap : INT; git checkpoint {command}; echo ended=$?; sleep 60");
        let terminal = Terminal::start(repo.env(), repo.top(), &format!("sh -c '{script}'"));
        terminal.wait_for("the question", |screen| screen.contains("[y/N]"));

        terminal.press("C-c");

        terminal.wait_for("the end", |screen| screen.contains("ended="));
        assert!(terminal.screen().contains("ended=130"), "{}", terminal.screen());
        assert_eq!((repo.read("f").as_str(), repo.checkpoint_refs().len()), ("edited\n", 3));
    }
}

#[test]
fn run_ends_as_its_command_does() {
    let repo = worked();
    for (command, code) in [(&["false"][..], 1), (&["sh", "-c", "exit 77"], 77), (&["no-such-command"], 127), (&["./f"], 126)] {
        let output: Output = repo.checkpoint([&["run", "--"], command].concat());
        assert_eq!(output.code(), Some(code), "{output}");
    }
}
