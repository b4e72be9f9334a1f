//! What the program answers to a shell.

use crate::support::{Output, TestRepo};

/// The candidates for the last of `words`, as zsh gets them: `value` or `value:help`.
fn candidates(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let mut command = repo.program();
    command.env("COMPLETE", "zsh").env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command.args(["--", "git-checkpoint"]).args(words);
    let output = Output::of(&mut command);
    assert_eq!(output.talk(), "", "{words:?}");
    output.text().lines().map(str::to_owned).collect()
}

/// The same without the help.
fn words(repo: &TestRepo, line: &[&str]) -> Vec<String> {
    candidates(repo, line).iter().map(|candidate| candidate.split(':').next().unwrap().to_owned()).collect()
}

fn saved() -> TestRepo {
    let repo = TestRepo::new();
    for (content, options) in [("1", ["--name", "before refactor"]), ("2", ["-m", "fix: the parser"])] {
        repo.write("a", content);
        repo.checkpoint(["save", "-q"].iter().chain(&options)).success();
    }
    repo
}

#[test]
fn a_checkpoint_is_offered_with_what_tells_it_from_others() {
    let repo = saved();

    let offered = candidates(&repo, &["show", "2"]);

    assert_eq!(offered.len(), 1);
    assert!(offered[0].starts_with("2:") && offered[0].contains("ago, manual: fix: the parser"), "{offered:?}");
}

#[test]
fn numbers_names_and_ids_are_offered_where_a_checkpoint_is_named() {
    let repo = saved();
    let id = repo.field("1", "id");

    for command in [&["show"][..], &["restore"], &["diff"], &["diff", "1"], &["name"], &["export"], &["drop"], &["drop", "2"]] {
        let with = |typed: &str| words(&repo, &[command, &[typed]].concat());
        assert_eq!(with("1"), ["1"], "{command:?}");
        assert_eq!(with("bef"), ["before refactor"], "{command:?}");
        assert_eq!(with(&id[..20]), [id.as_str()], "{command:?}");
        assert_eq!(with("@"), ["@", "@~1"], "{command:?}");
    }
    assert_eq!(words(&repo, &["name", "--delete", ""]), ["before refactor"]);
    assert_eq!(words(&repo, &["diff", "HEA"]), ["HEAD"]);
}

#[test]
fn commands_options_and_their_values_are_offered() {
    let repo = saved();

    assert_eq!(words(&repo, &["und"]), ["undo"]);
    assert_eq!(words(&repo, &["list", "--rev"]), ["--reverse"]);
    assert_eq!(words(&repo, &["list", "--kind", "t"]), ["turn-start", "turn"]);
    assert!(words(&repo, &["restore", "1", "--allow", ""]).contains(&"other-worktree".to_owned()));
    let sessions = words(&repo, &["list", "--session", ""]);
    assert_eq!(sessions, [repo.field("1", "session")]);
}

#[test]
fn options_are_offered_where_a_dash_is_typed_or_nothing_else_can_be_meant() {
    let repo = saved();
    let has_options = |line: &[&str]| words(&repo, line).iter().any(|word| word.starts_with('-'));

    for line in [&[""][..], &["restore", ""], &["diff", "1", ""], &["session", ""], &["list", "--kind", ""]] {
        assert!(!words(&repo, line).is_empty() && !has_options(line), "{line:?}: {:?}", words(&repo, line));
    }
    for line in [&["-"][..], &["restore", "-"], &["restore", "1", "--d"], &["undo", ""], &["prune", ""]] {
        assert!(has_options(line), "{line:?}");
    }
    assert!(words(&repo, &["undo", ""]).contains(&"--list".to_owned()));
    let mut fish = repo.program();
    let offered = Output::of(fish.env("COMPLETE", "fish").args(["--", "git-checkpoint", "restore", ""])).success().text();
    assert!(offered.contains("before refactor") && !offered.contains("--yes"), "{offered}");
}

#[test]
fn nothing_is_made_and_nothing_said_where_there_is_nothing() {
    let repo = TestRepo::new();

    let offered = candidates(&repo, &["show", "x"]);

    assert_eq!(offered, [""; 0]);
    assert!(!repo.common_dir().join("checkpoint").exists());
}

#[test]
fn a_variable_that_names_no_shell_changes_nothing() {
    let repo = saved();
    for value in ["", "0", "1", "yes"] {
        let mut command = repo.program();

        let output = Output::of(command.args(["show", "--format=%(number)", "1"]).env("COMPLETE", value)).success();

        assert_eq!(output.text(), "1", "{value:?}");
    }
}
