//! `git checkpoint push` and `fetch`.

use serde_json::json;

use crate::support::{Output, RepoState, TestRepo};

/// A laptop and a sandbox, each a clone of one bare repository, which is their `origin`. The laptop has the checkpoint `A`.
fn two_machines() -> (TestRepo, TestRepo) {
    let repo = TestRepo::new();
    repo.run(["clone", "-q", "--bare", ".", "../hub.git"]);
    repo.run(["remote", "add", "origin", "../hub.git"]);
    repo.run(["clone", "-q", "../hub.git", "../sandbox"]);
    repo.write("f", "staged\n");
    repo.run(["add", "f"]);
    repo.write("f", "2\n");
    repo.write("u", "u\n");
    repo.save("A");
    let sandbox = repo.at("sandbox");
    (repo, sandbox)
}

fn hub(repo: &TestRepo, args: &[&str]) -> String {
    Output::of(repo.command("git").args(["-C", "../hub.git"]).args(args)).success().text()
}

#[test]
fn work_goes_from_one_machine_to_the_other_and_back() {
    let (laptop, sandbox) = two_machines();
    let status = laptop.status();

    laptop.checkpoint(["push"]).success();
    let before = RepoState::of(&sandbox);
    sandbox.checkpoint(["fetch"]).success();
    before.assert_same(&RepoState::of(&sandbox));
    sandbox.restore("A");
    assert_eq!((sandbox.read("f"), sandbox.read("u"), sandbox.status()), ("2\n".into(), "u\n".into(), status));
    sandbox.write("u", "3, in the sandbox\n");
    sandbox.save("B");
    sandbox.checkpoint(["push", "origin", "B"]).success();
    laptop.checkpoint(["fetch", "origin"]).success();
    laptop.restore("B");

    assert_eq!(laptop.read("u"), "3, in the sandbox\n");
    assert_eq!(laptop.field("B", "id"), sandbox.field("B", "id"));
    laptop.assert_sound();
    sandbox.assert_sound();
}

#[test]
fn nothing_is_sent_or_taken_twice() {
    let (laptop, sandbox) = two_machines();

    let first = laptop.checkpoint(["push", "--json"]).success().json();
    let again = laptop.checkpoint(["push", "--json"]).success().json();
    assert_eq!((&first["status"], &first["remote"], &first["known"]), (&json!("pushed"), &json!("origin"), &json!(0)));
    assert_eq!((first["new"].as_array().unwrap().len(), again["new"].as_array().unwrap().len()), (1, 0));
    assert_eq!(again["known"], 1);
    let first = sandbox.checkpoint(["fetch", "--json"]).success().json();
    let again = sandbox.checkpoint(["fetch", "--json"]).success().json();
    assert_eq!((&first["new"][0]["names"], &again["new"], &again["known"]), (&json!(["A"]), &json!([]), &json!(1)));
    assert_eq!(sandbox.checkpoint_refs().len(), 1);
    assert_eq!(sandbox.git(["for-each-ref", "refs/checkpoint-incoming"]).text(), "");
}

#[test]
fn only_checkpoints_and_their_names_are_sent_even_to_a_mirror() {
    let (laptop, _) = two_machines();
    laptop.run(["branch", "private"]);
    laptop.config("remote.origin.mirror", "true");
    std::fs::create_dir_all(laptop.git_dir().join("hooks")).unwrap();
    std::fs::write(laptop.git_dir().join("hooks/pre-push"), "#!/bin/sh\nexit 1\n").unwrap();
    laptop.chmod(".git/hooks/pre-push", 0o755);
    let before = hub(&laptop, &["for-each-ref", "--format=%(refname)", "refs/heads"]);

    laptop.checkpoint(["push"]).success();

    assert_eq!(hub(&laptop, &["for-each-ref", "--format=%(refname)", "refs/heads"]), before);
    let refs = hub(&laptop, &["for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/checkpoint-names"]);
    assert_eq!(refs, format!("refs/checkpoint-names/%41\n{}", laptop.field("A", "ref")));
}

#[test]
fn one_session_can_be_taken_alone() {
    let (laptop, sandbox) = two_machines();
    laptop.checkpoint(["save", "-q", "--allow-empty", "--session", "other", "--name", "O"]).success();
    laptop.checkpoint(["push", "--session", "other"]).success();
    laptop.checkpoint(["push"]).success();

    sandbox.checkpoint(["fetch", "--session", "other"]).success();

    assert_eq!(sandbox.checkpoint(["list", "--format=%(name)"]).success().text(), "O");
}

#[test]
fn what_is_no_checkpoint_of_ours_is_left_out_and_a_taken_name_stays() {
    let (laptop, sandbox) = two_machines();
    laptop.checkpoint(["push"]).success();
    hub(&laptop, &["update-ref", "refs/checkpoints/x/notes", "HEAD"]);
    sandbox.write("mine", "1\n");
    sandbox.save("A");

    let fetched = sandbox.checkpoint(["fetch", "--json"]).success().json();

    assert_eq!(fetched["names_taken"], json!(["A"]));
    assert_eq!(fetched["refused"].as_array().unwrap().len(), 1, "{fetched}");
    assert_eq!((sandbox.checkpoint_refs().len(), sandbox.field("A", "number")), (2, "1".into()));
    sandbox.checkpoint(["push", "origin", "A"]).success().says("the name `A` belongs to another checkpoint there");
    assert_eq!(hub(&laptop, &["rev-parse", "refs/checkpoint-names/%41"]), laptop.field("A", "commit"));
}

#[test]
fn a_remote_is_never_chosen_by_chance() {
    let (laptop, _) = two_machines();
    laptop.run(["remote", "add", "second", "../nowhere.git"]);

    laptop.checkpoint(["push"]).exits(129).says("there are several remotes (origin, second)");
    laptop.checkpoint(["fetch"]).exits(129).says("checkpoint.remote");
    laptop.config("checkpoint.remote", "origin");
    laptop.checkpoint(["push"]).success();
    laptop.checkpoint(["push", "second"]).exits(128).says("nowhere.git");
    laptop.checkpoint(["fetch", "--", "--upload-pack=touch pwned"]).exits(128);
    assert!(!laptop.exists("pwned"));
}

#[test]
fn without_a_remote_or_a_checkpoint_there_is_nothing_to_send() {
    let repo = TestRepo::new();
    repo.checkpoint(["push"]).exits(129).says("there is no remote");
    repo.run(["remote", "add", "origin", "../hub.git"]);
    repo.checkpoint(["push"]).exits(129).says("there is no checkpoint to send");
}
