//! Undo and redo: a stack for each worktree.

use crate::support::{RepoState, TestRepo};

/// Saves checkpoints named by their content of `f`, and leaves the worktree with `now`.
fn with_checkpoints(names: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for name in names {
        repo.write("f", format!("{name}\n"));
        repo.save(name);
    }
    repo.write("f", "now\n");
    repo
}

fn f(repo: &TestRepo) -> String {
    repo.read("f").trim_end().to_owned()
}

#[test]
fn undo_returns_to_before_the_last_restore_not_an_earlier_one() {
    let repo = with_checkpoints(&["A", "B"]);
    repo.restore("A");
    repo.write("f", "d\n");
    repo.restore("B");
    assert_eq!(f(&repo), "B");

    repo.undo();

    assert_eq!(f(&repo), "d");
}

#[test]
fn undo_again_goes_one_further_and_redo_comes_forward() {
    let repo = with_checkpoints(&["A", "B", "C"]);
    for name in ["A", "B", "C"] {
        repo.restore(name);
    }

    let seen: Vec<_> = [
        TestRepo::undo,
        TestRepo::undo,
        TestRepo::redo,
        TestRepo::undo,
        TestRepo::undo,
        TestRepo::redo,
        TestRepo::redo,
        TestRepo::redo,
    ]
    .into_iter()
    .map(|step| {
        step(&repo);
        f(&repo)
    })
    .collect();

    assert_eq!(seen, ["B", "A", "B", "A", "now", "A", "B", "C"]);
}

#[test]
fn a_new_restore_drops_what_could_be_redone() {
    let repo = with_checkpoints(&["A", "B"]);
    repo.restore("A");
    repo.undo();
    repo.restore("B");

    repo.checkpoint(["redo", "--yes"]).success().says("nothing to redo");
    repo.undo();

    assert_eq!(f(&repo), "now");
}

#[test]
fn with_nothing_to_undo_or_redo_the_answer_says_so() {
    let repo = with_checkpoints(&["A"]);
    let before = RepoState::of(&repo);

    for verb in ["undo", "redo"] {
        repo.checkpoint([verb, "--yes"]).success().says(&format!("nothing to {verb}"));
    }

    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn work_done_after_a_restore_is_not_lost_by_undo() {
    let repo = with_checkpoints(&["A"]);
    repo.restore("A");
    repo.write("f", "new work\n");
    repo.write("n", "new work\n");

    repo.undo();
    assert_eq!((f(&repo), repo.exists("n")), ("now".into(), false));
    repo.redo();

    assert_eq!((f(&repo), repo.read("n")), ("new work".into(), "new work\n".into()));
}

#[test]
fn undo_brings_back_index_untracked_and_deleted_files_exactly() {
    let repo = with_checkpoints(&["A"]);
    repo.write("staged", "s\n");
    repo.run(["add", "-A"]);
    repo.write("staged", "s2\n");
    repo.write("untracked/x", "x\n");
    repo.symlink("f", "link");
    repo.write("meant", "m\n");
    repo.run(["add", "-N", "meant"]);
    repo.remove("f");
    let before = RepoState::of(&repo).without_times();

    repo.restore("A");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn undo_has_the_guards_of_a_restore() {
    let repo = with_checkpoints(&["A"]);
    repo.restore("A");
    repo.config("checkpoint.lockTimeout", "100ms");
    let before = RepoState::of(&repo);

    assert_eq!(repo.blockers(&["undo"]), ["confirmation-required"]);
    repo.lock_index();
    assert_eq!(repo.blockers(&["undo", "--yes"]), ["index-locked"]);
    std::fs::remove_file(repo.git_dir().join("index.lock")).unwrap();
    repo.checkpoint(["undo", "--dry-run"]).success();

    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_restore_to_the_current_state_is_told_and_leaves_undo_where_it_was() {
    let repo = with_checkpoints(&["A", "B"]);
    repo.restore("A");

    let document = repo.checkpoint(["restore", "--yes", "--json", "A"]).success().json();
    repo.undo();

    assert_eq!(document["status"], "unchanged");
    assert_eq!(f(&repo), "now");
}

#[test]
fn the_list_of_restores_shows_what_can_be_undone() {
    let repo = with_checkpoints(&["A", "B"]);
    repo.restore("A");
    repo.restore("B");

    let listed = repo.checkpoint(["undo", "--list"]).success().text();

    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.lines().next().unwrap().contains('B'), "{listed}");
}

#[test]
fn the_list_of_restores_fits_the_screen_and_says_so_if_there_is_none() {
    let repo = with_checkpoints(&["A", "a name that is too long for a screen of so few columns as this one has"]);
    for verb in ["undo", "redo"] {
        let none = repo.checkpoint([verb, "--list"]).success();
        assert_eq!((none.text(), none.talk().starts_with(&format!("nothing to {verb}"))), (String::new(), true), "{none}");
    }
    repo.restore("2");

    let plain = repo.checkpoint(["undo", "--list"]).success().text();
    let narrow = repo.at_terminal("git checkpoint undo --list", &[("COLUMNS", "60")]).success().text();

    assert!(
        plain.contains("restored checkpoint 2 (a name that is too long") && plain.ends_with("undo leads to checkpoint 3"),
        "{plain}"
    );
    assert!(plain.contains(" ago  ") && !plain.contains("T"), "{plain}");
    assert!(narrow.trim_end().ends_with('…') && narrow.trim_end().chars().count() == 60, "{narrow:?}");
}

/// How many restores are recorded and not undone.
fn recorded(repo: &TestRepo) -> u32 {
    let database = rusqlite::Connection::open(repo.git_dir().join("checkpoint/checkpoints.db")).unwrap();
    database.query_row("SELECT count(*) FROM restores WHERE undone_by IS NULL", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_restore_that_is_taken_back_after_it_was_recorded_leaves_what_can_be_redone() {
    let repo = with_checkpoints(&["A", "B"]);
    repo.restore("A");
    repo.undo();
    let listed = || repo.checkpoint(["redo", "--list", "--json"]).success().json()["restores"].as_array().unwrap().len();
    assert_eq!((recorded(&repo), listed()), (0, 1));

    repo.interrupt("B", |repo| recorded(repo) == 1);
    repo.checkpoint(["restore", "--abort"]).success();

    assert_eq!((f(&repo), recorded(&repo), listed()), ("now".into(), 0, 1));
    repo.redo();
    assert_eq!(f(&repo), "A");
    repo.undo();
    assert_eq!(f(&repo), "now");

    // One that came about is on top for good.
    repo.interrupt("B", |repo| recorded(repo) == 1);
    repo.checkpoint(["restore", "--continue"]).success();
    assert_eq!((f(&repo), listed()), ("B".into(), 0));
    repo.undo();
    assert_eq!((f(&repo), listed()), ("now".into(), 1));
    repo.redo();
    assert_eq!((f(&repo), listed()), ("B".into(), 0));
}

#[test]
fn an_undo_of_a_redo_takes_back_what_the_redo_made_though_it_is_ignored_by_then() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("a", "x\n");
    repo.restore("A");
    repo.write("d/h", "made after the restore\n");
    repo.undo();
    assert!(!repo.exists("d/h"));
    repo.write(".gitignore", "d/\n");
    let before = RepoState::of(&repo).without_times();

    repo.redo();
    assert_eq!(repo.read("d/h"), "made after the restore\n");
    repo.undo();

    before.assert_same(&RepoState::of(&repo).without_times());
}

#[test]
fn exact_bytes_that_were_kept_and_cannot_be_read_are_not_taken_for_none() {
    let repo = TestRepo::new();
    repo.config("core.autocrlf", "input");
    repo.write("f", "A\n");
    repo.save("A");
    repo.write("f", "mixed\r\nline\nends\r\n");
    repo.restore("A");
    let kept = repo.git_dir().join("checkpoint/originals").join(repo.field("2", "id"));
    repo.give_away();
    let close =
        |mode: u32| std::fs::set_permissions(kept.join("list.json"), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    close(0o000);
    let before = RepoState::of(&repo);

    repo.checkpoint(["undo", "--yes"]).exits(128).says("list.json");

    before.assert_same(&RepoState::of(&repo));
    close(0o600);
    repo.undo();
    assert_eq!(repo.read("f"), "mixed\r\nline\nends\r\n");
}
