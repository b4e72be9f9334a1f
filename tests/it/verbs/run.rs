//! A command as a step of a session: nobody can tell that it runs in our hands, and what it made is saved.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Output, RepoState, TestRepo, tools};

/// Runs a shell script as a step.
fn run(repo: &TestRepo, options: &[&str], script: &str) -> Output {
    repo.checkpoint([&["run"], options, &["--", "sh", "-c", script]].concat())
}

/// Kind, step and session of every checkpoint, oldest first.
fn saved(repo: &TestRepo) -> Vec<String> {
    let list = repo.checkpoint(["list", "--reverse", "--format=%(kind) %(step) %(session)"]).success();
    list.text().lines().map(str::to_owned).collect()
}

#[test]
fn the_state_before_the_first_step_and_after_each_is_saved() {
    let repo = TestRepo::new();
    repo.write("n", "before\n");

    run(&repo, &["--session", "ci", "--step", "build"], "echo 2 > f").success();
    run(&repo, &["--session", "ci"], "echo 3 > f; rm n; exit 4").exits(4);

    assert_eq!(saved(&repo), ["baseline  ci", "step build ci", "step sh ci"]);
    assert_eq!(repo.git(["show", &format!("{}:n", repo.tree("1"))]).text(), "before");
    assert_eq!(repo.git(["show", &format!("{}:f", repo.tree("step:build"))]).text(), "2");
    assert_eq!(repo.git(["ls-tree", "--name-only", &repo.tree("3")]).text(), "f");
    let meta = |number| repo.checkpoint(["show", "--json", number]).success().json()["checkpoint"]["meta"].clone();
    assert_eq!((meta("2"), meta("3")), (json!({"exit_code": "0"}), json!({"exit_code": "4"})));
}

#[test]
fn nothing_is_recorded_where_nothing_changed() {
    let repo = TestRepo::new();
    repo.save("A");

    run(&repo, &[], "true").success();
    assert_eq!(saved(&repo).len(), 1, "the last checkpoint of the session is the state before");
    run(&repo, &["--session", "ci"], "echo 2 > f; echo 1 > f").success();
    run(&repo, &["--session", "ci"], "exit 1").exits(1);

    assert_eq!(saved(&repo)[1..], ["baseline  ci"]);
}

#[test]
fn without_a_session_it_is_the_one_that_owns_the_worktree() {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q", "work", "--agent", "claude"]).success();

    run(&repo, &["--step", "a"], "echo 2 > f; git checkpoint session show --json > ../seen; echo 3 > g; git checkpoint -q")
        .success();

    assert_eq!(saved(&repo), ["baseline  work", "manual  work"]);
    assert_eq!(repo.session("work")["state"], "pending", "it is open as before");
    let step = repo.checkpoint(["show", "--json", "@"]).success().json();
    assert_eq!(step["checkpoint"]["agent"], "claude");
}

#[test]
fn the_exit_code_is_the_commands() {
    let repo = TestRepo::new();
    repo.write("plain", "no program\n");
    repo.write("lost", "#!/no/such/interpreter\n");
    repo.chmod("lost", 0o755);

    for (command, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 3"], 3),
        (&["sh", "-c", "exit 255"], 255),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["no-such-command"], 127),
        (&["./no/such/command"], 127),
        (&["./lost"], 127),
        (&["./plain"], 126),
        (&["./"], 126),
    ] {
        let plain = Output::of(repo.command("sh").args(["-c", "\"$@\" 2>/dev/null", "sh"]).args(command));
        let output = repo.checkpoint([&["run", "--"], command].concat()).exits(code);
        assert_eq!(plain.code(), Some(code), "what sh says of {command:?}");
        assert_eq!(output.talk().lines().count(), usize::from(matches!(code, 126 | 127)), "{output}");
    }
    assert_eq!(repo.session(&repo.field("@", "session"))["state"], "ended");
    repo.checkpoint(["run", "true"]).exits(129);
    repo.checkpoint(["run", "--"]).exits(129);
    repo.checkpoint(["run", "--session", "No", "--", "sh", "-c", "touch ran"]).exits(129);
    assert!(!repo.exists("ran"));
}

#[test]
fn streams_are_the_commands_own() {
    let repo = TestRepo::new();
    let script = "cat; printf 'no line end'; echo talk >&2; touch made";
    let mut command = repo.command("git");
    command.args(["checkpoint", "run", "--json", "--", "sh", "-c", script]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\0\xff\n").unwrap();

    let output = child.wait_with_output().unwrap();

    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"in\0\xff\nno line end"[..], &b"talk\n"[..]));
    assert_eq!(saved(&repo).len(), 2);
}

#[test]
fn a_reader_that_leaves_ends_the_command_and_not_the_pipeline() {
    let repo = TestRepo::new();
    let script = "yes | { git checkpoint run -- cat; echo $? >&2; } | head -n 1";

    let output = Output::of(repo.command("sh").args(["-c", script])).success();

    assert_eq!((output.text(), output.talk()), ("y".to_owned(), "141\n".to_owned()));
}

#[test]
fn arguments_and_directory_are_passed_as_they_are() {
    let repo = TestRepo::new();
    repo.mkdir("sub dir");
    let mut command = repo.command("git");
    command.current_dir(repo.path("sub dir")).args(["checkpoint", "run", "--", "sh", "-c", "printf '%s|' \"$@\"; pwd", "sh"]);
    command.args(["-q", "--json", "", "a b", "--", "*"]);

    let output = Output::of(&mut command).success();

    assert_eq!(output.text(), format!("-q|--json||a b|--|*|{}", repo.path("sub dir").display()));
}

#[test]
fn outside_of_a_repository_the_command_runs_all_the_same() {
    let repo = TestRepo::new();
    let outside = |script: &str| {
        let mut command = repo.command("git");
        command.current_dir(repo.env().home()).args(["checkpoint", "run", "--", "sh", "-c", script]);
        Output::of(&mut command)
    };

    let output = outside("echo out; exit 9").exits(9);

    assert_eq!(output.text(), "out");
    assert_eq!(output.talk(), "warning: no checkpoint is saved: not a git repository (or any of the parent directories)\n");
    outside("git init -q new").success();
}

#[test]
fn a_failed_capture_is_a_line_and_no_failure() {
    let repo = TestRepo::new();
    let log = || std::fs::read_to_string(repo.common_dir().join("checkpoint/log")).unwrap_or_default();
    repo.config("filter.broken.clean", "false");
    repo.config("filter.broken.required", "true");

    let output = run(&repo, &[], "echo '* filter=broken' > .gitattributes; exit 5").exits(5);

    assert_eq!(output.talk().lines().count(), 1, "{output}");
    assert!(output.talk().starts_with("warning: no checkpoint was saved: a filter failed for"), "{output}");
    assert!(log().lines().count() == 1 && log().contains(" run: a filter failed for"), "{}", log());
    assert_eq!(saved(&repo).len(), 1);
    repo.set_database_version(99);
    let output = run(&repo, &[], "echo ran; exit 6").exits(6);
    assert_eq!((output.text().as_str(), output.talk().lines().count()), ("ran", 1), "{output}");
    assert!(log().contains("newer than this program knows"), "{}", log());
}

#[test]
fn a_command_that_takes_the_repository_away_is_no_failure() {
    let repo = TestRepo::new();

    let output = run(&repo, &[], "rm -rf .git; exit 2").exits(2);
    assert_eq!(output.talk().lines().count(), 1, "{output}");
    let output = run(&repo, &[], "rm -rf \"$PWD\"; exit 3").exits(3);
    assert!(output.talk().starts_with("warning: "), "{output}");
}

#[test]
fn while_an_interrupted_restore_waits_the_command_runs_and_the_reason_is_told() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.write("g", "2\n");
    repo.interrupt("A", |repo| repo.read("f") == "1\n" || !repo.exists("g"));

    let output = run(&repo, &[], "exit 4").exits(4);

    assert!(output.talk().lines().all(|line| line.contains("a restore in this worktree was interrupted")), "{output}");
    repo.checkpoint(["restore", "-q", "--abort"]).success();
    assert_eq!(repo.read("f"), "2\n");
}

#[test]
fn saving_that_is_turned_off_is_no_reason_for_a_word() {
    let repo = TestRepo::new();
    repo.config("checkpoint.enabled", "false");

    let output = run(&repo, &[], "echo 2 > f").success();

    assert_eq!((output.talk(), repo.checkpoint_refs().len()), (String::new(), 0));
}

#[test]
fn saving_touches_nothing_beyond_what_the_command_does() {
    let repo = TestRepo::new();
    repo.write("n", "n\n");
    let before = RepoState::of(&repo);

    run(&repo, &[], "true").success();

    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn while_it_runs_the_session_is_running_and_refuses_restores_inside_and_outside() {
    let repo = TestRepo::new();
    repo.save("A");
    let script = "until git checkpoint session show ci | grep -q \"process $$,\"; do :; done; \
                  echo $$; git checkpoint session show --json ci; git checkpoint restore --json -y A; echo 2 > f";

    let output = run(&repo, &["--session", "ci", "--step", "test"], script).success();

    let text = output.text();
    let lines: Vec<&str> = text.lines().collect();
    let session: serde_json::Value = serde_json::from_str(lines[1]).unwrap();
    let refused: serde_json::Value = serde_json::from_str(lines[2]).unwrap();
    let session = &session["session"];
    assert_eq!((&session["state"], &session["step"], &session["ended_at"]), (&json!("running"), &json!("test"), &json!(null)));
    assert_eq!(session["pid"].to_string(), lines[0]);
    assert_eq!(refused["blockers"][0]["code"], "session-active");
    let message = refused["blockers"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("session `ci` (step `test`) is running in this worktree: process "), "{message}");
    assert_eq!(refused["blockers"][1]["code"], "running-inside-agent");
    assert_eq!(refused["blockers"].as_array().unwrap().len(), 2);
    let over = repo.session("ci");
    assert_eq!((&over["state"], &over["pid"]), (&json!("ended"), &json!(null)));
    repo.restore("A");
}

#[test]
fn of_two_commands_in_one_session_the_last_to_end_ends_it() {
    let repo = TestRepo::new();
    let both = "git checkpoint run --session ci -- sh -c 'git checkpoint run --session ci -- true; \
                git checkpoint session show --json ci'";

    let output = Output::of(repo.command("sh").args(["-c", both])).success();

    assert_eq!(output.json()["session"]["state"], "running");
    assert_eq!(repo.session("ci")["state"], "ended");
}

#[test]
fn a_run_that_was_killed_stands_in_nobodys_way_when_its_command_has_ended_too() {
    let repo = TestRepo::new();
    repo.save("A");
    // The command outlives us for a moment.
    let mut command = repo.program();
    command.args([
        "run",
        "--session",
        "ci",
        "--",
        "sh",
        "-c",
        "until git checkpoint session show ci | grep -q \"process $$,\"; do :; done; kill -KILL $PPID; git checkpoint restore -y --json A; echo 2 > f",
    ]);

    let output = Output::of(&mut command);

    assert_eq!(output.code(), None, "{output}");
    assert_eq!(output.json()["blockers"][0]["code"], "session-active");
    assert_eq!(repo.session("ci")["state"], "ended");
    repo.restore("A");
    assert_eq!(repo.read("f"), "1\n");
}

#[test]
fn another_process_with_the_number_of_a_dead_run_is_not_at_work() {
    if !tools::has("python3", &["--version"]) {
        return;
    }
    let repo = TestRepo::new();
    repo.save("A");
    let script = "until git checkpoint session show ci | grep -q \"process $$,\"; do :; done; \
                  git checkpoint session show --json ci; \
                  python3 -c 'import sqlite3; db = sqlite3.connect(\".git/checkpoint/checkpoints.db\"); \
                  db.execute(\"UPDATE runs SET process = json_set(process, \\\"$.started\\\", 1)\"); db.commit()'; \
                  git checkpoint session show --json ci; git checkpoint restore -q -y A";

    let output = run(&repo, &["--session", "ci"], script).success();

    let text = output.text();
    let states = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["session"]["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["running", "ended"]);
}

#[test]
fn a_command_that_removes_the_directory_it_was_started_in_is_recorded() {
    let repo = TestRepo::new();
    repo.write("build/out", "1\n");
    repo.save("A");
    let mut program = repo.program();
    program.args(["run", "--step", "clean", "--", "sh", "-c", "rm -r ../build; echo done >../result"]);

    Output::of(program.current_dir(repo.path("build"))).success();

    assert_eq!(repo.field("step:clean", "files"), "2");
}
