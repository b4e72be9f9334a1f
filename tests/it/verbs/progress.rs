//! The line that tells how far a long piece of work has come.

use std::time::Duration;

use crate::support::{Output, Terminal, TestRepo, tools};

/// A repository where a save has to wait for a filter.
fn slow(seconds: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.slow filter=slow\n");
    repo.config("filter.slow.clean", &format!("sleep {seconds}; cat"));
    repo.config("filter.slow.smudge", &format!("sleep {seconds}; cat"));
    repo.write("a.slow", "1\n");
    repo
}

/// All that a terminal is sent by `line`; none where there is no `script` to play one.
fn sent(repo: &TestRepo, line: &str) -> Option<String> {
    if !tools::has("script", &["--version"]) {
        return None;
    }
    Some(String::from_utf8(repo.at_terminal(line, &[]).success().stdout).unwrap())
}

const CLEAR: &str = "\r\x1b[K";

#[test]
fn a_save_that_takes_long_shows_a_line_and_takes_it_away_again() {
    let repo = slow("1.6");
    let Some(sent) = sent(&repo, "git checkpoint") else { return };

    let (progress, result) = sent.rsplit_once(CLEAR).unwrap();

    assert!(progress.starts_with("\rlooking at the worktree: "), "{sent:?}");
    assert!(progress.split('\r').all(|drawn| drawn.is_empty() || drawn.ends_with("\x1b[K")), "{sent:?}");
    assert!(result.starts_with("checkpoint 1: "), "{sent:?}");
    assert_eq!(result.lines().count(), 1, "{sent:?}");
}

#[test]
fn the_line_fits_the_terminal() {
    let repo = slow("1.4");
    let Some(sent) = sent(&repo, "stty cols 20; git checkpoint") else { return };

    let drawn: Vec<_> = sent.split('\r').filter_map(|drawn| drawn.strip_suffix("\x1b[K")).filter(|d| !d.is_empty()).collect();

    assert!(drawn.contains(&"looking at the wor…") && drawn.iter().all(|line| line.chars().count() < 20), "{sent:?}");
}

#[test]
fn a_restore_and_a_difference_that_take_long_show_a_line() {
    let repo = slow("1.4");
    repo.save("A");
    repo.write("a.slow", "22\n");
    let Some(sent) = sent(&repo, "git checkpoint diff --no-pager --stat A") else { return };
    let restored = self::sent(&repo, "git checkpoint restore --yes A").unwrap();

    assert!(sent.contains("\rlooking at the worktree"), "{sent:?}");
    assert!(sent.rsplit_once(CLEAR).unwrap().1.contains("1 file changed"), "{sent:?}");
    assert!(restored.contains("\rpreparing files: 1 of 1\x1b[K"), "{restored:?}");
    assert!(restored.rsplit_once(CLEAR).unwrap().1.starts_with("restored "), "{restored:?}");
}

#[test]
fn the_line_is_gone_before_a_warning_or_an_error() {
    let repo = slow("1.4");
    repo.config("filter.slow.clean", "sleep 1.4; false");
    repo.config("filter.slow.required", "true");
    if !tools::has("script", &["--version"]) {
        return;
    }

    let output = repo.at_terminal("git checkpoint", &[]).exits(128);

    let sent = String::from_utf8(output.stdout).unwrap();
    let (progress, error) = sent.split_once(&format!("{CLEAR}\x1b[")).expect("the line is cleared, then comes a colour");
    assert!(progress.starts_with("\rlooking at the worktree"), "{sent:?}");
    assert!(error.contains("error:"), "{sent:?}");
}

#[test]
fn nothing_is_shown_where_nothing_takes_long() {
    let repo = TestRepo::new();
    let Some(sent) = sent(&repo, "git checkpoint") else { return };

    assert!(!sent.contains('\x1b') && sent.starts_with("checkpoint 1: "), "{sent:?}");
}

#[test]
fn nothing_is_shown_to_who_cannot_see_it_or_does_not_want_it() {
    let repo = slow("1.3");
    if !tools::has("script", &["--version"]) {
        return;
    }
    for line in [
        "git checkpoint save -q --allow-empty",
        "git checkpoint save --json --allow-empty",
        "TERM=dumb git checkpoint save --allow-empty",
        "git checkpoint save --allow-empty 2>/dev/null",
        "git checkpoint save --allow-empty 2>&1 | cat",
    ] {
        repo.config("checkpoint.statCache", "false");
        let sent = repo.at_terminal(line, &[]).success().text();
        assert!(!sent.contains('\x1b') && !sent.contains("looking"), "{line}: {sent:?}");
    }

    let output = Output::of(repo.command("git").args(["checkpoint", "--allow-empty"])).success();

    assert_eq!(output.talk(), "");
}

#[test]
fn the_line_keeps_out_of_a_question_and_ends_with_ctrl_c() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = slow("1.5");
    repo.save("A");
    repo.write("a.slow", "22\n");
    let terminal = Terminal::start(repo.env(), repo.top(), "sh");
    terminal.enter("git checkpoint restore A\n");

    terminal.wait_for("the line", |screen| screen.contains("looking at the worktree"));
    terminal.wait_for("the question", |screen| screen.contains("[y/N]"));
    std::thread::sleep(Duration::from_millis(1500));
    let asked = terminal.screen();
    terminal.enter("y\n");
    terminal.wait_for("the line of the work", |screen| screen.contains("preparing files"));
    terminal.press("C-c");
    std::thread::sleep(Duration::from_millis(500));
    let interrupted = terminal.screen();
    std::thread::sleep(Duration::from_millis(500));

    assert!(!asked.contains("looking") && asked.trim_end().ends_with("restore it here? [y/N]"), "{asked}");
    assert_eq!(terminal.screen(), interrupted);
    assert_eq!(repo.read("a.slow"), "22\n");
}
