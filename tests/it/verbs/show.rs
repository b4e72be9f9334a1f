//! `git checkpoint show`.

use crate::support::TestRepo;

fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.fifo("pipe");
    repo.checkpoint(["-q", "-m", "subject\n\nbody", "--name", "good", "--meta", "ticket=T-1"]).success();
    repo
}

#[test]
fn everything_is_told_and_the_way_back() {
    let repo = saved();

    let text = repo.checkpoint(["show"]).success().text();

    assert!(text.starts_with("checkpoint 1 (good)\n"), "{text}");
    for line in [
        &format!("Commit:    {}", repo.field("1", "commit")),
        &format!("Ref:       {}", repo.checkpoint_refs()[0]),
        "Branch:    main",
        "Meta:      ticket=T-1",
        "Changed:   1 file +1 -1",
        "    subject",
        "    body",
        "Not captured (1 path):",
        "    special-file  pipe",
        "Restore it with: git checkpoint restore 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in:\n{text}");
    }
}

#[test]
fn the_manifest_alone_is_reason_and_path() {
    let repo = saved();

    assert_eq!(repo.checkpoint(["show", "--manifest"]).success().text(), "special-file  pipe");
    repo.remove("pipe");
    repo.write("f", "3\n");
    repo.checkpoint(["-q"]).success();
    let whole = repo.checkpoint(["show", "--manifest"]).success().says("nothing was left out");
    assert_eq!(whole.text(), "");
}

#[test]
fn its_change_is_shown_as_git_shows_it() {
    let repo = saved();
    let (head, commit) = (repo.rev("HEAD").unwrap(), repo.field("1", "commit"));

    let patch = repo.checkpoint(["show", "-p", "1"]).success().text();
    let stat = repo.checkpoint(["show", "--stat", "1"]).success().text();
    let status = repo.checkpoint(["show", "--name-status", "1"]).success().text();

    assert!(patch.ends_with(&repo.git(["diff", &head, &commit]).text()), "{patch}");
    assert!(stat.ends_with(&repo.git(["diff", "--stat", &head, &commit]).text()), "{stat}");
    assert!(status.ends_with("M\tf"), "{status}");
}

#[test]
fn a_document_holds_one_checkpoint() {
    let repo = saved();

    let document = repo.checkpoint(["show", "--json", "good"]).success().json();

    assert_eq!(document["schema"], 1);
    assert_eq!(document["checkpoint"]["number"], 1);
    assert_eq!(document["checkpoint"]["meta"]["ticket"], "T-1");
    assert_eq!(document["checkpoint"]["skipped"], serde_json::json!([{"path": "pipe", "reason": "special-file", "size": null}]));
}

#[test]
fn where_there_is_none_the_way_to_one_is_told() {
    let repo = TestRepo::new();

    let output = repo.checkpoint(["show"]).exits(4);

    assert!(output.talk().contains("no checkpoint matches `@`"), "{output}");
    assert!(output.talk().contains("hint: "), "{output}");
}
