//! Locks of refs: one that a killed process of ours left is taken away, one of others never.

use std::path::PathBuf;

use crate::support::{Output, TestRepo};

/// Every lock below `refs`, and every mark of one.
fn locks(repo: &TestRepo) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repo.git_dir().join("refs"), repo.git_dir().join("checkpoint/ref-locks")];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().into_iter().flatten().map(|item| item.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lock")
                || path.starts_with(repo.git_dir().join("checkpoint"))
            {
                found.push(path);
            }
        }
    }
    found
}

/// Kills commands at one point after the other until one leaves the lock of a ref below `refs/<kind>`.
fn killed_at_a_lock(repo: &TestRepo, kind: &str, args: &[&str]) {
    for point in 1..100 {
        let output = repo.with_fault(&format!("kill:{point}"), args);
        assert_eq!(output.code(), None, "no point leaves a lock: {output}");
        if locks(repo).iter().any(|lock| lock.starts_with(repo.git_dir().join("refs").join(kind))) {
            return;
        }
    }
}

#[test]
fn the_lock_of_a_checkpoint_goes_with_the_next_save() {
    let repo = TestRepo::new();
    repo.save("first");
    killed_at_a_lock(&repo, "checkpoints", &["save", "--quiet", "--allow-empty"]);
    let refs = repo.checkpoint_refs();

    repo.save("next");

    assert_eq!(locks(&repo), Vec::<PathBuf>::new());
    assert_eq!(repo.checkpoint_refs().len(), refs.len() + 1);
    assert!(repo.rev("refs/checkpoint-names/next").is_some());
}

#[test]
fn the_lock_of_a_name_does_not_bar_the_way_of_that_name_or_another() {
    for next in ["same", "another"] {
        let repo = TestRepo::new();
        repo.save("first");
        killed_at_a_lock(&repo, "checkpoint-names", &["save", "--quiet", "--allow-empty", "--name", "same"]);
        let began = std::time::Instant::now();

        repo.save(next);

        assert!(began.elapsed() < std::time::Duration::from_millis(1900), "it waited for a dead process");
        assert_eq!(locks(&repo), Vec::<PathBuf>::new());
        assert!(repo.rev(&format!("refs/checkpoint-names/{next}")).is_some());
    }
}

#[test]
fn naming_a_checkpoint_takes_a_dead_lock_of_that_name_away_too() {
    let repo = TestRepo::new();
    repo.save("first");
    killed_at_a_lock(&repo, "checkpoint-names", &["name", "first", "same"]);

    repo.checkpoint(["name", "first", "same"]).success();

    assert_eq!(locks(&repo), Vec::<PathBuf>::new());
}

#[test]
fn the_lock_of_a_live_process_or_of_git_stays() {
    let repo = TestRepo::new();
    repo.save("first");
    let lock = repo.git_dir().join("refs/checkpoint-names/same.lock");
    std::fs::write(&lock, "").unwrap();
    repo.try_save("same").fails().says("same.lock");
    assert!(lock.exists());
    std::fs::remove_file(&lock).unwrap();

    // A process of ours that is stopped while it holds the lock is not dead.
    let mut points = 1..100;
    let mut child = loop {
        let fault = format!("hold:{}", points.next().expect("no point leaves a lock"));
        let mut child = repo.program().env("GIT_CHECKPOINT_FAULT", fault).args(["name", "first", "same"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(400));
        if lock.exists() {
            break child;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    // In its own worktree everyone waits for it.
    let linked = repo.linked_worktree("linked");
    linked.save("another");
    assert!(lock.exists());
    linked.checkpoint(["name", "first", "same"]).fails().says("same.lock");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();

    assert!(child.wait().unwrap().success());
    assert_eq!(locks(&repo), Vec::<PathBuf>::new());
    assert!(repo.rev("refs/checkpoint-names/same").is_some());
}

#[test]
fn a_held_index_lock_times_out_when_an_interrupted_restore_is_finished() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.interrupt("A", |repo| repo.read("f") == "1\n" && repo.git_dir().join("index.lock").exists());
    let lock = repo.git_dir().join("index.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::write(&lock, "of others").unwrap();
    let brief = |way: &str, more: &[&str]| {
        let args = [&["-c", "checkpoint.lockTimeout=200ms", "checkpoint", "restore", way], more].concat();
        Output::of(repo.command("git").args(args))
    };

    brief("--continue", &[]).exits(5).says("index.lock");
    assert_eq!(brief("--continue", &["--json"]).exits(5).json()["error"]["code"], "lock-timeout");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "of others");
    repo.try_save("B").exits(3).says("restore-interrupted");
    std::fs::remove_file(&lock).unwrap();

    repo.checkpoint(["restore", "--continue"]).success();
    assert_eq!(repo.read("f"), "1\n");
    repo.undo();
    assert_eq!(repo.read("f"), "2\n");
}

#[test]
fn a_held_index_lock_times_out_when_a_finished_index_is_to_be_taken_back() {
    let repo = TestRepo::new();
    repo.save("A");
    repo.write("f", "2\n");
    repo.run(["add", "f"]);
    repo.interrupt("A", |repo| repo.read("f") == "1\n" && !repo.git_dir().join("index.lock").exists());
    let lock = repo.git_dir().join("index.lock");
    std::fs::write(&lock, "of others").unwrap();

    repo.try_git(["-c", "checkpoint.lockTimeout=200ms", "checkpoint", "restore", "--abort"]).exits(5).says("index.lock");
    assert_eq!(repo.read("f"), "1\n");
    std::fs::remove_file(&lock).unwrap();
    repo.checkpoint(["restore", "--abort"]).success();

    assert_eq!((repo.read("f"), repo.git(["show", ":f"]).text()), ("2\n".into(), "2".into()));
}
