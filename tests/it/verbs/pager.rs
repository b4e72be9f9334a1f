//! Which pager is used at a terminal, and when. `script` of util-linux plays the terminal.

use crate::support::{Output, TestRepo, tools};

/// What appears on a terminal where `line` is run. None where there is no `script` to play one.
fn at_terminal(repo: &TestRepo, line: &str, variables: &[(&str, &str)]) -> Option<String> {
    if !tools::has("script", &["--version"]) {
        return None;
    }
    Some(repo.at_terminal(line, variables).success().text().replace('\r', ""))
}

fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.checkpoint(["-q", "-m", "subject"]).success();
    repo
}

/// A pager that marks what went through it.
fn mark(word: &str) -> String {
    format!("sed s/^/{word}:/")
}

#[test]
fn the_pager_is_chosen_in_gits_order() {
    let repo = saved();
    let (a, b, c, d) = (mark("A"), mark("B"), mark("C"), mark("D"));
    let first = |variables: &[(&str, &str)]| {
        let text = at_terminal(&repo, "git-checkpoint list --color=never", variables)?;
        Some(text.chars().take(2).collect::<String>())
    };
    let Some(found) = first(&[("PAGER", &c)]) else { return };

    assert_eq!(found, "C:");
    repo.config("core.pager", &b);
    assert_eq!(first(&[("PAGER", &c)]).unwrap(), "B:");
    assert_eq!(first(&[("PAGER", &c), ("GIT_PAGER", &a)]).unwrap(), "A:");
    repo.config("pager.checkpoint", &d);
    assert_eq!(first(&[("GIT_PAGER", &a)]).unwrap(), "D:");
    repo.config("pager.checkpoint", "false");
    assert_eq!(first(&[("GIT_PAGER", &a)]).unwrap(), "* ");
    repo.config("pager.checkpoint", "true");
    assert_eq!(first(&[("GIT_PAGER", &a)]).unwrap(), "A:");
}

#[test]
fn nothing_is_paged_that_should_not_be() {
    let repo = saved();
    let pager = mark("A");
    let paged = |line: &str, variables: &[(&str, &str)]| {
        let variables: Vec<_> = [("GIT_PAGER", pager.as_str())].into_iter().chain(variables.iter().copied()).collect();
        at_terminal(&repo, line, &variables).map(|text| text.contains("A:"))
    };
    let Some(list) = paged("git checkpoint list", &[]) else { return };

    assert!(list);
    assert!(paged("git checkpoint show", &[]).unwrap());
    for line in ["git checkpoint list --no-pager", "git checkpoint list --json", "git --no-pager checkpoint list"] {
        assert!(!paged(line, &[]).unwrap(), "{line}");
    }
    assert!(!paged("git checkpoint list", &[("GIT_PAGER", "")]).unwrap());
    assert!(!paged("git checkpoint list", &[("GIT_PAGER", "cat")]).unwrap());
    assert!(!paged("git checkpoint list", &[("GIT_PAGER_IN_USE", "true")]).unwrap());
    assert!(!paged("git checkpoint save -q --allow-empty", &[]).unwrap());
    // Not a terminal.
    let mut piped = repo.command("git");
    piped.args(["checkpoint", "list"]).env("GIT_PAGER", &pager);
    assert!(!Output::of(&mut piped).success().text().contains("A:"));
}

#[test]
fn the_pager_gets_less_to_behave_and_colour() {
    let repo = saved();
    let show = "sh -c 'cat; echo LESS=$LESS LV=$LV in=$GIT_PAGER_IN_USE.'";
    let Some(text) = at_terminal(&repo, "git checkpoint list", &[("GIT_PAGER", show)]) else { return };

    assert!(text.ends_with("LESS=FRX LV=-c in=."), "{text}");
    assert!(text.contains('\x1b'), "{text}");
    let own = at_terminal(&repo, "git checkpoint list", &[("GIT_PAGER", show), ("LESS", "S")]).unwrap();
    assert!(own.ends_with("LESS=S LV=-c in=."), "{own}");
}

#[test]
fn a_pager_that_leaves_early_or_is_missing_is_no_failure() {
    let repo = saved();
    for pager in ["true", "head -n0", "no-such-pager"] {
        let Some(text) = at_terminal(&repo, "git-checkpoint list", &[("GIT_PAGER", pager)]) else { return };

        assert!(!text.contains("error"), "{pager}: {text}");
    }
}
