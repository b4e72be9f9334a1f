//! Linked worktrees: each has its own index, its own newest checkpoint and its own undo; all share the refs.

use crate::support::{RepoState, TestRepo};

fn main_and_linked() -> (TestRepo, TestRepo) {
    let main = TestRepo::new();
    let linked = main.linked_worktree("linked");
    (main, linked)
}

#[test]
fn a_linked_worktree_is_saved_and_restored_without_touching_the_main_one() {
    let (main, linked) = main_and_linked();
    linked.write("n", "2\n");
    linked.write("f", "staged\n");
    linked.run(["add", "f"]);
    let status = linked.status();
    let before = RepoState::of(&main);

    linked.save("A");
    linked.remove("n");
    linked.run(["reset", "-q"]);
    linked.restore("A");
    linked.undo();
    linked.redo();

    assert_eq!((linked.read("n"), linked.status()), ("2\n".into(), status));
    before.assert_same(&RepoState::of(&main));
    assert_eq!(main.rev(&linked.field("A", "ref")), Some(linked.field("A", "commit")));
    assert_eq!(main.status(), "");
}

#[test]
fn a_checkpoint_of_another_worktree_is_restored_only_on_demand() {
    let (main, linked) = main_and_linked();
    linked.write("f", "from linked\n");
    linked.save("A");
    let before = RepoState::of(&main);

    let blockers = main.blockers(&["restore", "--yes", "A"]);
    before.assert_same(&RepoState::of(&main));
    main.checkpoint(["restore", "--quiet", "--yes", "--allow", "other-worktree", "A"]).success();

    assert_eq!(blockers, ["other-worktree"]);
    assert_eq!(main.read("f"), "from linked\n");
}

#[test]
fn a_checkpoint_of_a_removed_worktree_belongs_to_nobody_and_may_be_restored() {
    let (main, linked) = main_and_linked();
    linked.write("f", "from linked\n");
    linked.save("A");
    main.run(["worktree", "remove", "--force"].map(AsRef::as_ref).into_iter().chain([linked.top().as_os_str()]));

    main.restore("A");

    assert_eq!(main.read("f"), "from linked\n");
}

#[test]
fn the_main_worktree_can_be_kept_from_restores() {
    let (main, linked) = main_and_linked();
    main.config("checkpoint.restore.mainWorktree", "refuse");
    main.save("M");
    main.write("f", "2\n");
    linked.save("L");
    linked.write("f", "2\n");

    let blockers = main.blockers(&["restore", "--yes", "M"]);
    linked.restore("L");

    assert_eq!(blockers, ["main-worktree"]);
    assert_eq!((main.read("f"), linked.read("f")), ("2\n".into(), "1\n".into()));
}

#[test]
fn undo_in_one_worktree_never_undoes_the_restore_of_another() {
    let (main, linked) = main_and_linked();
    for worktree in [&main, &linked] {
        worktree.save("x");
        worktree.write("f", "later\n");
    }
    main.save("M");
    main.write("f", "last\n");
    main.restore("M");

    linked.checkpoint(["undo", "--yes"]).success().says("nothing to undo");
    main.undo();

    assert_eq!((main.read("f"), linked.read("f")), ("last\n".into(), "later\n".into()));
}

#[test]
fn a_list_shows_this_worktree_or_all() {
    let (main, linked) = main_and_linked();
    main.save("M");
    linked.save("L");
    let names = |repo: &TestRepo, all: &[&str]| repo.checkpoint([&["list", "--format=%(name)"], all].concat()).success().text();

    assert_eq!(names(&main, &[]), "M");
    assert_eq!(names(&linked, &[]), "L");
    assert_eq!(names(&main, &["--all-worktrees"]).lines().count(), 2);
}
