//! Checkpoints outlive what git does to a repository, and git outlives checkpoints.

use crate::support::{RepoState, TestRepo};

/// A repository with a checkpoint of staged, unstaged and untracked changes, all of them gone from the worktree since.
fn with_lost_changes() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("f", "staged\n");
    repo.write("new", "staged\n");
    repo.run(["add", "-A"]);
    repo.write("f", "unstaged\n");
    repo.write("u", "untracked\n");
    repo.save("A");
    repo.run(["reset", "-q", "--hard"]);
    repo.remove("u");
    repo
}

fn expire_and_collect(repo: &TestRepo) {
    repo.run(["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    repo.run(["gc", "-q", "--prune=now"]);
    repo.run(["prune", "--expire=now"]);
}

#[test]
fn checkpoints_survive_a_collection_from_any_worktree() {
    for collect_in_linked in [false, true] {
        let repo = with_lost_changes();
        let linked = repo.linked_worktree("linked");
        linked.write("only-here", "l\n");
        linked.run(["add", "-A"]);
        linked.write("only-here", "edited\n");
        linked.save("L");
        linked.remove("only-here");
        linked.run(["reset", "-q"]);

        expire_and_collect(if collect_in_linked { &linked } else { &repo });
        repo.restore("A");
        linked.restore("L");

        assert_eq!((repo.read("f"), repo.read("u")), ("unstaged\n".into(), "untracked\n".into()));
        assert_eq!(repo.git(["show", ":f"]).text(), "staged");
        assert_eq!(linked.read("only-here"), "edited\n");
        assert_eq!(linked.git(["show", ":only-here"]).text(), "l");
        repo.assert_sound();
    }
}

#[test]
fn undo_works_after_a_collection() {
    let repo = with_lost_changes();
    repo.write("f", "later\n");
    repo.write("later", "x\n");
    let before = RepoState::of(&repo).without_times();
    repo.restore("A");

    expire_and_collect(&repo);
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn plain_git_gets_the_work_back_without_the_program() {
    let repo = with_lost_changes();
    let name = repo.checkpoint_refs().pop().unwrap();

    repo.run(["restore", "--source", &name, "--worktree", "."]);

    assert_eq!(
        (repo.read("f"), repo.read("u"), repo.read("new")),
        ("unstaged\n".into(), "untracked\n".into(), "staged\n".into())
    );
    repo.git(["show", "--stat", &name]).success();
}

#[test]
fn git_stash_apply_takes_a_checkpoint_with_staged_changes() {
    let repo = with_lost_changes();
    let name = repo.checkpoint_refs().pop().unwrap();

    repo.run(["stash", "apply", "-q", "--index", &name]);

    assert_eq!(repo.read("f"), "unstaged\n");
    assert_eq!(repo.git(["show", ":f"]).text(), "staged");
    assert_eq!(repo.git(["show", ":new"]).text(), "staged");
    assert_eq!(repo.read("u"), "untracked\n");
}

#[test]
fn git_fetch_and_clone_stay_good_in_both_directions() {
    let repo = with_lost_changes();
    let clone = repo.at("clone");
    repo.run(["clone", "-q"].map(AsRef::as_ref).into_iter().chain([repo.top().as_os_str(), clone.top().as_os_str()]));
    clone.write("c", "c\n");
    clone.save("in the clone");
    repo.write("more", "m\n");
    repo.commit("more");

    clone.run(["fetch", "-q", "origin"]);
    clone.run(["pull", "-q", "--ff-only"]);
    repo.run(["fetch", "-q"].map(AsRef::as_ref).into_iter().chain([clone.top().as_os_str()]));

    assert_eq!(clone.read("more"), "m\n");
    assert_eq!(clone.checkpoint_refs().len(), 1);
    clone.assert_sound();
}

#[test]
fn refs_are_found_loose_and_packed() {
    let repo = with_lost_changes();
    repo.run(["pack-refs", "--all", "--prune"]);

    repo.save("B");
    repo.restore("A");

    assert_eq!(repo.read("u"), "untracked\n");
    assert_eq!(
        repo.field("A", "ref"),
        *repo.checkpoint_refs().iter().find(|name| repo.rev(name) == Some(repo.field("A", "commit"))).unwrap()
    );
}

#[test]
fn every_recorded_tree_hangs_on_the_ref_in_the_shape_of_a_stash() {
    let repo = with_lost_changes();
    let commit = repo.field("A", "commit");
    let head = repo.rev("HEAD").unwrap();

    let parents: Vec<String> = repo.git(["rev-parse", &format!("{commit}^@")]).text().lines().map(str::to_owned).collect();

    assert_eq!(parents.len(), 2);
    assert_eq!(parents[0], head);
    assert_eq!(repo.git(["show", &format!("{}:f", parents[1])]).text(), "staged");
    assert_eq!(repo.rev(&format!("{commit}^{{tree}}")).unwrap(), repo.tree("A"));
}

#[test]
fn a_checkpoint_with_nothing_staged_has_head_as_its_only_parent() {
    let repo = TestRepo::new();
    repo.write("f", "2\n");
    repo.save("A");

    let parents = repo.git(["rev-parse", &format!("{}^@", repo.field("A", "commit"))]).text();

    assert_eq!(Some(parents), repo.rev("HEAD"));
}

#[test]
fn a_repository_with_a_thousand_saves_of_one_line_stays_small() {
    let repo = TestRepo::new();
    for number in 0..300 {
        repo.write(format!("src/{}/{number}", number % 20), format!("line of file {number}\n").repeat(40));
    }
    repo.commit("300 files");
    repo.run(["gc", "-q"]);
    let size = || crate::support::disk_usage(&repo.common_dir());
    let before = size();

    for round in 0..1000 {
        let number = round % 300;
        repo.append(format!("src/{}/{number}", number % 20), format!("round {round}\n"));
        crate::support::Output::of(repo.program().args(["save", "--quiet"])).success();
    }

    assert_eq!(repo.checkpoint_refs().len(), 1000);
    let grown = size() - before;
    assert!(grown <= 5 * 1024 * 1024, "{grown} bytes");
    let packs = repo
        .common_dir()
        .join("objects/pack")
        .read_dir()
        .unwrap()
        .filter(|item| item.as_ref().unwrap().path().extension().is_some_and(|e| e == "pack"))
        .count();
    assert!(packs <= 50, "{packs} packs");
}
