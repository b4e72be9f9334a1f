//! Signals while a command runs in our hands.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Output, Terminal, TestRepo, tools};

/// Waits until a file is there.
#[track_caller]
fn wait_for(repo: &TestRepo, path: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while !repo.exists(path) {
        assert!(Instant::now() < until, "`{path}` never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A shell that counts signals in the file `got` and says with `ready` that it does, then waits for `over`, but not for ever.
const COUNTING: &str = "for s in INT TERM HUP QUIT USR1; do trap \"echo $s >> got\" $s; done; touch ready; \
                        n=0; while [ ! -e over ] && [ $n -lt 3000 ]; do sleep 0.02; n=$((n+1)); done; exit 5";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn start(mut command: Command, script: &str) -> Child {
    command.args(["run", "--session", "ci", "--", "sh", "-c", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_signal_for_us_goes_to_the_command_once_and_does_not_end_us() {
    for (signal, name) in
        [(Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::INT, "INT"), (Signal::QUIT, "QUIT"), (Signal::USR1, "USR1")]
    {
        let repo = TestRepo::new();
        let child = start(repo.program(), COUNTING);
        wait_for(&repo, "ready");

        send(&child, signal);
        wait_for(&repo, "got");
        repo.write("over", "");
        let output = child.wait_with_output().unwrap();

        assert_eq!(output.status.code(), Some(5), "{name}");
        assert_eq!(repo.read("got"), format!("{name}\n"));
        assert_eq!(repo.field("@", "step"), "sh", "{name}: what it made is saved");
    }
}

#[test]
fn a_command_that_dies_of_it_gives_the_code_of_the_signal_and_is_saved() {
    let repo = TestRepo::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let _ = std::fs::remove_file(repo.path("ready"));
        let child = start(repo.program(), "echo $$ > pid; touch ready; exec sleep 60");
        wait_for(&repo, "ready");

        send(&child, signal);
        let output = child.wait_with_output().unwrap();

        assert_eq!(output.status.code(), Some(code));
        assert_eq!(output.stderr, b"");
        let meta = repo.checkpoint(["show", "--json"]).success().json()["checkpoint"]["meta"].clone();
        assert_eq!(meta["exit_code"], code.to_string());
    }
}

#[test]
fn what_git_is_sent_reaches_the_command() {
    let repo = TestRepo::new();
    let mut git = repo.command("git");
    git.arg("checkpoint");
    let child = start(git, COUNTING);
    wait_for(&repo, "ready");

    send(&child, Signal::TERM);
    wait_for(&repo, "got");
    repo.write("over", "");
    let _ = child.wait_with_output().unwrap();

    assert_eq!(repo.read("got"), "TERM\n");
    assert_eq!(repo.field("@", "session"), "ci");
}

#[test]
fn the_command_finds_signals_as_we_found_them() {
    let repo = TestRepo::new();
    let shown = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
    for traps in ["", "trap '' INT QUIT;", "trap '' HUP XFSZ;", "trap '' TERM USR1;"] {
        let with = |words: &str| {
            let script = format!("{traps} exec {words} sh -c \"{shown}\"");
            Output::of(repo.command("sh").args(["-c", &script])).success().text()
        };

        assert_eq!(with("git-checkpoint run --"), with(""), "{traps}");
    }
}

#[test]
fn the_code_is_known_even_where_the_end_of_children_is_ignored() {
    if !tools::has("python3", &["--version"]) {
        return;
    }
    let repo = TestRepo::new();
    let ignoring = "import os, sys; from signal import *; signal(SIGCHLD, SIG_IGN); signal(SIGPIPE, SIG_DFL); \
                    os.execvp(sys.argv[1], sys.argv[1:])";
    let with = |words: &[&str]| Output::of(repo.command("python3").args(["-c", ignoring]).args(words));
    let shown = ["grep", "SigIgn", "/proc/self/status"];

    let output = with(&["git-checkpoint", "run", "--", "sh", "-c", "exit 5"]);
    let found = with(&[&["git-checkpoint", "run", "--"][..], &shown].concat()).success();

    assert_eq!(output.exits(5).talk(), "");
    assert_eq!(found.text(), with(&shown).success().text());
}

#[test]
fn an_ignored_signal_is_ignored_by_all() {
    let repo = TestRepo::new();
    let mut nohup = repo.command("sh");
    let script = "touch ready; n=0; while [ ! -e over ] && [ $n -lt 3000 ]; do sleep 0.02; n=$((n+1)); done; exit 5";
    nohup.args(["-c", "trap '' HUP; exec git-checkpoint run --session ci -- sh -c \"$1\"", "sh", script]);
    let child = nohup.spawn().unwrap();
    wait_for(&repo, "ready");

    send(&child, Signal::HUP);
    repo.write("over", "");

    assert_eq!({ child }.wait().unwrap().code(), Some(5));
}

#[test]
fn ctrl_c_reaches_the_command_once_and_it_decides() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    for program in ["git checkpoint", "git-checkpoint"] {
        let repo = TestRepo::new();
        let script = repo.env().root().join("count");
        std::fs::write(&script, COUNTING).unwrap();
        let terminal = Terminal::start(repo.env(), repo.top(), "sh");
        terminal.enter(&format!("{program} run --session ci -- sh {}", script.display()));
        terminal.press("Enter");
        wait_for(&repo, "ready");

        terminal.press("C-c");
        wait_for(&repo, "got");
        // Git, which is interrupted as well, passes it on to us: long enough for that to show.
        std::thread::sleep(Duration::from_millis(300));
        repo.write("over", "");

        // Git dies of it in any case, and a shell then runs no further command of the line.
        terminal.wait_for("what was saved", |screen| screen.contains("checkpoint 2: step sh on main"));
        terminal.enter("echo ended=$?");
        terminal.press("Enter");
        let ended = if program == "git checkpoint" { "ended=130" } else { "ended=5" };
        terminal.wait_for("the end", |screen| screen.contains(ended));
        assert_eq!(repo.read("got"), "INT\n", "{program}");
        assert_eq!(repo.field("@", "step"), "sh", "{program}");
    }
}

#[test]
fn what_follows_ctrl_c_at_once_is_its_echo_and_what_follows_later_is_not() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = TestRepo::new();
    let script = repo.env().root().join("count");
    std::fs::write(&script, format!("echo $PPID > parent; {COUNTING}")).unwrap();
    let terminal = Terminal::start(repo.env(), repo.top(), "sh");
    terminal.enter(&format!("git-checkpoint run --session ci -- sh {}", script.display()));
    terminal.press("Enter");
    wait_for(&repo, "ready");
    let us = Pid::from_raw(repo.read("parent").trim().parse().unwrap()).unwrap();
    let lines_after = |action: &dyn Fn()| {
        let _ = std::fs::remove_file(repo.path("got"));
        action();
        std::thread::sleep(Duration::from_millis(300));
        if repo.exists("got") { repo.read("got").lines().count() } else { 0 }
    };

    // On a busy machine the two may be too far apart.
    let is_swallowed = (0..20).any(|_| {
        let begun = Instant::now();
        terminal.press("C-c");
        wait_for(&repo, "got");
        let lines = lines_after(&|| kill_process(us, Signal::INT).unwrap());
        let is_soon = begun.elapsed() < Duration::from_millis(1000);
        assert!(!is_soon || lines == 0, "the command got the echo too");
        let _ = std::fs::remove_file(repo.path("got"));
        is_soon
    });
    assert!(is_swallowed, "twenty times, no two signals came within a second");
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(lines_after(&|| kill_process(us, Signal::INT).unwrap()), 1);
    repo.write("over", "");
    terminal.wait_for("what was saved", |screen| screen.contains("checkpoint 2: step sh on main"));
}

#[test]
fn a_command_that_ctrl_c_ends_is_saved_and_the_code_says_so() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = TestRepo::new();
    let terminal = Terminal::start(repo.env(), repo.top(), "sh");
    terminal.enter("git checkpoint run --step wait -- sh -c 'echo 2 > f; touch ready; exec sleep 60'");
    terminal.press("Enter");
    wait_for(&repo, "ready");

    terminal.press("C-c");

    terminal.wait_for("what was saved", |screen| screen.contains("checkpoint 2: step wait on main"));
    terminal.enter("echo ended=$?");
    terminal.press("Enter");
    terminal.wait_for("the end", |screen| screen.contains("ended=130"));
    assert_eq!(repo.field("@", "step"), "wait");
}

#[test]
fn ctrl_z_stops_all_of_it_and_fg_goes_on() {
    if !tools::has("tmux", &["-V"]) || !tools::has("bash", &["--version"]) {
        return;
    }
    let repo = TestRepo::new();
    let terminal = Terminal::start(repo.env(), repo.top(), "bash --norc --noprofile -i");
    terminal.enter("git checkpoint run --step wait -- sh -c 'touch ready; read line; echo got $line > f; exit 6'; echo ended=$?");
    terminal.press("Enter");
    wait_for(&repo, "ready");

    terminal.press("C-z");
    terminal.wait_for("that it stopped", |screen| screen.contains("Stopped"));
    terminal.enter("fg; echo code=$?");
    terminal.press("Enter");
    terminal.enter("it");
    terminal.press("Enter");

    terminal.wait_for("the end", |screen| screen.contains("code=6"));
    assert_eq!(repo.read("f"), "got it\n");
    assert_eq!(repo.field("@", "step"), "wait");
}
