//! `git checkpoint drop`.

use crate::support::{RepoState, TestRepo};

/// Three checkpoints, numbered 1 to 3, the file `a` with its number in each.
fn three() -> TestRepo {
    let repo = TestRepo::new();
    for number in 1..=3 {
        repo.write("a", format!("{number}\n"));
        repo.checkpoint(["-q", "-m", &format!("number {number}")]).success();
    }
    repo
}

fn numbers(repo: &TestRepo) -> Vec<String> {
    repo.checkpoint(["list", "--format=%(number)"]).success().text().lines().map(str::to_owned).collect()
}

#[test]
fn a_dropped_checkpoint_is_gone_with_its_ref_and_its_objects() {
    let repo = three();
    let (reference, commit) = (repo.field("2", "ref"), repo.field("2", "commit"));
    let before = RepoState::of(&repo);

    let output = repo.checkpoint(["drop", "-y", "2"]).success();

    assert_eq!(output.text(), "dropped checkpoint 2: number 2");
    assert!(output.talk().contains("`git gc` can free about "), "{output}");
    assert_eq!(numbers(&repo), ["3", "1"]);
    assert_eq!(repo.rev(&reference), None);
    before.assert_same(&RepoState::of(&repo));
    repo.run(["gc", "-q", "--prune=now"]);
    assert_eq!(repo.try_git(["cat-file", "-e", &commit]).code(), Some(1));
    repo.assert_sound();
    repo.checkpoint(["show", "2"]).exits(4);
}

#[test]
fn numbers_are_not_used_again() {
    let repo = three();

    repo.checkpoint(["drop", "-y", "3", "2"]).success();
    repo.checkpoint(["-q", "--allow-empty"]).success();

    assert_eq!(numbers(&repo), ["4", "1"]);
}

#[test]
fn nothing_is_dropped_if_one_selector_names_nothing_or_several() {
    let repo = three();
    let before = repo.checkpoint_refs();
    let prefix = &repo.field("1", "id")[..5];

    let unknown = repo.checkpoint(["drop", "-y", "--json", "1", "99"]).exits(4).json();
    let ambiguous = repo.checkpoint(["drop", "-y", "--json", "1", prefix]).exits(4).json();

    assert_eq!(unknown["error"]["code"], "unknown-selector");
    assert_eq!(ambiguous["error"]["code"], "ambiguous-selector");
    assert_eq!(repo.checkpoint_refs(), before);
    assert_eq!(numbers(&repo), ["3", "2", "1"]);
    repo.checkpoint(["drop", "-y"]).exits(129);
}

#[test]
fn several_selectors_are_resolved_before_any_is_dropped() {
    let repo = three();

    repo.checkpoint(["drop", "-y", "@", "@~1", "3"]).success();

    assert_eq!(numbers(&repo), ["1"]);
}

#[test]
fn without_consent_nothing_is_dropped() {
    let repo = three();

    let output = repo.checkpoint(["drop", "--json", "1"]).exits(3);

    let document = output.json();
    assert_eq!(document["status"], "refused");
    assert_eq!(document["blockers"][0]["code"], "confirmation-required");
    assert_eq!(document["blockers"][0]["override"], "yes");
    assert_eq!(numbers(&repo), ["3", "2", "1"]);
    let dry = repo.checkpoint(["drop", "-n", "1", "3"]).success();
    assert_eq!(dry.text(), "drop checkpoint 1: number 1\ndrop checkpoint 3: number 3");
    assert_eq!(numbers(&repo), ["3", "2", "1"]);
}

#[test]
fn at_a_terminal_the_names_that_go_are_told_and_the_answer_is_no_unless_it_is_yes() {
    let repo = three();
    repo.checkpoint(["name", "1", "good"]).success();
    let ask =
        |answer: &str| repo.at_terminal(&format!("sh -c 'echo {answer} | script -qc \"git checkpoint drop 1\" /dev/null'"), &[]);

    let no = ask("");
    assert!(no.text().contains("the name `good` would go with it") && no.text().contains("drop it for good? [y/N]"), "{no}");
    assert_eq!(numbers(&repo), ["3", "2", "1"], "{no}");
    assert!(no.text().contains("stopped: nothing was changed") && !no.text().contains("error"), "to say no is no mistake: {no}");
    let yes = ask("y");

    assert_eq!(numbers(&repo), ["3", "2"], "{yes}");
}

#[test]
fn names_go_with_it() {
    let repo = three();
    repo.checkpoint(["name", "1", "good"]).success();
    repo.checkpoint(["name", "1", "A b"]).success();
    repo.checkpoint(["name", "2", "other"]).success();

    let output = repo.checkpoint(["drop", "-y", "good"]).success();

    assert!(output.talk().contains("the names `A b`, `good` went with them"), "{output}");
    let left = repo.git(["for-each-ref", "--format=%(refname)", "refs/checkpoint-names"]).text();
    assert_eq!(left, "refs/checkpoint-names/other");
    repo.checkpoint(["show", "good"]).exits(4);
    std::fs::remove_file(repo.common_dir().join("checkpoint/checkpoints.db")).unwrap();
    assert_eq!(numbers(&repo).len(), 2);
}

#[test]
fn what_an_undo_needs_is_refused_with_the_way_out() {
    let repo = three();
    repo.restore("1");

    for needed in ["1", "4"] {
        let document = repo.checkpoint(["drop", "-y", "--json", "2", needed]).exits(3).json();
        assert_eq!(document["blockers"][0]["code"], "needed-by-undo", "{needed}: {document}");
        assert_eq!(document["blockers"][0]["override"], "allow");
    }
    assert_eq!(numbers(&repo), ["4", "3", "2", "1"]);
    repo.undo();
    assert_eq!(repo.read("a"), "3\n");
    // Now a redo needs them, and the state that the undo left.
    for needed in ["1", "4", "5"] {
        let refused = repo.checkpoint(["drop", "-y", needed]).exits(3);
        assert!(refused.talk().contains("--allow needed-by-undo"), "{refused}");
    }

    let dropped = repo.checkpoint(["drop", "-y", "--json", "--allow", "needed-by-undo", "4"]).success().json();
    assert_eq!((&dropped["status"], &dropped["steps"]), (&"dropped".into(), &1.into()));

    assert_eq!(numbers(&repo), ["5", "3", "2", "1"]);
    repo.checkpoint(["redo", "--yes"]).success().says("nothing to redo");
    repo.checkpoint(["undo", "--yes"]).success().says("nothing to undo");
    repo.checkpoint(["drop", "-y", "5", "1"]).success();
    repo.run(["gc", "-q", "--prune=now"]);
    repo.assert_sound();
}

#[test]
fn a_step_that_is_dropped_leaves_the_others_of_the_stack() {
    let repo = three();
    for number in ["1", "2", "3"] {
        repo.restore(number);
    }
    // The second restore was from the first state: 5 was made before it.
    repo.checkpoint(["drop", "-y", "--allow", "needed-by-undo", "5"]).success();

    let steps = repo.checkpoint(["undo", "--list", "--json"]).success().json();
    assert_eq!(steps["restores"].as_array().unwrap().len(), 2, "{steps}");
    repo.undo();
    assert_eq!(repo.read("a"), "2\n");
    repo.undo();
    assert_eq!(repo.read("a"), "3\n");
}

#[test]
fn exact_bytes_kept_for_undo_go_with_their_checkpoint() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "* text=auto eol=lf\n");
    repo.write("mixed", "one\r\ntwo\n");
    repo.save("A");
    repo.write("mixed", "three\r\nfour\n");
    repo.restore("A");
    let originals = |repo: &TestRepo| repo.git(["for-each-ref", "refs/checkpoint-originals"]).text().lines().count();
    let folders = || repo.git_dir().join("checkpoint/originals").read_dir().unwrap().count();
    assert_eq!((originals(&repo), folders()), (1, 1));

    repo.checkpoint(["drop", "-y", "A"]).exits(3);
    assert_eq!((originals(&repo), folders()), (1, 1));
    repo.checkpoint(["drop", "-y", "--allow", "needed-by-undo", "pre-restore"]).success();

    assert_eq!((originals(&repo), folders()), (0, 0));
}

#[test]
fn a_save_after_the_newest_was_dropped_and_its_objects_are_gone_is_whole() {
    let repo = three();
    repo.write("new", "only in the last one\n");
    repo.save("last");
    repo.checkpoint(["drop", "-y", "last"]).success();
    repo.run(["gc", "-q", "--prune=now"]);

    let saved = repo.checkpoint(["save", "--json"]).success().json();

    assert_eq!(saved["status"], "captured", "an older one does not hold the state");
    let id = saved["checkpoint"]["commit"].as_str().unwrap();
    assert_eq!(repo.git(["show", &format!("{id}:new")]).text(), "only in the last one");
    repo.assert_tree_is_gits("@");
    repo.run(["fsck", "--strict", "--connectivity-only"]);
    repo.assert_sound();
    repo.run(["gc", "-q", "--prune=now"]);
    repo.assert_sound();
}

#[test]
fn a_ref_that_was_pointed_elsewhere_is_not_ours_to_delete() {
    let repo = three();
    let reference = repo.field("1", "ref");
    repo.run(["update-ref", &reference, "HEAD"]);

    repo.checkpoint(["drop", "-y", "1"]).success();

    assert_eq!(repo.rev(&reference), repo.rev("HEAD"));
    assert_eq!(numbers(&repo), ["3", "2"]);
}

#[test]
fn while_a_restore_is_interrupted_nothing_is_dropped() {
    let repo = three();
    repo.interrupt("1", |repo| !repo.exists("a") || repo.read("a") != "3\n");

    for drop in [&["drop", "-y", "2"][..], &["prune", "--keep-last", "1"]] {
        let output = repo.checkpoint(drop).exits(3);
        assert!(output.talk().contains("--continue"), "{output}");
    }
    repo.checkpoint(["drop", "-n", "2"]).exits(3).says("interrupted");
    repo.checkpoint(["restore", "--abort"]).success();

    assert!(numbers(&repo).ends_with(&["3", "2", "1"].map(str::to_owned)));
    repo.checkpoint(["drop", "-y", "2"]).success();
}

#[test]
fn an_interrupted_restore_of_another_worktree_keeps_what_it_names() {
    let repo = three();
    let linked = repo.linked_worktree("linked");
    linked.write("a", "L\n");
    linked.checkpoint(["-q"]).success();
    linked.write("a", "now\n");
    linked.interrupt("4", |linked| !linked.exists("a") || linked.read("a") != "now\n");

    let document = repo.checkpoint(["drop", "-y", "--json", "4"]).exits(3).json();
    repo.checkpoint(["drop", "-y", "1"]).success();
    std::fs::write(linked.git_dir().join("checkpoint/restore.json"), "{").unwrap();
    let unknown = repo.checkpoint(["drop", "-y", "--json", "2"]).exits(3).json();
    let prune = repo.checkpoint(["prune", "--keep-last=1", "--json"]).exits(3).json();

    assert_eq!(document["blockers"][0]["code"], "restore-interrupted");
    assert_eq!(unknown["blockers"][0]["code"], "restore-interrupted");
    assert_eq!(prune["error"]["code"], "restore-interrupted");
}

/// Drops two of three checkpoints with a fault at every point in turn.
fn fail_everywhere(fault: &str, packed: bool) {
    let mut points = 0;
    for point in 1.. {
        let repo = three();
        repo.checkpoint(["name", "2", "good"]).success();
        if packed {
            repo.run(["pack-refs", "--all"]);
        }
        let output = repo.with_fault(&format!("{fault}:{point}"), &["drop", "-q", "-y", "1", "good"]);
        let left = numbers(&repo);
        assert!(left == ["3", "2", "1"] || left == ["3"], "{fault} at {point}: {left:?}");
        repo.checkpoint(["-q", "--allow-empty"]).success();
        if left == ["3"] {
            assert_eq!(repo.checkpoint_refs().len(), 2, "{fault} at {point}: the next save finishes");
        }
        repo.checkpoint(["drop", "-q", "-y", "3"]).success();
        assert_eq!(repo.checkpoint_refs().len(), numbers(&repo).len(), "{fault} at {point}");
        let names = repo.git(["for-each-ref", "refs/checkpoint-names"]).text().lines().count();
        assert_eq!(names, usize::from(left != ["3"]), "{fault} at {point}");
        for litter in ["packed-refs.lock", "checkpoint/packed-refs.new", "checkpoint/packed-refs.next"] {
            assert!(!repo.common_dir().join(litter).exists(), "{fault} at {point}: {litter}");
        }
        repo.run(["pack-refs", "--all"]);
        repo.run(["gc", "-q", "--prune=now"]);
        repo.assert_sound();
        if output.code() == Some(0) {
            break;
        }
        points += 1;
    }
    assert!(points >= 3, "only {points} points");
}

#[test]
fn killed_at_any_point_the_next_command_works_and_the_next_save_finishes() {
    fail_everywhere("kill", false);
    fail_everywhere("kill", true);
}

#[test]
fn with_a_full_disk_at_any_point_the_next_save_finishes() {
    fail_everywhere("full", false);
    fail_everywhere("full", true);
}

#[test]
fn while_git_holds_the_packed_refs_nothing_is_changed() {
    let repo = three();
    let lock = repo.common_dir().join("packed-refs.lock");
    std::fs::write(&lock, "").unwrap();

    repo.checkpoint(["drop", "-y", "1"]).exits(5);

    assert_eq!((numbers(&repo).len(), repo.checkpoint_refs().len()), (3, 3));
    std::fs::remove_file(lock).unwrap();
    repo.checkpoint(["drop", "-y", "1"]).success();
}

#[test]
fn it_works_with_long_object_names() {
    let repo = TestRepo::sha256();
    for number in 1..=3 {
        repo.write("a", format!("{number}\n"));
        repo.checkpoint(["-q"]).success();
    }
    repo.run(["pack-refs", "--all"]);

    repo.checkpoint(["drop", "-y", "2"]).success();
    repo.checkpoint(["prune", "--keep-last=1"]).success();

    assert_eq!((numbers(&repo), repo.checkpoint_refs().len()), (vec!["3".to_owned()], 1));
    repo.run(["gc", "-q", "--prune=now"]);
    repo.assert_sound();
}

#[test]
fn what_an_undo_of_another_worktree_needs_is_refused_with_the_place_of_that_undo() {
    let repo = three();
    let linked = repo.linked_worktree("linked");
    linked.save("L");
    linked.write("a", "since\n");
    linked.restore("L");
    let place = linked.top().canonicalize().unwrap();

    let refused = repo.checkpoint(["drop", "--yes", "--json", "L"]).exits(3).json();

    let (message, hint) = (refused["blockers"][0]["message"].as_str().unwrap(), refused["blockers"][0]["hint"].as_str().unwrap());
    assert_eq!(refused["blockers"][0]["code"], "needed-by-undo");
    assert!(message.ends_with(&format!("in the worktree `{}`", place.display())), "{message}");
    assert!(hint.contains(&format!("`git -C '{}' checkpoint undo --list`", place.display())), "{hint}");
}
