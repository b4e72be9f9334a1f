//! What a save does where nothing changed, and what it costs.

use std::time::Instant;

use crate::support::TestRepo;

#[test]
fn a_save_without_changes_records_nothing_and_names_the_checkpoint_that_holds_the_state() {
    let repo = crate::support::scenes::mixed();
    repo.checkpoint(["save", "--quiet"]).success();

    let output = repo.checkpoint(["save"]).success();

    assert_eq!(repo.checkpoint_refs().len(), 1);
    assert!(output.text().contains('1') || output.talk().contains('1'), "{output}");
    repo.checkpoint(["save", "--quiet", "--exit-code"]).exits(1);
    let document = repo.checkpoint(["save", "--json"]).success().json();
    assert_eq!(document["status"], "unchanged");
    assert_eq!(document["checkpoint"]["number"], 1);
}

#[test]
fn a_change_of_the_files_the_index_or_head_alone_makes_a_save_record() {
    let repo = TestRepo::new();
    let mut expected = 0;
    let mut records = |what: &str| {
        repo.checkpoint(["save", "--quiet"]).success();
        expected += 1;
        assert_eq!(repo.checkpoint_refs().len(), expected, "after {what}");
        repo.checkpoint(["save", "--quiet"]).success();
        assert_eq!(repo.checkpoint_refs().len(), expected, "again after {what}");
    };

    records("nothing");
    repo.write("f", "2\n");
    records("an edit");
    repo.run(["add", "f"]);
    records("staging it");
    repo.run(["commit", "-q", "-m", "two"]);
    records("committing it");
    repo.run(["commit", "-q", "--allow-empty", "-m", "three"]);
    records("an empty commit");
    repo.chmod("f", 0o755);
    records("a change of mode");
    repo.write("meant", "m\n");
    records("a new file");
    repo.run(["add", "-N", "meant"]);
    records("marking it");
    repo.run(["reset", "-q", "meant"]);
    records("taking the mark away");
}

#[test]
fn an_unchanged_state_is_recorded_on_demand() {
    let repo = TestRepo::new();
    repo.checkpoint(["save", "--quiet"]).success();

    repo.checkpoint(["save", "--quiet", "--allow-empty"]).success();

    assert_eq!(repo.checkpoint_refs().len(), 2);
}

#[test]
fn a_name_given_without_a_change_goes_to_the_checkpoint_that_holds_the_state() {
    let repo = TestRepo::new();
    repo.checkpoint(["save", "--quiet", "--name", "first"]).success();

    repo.checkpoint(["save", "--quiet", "--name", "second"]).success();

    assert_eq!(repo.checkpoint_refs().len(), 1);
    assert_eq!(repo.field("first", "id"), repo.field("second", "id"));
}

#[test]
fn each_worktree_has_its_own_newest_checkpoint() {
    let repo = TestRepo::new();
    let linked = repo.linked_worktree("linked");
    repo.checkpoint(["save", "--quiet"]).success();

    linked.checkpoint(["save", "--quiet"]).success();
    linked.checkpoint(["save", "--quiet"]).success();

    assert_eq!(repo.checkpoint_refs().len(), 2);
}

#[test]
fn a_second_save_of_twenty_thousand_untracked_files_is_quick_and_writes_no_object() {
    let repo = TestRepo::new();
    for folder in 0..100 {
        repo.mkdir(format!("big/{folder}"));
        for file in 0..200 {
            std::fs::write(repo.path(format!("big/{folder}/{file}")), format!("{folder}/{file}\n")).unwrap();
        }
    }
    repo.save("A");
    let objects = repo.git(["count-objects", "-v"]).text();

    let start = Instant::now();
    repo.save("B");
    let took = start.elapsed();

    assert!(took.as_secs() < 5, "{took:?}");
    assert_eq!(repo.tree("A"), repo.tree("B"));
    assert_eq!(repo.checkpoint_refs().len(), 2);
    // The commit of B is new, nothing else.
    let count = |text: &str| {
        text.lines()
            .filter_map(|l| l.split_once(": "))
            .filter(|(k, _)| ["count", "in-pack"].contains(k))
            .map(|(_, v)| v.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    assert_eq!(count(&repo.git(["count-objects", "-v"]).text()), count(&objects) + 1);
}

#[test]
fn the_objects_of_a_save_are_bounded_by_the_change() {
    let repo = TestRepo::new();
    for folder in 0..30 {
        for file in 0..30 {
            repo.write(format!("d{folder}/{file}"), format!("{folder}/{file}\n"));
        }
    }
    repo.save("before");
    let count = || {
        let all = repo.git(["cat-file", "--batch-check", "--batch-all-objects", "--unordered"]).text();
        all.lines().count()
    };
    let objects = count();

    repo.write("d3/3", "edited\n");
    repo.save("after");

    // A blob, the trees of `d3` and of the top, the commit.
    assert_eq!(count() - objects, 4);
}
