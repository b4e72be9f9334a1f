//! `git checkpoint branch`.

use crate::support::TestRepo;

/// A commit, and on it a checkpoint with an edit, a new file and something staged.
fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("tracked", "1\n");
    repo.commit("one");
    repo.write("tracked", "2\n");
    repo.write("new", "n\n");
    repo.git(["add", "new"]);
    repo.checkpoint(["save", "-q", "-m", "try it\n\nas far as it got", "--name", "good"]).success();
    repo
}

#[test]
fn the_branch_is_an_ordinary_commit_on_the_head_of_then() {
    let repo = saved();
    let head = repo.rev("HEAD");
    repo.commit("later");
    let (now, index, status) = (repo.rev("HEAD"), repo.bytes(".git/index"), repo.status());

    repo.checkpoint(["branch", "tries/first", "good"]).success();

    assert_eq!(repo.rev("tries/first^{tree}"), Some(repo.tree("good")));
    assert_eq!(repo.git(["rev-list", "--parents", "-n1", "tries/first"]).text().split(' ').nth(1), head.as_deref());
    assert_eq!(repo.rev("tries/first^2"), None);
    assert_eq!(repo.git(["log", "-1", "--format=%B", "tries/first"]).text().trim(), "try it\n\nas far as it got");
    let who = repo.git(["log", "-1", "--format=%an %ae", "tries/first"]).text();
    assert_eq!(who, repo.git(["log", "-1", "--format=%an %ae", "HEAD"]).text());
    assert_eq!((repo.rev("HEAD"), repo.bytes(".git/index"), repo.status()), (now, index, status));
    repo.git(["fsck", "--strict"]);
}

#[test]
fn going_to_it_gives_the_files() {
    let repo = saved();
    repo.git(["stash", "-u", "-q"]);
    repo.checkpoint(["branch", "x"]).success();

    repo.git(["switch", "-q", "x"]);

    assert_eq!((repo.read("tracked"), repo.read("new"), repo.status()), ("2\n".into(), "n\n".into(), String::new()));
}

#[test]
fn on_a_branch_without_commits_it_is_the_first_commit() {
    let repo = TestRepo::unborn();
    repo.write("a", "1\n");
    repo.save("first");

    repo.checkpoint(["branch", "x", "first"]).success();

    assert_eq!(repo.git(["rev-list", "--count", "x"]).text(), "1");
}

#[test]
fn a_name_that_is_taken_or_in_the_way_or_wrong_makes_nothing() {
    let repo = saved();
    repo.git(["branch", "taken"]);
    repo.git(["pack-refs", "--all"]);
    let refs = || repo.git(["for-each-ref", "refs/heads"]).text();
    let before = refs();

    repo.checkpoint(["branch", "taken"]).exits(128).says("`refs/heads/taken` exists already");
    repo.checkpoint(["branch", "taken/below"]).exits(128).says("taken");
    for wrong in ["a..b", "-x", "HEAD", "", "a b"] {
        repo.checkpoint(["branch", "--", wrong]).exits(129);
    }
    repo.checkpoint(["branch", "x", "nowhere"]).exits(4);

    assert_eq!(refs(), before);
}

#[test]
fn the_result_is_a_document_on_request() {
    let repo = saved();

    let document = repo.checkpoint(["branch", "x", "--json"]).success().json();

    assert_eq!((&document["status"], &document["branch"]), (&"created".into(), &"x".into()));
    assert_eq!(document["commit"].as_str(), repo.rev("x").as_deref());
    assert_eq!(document["checkpoint"]["number"], 1);
}

#[test]
fn nobody_need_be_configured() {
    let repo = saved();
    let mut program = repo.program();
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"] {
        program.env_remove(name);
    }
    let only = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "user.useConfigOnly"), ("GIT_CONFIG_VALUE_0", "true")];
    program.args(["branch", "-q", "x"]).envs(only);
    program.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");

    assert!(program.status().unwrap().success());

    assert_eq!(repo.rev("x^{tree}"), Some(repo.tree("good")));
}
