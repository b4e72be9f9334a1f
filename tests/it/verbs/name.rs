//! `git checkpoint name`.

use crate::support::TestRepo;

fn two() -> TestRepo {
    let repo = TestRepo::new();
    for content in ["1\n", "2\n"] {
        repo.write("a", content);
        repo.checkpoint(["-q"]).success();
    }
    repo
}

fn name_refs(repo: &TestRepo) -> String {
    repo.git(["for-each-ref", "--format=%(objectname) %(refname)", "refs/checkpoint-names"]).text()
}

#[test]
fn a_name_is_kept_as_a_ref_too_and_moves_with_a_word_about_it() {
    let repo = two();
    let commits = [repo.field("1", "commit"), repo.field("2", "commit")];

    repo.checkpoint(["name", "1", "good"]).success().says("checkpoint 1 is now called `good`");
    assert_eq!(name_refs(&repo), format!("{} refs/checkpoint-names/good", commits[0]));
    repo.checkpoint(["name", "2", "good"]).success().says("no longer checkpoint 1");
    assert_eq!(name_refs(&repo), format!("{} refs/checkpoint-names/good", commits[1]));
    assert_eq!(repo.field("1", "name"), "");
    repo.checkpoint(["name", "--delete", "good"]).success();
    assert_eq!(name_refs(&repo), "");
    repo.checkpoint(["show", "good"]).exits(4);
}

#[test]
fn a_checkpoint_may_have_several_names() {
    let repo = two();

    repo.checkpoint(["name", "1", "Größe 1"]).success();
    repo.checkpoint(["name", "1", "a"]).success();

    assert_eq!(repo.field("Größe 1", "name"), "Größe 1,a");
    let document = repo.checkpoint(["show", "--json", "a"]).success().json();
    assert_eq!(document["checkpoint"]["names"], serde_json::json!(["Größe 1", "a"]));
}

#[test]
fn the_result_is_a_document_on_request() {
    let repo = two();
    repo.checkpoint(["name", "1", "x"]).success();

    let moved = repo.checkpoint(["name", "2", "x", "--json"]).success().json();
    let deleted = repo.checkpoint(["name", "--delete", "x", "--json"]).success().json();

    assert_eq!(moved["status"], "named");
    assert_eq!(moved["checkpoint"]["number"], 2);
    assert_eq!(moved["moved_from"].as_str(), Some(repo.field("1", "id").as_str()));
    assert_eq!((&deleted["status"], &deleted["name"]), (&"deleted".into(), &"x".into()));
}

#[test]
fn a_name_that_would_read_as_something_else_is_refused() {
    let repo = two();

    for name in ["12", "@x", "step:x", "HEAD", "pre-restore", "refs/x", "a\nb", " a", ""] {
        let error = repo.checkpoint(["name", "--json", "1", name]).exits(129).json();
        assert_eq!(error["error"]["code"], "invalid-name", "{name:?}");
    }
    assert_eq!(name_refs(&repo), "");
}

#[test]
fn names_outlive_the_database() {
    let repo = two();
    repo.checkpoint(["name", "1", "kept name"]).success();

    std::fs::remove_file(repo.common_dir().join("checkpoint/checkpoints.db")).unwrap();

    assert_eq!(repo.field("kept name", "name"), "kept name");
}

#[test]
fn a_name_that_nothing_has_cannot_be_deleted() {
    let repo = two();
    repo.checkpoint(["name", "1", "good"]).success();

    let error = repo.checkpoint(["name", "--delete", "goood", "--json"]).exits(4).json();

    assert_eq!(error["error"]["candidates"], serde_json::json!(["good"]));
}
