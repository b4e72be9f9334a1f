//! Every reason to refuse a restore, alone and together with the others: it is told, and nothing has changed.

use crate::support::{Output, RepoState, TestRepo};

/// A way to make a restore of the checkpoint `A` impossible, or of one that is made for the purpose.
struct Row {
    code: &'static str,
    /// Before the checkpoint is saved.
    before: fn(&TestRepo),
    /// After it was saved and files have changed.
    after: fn(&TestRepo),
    /// Goes together with the others in one repository.
    combines: bool,
}

fn nothing(_: &TestRepo) {}

const TABLE: [Row; 13] = [
    Row {
        code: "main-worktree",
        before: nothing,
        after: |repo| repo.config("checkpoint.restore.mainWorktree", "refuse"),
        combines: true,
    },
    Row { code: "index-locked", before: nothing, after: |repo| repo.lock_index(), combines: true },
    Row { code: "operation-in-progress", before: nothing, after: |repo| repo.run(["bisect", "start"]), combines: true },
    Row { code: "unmerged-index", before: nothing, after: |repo| repo.leave_conflict("conflict"), combines: true },
    Row {
        code: "session-active",
        before: nothing,
        after: |repo| {
            // It ends by itself, long after the test.
            let pid = Output::of(repo.command("sh").args(["-c", "sleep 120 >/dev/null 2>&1 & echo $!"])).success().text();
            repo.checkpoint(["session", "start", "-q", "work", "--pid", &pid]).success();
        },
        combines: true,
    },
    Row {
        code: "pre-restore-partial",
        before: |repo| repo.write("unreadable", "1\n"),
        after: |repo| {
            repo.write("unreadable", "2\n");
            repo.give_away();
            repo.chmod("unreadable", 0o000);
        },
        combines: false,
    },
    Row {
        code: "restore-interrupted",
        before: nothing,
        after: |repo| repo.interrupt("A", |repo| !repo.exists("made-since")),
        combines: false,
    },
    Row {
        code: "objects-missing",
        before: |repo| repo.write("lost", "only in the checkpoint\n"),
        after: |repo| {
            let blob = repo.rev(&format!("{}:lost", repo.tree("A"))).unwrap();
            repo.write("lost", "2\n");
            repo.lose_object(&blob);
        },
        combines: true,
    },
    Row {
        code: "pre-restore-failed",
        before: nothing,
        after: |repo| {
            repo.config("filter.broken.clean", "false");
            repo.config("filter.broken.required", "true");
            std::fs::write(repo.common_dir().join("info/attributes"), "filtered filter=broken\n").unwrap();
            repo.write("filtered", "cannot be captured\n");
        },
        combines: false,
    },
    Row {
        code: "path-blocked",
        before: |repo| repo.write("pipe", "1\n"),
        after: |repo| {
            repo.remove("pipe");
            repo.fifo("pipe");
        },
        combines: true,
    },
    Row {
        code: "worktree-overlap",
        before: |repo| repo.write("nested", "1\n"),
        after: |repo| {
            repo.remove("nested");
            repo.run(["init", "-q", "nested"]);
            repo.write("nested/work", "of others\n");
        },
        combines: true,
    },
    Row {
        code: "filter-failed",
        before: |repo| {
            std::fs::write(repo.common_dir().join("info/attributes"), "smudged filter=smudge\n").unwrap();
            repo.write("smudged", "1\n");
        },
        after: |repo| {
            repo.write("smudged", "2\n");
            repo.config("filter.smudge.smudge", "false");
            repo.config("filter.smudge.clean", "cat");
            repo.config("filter.smudge.required", "true");
        },
        combines: true,
    },
    Row { code: "confirmation-required", before: nothing, after: nothing, combines: true },
];

/// A repository in which a restore of `A` would change, make and delete files, and what `rows` do to it.
fn stopped_by(rows: &[&Row]) -> TestRepo {
    let repo = TestRepo::new();
    repo.config("checkpoint.lockTimeout", "100ms");
    rows.iter().for_each(|row| (row.before)(&repo));
    repo.write("changed", "1\n");
    repo.write("deleted", "1\n");
    repo.write("staged", "1\n");
    repo.save("A");
    repo.write("changed", "2\n");
    repo.remove("deleted");
    repo.write("made-since", "2\n");
    repo.write("staged", "2\n");
    repo.run(["add", "staged"]);
    // A lock that others hold stops git too, so it comes last.
    let (locks, others): (Vec<&Row>, Vec<&Row>) = rows.iter().copied().partition(|row| row.code == "index-locked");
    others.into_iter().chain(locks).for_each(|row| (row.after)(&repo));
    repo
}

fn asked(rows: &[&Row]) -> Vec<&'static str> {
    let agreed = rows.iter().all(|row| row.code != "confirmation-required");
    ["restore", "--yes", "A"].into_iter().filter(|word| agreed || *word != "--yes").collect()
}

fn assert_refused(rows: &[&Row]) {
    let repo = stopped_by(rows);
    let before = RepoState::of(&repo);
    let (refs, journal) = (repo.checkpoint_refs(), std::fs::read(repo.git_dir().join("checkpoint/restore.json")).ok());
    let mut expected: Vec<&str> = rows.iter().map(|row| row.code).collect();
    expected.sort_unstable();

    let mut told = repo.blockers(&asked(rows));
    told.sort();

    assert_eq!(told, expected);
    before.assert_same(&RepoState::of(&repo));
    assert_eq!(repo.checkpoint_refs(), refs, "{expected:?}: no checkpoint of a restore that did not begin");
    assert_eq!(std::fs::read(repo.git_dir().join("checkpoint/restore.json")).ok(), journal, "{expected:?}");
}

#[test]
fn each_alone_refuses_and_changes_nothing() {
    for row in &TABLE {
        assert_refused(&[row]);
    }
}

#[test]
fn each_pair_is_told_at_once() {
    let rows: Vec<&Row> = TABLE.iter().filter(|row| row.combines).collect();
    for (at, first) in rows.iter().enumerate() {
        for second in &rows[at + 1..] {
            assert_refused(&[first, second]);
        }
    }
}

#[test]
fn all_together_are_told_at_once() {
    assert_refused(&TABLE.iter().filter(|row| row.combines).collect::<Vec<_>>());
}

#[test]
fn a_checkpoint_of_another_worktree_is_refused_unless_it_is_allowed() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    linked.write("theirs", "1\n");
    linked.save("A");
    let before = RepoState::of(&repo);

    assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["other-worktree"]);
    before.assert_same(&RepoState::of(&repo));
    repo.checkpoint(["restore", "--yes", "--allow", "other-worktree", "A"]).success();

    assert_eq!(repo.read("theirs"), "1\n");
}

#[test]
fn a_restore_that_is_at_work_refuses_another() {
    let repo = stopped_by(&[]);
    let journal = repo.git_dir().join("checkpoint/restore.json");
    let mut points = 1..200;
    let mut at_work = loop {
        let fault = format!("hold:{}", points.next().expect("no point of a restore has a journal"));
        let mut restore = repo.program();
        let mut child = restore.env("GIT_CHECKPOINT_FAULT", fault).args(["restore", "-q", "--yes", "A"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        if journal.exists() && !repo.exists("made-since") {
            break child;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = repo.checkpoint(["restore", "-q", "--abort"]);
    };
    let before = RepoState::of(&repo);

    let told = repo.checkpoint(["restore", "--yes", "--json", "A"]).json();
    before.assert_same(&RepoState::of(&repo));
    at_work.kill().unwrap();
    at_work.wait().unwrap();

    let codes: Vec<&str> = told["blockers"].as_array().unwrap().iter().map(|b| b["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["restore-in-progress"]);
    assert_eq!(repo.blockers(&["restore", "--yes", "A"]), ["restore-interrupted"]);
    repo.checkpoint(["restore", "-q", "--abort"]).success();
    assert_eq!(repo.read("made-since"), "2\n");
}

#[test]
fn the_session_that_asks_for_the_restore_is_told_so() {
    let repo = stopped_by(&[]);
    let script = "git checkpoint restore --yes --json A";
    let before = RepoState::of(&repo);

    let told = repo.checkpoint(["run", "-q", "--", "sh", "-c", script]).exits(3).json();

    let codes: Vec<&str> = told["blockers"].as_array().unwrap().iter().map(|b| b["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["session-active", "running-inside-agent"]);
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_worktree_whose_link_is_gone_is_told_as_such() {
    let repo = TestRepo::new();
    repo.save("A");
    let linked = repo.linked_worktree("linked");
    let place = repo.path("left-over");
    std::fs::rename(linked.top(), &place).unwrap();
    std::fs::remove_dir_all(repo.git_dir().join("worktrees/linked")).unwrap();
    let mut restore = repo.program();

    let error = Output::of(restore.args(["restore", "--yes", "--json", "A"]).current_dir(&place)).exits(3).json();

    assert_eq!(error["error"]["code"], "not-worktree-root");
}

#[test]
fn outside_of_a_worktree_there_is_nothing_to_restore() {
    let repo = TestRepo::new();
    repo.save("A");
    for verb in [&["restore", "--yes", "A"][..], &["undo", "--yes"], &["redo", "--yes"]] {
        let mut in_git_directory = repo.program();
        let error = Output::of(in_git_directory.args(verb).arg("--json").current_dir(repo.git_dir()));
        let error = error.exits(3).json()["error"].clone();
        assert_eq!((&error["code"], &error["blockers"][0]["code"]), (&"not-a-worktree".into(), &"not-a-worktree".into()));
    }
    repo.config("core.bare", "true");

    let error = repo.checkpoint(["restore", "--yes", "--json", "A"]).exits(3).json();

    assert_eq!(error["error"]["blockers"][0]["code"], "not-a-worktree");
}
