//! What a person types to name a checkpoint.

use crate::support::TestRepo;

/// Checkpoints 1 to 4: manual, a step, a turn of another session, the state before a restore; 1 has a name.
fn several() -> TestRepo {
    let repo = TestRepo::new();
    for (content, options) in [
        ("1", vec!["--name", "before refactor"]),
        ("2", vec!["--step", "build"]),
        ("3", vec!["--turn", "7", "--session", "agent-1"]),
    ] {
        repo.write("a", content);
        repo.checkpoint(["save", "-q"].iter().chain(&options)).success();
    }
    repo.restore("1");
    repo
}

#[track_caller]
fn number(repo: &TestRepo, selector: &str) -> String {
    repo.field(selector, "number")
}

#[test]
fn every_form_names_its_checkpoint() {
    let repo = several();
    let id = repo.field("2", "id");
    let commit = repo.field("2", "commit");
    let reference = repo.field("3", "ref");
    let made = repo.field("2", "created");
    let pre_restore = repo.field("pre-restore", "number");

    assert_eq!(repo.field("pre-restore", "kind"), "pre-restore");
    assert_eq!(number(&repo, "@"), pre_restore);
    assert_eq!(number(&repo, "@~1"), number(&repo, "turn:7"));
    assert_eq!(number(&repo, &format!("@{{{made}}}")), "2");
    assert_eq!(number(&repo, "before refactor"), "1");
    assert_eq!(number(&repo, "step:build"), "2");
    assert_eq!(repo.field("session:agent-1", "turn"), "7");
    assert_eq!(number(&repo, &id), "2");
    assert_eq!(number(&repo, &id[..24]), "2");
    assert_eq!(number(&repo, &id.to_uppercase()), "2");
    assert_eq!(number(&repo, &commit), "2");
    assert_eq!(number(&repo, &commit[..12]), "2");
    assert_eq!(number(&repo, &reference), "3");
}

#[test]
fn a_name_goes_before_the_id_of_a_commit() {
    let repo = several();
    let commit = repo.field("2", "commit");
    let letter_first = commit.find(|c: char| c.is_ascii_lowercase()).unwrap();
    let hex = &commit[letter_first..(letter_first + 6).min(commit.len())];

    repo.checkpoint(["name", "1", hex]).success();

    assert_eq!(number(&repo, hex), "1");
}

#[test]
fn what_names_nothing_ends_with_4_and_tells_what_may_be_meant() {
    let repo = several();

    for selector in ["99", "nothing", "@~99", "step:none", "turn:99", "session:none", "refs/heads/main", "@{1 year ago}"] {
        let output = repo.checkpoint(["show", selector, "--json"]).exits(4);
        let error = &output.json()["error"];
        assert_eq!(error["code"], "unknown-selector", "{selector}");
        assert!(error["message"].as_str().unwrap().contains(selector), "{error}");
        assert!(output.talk().starts_with("error: "), "{}", output.talk());
    }
    let error = repo.checkpoint(["show", "before refaktor", "--json"]).exits(4).json();
    assert_eq!(error["error"]["candidates"], serde_json::json!(["before refactor"]));
}

#[test]
fn a_prefix_of_several_is_ambiguous() {
    let repo = several();
    let ids: Vec<String> = (1..=2).map(|n| repo.field(&n.to_string(), "id")).collect();
    let shared = ids[0].bytes().zip(ids[1].bytes()).take_while(|(a, b)| a == b).count();

    let error = repo.checkpoint(["show", "--json", &ids[0][..shared]]).exits(4).json();

    assert_eq!(error["error"]["code"], "ambiguous-selector");
    let candidates = error["error"]["candidates"].as_array().unwrap();
    assert!(ids.iter().all(|id| candidates.contains(&id.as_str().into())), "{candidates:?}");
}

#[test]
fn what_has_no_form_is_told_from_what_is_unknown() {
    let repo = several();

    for selector in ["@x", "@{soon}", "foo:bar", "turn:x", "99999999999999999999", ""] {
        let error = repo.checkpoint(["show", "--json", selector]).exits(4).json();
        assert_eq!(error["error"]["code"], "invalid-selector", "{selector}");
    }
}

#[test]
fn a_selector_is_never_an_option() {
    let repo = several();

    repo.checkpoint(["show", "--", "--help"]).exits(4);
    repo.checkpoint(["show", "--upload-pack=x"]).exits(129);
    repo.checkpoint(["name", "--", "1", "--delete"]).fails();
}

#[test]
fn numbers_belong_to_the_repository_and_the_newest_to_the_worktree() {
    let repo = several();
    repo.run(["worktree", "add", "-q", "../linked"]);
    let linked = repo.at("linked");
    linked.write("b", "1\n");
    linked.checkpoint(["-q", "-m", "there"]).success();

    assert_eq!(linked.field("1", "name"), "before refactor");
    assert_eq!(linked.field("@", "subject"), "there");
    assert_ne!(repo.field("@", "subject"), "there");
    linked.checkpoint(["show", "@~1"]).exits(4);
}
