//! When output is coloured.

use crate::support::{Output, TestRepo};

/// A row of the table: options of git, options of the command, environment, and whether the result is coloured.
type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a [(&'a str, &'a str)], bool);

const PAGED: (&str, &str) = ("GIT_PAGER_IN_USE", "true");

#[test]
fn the_first_that_decides_wins() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.checkpoint(["-q"]).success();
    let cases: [Case<'_>; 18] = [
        (&[], &[], &[], false),
        (&[], &[], &[PAGED], true),
        (&[], &["--color"], &[], true),
        (&[], &["--color=always"], &[("NO_COLOR", "1")], true),
        (&[], &["--color=never"], &[PAGED], false),
        (&[], &["--color=auto"], &[], false),
        (&["-c", "color.ui=never"], &["--color=always"], &[], true),
        (&["-c", "color.ui=always"], &[], &[], true),
        (&["-c", "color.ui=always"], &[], &[("NO_COLOR", "1")], true),
        (&["-c", "color.ui=always", "-c", "color.checkpoint=false"], &[], &[PAGED], false),
        (&["-c", "color.ui=false", "-c", "color.checkpoint=always"], &[], &[], true),
        (&["-c", "color.ui=true"], &[], &[], false),
        (&["-c", "color.ui=true"], &[], &[PAGED, ("NO_COLOR", "1")], false),
        (&["-c", "color.pager=false"], &[], &[PAGED], false),
        (&[], &[], &[PAGED, ("NO_COLOR", "1")], false),
        (&[], &[], &[PAGED, ("NO_COLOR", "")], true),
        (&[], &[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[], &[PAGED, ("TERM", "dumb")], false),
    ];
    for (git, options, variables, expected) in cases {
        let mut command = repo.command("git");
        command.args(git).args(["checkpoint", "list"]).args(options).envs(variables.iter().copied());

        let output = Output::of(&mut command).success();

        assert_eq!(output.stdout.contains(&0x1b), expected, "{git:?} {options:?} {variables:?}");
    }
}

#[test]
fn the_text_is_the_same_without_colour() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.checkpoint(["-q", "--name", "n"]).success();

    for args in [&["list"][..], &["show", "--stat"], &["show", "-p"]] {
        let text = |color: &str| {
            let mut command = repo.command("git");
            command.arg("checkpoint").args(args).arg(color).env("GIT_CHECKPOINT_NOW", "1735689700000");
            Output::of(&mut command).success().text()
        };
        let colored = text("--color=always");
        let mut parts = colored.split('\x1b');
        let mut stripped = parts.next().unwrap().to_owned();
        parts.for_each(|part| stripped.push_str(part.split_once('m').unwrap().1));

        assert_ne!(colored, stripped, "{args:?}");
        assert_eq!(stripped, text("--color=never"), "{args:?}");
    }
}

#[test]
fn a_colour_that_means_nothing_is_told() {
    let repo = TestRepo::new();

    let mut command = repo.command("git");
    Output::of(command.args(["-c", "color.checkpoint=purple", "checkpoint", "list"])).exits(128).says("`color.checkpoint`");
    repo.checkpoint(["list", "--color=purple"]).exits(129);
}
