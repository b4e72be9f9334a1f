//! Every command line of the README does what a reader expects of it: it runs.

use crate::support::{Output, TestRepo};

/// A repository in which everything that the README names is there: checkpoints of a person and of turns, a remote, a bundle, and
/// a restore and an undo to go on from.
fn scene() -> TestRepo {
    let repo = TestRepo::new();
    repo.run(["clone", "-q", "--bare", ".", "../hub.git"]);
    repo.run(["remote", "add", "origin", "../hub.git"]);
    repo.write("Makefile", "test:\n\t@echo tested > result\n");
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.checkpoint(["-q"]).success();
    }
    repo.write("a", "turn\n");
    repo.checkpoint(["-q", "--turn", "3"]).success();
    repo.checkpoint(["export", "-q", "-o", "../work.bundle", "1"]).success();
    repo.restore("1");
    repo.write("a", "since\n");
    repo.restore("2");
    repo.undo();
    repo.rename("../work.bundle", "work.bundle");
    repo
}

/// The words in backticks and the lines after a prompt that run this program, each once.
fn command_lines(readme: &str) -> Vec<String> {
    let usage = readme.split_once("<!-- help -->").unwrap();
    let prose = [usage.0, usage.1.split_once("<!-- /help -->").unwrap().1].concat();
    let verbs: Vec<&str> =
        usage.1.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next()).collect();
    let mut lines: Vec<String> = prose.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect();
    for words in prose.replace('\n', " ").split('`').skip(1).step_by(2) {
        match words.split_once(' ') {
            _ if words.starts_with("git checkpoint") => lines.push(words.to_owned()),
            Some((verb, _)) if verbs.contains(&verb) && verb != "help" => lines.push(format!("git checkpoint {words}")),
            _ => {}
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

/// What a reader types in place of what stands for something.
fn filled_in(line: &str) -> String {
    [
        ("<checkpoint>…", "1 2"),
        ("<checkpoint>", "1"),
        ("<command>", "list"),
        ("<agent>…", "claude"),
        ("[<remote>]", "origin"),
        ("<path>…", "a"),
        ("<dir>", "../elsewhere"),
        ("<name>", "topic"),
    ]
    .iter()
    .fold(line.to_owned(), |line, (stands, word)| line.replace(stands, word))
    // Said of an option, whatever the checkpoint.
    .replace("restore --keep-edits", "restore --keep-edits 1")
}

#[test]
fn every_command_line_of_the_readme_runs() {
    let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    let lines = command_lines(readme);
    assert!(lines.len() > 25, "{lines:#?}");
    for line in lines {
        // The manual is read by `man`, which the tests of the installation look at; a screen has tests of its own.
        if line.contains("--help") || line.contains("browse") {
            continue;
        }
        let repo = scene();
        if line.contains("--continue") || line.contains("--abort") {
            repo.interrupt("1", |repo| repo.read("a") == "1\n" || !repo.exists("work.bundle"));
        }
        let mut typed = filled_in(&line);
        assert!(!typed.contains(['<', '…']), "nobody says what to put into `{typed}`");
        // Nobody is there to be asked.
        if ["restore ", "undo", "redo", "drop "].iter().any(|verb| typed.starts_with(&format!("git checkpoint {verb}")))
            && !typed.contains("--continue")
            && !typed.contains("--abort")
        {
            typed = typed.replacen(" -- ", " --yes -- ", 1);
            if !typed.contains("--yes") {
                typed.push_str(" --yes");
            }
            typed = typed.replace("drop 1 2", "drop 3");
        }

        let output = Output::of(repo.command("sh").args(["-c", &typed]));

        // There is no conversation of an agent to be brought back here: the files are, and that is told.
        let expected = if line.contains("--what both") { 6 } else { 0 };
        assert_eq!(output.code(), Some(expected), "`{typed}`: {output}");
    }
}
