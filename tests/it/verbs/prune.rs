//! `git checkpoint prune`, and the prune that a save does once a day.

use serde_json::Value;

use crate::support::{RepoState, TestRepo};

/// One checkpoint for each of these days, numbered from 1.
fn saved_on(days: &[i64]) -> TestRepo {
    let repo = TestRepo::new();
    repo.config("checkpoint.autoPrune", "false");
    for day in days {
        repo.write("a", format!("day {day}\n"));
        repo.checkpoint_on_day(*day, ["-q", "-m", &format!("day {day}")]).success();
    }
    repo
}

fn numbers(repo: &TestRepo) -> Vec<u64> {
    let list = repo.checkpoint(["list", "--all-worktrees", "--format=%(number)"]).success().text();
    list.lines().map(|line| line.parse().unwrap()).collect()
}

/// The number and the reason of each checkpoint that was removed.
fn removed(document: &Value) -> Vec<(u64, &str)> {
    let removed = document["removed"].as_array().unwrap_or_else(|| panic!("{document}")).iter();
    removed.map(|one| (one["number"].as_u64().unwrap(), one["reason"].as_str().unwrap())).collect()
}

fn prune_on(repo: &TestRepo, day: i64, options: &[&str]) -> Value {
    repo.checkpoint_on_day(day, [&["prune", "--json"], options].concat()).success().json()
}

#[test]
fn the_newest_of_each_worktree_stay_by_number() {
    let repo = saved_on(&[0, 1, 2, 3]);
    let linked = repo.linked_worktree("linked");
    linked.checkpoint_on_day(4, ["-q"]).success();
    linked.checkpoint_on_day(5, ["-q", "--allow-empty"]).success();

    let document = prune_on(&repo, 6, &["--keep-last", "2"]);

    assert_eq!(removed(&document), [(2, "keep-last"), (1, "keep-last")]);
    assert_eq!((&document["schema"], &document["status"]), (&1.into(), &"pruned".into()));
    assert_eq!(document["kept"], serde_json::json!({"count": 4, "named": 0, "needed": 0}));
    assert!(document["bytes"].as_u64().unwrap() > 0);
    assert_eq!(numbers(&repo), [6, 5, 4, 3]);
    assert_eq!(repo.checkpoint_refs().len(), 4);
}

#[test]
fn what_is_too_old_goes_but_never_the_newest() {
    let repo = saved_on(&[0, 1, 2]);

    assert_eq!(removed(&prune_on(&repo, 90, &[])), [], "the first is 90 days old, and not older");
    assert_eq!(removed(&prune_on(&repo, 91, &[])), [(1, "max-age")]);
    assert_eq!(removed(&prune_on(&repo, 500, &["--max-age=never"])), []);
    assert_eq!(removed(&prune_on(&repo, 500, &["--max-age=2w"])), [(2, "max-age")]);
    assert_eq!(numbers(&repo), [3]);
}

#[test]
fn by_size_the_oldest_go_until_the_others_fit() {
    let repo = TestRepo::new();
    let mut noise = crate::support::Random::new(7);
    for number in 0..4 {
        let bytes: Vec<u8> = (0..20_000).map(|_| u8::try_from(noise.below(256)).unwrap()).collect();
        repo.write("a", bytes);
        repo.checkpoint(["-q", "-m", &number.to_string()]).success();
    }
    let size = |options: &[&str]| removed(&prune_on(&repo, 1, &[&["-n"], options].concat())).len();

    assert_eq!((size(&["--max-size=0"]), size(&["--max-size=1m"])), (0, 0));
    assert_eq!((size(&["--max-size=70k"]), size(&["--max-size=50k"]), size(&["--max-size=1"])), (1, 2, 3));
    let document = prune_on(&repo, 1, &["--max-size=50k"]);

    assert_eq!(removed(&document), [(2, "max-size"), (1, "max-size")]);
    let bytes = document["bytes"].as_u64().unwrap();
    assert!((40_000..43_000).contains(&bytes), "{bytes}");
    let before = crate::support::disk_usage(&repo.common_dir().join("objects"));
    repo.run(["gc", "-q", "--prune=now"]);
    let freed = before - crate::support::disk_usage(&repo.common_dir().join("objects"));
    assert!(freed >= 40_000, "{freed}");
    repo.assert_sound();
}

#[test]
fn what_is_named_stays_whatever_the_limits_say() {
    let repo = saved_on(&[0, 1, 2, 3]);
    repo.checkpoint(["name", "1", "good"]).success();

    let document = prune_on(&repo, 400, &["--keep-last=1", "--max-size=1"]);

    assert_eq!(numbers(&repo), [4, 1]);
    assert_eq!(document["kept"], serde_json::json!({"count": 2, "named": 1, "needed": 0}));
    assert_eq!(repo.field("good", "number"), "1");
}

#[test]
fn what_undo_and_redo_need_stays() {
    let repo = saved_on(&[0, 1, 2]);
    repo.restore("1");
    repo.write("a", "later\n");
    repo.checkpoint(["-q"]).success();
    repo.restore("2");
    repo.undo();
    repo.checkpoint(["-q", "--allow-empty"]).success();

    let document = prune_on(&repo, 400, &["--keep-last=1"]);

    // 4, 6: before the restores; 1, 2: what they brought back; 7: before the undo; 8: the newest.
    assert_eq!(removed(&document), [(5, "keep-last"), (3, "keep-last")]);
    assert_eq!(document["kept"]["needed"], 5);
    repo.run(["gc", "-q", "--prune=now"]);
    repo.redo();
    assert_eq!(repo.read("a"), "day 1\n");
    repo.undo();
    repo.undo();
    assert_eq!(repo.read("a"), "day 2\n");
    repo.assert_sound();
}

#[test]
fn an_undo_that_is_too_old_keeps_nothing_unless_it_is_the_newest() {
    let repo = saved_on(&[0, 1]);
    for (day, content) in [(2, "x\n"), (3, "y\n")] {
        repo.write("a", content);
        repo.checkpoint_on_day(day, ["restore", "-q", "-y", "1"]).success();
    }
    assert_eq!(numbers(&repo), [4, 3, 2, 1]);

    assert_eq!(removed(&prune_on(&repo, 92, &[])), [(2, "max-age")], "the first undo is 90 days old, and not older");
    assert_eq!(removed(&prune_on(&repo, 93, &["--max-age=never"])), []);
    assert_eq!(removed(&prune_on(&repo, 93, &[])), [(3, "max-age")]);
    assert_eq!(removed(&prune_on(&repo, 500, &[])), [], "the newest undo needs the others");

    assert_eq!(repo.checkpoint(["undo", "--list"]).success().text().lines().count(), 1);
    repo.checkpoint_on_day(500, ["undo", "-q", "-y"]).success();
    assert_eq!(repo.read("a"), "y\n");
    assert_eq!(removed(&prune_on(&repo, 900, &[])), [], "the newest redo as well");
    repo.checkpoint_on_day(900, ["redo", "-q", "-y"]).success();
    assert_eq!(repo.read("a"), "day 0\n");
}

#[test]
fn those_of_a_removed_worktree_stay_fourteen_days() {
    let repo = saved_on(&[0, 1]);
    let linked = repo.linked_worktree("linked");
    linked.checkpoint_on_day(1, ["-q"]).success();
    linked.write("f", "2\n");
    linked.checkpoint_on_day(2, ["-q", "--name", "kept"]).success();
    linked.write("f", "3\n");
    linked.checkpoint_on_day(2, ["-q"]).success();
    repo.run(["worktree", "remove", "--force", linked.top().to_str().unwrap()]);

    assert_eq!(removed(&prune_on(&repo, 30, &[])), [], "nobody knew until now that it is gone");
    for limit in ["--keep-last=1", "--max-age=1d", "--max-size=1"] {
        assert_eq!(removed(&prune_on(&repo, 43, &["-n", limit])).iter().filter(|(number, _)| *number > 2).count(), 0, "{limit}");
    }
    assert_eq!(removed(&prune_on(&repo, 43, &["--keep-last=1"])), [(1, "keep-last")]);
    assert_eq!(removed(&prune_on(&repo, 43, &["-n", "--removed-worktrees"])), [(5, "removed-worktree"), (3, "removed-worktree")]);
    assert_eq!(removed(&prune_on(&repo, 44, &[])), [(5, "removed-worktree"), (3, "removed-worktree")]);

    assert_eq!(numbers(&repo), [4, 2]);
}

#[test]
fn a_worktree_that_is_back_starts_anew() {
    let repo = saved_on(&[0]);
    let linked = repo.linked_worktree("linked");
    linked.checkpoint_on_day(1, ["-q"]).success();
    let path = linked.top().to_str().unwrap().to_owned();
    let remove = || repo.run(["worktree", "remove", "--force", &path]);
    remove();
    assert_eq!(removed(&prune_on(&repo, 2, &[])), []);
    repo.run(["worktree", "add", "-q", "--detach", &path]);
    assert_eq!(removed(&prune_on(&repo, 20, &[])), []);
    remove();

    assert_eq!(removed(&prune_on(&repo, 21, &[])), []);
    assert_eq!(removed(&prune_on(&repo, 34, &[])), []);
    assert_eq!(removed(&prune_on(&repo, 35, &[])), [(2, "removed-worktree")]);
}

#[test]
fn at_once_on_demand_with_the_undo_steps_of_the_worktree() {
    let repo = saved_on(&[0]);
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    linked.write("f", "2\n");
    linked.restore("L");
    linked.checkpoint(["name", "--delete", "L"]).success();
    repo.run(["worktree", "remove", "--force", linked.top().to_str().unwrap()]);
    assert_eq!(removed(&prune_on(&repo, 1, &[])), []);

    let document = prune_on(&repo, 1, &["--removed-worktrees"]);

    assert_eq!(removed(&document), [(3, "removed-worktree"), (2, "removed-worktree")]);
    assert_eq!(numbers(&repo), [1]);
}

#[test]
fn a_dry_run_tells_all_and_changes_nothing() {
    let repo = saved_on(&[0, 1, 2]);
    let (before, refs) = (RepoState::of(&repo), repo.checkpoint_refs());

    let output = repo.checkpoint_on_day(3, ["prune", "-n", "--keep-last=1"]).success();

    let expected = "prune checkpoint 2: day 1 (keep-last)\nprune checkpoint 1: day 0 (keep-last)\n\
                    would prune 2 checkpoints; 1 stays";
    assert_eq!(output.text(), expected);
    assert!(output.talk().contains("`git gc` could free about "), "{output}");
    assert_eq!((numbers(&repo), repo.checkpoint_refs()), (vec![3, 2, 1], refs));
    before.assert_same(&RepoState::of(&repo));
    assert_eq!(prune_on(&repo, 3, &["-n", "--keep-last=1"])["status"], "dry-run");
    assert_eq!(repo.checkpoint_on_day(3, ["prune", "--keep-last=1"]).success().text(), "pruned 2 checkpoints; 1 stays");
    assert_eq!(repo.checkpoint_on_day(3, ["prune", "--keep-last=1"]).success().text(), "nothing to prune; 1 stays");
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn settings_count_and_bad_ones_are_named() {
    let repo = saved_on(&[0, 1, 2, 3]);
    let with = |setting: &str| repo.git(["-c", setting, "checkpoint", "prune", "-n", "--json"]).json();

    assert_eq!(removed(&with("checkpoint.keepLast=3")).len(), 1);
    assert_eq!(removed(&with("checkpoint.maxSize=1")).len(), 3);
    let old = repo
        .command("git")
        .env("GIT_CHECKPOINT_NOW", "1736208000000")
        .args(["-c", "checkpoint.maxAge=4d"])
        .args(["checkpoint", "prune", "-n", "--json"])
        .output()
        .unwrap();
    assert_eq!(removed(&serde_json::from_slice(&old.stdout).unwrap()), [(2, "max-age"), (1, "max-age")]);
    for bad in ["keepLast=many", "keepLast=-1", "maxAge=90", "maxAge=3m", "maxSize=x", "autoPrune=perhaps"] {
        let (key, value) = bad.split_once('=').unwrap();
        let output = repo.try_git(["-c", &format!("checkpoint.{bad}"), "checkpoint", "prune", "-n"]).exits(128);
        assert!(output.talk().contains(&format!("bad config value `{value}` for `checkpoint.{key}`")), "{output}");
    }
    for bad in [["--max-age", "90"], ["--max-age", "soon"], ["--max-size", "-1"], ["--max-size", "1x"], ["--keep-last", "x"]] {
        repo.checkpoint(["prune", bad[0], bad[1]]).exits(129);
    }
    assert_eq!(numbers(&repo).len(), 4);
}

#[test]
fn foreign_refs_in_our_namespace_stay() {
    let repo = saved_on(&[0, 1, 2]);
    for foreign in
        ["refs/checkpoints/other", "refs/checkpoints/a/b/c", "refs/checkpoint-names/UPPER", "refs/checkpoint-originals/x"]
    {
        repo.run(["update-ref", foreign, "HEAD"]);
    }
    let session = repo.field("1", "session");
    repo.run(["update-ref", &format!("refs/checkpoints/{session}/not-an-id"), "HEAD"]);
    repo.run(["pack-refs", "--all"]);

    prune_on(&repo, 3, &["--keep-last=1"]);

    let left = repo.git(["for-each-ref", "--format=%(refname)", "refs/checkpoint*/**", "refs/checkpoint*/*"]).text();
    let foreign = left.lines().filter(|name| !name.contains(&repo.field("3", "id"))).count();
    assert_eq!(foreign, 5, "{left}");
    assert_eq!(numbers(&repo), [3]);
}

#[test]
fn a_save_prunes_once_a_day_and_says_so() {
    let repo = saved_on(&[0, 1, 2]);
    repo.config("checkpoint.autoPrune", "true");
    repo.config("checkpoint.keepLast", "2");
    repo.config("checkpoint.maxAge", "never");
    let save = |day: i64| {
        let output = repo.checkpoint_on_day(day, ["--allow-empty"]).success();
        (output.talk(), numbers(&repo))
    };

    // The day before, nothing was pruned, but looked at.
    let (talk, left) = save(3);
    assert!(talk.contains("2 old checkpoints pruned"), "{talk}");
    assert_eq!(left, [4, 3]);
    assert_eq!(save(3), (String::new(), vec![5, 4, 3]));
    assert_eq!(save(4).1, [6, 5]);
    repo.config("checkpoint.autoPrune", "false");
    assert_eq!(save(6).1, [7, 6, 5]);
    // A clock that was wrong must not stop it for years.
    repo.config("checkpoint.autoPrune", "true");
    assert_eq!(save(5000).1, [8, 7]);
    assert_eq!(save(7).1, [9, 8]);
}

#[test]
fn a_save_prunes_nothing_while_a_restore_is_interrupted_anywhere() {
    let repo = saved_on(&[0, 1, 2]);
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    linked.write("f", "2\n");
    linked.interrupt("L", |linked| !linked.exists("f") || linked.read("f") != "2\n");
    repo.config("checkpoint.autoPrune", "true");
    repo.config("checkpoint.keepLast", "1");
    let before = repo.checkpoint_refs().len();

    repo.checkpoint_on_day(10, ["-q", "--allow-empty"]).success();
    assert_eq!(repo.checkpoint_refs().len(), before + 1);
    linked.checkpoint(["restore", "--abort"]).success();
    repo.checkpoint_on_day(10, ["-q", "--allow-empty"]).success();

    // The newest of each, and one with a name.
    assert_eq!(repo.checkpoint_refs().len(), 3);
}

#[test]
fn while_another_worktree_is_at_work_nothing_is_pruned() {
    let repo = saved_on(&[0, 1, 2]);
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    repo.config("checkpoint.autoPrune", "true");
    repo.config("checkpoint.keepLast", "1");
    repo.config("checkpoint.lockTimeout", "100ms");
    let lock = std::fs::File::open(linked.git_dir().join("checkpoint/lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();

    repo.checkpoint(["prune"]).exits(5);
    repo.checkpoint_on_day(5, ["-q", "--allow-empty"]).success();
    assert_eq!(numbers(&repo).len(), 5);
    drop(lock);
    repo.checkpoint_on_day(5, ["-q", "--allow-empty"]).success();

    assert_eq!(numbers(&repo), [6, 4]);
}

#[test]
fn imported_ones_are_as_old_as_they_are_here() {
    let from = saved_on(&[0, 1]);
    let bundle = from.env().root().join("bundle");
    from.checkpoint(["export", "-o", bundle.to_str().unwrap(), "1", "2"]).success();
    let repo = saved_on(&[300]);
    repo.checkpoint_on_day(300, ["import", bundle.to_str().unwrap()]).success();

    assert_eq!(removed(&prune_on(&repo, 300, &[])), []);
    repo.checkpoint_on_day(301, ["-q", "--allow-empty"]).success();
    assert_eq!(removed(&prune_on(&repo, 390, &[])), []);
    // The newest of the worktree that they came from stays, as everywhere.
    assert_eq!(removed(&prune_on(&repo, 392, &[])), [(2, "max-age"), (1, "max-age")]);
    assert_eq!(numbers(&repo), [4, 3]);
}

#[test]
fn saves_in_all_worktrees_meanwhile_lose_nothing() {
    let repo = saved_on(&[0, 1, 2]);
    let linked = repo.linked_worktree("linked");
    repo.config("checkpoint.lockTimeout", "60s");
    let saves = |repo: &TestRepo| -> Vec<String> {
        let ids = (0..12).map(|_| repo.checkpoint(["save", "--json", "--allow-empty"]).success().json());
        ids.map(|saved| saved["checkpoint"]["id"].as_str().unwrap().to_owned()).collect()
    };

    let made = std::thread::scope(|scope| {
        let savers = [&repo, &linked].map(|worktree| scope.spawn(move || saves(worktree)));
        let pruner = scope.spawn(|| {
            for _ in 0..12 {
                repo.checkpoint(["prune", "-q", "--keep-last=30"]).success();
                repo.run(["pack-refs", "--all"]);
            }
        });
        pruner.join().unwrap();
        savers.map(|saver| saver.join().unwrap()).concat()
    });

    let refs = repo.checkpoint_refs();
    for id in &made {
        assert!(refs.iter().any(|name| name.ends_with(id)), "{id} is lost");
    }
    assert_eq!(numbers(&repo).len(), refs.len());
    repo.assert_sound();
}

#[test]
fn after_gc_everything_that_stays_can_be_used() {
    let repo = saved_on(&[0, 1, 2, 3, 4]);
    repo.checkpoint(["name", "2", "good"]).success();
    prune_on(&repo, 5, &["--keep-last=2"]);
    repo.run(["gc", "-q", "--prune=now"]);

    repo.assert_sound();
    let list = repo.checkpoint(["list", "--format=%(number) %(files)"]).success().text();
    assert_eq!(list, "5 1\n4 1\n2 1");
    repo.checkpoint(["diff", "--stat", "good", "5"]).success();
    repo.restore("good");
    assert_eq!(repo.read("a"), "day 1\n");
    repo.undo();
    assert_eq!(repo.read("a"), "day 4\n");
}

#[test]
fn ten_thousand_go_in_seconds() {
    let repo = TestRepo::new();
    repo.checkpoint(["-q"]).success();
    crowd(&repo, 10_000);
    repo.run(["pack-refs", "--all"]);
    let start = std::time::Instant::now();

    let document = prune_on(&repo, 1, &["--keep-last=10"]);

    let took = start.elapsed();
    assert_eq!(removed(&document).len(), 9_991);
    assert_eq!((numbers(&repo).len(), repo.checkpoint_refs().len()), (10, 10));
    assert!(took.as_secs() < 30, "{took:?}");
}

/// Adds copies of the only checkpoint, as rows and packed refs.
fn crowd(repo: &TestRepo, count: u32) {
    let (commit, session) = (repo.field("1", "commit"), repo.field("1", "session"));
    let mut database = rusqlite::Connection::open(repo.common_dir().join("checkpoint/checkpoints.db")).unwrap();
    let rows = database.transaction().unwrap();
    let mut refs = String::new();
    for n in 0..count {
        let id = format!("01jgf00000{n:016}");
        let copy = "INSERT INTO checkpoints (id, session, kind, subject, commit_id, tree, created_at, worktree, worktree_path) \
                    SELECT ?1, session, kind, subject, commit_id, tree, created_at, worktree, worktree_path FROM checkpoints \
                    WHERE number = 1";
        rows.execute(copy, [&id]).unwrap();
        refs += &format!("create refs/checkpoints/{session}/{id} {commit}\n");
    }
    rows.commit().unwrap();
    let list = repo.env().root().join("list");
    std::fs::write(&list, refs).unwrap();
    let mut update = repo.command("git");
    update.args(["update-ref", "--stdin"]).stdin(std::fs::File::open(list).unwrap());
    crate::support::Output::of(&mut update).success();
}
