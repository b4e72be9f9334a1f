//! `git checkpoint list`.

use crate::support::TestRepo;

/// A repository with checkpoints of several sorts: 1 manual, 2 a step with a name, 3 manual with a change to `f` only.
fn three() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    repo.checkpoint(["-q", "-m", "first state"]).success();
    repo.write("a", "1\n2\n");
    repo.checkpoint(["-q", "--step", "build", "--session", "pipe-1", "--name", "good"]).success();
    repo.write("f", "2\n");
    repo.checkpoint(["-q", "-m", "fix the parser\n\nlonger story"]).success();
    repo
}

/// The numbers that a list with these options has, in its order.
#[track_caller]
fn numbers(repo: &TestRepo, options: &[&str]) -> Vec<u64> {
    let output = repo.checkpoint(["list", "--format=%(number)"].iter().chain(options)).success();
    output.text().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_table_has_number_age_kind_stage_counts_and_label() {
    let repo = three();

    let table = repo.checkpoint(["list"]).success().text();

    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], "3 1 second ago manual 1 file +1 -1 fix the parser".split(' ').collect::<Vec<_>>());
    assert_eq!(rows[1][..2], ["2", "2"]);
    assert_eq!(rows[1][4..9], ["step", "build", "1", "file", "+1"]);
    assert_eq!(rows[1][9], "(good)");
    assert_eq!(rows[2][4..], ["manual", "1", "file", "+1", "first", "state"]);
}

#[test]
fn a_list_is_narrowed_by_session_kind_time_pattern_number_and_path() {
    let repo = three();
    let times: Vec<String> = (1..=3).map(|n| repo.field(&n.to_string(), "created")).collect();

    assert_eq!(numbers(&repo, &[]), [3, 2, 1]);
    assert_eq!(numbers(&repo, &["--reverse"]), [1, 2, 3]);
    assert_eq!(numbers(&repo, &["-n", "2"]), [3, 2]);
    assert_eq!(numbers(&repo, &["-n2", "--reverse"]), [2, 3]);
    assert_eq!(numbers(&repo, &["--session", "pipe-1"]), [2]);
    assert_eq!(numbers(&repo, &["--kind", "step"]), [2]);
    assert_eq!(numbers(&repo, &["--kind", "step", "--kind", "manual"]), [3, 2, 1]);
    assert_eq!(numbers(&repo, &["--since", &times[1]]), [3, 2]);
    assert_eq!(numbers(&repo, &["--until", &times[1]]), [2, 1]);
    assert_eq!(numbers(&repo, &["--since", "1h"]), [3, 2, 1]);
    assert_eq!(numbers(&repo, &["--until", "2 hours ago"]), [0; 0]);
    assert_eq!(numbers(&repo, &["--grep", "^(longer|good)"]), [3, 2]);
    assert_eq!(numbers(&repo, &["--grep", "PARSER"]), [0; 0]);
    assert_eq!(numbers(&repo, &["--", "f"]), [3]);
    assert_eq!(numbers(&repo, &["--", "a"]), [2, 1]);
}

#[test]
fn a_list_shows_its_own_worktree_unless_all_are_asked_for() {
    let repo = three();
    repo.run(["worktree", "add", "-q", "../linked"]);
    let linked = repo.at("linked");
    linked.write("b", "1\n");
    linked.checkpoint(["-q", "-m", "in the linked one"]).success();

    assert_eq!(numbers(&linked, &[]), [4]);
    assert_eq!(numbers(&repo, &[]), [3, 2, 1]);
    assert_eq!(numbers(&repo, &["-a"]), [4, 3, 2, 1]);
    let table = repo.checkpoint(["list", "--all-worktrees"]).success().text();
    assert!(table.lines().next().unwrap().contains("linked"), "{table}");
    assert!(table.lines().last().unwrap().contains("main"), "{table}");
}

#[test]
fn the_document_says_what_git_says() {
    let repo = three();

    let output = repo.checkpoint(["list", "--json"]).success();

    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);
    let document = output.json();
    assert_eq!(document["schema"], 1);
    let newest = &document["checkpoints"][0];
    let reference = newest["ref"].as_str().unwrap();
    assert_eq!(repo.rev(reference).as_deref(), newest["commit"].as_str());
    assert_eq!(repo.rev(&format!("{reference}^{{tree}}")).as_deref(), newest["tree"].as_str());
    assert_eq!(repo.rev("HEAD").as_deref(), newest["head"].as_str());
    assert_eq!(newest["message"], "fix the parser\n\nlonger story");
    assert_eq!(newest["stat"], serde_json::json!({"files": 1, "insertions": 1, "deletions": 1}));
    assert_eq!(newest["worktree"]["path"].as_str(), repo.top().to_str());
    assert_eq!(document["checkpoints"][1]["names"], serde_json::json!(["good"]));
}

#[test]
fn a_document_has_the_keys_of_the_contract_in_their_order() {
    let repo = three();

    let text = repo.checkpoint(["list", "--json", "-n1"]).success().text();

    let keys = "number id ref commit tree index_tree head branch kind session step turn agent names message created_at \
                completed_at worktree origin complete skipped stat meta memory";
    let mut at = text.find(r#""checkpoints":[{"#).unwrap();
    for key in keys.split_whitespace() {
        let found = text[at..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} is not where it should be: {text}"));
        at += found + 1;
    }
}

#[test]
fn a_path_that_is_no_utf_8_is_lossy_with_its_bytes_beside_it() {
    let repo = TestRepo::new();
    repo.fifo(crate::support::raw(b"p\xffq"));
    repo.write("a", "1\n");
    repo.checkpoint(["-q"]).success();

    let document = repo.checkpoint(["list", "--json"]).success().json();

    let skipped = &document["checkpoints"][0]["skipped"][0];
    assert_eq!(skipped["path"], "p\u{fffd}q");
    assert_eq!(skipped["bytes"], "cP9x");
    assert_eq!(skipped["reason"], "special-file");
    assert_eq!(document["checkpoints"][0]["complete"], false);
}

#[test]
fn a_format_gives_a_line_or_a_record_for_each() {
    let repo = three();

    let lines = repo.checkpoint(["list", "--format", "%(number)|%(name)|%(kind)|%(step)|%(subject)"]).success().text();
    let records = repo.checkpoint(["list", "-z", "--format=%(number)%n%(body)"]).success().stdout;

    assert_eq!(lines, "3||manual||fix the parser\n2|good|step|build|step build on main\n1||manual||first state");
    assert_eq!(records, b"3\nlonger story\x002\n\x001\n\0");
}

#[test]
fn the_state_that_the_worktree_is_in_is_marked_for_a_person() {
    let repo = three();
    let list = |repo: &TestRepo| {
        let mut command = repo.command("git");
        command.args(["checkpoint", "list", "--color=never"]).env("GIT_PAGER_IN_USE", "true");
        crate::support::Output::of(&mut command).success().text()
    };
    let marked =
        |repo: &TestRepo| list(repo).lines().filter(|line| line.starts_with("* ")).map(str::to_owned).collect::<Vec<_>>();

    assert!(marked(&repo)[0].starts_with("* 3 "));
    repo.write("f", "3\n");
    assert_eq!(marked(&repo), [""; 0]);
    repo.restore("good");
    assert_eq!(marked(&repo).len(), 1);
    assert!(marked(&repo)[0].starts_with("* 2 "), "{:?}", marked(&repo));
}

#[test]
fn lines_for_a_person_fit_the_width_and_hold_no_control_characters() {
    let repo = TestRepo::new();
    repo.write("a", "1\n");
    let step = "one\x1b[31mtwo\nthree";
    repo.checkpoint(["-q", "--step", step, "-m", "ein sehr langer Titel 日本語日本語日本語日本語日本語日本語日本語日本語日本語"])
        .success();

    for width in ["40", "60", "80"] {
        let mut command = repo.command("git");
        command.args(["checkpoint", "list", "--color=never"]).env("GIT_PAGER_IN_USE", "true").env("COLUMNS", width);
        let table = crate::support::Output::of(&mut command).success().text();

        assert_eq!(table.lines().count(), 1, "{table}");
        let cells = unicode_width::UnicodeWidthStr::width(table.as_str());
        assert!(cells <= width.parse().unwrap(), "{cells} of {width}: {table}");
        assert!(!table.chars().any(char::is_control), "{table:?}");
    }
}

#[test]
fn an_empty_list_is_no_failure() {
    let repo = TestRepo::new();

    let output = repo.checkpoint(["list"]).success().says("no checkpoints");

    assert_eq!(output.text(), "");
    assert_eq!(repo.checkpoint(["list", "--json"]).success().text(), r#"{"schema":1,"checkpoints":[]}"#);
}

#[test]
fn the_stat_of_each_stands_below_it() {
    let repo = three();

    let text = repo.checkpoint(["list", "--stat", "-n1"]).success().text();

    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("fix the parser"), "{text}");
    assert!(lines.iter().any(|line| line.contains("f | 2 +-")), "{text}");
}
