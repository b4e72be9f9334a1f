//! `git checkpoint doctor`.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::{Output, TestRepo};

/// Checkpoints `1` to `5`, each with another content of `a`.
fn saved() -> TestRepo {
    let repo = TestRepo::new();
    for n in 1..=5 {
        repo.write("a", format!("content {n}\n"));
        repo.save(&format!("n{n}"));
    }
    repo
}

fn examine(repo: &TestRepo, args: &[&str], exit: i32) -> Value {
    repo.checkpoint(["doctor", "--json"].iter().chain(args)).exits(exit).json()
}

fn codes(report: &Value) -> Vec<&str> {
    let mut codes: Vec<&str> = report["problems"].as_array().unwrap().iter().map(|p| p["code"].as_str().unwrap()).collect();
    codes.sort_unstable();
    codes
}

/// Writes a file that is an hour old.
fn write_old(repo: &TestRepo, path: &str, content: &str) {
    let path = repo.common_dir().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

#[test]
fn a_repository_in_order_is_told_so_and_left_alone() {
    let repo = saved();
    let before = (repo.checkpoint_refs(), repo.bytes(".git/index"), repo.status());

    let report = examine(&repo, &["--fix", "--verify"], 0);

    assert_eq!((codes(&report), &report["status"]), (vec![], &"ok".into()));
    assert_eq!(report["verified"]["checkpoints"], 5);
    assert_eq!((repo.checkpoint_refs(), repo.bytes(".git/index"), repo.status()), before);
    assert_eq!(repo.checkpoint(["doctor"]).success().text(), "no problem found");
}

#[test]
fn a_repository_broken_in_every_way_is_told_so_and_mended() {
    let repo = saved();
    let reference = |number: &str| repo.field(number, "ref");
    let (first, second, third, fourth) = (reference("1"), reference("2"), reference("3"), reference("4"));
    let blob = repo.rev(&format!("{}:a", repo.tree("5"))).unwrap();
    let tree = repo.tree("1");
    // What is nobody's fault but must be told.
    repo.config("checkpoint.keepLats", "3");
    repo.config("alias.checkpoint", "!true");
    repo.config("remote.copy.url", "nowhere");
    repo.config("remote.copy.mirror", "true");
    repo.git(["update-ref", "refs/checkpoints/mine/x", "HEAD"]);
    // What can be mended.
    write_old(&repo, "refs/checkpoints/main-1/dead.lock", "");
    write_old(&repo, "checkpoint/stat.tmp99999", "");
    write_old(&repo, &first, "");
    write_old(&repo, "refs/checkpoints/main-1/garbage", "nonsense");
    repo.lose_row(2);
    repo.git(["update-ref", "-d", &third]);
    repo.git(["update-ref", "-d", "refs/checkpoint-names/n4"]);
    repo.git(["update-ref", "refs/checkpoint-names/stray", "HEAD"]);
    repo.git(["update-ref", "refs/checkpoint-originals/0nobody", "HEAD"]);
    repo.lose_object(&blob);
    let all = [
        "alias-in-the-way",
        "mirror-remote",
        "name-dangling",
        "name-missing",
        "name-missing",
        "objects-missing",
        "originals-unneeded",
        "ref-broken",
        "ref-broken",
        "ref-foreign",
        "ref-missing",
        "row-missing",
        "scratch-file",
        "stale-lock",
        "unknown-setting",
    ];

    let found = examine(&repo, &["--verify"], 1);
    assert_eq!(codes(&found), all);
    assert!(found["problems"].as_array().unwrap().iter().all(|problem| problem["fixed"] == false), "{found}");
    let mended = examine(&repo, &["--verify", "--fix"], 1);
    assert_eq!(mended["problems"].as_array().unwrap().iter().filter(|problem| problem["fixed"] == true).count(), 10);

    let left = ["alias-in-the-way", "mirror-remote", "objects-missing", "ref-foreign", "unknown-setting"];
    assert_eq!(codes(&examine(&repo, &["--verify"], 1)), left);
    assert_eq!(repo.rev(&format!("{first}^{{tree}}")), Some(tree));
    for reference in [second, third, fourth, "refs/checkpoints/mine/x".into(), "refs/checkpoint-names/n4".into()] {
        assert!(repo.rev(&reference).is_some(), "{reference}");
    }
    assert_eq!(repo.rev("refs/checkpoint-names/stray"), None);
    repo.restore("n3");
    assert_eq!(repo.read("a"), "content 3\n");
}

/// Does by hand what only a person can decide, as the hints say.
fn obey(repo: &TestRepo, report: &Value) {
    for problem in report["problems"].as_array().unwrap().iter().filter(|problem| problem["fixed"] == false) {
        let hint = problem["hint"].as_str().unwrap();
        match problem["code"].as_str().unwrap() {
            "mirror-remote" => repo.run(["config", "--unset", "remote.copy.mirror"]),
            "ref-dangling" => {
                // The first command of the hint, and then `doctor --fix` as the second says.
                let command = hint.split('`').nth(1).unwrap();
                let words: Vec<&str> = command.split(' ').skip(1).collect();
                repo.run(words);
            }
            "unknown-setting" | "alias-in-the-way" | "hooks-outdated" => {
                let command = hint.split_once(": ").unwrap().1;
                Output::of(repo.command("sh").args(["-c", command])).success();
            }
            "ref-foreign" => {
                let command = hint.split('`').nth(1).unwrap();
                Output::of(repo.command("sh").args(["-c", command])).success();
            }
            // The other is the commit that a ref leads to, which is told there as well.
            "objects-missing" if problem["message"].as_str().unwrap().contains("checkpoint 4") => {}
            "objects-missing" => {
                repo.checkpoint(["drop", "--quiet", "--yes", "n5"]).success();
            }
            other => panic!("nothing is said about what to do with {other}: {problem}"),
        }
    }
}

#[test]
fn with_an_unreadable_database_on_top_everything_is_found_and_mended_and_the_second_run_is_clean() {
    let repo = restored();
    let reference = |number: &str| repo.field(number, "ref");
    let (empty, lost, dangling) = (reference("1"), reference("3"), reference("4"));
    let dangling_commit = repo.field("4", "commit");
    let (undo, undo_commit) = (reference("7"), repo.field("7", "commit"));
    let blob = repo.rev(&format!("{}:a", repo.tree("5"))).unwrap();
    repo.config("checkpoint.keepLats", "3");
    repo.config("alias.checkpoint", "!true");
    repo.config("remote.copy.url", "nowhere");
    repo.config("remote.copy.mirror", "true");
    repo.checkpoint(["hooks", "install", "--quiet", "--project", "claude"]).success();
    let hooks = repo.read(".claude/settings.local.json").replacen(
        "git checkpoint hook claude Stop\"",
        "git checkpoint hook claude Halt\"",
        1,
    );
    repo.write(".claude/settings.local.json", hooks);
    repo.git(["update-ref", "refs/checkpoints/mine/x", "HEAD"]);
    write_old(&repo, "refs/checkpoints/main-1/dead.lock", "");
    write_old(&repo, "checkpoint/stat.tmp99999", "");
    write_old(&repo, &empty, "");
    write_old(&repo, "refs/checkpoints/main-1/garbage", "nonsense");
    repo.git(["update-ref", "-d", &lost]);
    repo.git(["update-ref", "-d", &undo]);
    repo.git(["update-ref", "-d", "refs/checkpoint-names/n3"]);
    repo.git(["update-ref", "refs/checkpoint-names/stray", "HEAD"]);
    repo.git(["update-ref", "refs/checkpoint-originals/0nobody", "HEAD"]);
    for object in [&blob, &dangling_commit, &undo_commit] {
        repo.lose_object(object);
    }
    repo.lose_row(7);
    damage(&repo, "UPDATE checkpoints SET kind = 'nonsense' WHERE number = 2");

    let found = examine(&repo, &["--verify"], 1);
    assert!(codes(&found).contains(&"database-damaged"), "{found}");
    let mended = examine(&repo, &["--verify", "--fix"], 1);
    let all_but_names = [
        "alias-in-the-way",
        "database-damaged",
        "hooks-outdated",
        "mirror-remote",
        "objects-missing",
        "objects-missing",
        "originals-unneeded",
        "ref-broken",
        "ref-broken",
        "ref-dangling",
        "ref-foreign",
        "ref-missing",
        "scratch-file",
        "stale-lock",
        "undo-broken",
        "unknown-setting",
    ];
    let told: Vec<&str> = codes(&mended).into_iter().filter(|code| !code.starts_with("name-")).collect();
    assert_eq!(told, all_but_names, "{mended:#}");

    obey(&repo, &mended);
    examine(&repo, &["--verify", "--fix"], 0);
    let second = examine(&repo, &["--verify"], 0);

    assert_eq!((codes(&second), &second["status"]), (vec![], &"ok".into()));
    assert_eq!(repo.rev(&dangling), None);
    assert_eq!(repo.field(&lost, "number"), "3", "its row was all that was left of it");
    repo.restore("n2");
    assert_eq!(repo.read("a"), "content 2\n");
    repo.assert_sound();
}

#[test]
fn a_damaged_database_is_set_aside_and_made_anew() {
    let repo = saved();
    let database = repo.common_dir().join("checkpoint/checkpoints.db");
    for part in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{part}", database.display()));
    }
    std::fs::write(&database, "no database at all".repeat(100)).unwrap();

    let found = examine(&repo, &[], 1);
    assert_eq!(codes(&found), ["database-damaged"]);
    assert_eq!(repo.checkpoint(["list"]).fails().code(), Some(128));
    examine(&repo, &["--fix"], 0);

    assert_eq!(repo.checkpoint(["list", "--format", "%(name)"]).success().text(), "n5\nn4\nn3\nn2\nn1");
    let aside = database.parent().unwrap().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(aside.filter(|name| name.starts_with("checkpoints.db.damaged-")).count(), 1);
    examine(&repo, &[], 0);
}

#[test]
fn a_mark_without_a_pack_that_a_killed_save_left_is_taken_away_and_nobody_elses() {
    let repo = saved();
    let mark = |name: &str| format!("objects/pack/pack-{name}.keep");
    write_old(&repo, &mark("0000000000000000000000000000000000000001"), "");
    write_old(&repo, &mark("0000000000000000000000000000000000000002"), "git-checkpoint 99999\n");
    write_old(&repo, &mark("0000000000000000000000000000000000000003"), "fetch-pack 99999 on host\n");

    assert_eq!(codes(&examine(&repo, &[], 1)), ["scratch-file", "scratch-file"]);
    examine(&repo, &["--fix"], 0);

    let left = |n: u32| repo.common_dir().join(mark(&format!("{n:040}"))).exists();
    assert_eq!((left(1), left(2), left(3)), (false, false, true));
    examine(&repo, &[], 0);
}

#[test]
fn a_newer_database_is_left_alone() {
    let repo = saved();
    repo.set_database_version(99);

    let report = examine(&repo, &["--fix"], 1);

    assert_eq!(codes(&report), ["database-newer"]);
    assert_eq!(report["problems"][0]["fixable"], false);
}

#[test]
fn an_interrupted_restore_is_named_with_its_way_out() {
    let repo = saved();
    repo.write("b", "made since\n");
    repo.interrupt("n1", |repo| !repo.exists("b"));

    let report = examine(&repo, &["--fix"], 1);

    assert_eq!(codes(&report), ["restore-interrupted"]);
    assert!(report["problems"][0]["hint"].as_str().unwrap().contains("--abort"), "{report}");
}

#[test]
fn a_ref_whose_commit_is_missing_is_never_deleted() {
    let repo = saved();
    let (reference, commit) = (repo.field("n2", "ref"), repo.field("n2", "commit"));
    repo.lose_object(&commit);

    let report = examine(&repo, &["--fix"], 1);

    assert!(codes(&report).contains(&"ref-dangling"), "{report}");
    assert_eq!(std::fs::read_to_string(repo.common_dir().join(reference)).unwrap().trim(), commit);
    assert_eq!(repo.checkpoint(["list", "--format", "%(number)"]).success().text().lines().count(), 5);
}

#[test]
fn an_object_with_the_content_of_another_is_found_by_reading_everything() {
    let repo = saved();
    let [one, other] = ["n1", "n2"].map(|name| {
        let blob = repo.rev(&format!("{}:a", repo.tree(name))).unwrap();
        repo.common_dir().join("objects").join(&blob[..2]).join(&blob[2..])
    });
    std::fs::remove_file(&one).unwrap();
    std::fs::copy(other, &one).unwrap();

    examine(&repo, &[], 0);
    let report = examine(&repo, &["--verify"], 1);

    assert_eq!(codes(&report), ["object-damaged"]);
    assert!(report["problems"][0]["message"].as_str().unwrap().contains("checkpoint 1"), "{report}");
}

#[test]
fn some_checkpoints_can_be_verified_alone() {
    let repo = saved();

    assert_eq!(examine(&repo, &["--verify", "n1", "@"], 0)["verified"]["checkpoints"], 2);
    repo.checkpoint(["doctor", "--verify", "nowhere"]).exits(4);
    repo.checkpoint(["doctor", "n1"]).exits(129);
}

#[test]
fn an_empty_ref_is_written_again_though_the_database_has_forgotten_it_as_long_as_its_commit_is_there() {
    let repo = saved();
    let (reference, commit) = (repo.field("n5", "ref"), repo.field("n5", "commit"));
    repo.lose_row(5);
    repo.git(["update-ref", "-d", "refs/checkpoint-names/n5"]);
    std::fs::write(repo.common_dir().join(&reference), "").unwrap();

    examine(&repo, &["--fix"], 0);

    assert_eq!(repo.rev(&reference), Some(commit));
    assert_eq!(repo.checkpoint(["list", "--format", "%(number)"]).success().text().lines().count(), 5);
}

#[test]
fn a_ref_that_was_pointed_elsewhere_is_pointed_back() {
    let repo = saved();
    let (reference, commit) = (repo.field("n3", "ref"), repo.field("n3", "commit"));
    repo.git(["update-ref", &reference, &repo.field("n4", "commit")]);

    assert_eq!(codes(&examine(&repo, &[], 1)), ["ref-broken"]);
    examine(&repo, &["--fix"], 0);

    assert_eq!(repo.rev(&reference), Some(commit));
}

/// Two restores that can be undone: of `n1`, which leads back to `first`, and of `n3`, which leads back to `second`.
fn restored() -> TestRepo {
    let repo = saved();
    for (content, name) in [("first\n", "n1"), ("second\n", "n3")] {
        repo.write("a", content);
        repo.restore(name);
    }
    repo
}

#[test]
fn an_undo_whose_checkpoint_is_gone_says_so_and_is_taken_out_so_that_the_next_can_be_undone() {
    let repo = restored();
    let (reference, commit) = (repo.field("7", "ref"), repo.field("7", "commit"));
    repo.lose_row(7);
    repo.git(["update-ref", "-d", &reference]);
    repo.lose_object(&commit);

    let refused = repo.checkpoint(["undo", "--yes", "--json"]).exits(3).json();
    assert_eq!(refused["blockers"][0]["code"], "objects-missing");
    assert!(refused["blockers"][0]["message"].as_str().unwrap().contains("that the undo leads to is gone"), "{refused}");
    assert!(refused["blockers"][0]["hint"].as_str().unwrap().contains("git checkpoint doctor --fix"), "{refused}");
    assert_eq!(codes(&examine(&repo, &[], 1)), ["undo-broken"]);
    examine(&repo, &["--fix"], 0);
    examine(&repo, &[], 0);

    repo.undo();
    assert_eq!(repo.read("a"), "first\n");
}

#[test]
fn an_undo_whose_checkpoint_lost_its_ref_and_its_row_gets_it_back_while_its_commit_is_there() {
    let repo = restored();
    let reference = repo.field("7", "ref");
    repo.lose_row(7);
    repo.git(["update-ref", "-d", &reference]);

    let mended = examine(&repo, &["--fix"], 0);

    assert_eq!(codes(&mended), ["undo-broken"]);
    examine(&repo, &[], 0);
    repo.undo();
    assert_eq!(repo.read("a"), "second\n");
    repo.undo();
    assert_eq!(repo.read("a"), "first\n");
}

#[test]
fn a_redo_whose_checkpoint_is_gone_is_told_as_such() {
    let repo = restored();
    repo.undo();
    let (reference, commit) = (repo.field("8", "ref"), repo.field("8", "commit"));
    repo.lose_row(8);
    repo.git(["update-ref", "-d", &reference]);
    repo.lose_object(&commit);

    let refused = repo.checkpoint(["redo", "--yes", "--json"]).exits(3).json();
    assert!(refused["blockers"][0]["message"].as_str().unwrap().contains("that the redo leads to is gone"), "{refused}");
    examine(&repo, &["--fix"], 0);

    repo.checkpoint(["redo", "--yes"]).exits(0).says("nothing to redo");
    repo.undo();
    assert_eq!(repo.read("a"), "first\n");
}

/// Changes the database behind the program's back.
fn damage(repo: &TestRepo, statement: &str) {
    let database = rusqlite::Connection::open(repo.common_dir().join("checkpoint/checkpoints.db")).unwrap();
    assert_eq!(database.execute(statement, []).unwrap(), 1, "{statement}");
}

fn numbers(repo: &TestRepo) -> String {
    repo.checkpoint(["list", "--format=%(number) %(id) %(kind)"]).success().text()
}

#[test]
fn a_value_that_cannot_be_read_costs_neither_numbers_nor_undo() {
    let repo = restored();
    repo.checkpoint(["drop", "--quiet", "--yes", "n2"]).success();
    repo.checkpoint(["session", "start", "--quiet", "s"]).success();
    repo.checkpoint(["drop", "--quiet", "--yes", "@"]).success();
    let before = numbers(&repo);
    damage(&repo, "UPDATE checkpoints SET kind = 'nonsense' WHERE number = 4");

    repo.checkpoint(["list"]).exits(128).says("doctor --fix");
    assert_eq!(codes(&examine(&repo, &[], 1)), ["database-damaged"]);
    let mended = examine(&repo, &["--fix"], 0);

    assert_eq!(codes(&mended), ["database-damaged"]);
    assert!(mended["problems"][0]["hint"].as_str().unwrap().ends_with("nothing was lost"), "{mended}");
    examine(&repo, &[], 0);
    assert_eq!(numbers(&repo), before);
    repo.checkpoint(["session", "show", "s"]).success();
    repo.undo();
    assert_eq!(repo.read("a"), "second\n");
    repo.undo();
    assert_eq!(repo.read("a"), "first\n");
    assert!(before.starts_with("7 "), "{before}");
    assert!(numbers(&repo).starts_with("10 "), "number 8 was used: {}", numbers(&repo));
}

#[test]
fn what_of_a_database_cannot_be_read_is_told() {
    let repo = restored();
    damage(&repo, "UPDATE restores SET pre_restore = 'nonsense' WHERE id = 2");
    damage(&repo, "UPDATE checkpoints SET id = 'nonsense' WHERE number = 2");

    assert_eq!(codes(&examine(&repo, &[], 1)), ["database-damaged"]);
    let mended = examine(&repo, &["--fix"], 0);

    let hint = mended["problems"][0]["hint"].as_str().unwrap();
    assert!(hint.contains("1 checkpoint has a new number, 1 step of undo is lost"), "{hint}");
    assert_eq!(repo.field("n2", "number"), "8");
    assert_eq!(repo.field("n3", "number"), "3");
    repo.undo();
    assert_eq!(repo.read("a"), "first\n");
}
