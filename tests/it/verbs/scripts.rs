//! What scripts read: documents through `jq`, records that end in NUL through the shell.

use std::process::Stdio;

use crate::support::{Output, TestRepo, tools};

/// Three checkpoints; the name and the subject of the last are awkward for a shell.
fn saved() -> TestRepo {
    let repo = TestRepo::new();
    for (content, subject) in [("1\n", "one"), ("2\n", "two"), ("3\n", "three, with \"quotes\"\nand a second line")] {
        repo.write("a", content);
        repo.checkpoint(["-q", "-m", subject]).success();
    }
    repo
}

/// Runs a script with the program's folder on the PATH.
fn script(repo: &TestRepo, text: &str) -> Output {
    Output::of(repo.command("sh").args(["-c", text]).stdin(Stdio::null()))
}

#[test]
fn a_list_goes_through_jq() {
    if !tools::has("jq", &["--version"]) {
        return;
    }
    let repo = saved();

    let newest = script(&repo, "git checkpoint list --json | jq -r '.checkpoints[0].number'").success().text();
    let changed = script(&repo, "git checkpoint list --json | jq -c '[.checkpoints[] | .stat.files]'").success().text();
    let restored = script(
        &repo,
        "git checkpoint restore --yes --json \"$(git checkpoint list --json | jq -r '.checkpoints | last | .id')\" | jq -r .status",
    );
    let error = script(&repo, "git checkpoint show --json nowhere 2>/dev/null | jq -r '.error.code'").success().text();

    assert_eq!((newest.as_str(), changed.as_str(), error.as_str()), ("3", "[1,1,1]", "unknown-selector"));
    assert_eq!(restored.success().text(), "restored");
    assert_eq!(repo.read("a"), "1\n");
}

#[test]
fn records_that_end_in_nul_hold_whatever_a_message_holds() {
    let repo = saved();

    let records = script(&repo, "git checkpoint list -z --reverse --format='%(number) %(subject)%n%(body)'").success().stdout;
    let counted = script(&repo, "git checkpoint list -z --format='%(id)' | tr -cd '\\0' | wc -c").success().text();
    let shown =
        script(&repo, "git checkpoint list -z --format='%(number)' | xargs -0 -n1 git checkpoint show --format='%(subject)'");

    let records: Vec<_> = records.split(|byte| *byte == 0).map(|record| String::from_utf8(record.to_vec()).unwrap()).collect();
    assert_eq!(records.len(), 4, "{records:?}");
    assert_eq!(records[0].lines().next(), Some("1 one"));
    assert!(records[2].starts_with("3 three, with \"quotes\"\n") && records[2].contains("second line"), "{records:?}");
    assert_eq!((records[3].as_str(), counted.trim()), ("", "3"));
    assert_eq!(shown.success().text(), "three, with \"quotes\"\ntwo\none");
}
