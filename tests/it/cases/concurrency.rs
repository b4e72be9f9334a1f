//! Several at once: saves beside saves, saves beside restores, saves while files come and go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Output, Random, TestRepo};

/// Ends what runs beside a test when the test ends, also when it fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn eight_saves_at_once_make_eight_checkpoints() {
    let repo = crate::support::scenes::mixed();

    std::thread::scope(|scope| {
        for number in 0..8 {
            let repo = &repo;
            scope.spawn(move || repo.save(&format!("p{number}")));
        }
    });

    assert_eq!(repo.checkpoint_refs().len(), 8);
    let numbers = repo.checkpoint(["list", "--format=%(number)"]).success().text();
    let mut numbers: Vec<u32> = numbers.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    (0..8).for_each(|number| repo.assert_tree_is_gits(&format!("p{number}")));
    repo.assert_sound();
}

#[test]
fn saves_in_several_worktrees_at_once_each_record_their_own() {
    let main = TestRepo::new();
    let worktrees: Vec<_> = (0..4).map(|number| main.linked_worktree(&format!("w{number}"))).collect();
    for (number, worktree) in worktrees.iter().enumerate() {
        worktree.write("mine", format!("{number}\n"));
    }

    std::thread::scope(|scope| {
        for (number, worktree) in worktrees.iter().enumerate() {
            scope.spawn(move || (0..3).for_each(|round| worktree.save(&format!("w{number}-{round}"))));
        }
    });

    assert_eq!(main.checkpoint_refs().len(), 12);
    for number in 0..4 {
        assert_eq!(main.blob(&format!("w{number}-2"), "mine"), format!("{number}\n").as_bytes());
    }
}

#[test]
fn one_of_two_restores_at_once_goes_first_and_neither_mixes() {
    let repo = TestRepo::new();
    for name in ["A", "B"] {
        (0..200).for_each(|number| repo.write(format!("{number}"), format!("{name} {number}\n")));
        repo.save(name);
    }
    repo.write("0", "now\n");

    let codes = std::thread::scope(|scope| {
        let restores = ["A", "B"].map(|name| scope.spawn(|| repo.try_restore(name).code()));
        restores.map(|restore| restore.join().unwrap())
    });

    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 3 | 5))), "{codes:?}");
    let winner = repo.read("0").split(' ').next().unwrap().to_owned();
    assert!((0..200).all(|number| repo.read(format!("{number}")) == format!("{winner} {number}\n")), "a mix of both");
    assert!(!repo.git_dir().join("index.lock").exists());
}

#[test]
fn git_commands_beside_a_restore_never_meet_a_half_written_index() {
    let repo = TestRepo::new();
    (0..300).for_each(|number| repo.write(format!("{number}"), format!("A {number}\n")));
    repo.save("A");
    (0..300).for_each(|number| repo.write(format!("{number}"), format!("B {number}\n")));
    repo.save("B");
    let over = AtomicBool::new(false);

    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                repo.git(["status", "--short"]).success();
            }
        });
        let _stop = StopAtEnd(&over);
        for name in ["A", "B", "A", "B"] {
            repo.restore(name);
        }
    });

    assert_eq!(repo.read("299"), "B 299\n");
    repo.assert_sound();
}

/// Makes, rewrites, renames and removes files and folders as fast as it can.
fn storm(repo: &TestRepo, seed: u64, over: &AtomicBool) {
    let mut random = Random::new(seed);
    let top = repo.path(format!("storm{seed}"));
    while !over.load(Ordering::Relaxed) {
        let folder = top.join(format!("d{}/e{}", random.below(6), random.below(3)));
        let file = folder.join(format!("{}", random.below(12)));
        // Other threads remove what this one is about to use: failures are part of it.
        let _ = match random.below(6) {
            0 => std::fs::remove_dir_all(&folder),
            1 => std::fs::remove_dir_all(top.join(format!("d{}", random.below(6)))),
            2 => std::fs::remove_file(&file),
            3 => std::fs::rename(&file, folder.join("renamed")),
            4 => std::fs::remove_file(&file).and_then(|()| std::fs::create_dir_all(file.join("deeper"))),
            _ => std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, random.next().to_string())),
        };
    }
}

#[test]
fn no_save_fails_while_files_and_folders_come_and_go() {
    let repo = TestRepo::new();
    (0..100).for_each(|number| repo.write(format!("still/{}/{number}", number % 9), format!("{number}\n")));
    repo.commit("still");
    let over = AtomicBool::new(false);
    let saves = crate::support::rounds("CHECKPOINT_STORM_SAVES", 500);

    let failures = std::thread::scope(|scope| {
        let (repo, over) = (&repo, &over);
        (0..2).for_each(|seed| drop(scope.spawn(move || storm(repo, seed, over))));
        let _stop = StopAtEnd(over);
        let outputs = (0..saves).map(|_| Output::of(repo.program().args(["save", "--quiet"])));
        outputs.filter(|output| output.code() != Some(0)).map(|output| output.to_string()).collect::<Vec<_>>()
    });

    assert!(failures.is_empty(), "{} of {saves} saves failed, the first: {}", failures.len(), failures[0]);
    repo.save("after");
    repo.assert_tree_is_gits("after");
    repo.assert_sound();
}

/// What one of many does over and over: edits, saves, restores and undoes in its worktree. Returns what it was refused or failed
/// with, and the names of the checkpoints it made.
fn save_and_restore(worktree: &TestRepo, seed: u64, over: &AtomicBool) -> (Vec<String>, Vec<String>) {
    let mut random = Random::new(seed);
    let (mut failures, mut saved) = (Vec::new(), Vec::<String>::new());
    while !over.load(Ordering::Relaxed) {
        worktree.write(format!("w{}", random.below(20)), random.next().to_string());
        let name = format!("s{seed}-{}", saved.len());
        let (saves, output) = match (random.below(4), saved.last()) {
            (0, Some(last)) => (false, worktree.try_restore(last)),
            (1, Some(_)) => (false, worktree.checkpoint(["undo", "--quiet", "--yes"])),
            _ => (true, worktree.try_save(&name)),
        };
        match output.code() {
            Some(0) if saves => saved.push(name),
            // Refused, or a lock was not free in time: others were at work. Both are told with a typed reason.
            Some(0) => {}
            Some(3 | 5) if !saves => {}
            _ => failures.push(output.to_string()),
        }
    }
    (failures, saved)
}

#[test]
fn sixteen_at_work_in_four_worktrees_beside_git_lose_nothing() {
    let main = TestRepo::new();
    (0..60).for_each(|number| main.write(format!("base/{number}"), format!("{number}\n")));
    main.commit("base");
    let worktrees: Vec<TestRepo> = (0..4).map(|number| main.linked_worktree(&format!("w{number}"))).collect();
    let over = AtomicBool::new(false);
    let seconds = crate::support::rounds("CHECKPOINT_CONCURRENCY_SECONDS", 8) as u64;

    let (results, made) = std::thread::scope(|scope| {
        let over = &over;
        let work = (0..16).map(|seed| {
            let worktree = &worktrees[seed % 4];
            scope.spawn(move || save_and_restore(worktree, seed as u64, over))
        });
        let work: Vec<_> = work.collect();
        for worktree in &worktrees {
            // A lock of another may stop git; that is no matter here.
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    for command in [&["status", "--short"][..], &["commit", "-q", "--allow-empty", "-m", "beside"], &["gc", "-q"]]
                    {
                        let _ = worktree.try_git(command);
                    }
                }
            });
        }
        let _stop = StopAtEnd(over);
        std::thread::sleep(Duration::from_secs(seconds));
        drop(_stop);
        let results: Vec<_> = work.into_iter().map(|worker| worker.join().unwrap()).collect();
        (results, main.checkpoint_refs().len())
    });

    let failures: Vec<&String> = results.iter().flat_map(|(failures, _)| failures).collect();
    assert!(failures.is_empty(), "{} failures, the first: {}", failures.len(), failures[0]);
    let listed = main.checkpoint(["list", "--all-worktrees", "--format=%(commit)"]).success().text();
    assert_eq!(listed.lines().count(), made, "every ref has its row");
    for name in results.iter().flat_map(|(_, saved)| saved) {
        assert!(main.rev(&format!("{}^{{tree}}", main.field(name, "commit"))).is_some(), "{name}");
    }
    assert!(results.iter().map(|(_, saved)| saved.len()).sum::<usize>() > 16, "too little was done to tell");
    main.assert_sound();
    for worktree in &worktrees {
        assert!(!worktree.git_dir().join("index.lock").exists());
        worktree.save("after");
        worktree.assert_tree_is_gits("after");
    }
}

#[test]
fn a_restore_waits_for_a_lock_of_the_index_that_is_given_back_in_time() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.lock_index();

    let code = std::thread::scope(|scope| {
        let restore = scope.spawn(|| repo.try_restore("A").code());
        std::thread::sleep(Duration::from_millis(500));
        std::fs::remove_file(repo.git_dir().join("index.lock")).unwrap();
        restore.join().unwrap()
    });

    assert_eq!(code, Some(0));
    assert_eq!(repo.read("f"), "1\n");
}
