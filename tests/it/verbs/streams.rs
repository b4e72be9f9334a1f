//! What goes to which stream, and what happens when a stream is gone.

use std::process::Stdio;

use crate::support::{Output, TestRepo};

fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.checkpoint(["-q", "-m", "subject"]).success();
    repo
}

const RESULTS: [&[&str]; 4] = [&["list"], &["list", "--json"], &["show"], &["diff", "--stat", "HEAD", "1"]];

#[test]
fn a_reader_that_left_is_no_failure() {
    let repo = saved();
    for args in RESULTS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = repo.program();

        let output = command.args(args).stdout(Stdio::from(writer)).stderr(Stdio::piped()).spawn().unwrap().wait_with_output();

        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_told_once() {
    let repo = saved();
    for args in RESULTS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = repo.program();

        let output = command.args(args).stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();

        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(128), "{args:?}");
        assert_eq!(talk.matches("error: cannot write the output").count(), 1, "{talk}");
    }
}

#[test]
fn quiet_leaves_only_results_warnings_and_errors() {
    let repo = saved();

    let list = repo.checkpoint(["list", "-q", "--session", "none"]).success();
    let failed = repo.checkpoint(["show", "-q", "nothing"]).exits(4);

    assert_eq!((list.text(), list.talk()), (String::new(), String::new()));
    assert_eq!(failed.talk(), "error: no checkpoint matches `nothing`\n");
}

#[test]
fn errors_hold_no_control_characters() {
    let repo = saved();

    let output = repo.checkpoint(["show", "a\x1b[31mb"]).exits(4);

    assert!(output.talk().contains("`a\\x1b[31mb`"), "{output}");
    assert!(!output.stderr.contains(&0x1b));
}

#[test]
fn a_repository_that_cannot_be_written_can_be_read() {
    let repo = saved();
    let database = repo.common_dir().join("checkpoint");
    repo.give_away();
    repo.close(&database);

    assert!(repo.checkpoint(["list"]).success().text().contains("subject"));
    repo.checkpoint(["show", "1"]).success();
    repo.write("a", "2\n");
    let error = repo.checkpoint(["save", "--json"]).fails().json();
    assert!(error["error"]["message"].as_str().unwrap().contains("cannot"), "{error}");
}

#[test]
fn checkpoints_are_listed_even_where_no_database_can_be_made() {
    let repo = saved();
    let database = repo.common_dir().join("checkpoint");
    std::fs::remove_dir_all(&database).unwrap();
    repo.give_away();
    repo.close(repo.common_dir());

    assert!(repo.checkpoint(["list"]).success().text().contains("subject"));
    assert!(!database.exists());
}

#[test]
fn a_command_outside_a_repository_says_so() {
    let repo = saved();
    for args in [&["list"][..], &["show"], &["name", "1", "x"], &["save"]] {
        let mut command = repo.program();
        command.args(args).arg("--json").current_dir(repo.env().root());

        let output = Output::of(&mut command).exits(128);

        assert_eq!(output.json()["error"]["code"], "not-a-repository", "{args:?}");
        assert!(output.talk().starts_with("error: not a git repository"), "{output}");
    }
}
