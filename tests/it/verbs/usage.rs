//! Command lines that make no sense, and help.

use crate::support::TestRepo;

#[test]
fn a_command_line_that_makes_no_sense_ends_with_129() {
    let repo = TestRepo::new();
    let lines: [&[&str]; 14] = [
        &["lst"],
        &["save everything"],
        &["list", "--nope"],
        &["list", "-n", "x"],
        &["list", "--kind", "x"],
        &["list", "--since", "soon"],
        &["list", "--grep", "("],
        &["list", "--format", "%(nmae)"],
        &["list", "--session", "A B"],
        &["show", "--stat", "-p"],
        &["show", "1", "2"],
        &["name", "1"],
        &["-m", "x", "list"],
        &["restore"],
    ];
    for line in lines {
        let output = repo.checkpoint(line.iter().chain(&["--json"])).exits(129);
        let error = &output.json()["error"];
        assert!(["usage", "invalid-name"].contains(&error["code"].as_str().unwrap()), "{line:?}: {error}");
        assert!(output.talk().starts_with("error: "), "{line:?}: {output}");
        repo.checkpoint(line).exits(129);
    }
    assert_eq!(repo.checkpoint_refs(), [""; 0]);
}

#[test]
fn an_unknown_word_is_no_message() {
    let repo = TestRepo::new();

    let error = repo.checkpoint(["lsit", "--json"]).exits(129).json();

    assert_eq!(error["error"]["candidates"], serde_json::json!(["list"]));
}

#[test]
fn help_is_a_result() {
    let repo = TestRepo::new();
    for line in [&["-h"][..], &["help"], &["list", "-h"], &["restore", "--help"], &["help", "restore"], &["--version"]] {
        let output = repo.checkpoint(line).success();

        assert_eq!(output.talk(), "", "{line:?}");
        assert!(output.text().len() > 10, "{line:?}");
    }
    let help = repo.checkpoint(["-h"]).success().text();
    assert!(help.contains("Usage: git checkpoint [OPTIONS] [COMMAND]"), "{help}");
}

#[test]
fn without_a_command_it_saves() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");

    repo.checkpoint(["-m", "subject", "--name", "x"]).success();

    assert_eq!(repo.field("x", "subject"), "subject");
}
