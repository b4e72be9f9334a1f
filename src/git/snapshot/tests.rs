//! What a snapshot holds where the cache of the one before it could mislead it, judged by git.

use super::*;
use crate::git::testing::TestRepo;
use crate::model::SkipReason;
use crate::ops::Context;
use crate::ops::save::{SaveOutcome, SaveRequest, save};

fn context(repo: &TestRepo) -> Context {
    Context::open(&repo.top()).unwrap()
}

fn recorded(repo: &TestRepo) -> crate::model::Checkpoint {
    let request = SaveRequest { allow_empty: true, ..SaveRequest::default() };
    match save(&mut context(repo), &request).unwrap() {
        SaveOutcome::Captured(checkpoint) => checkpoint,
        other => panic!("{other:?}"),
    }
}

fn base() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("f", "1\n");
    repo.commit_all("first");
    repo
}

#[test]
fn a_known_directory_that_became_a_repository_is_one_entry() {
    let repo = base();
    repo.write("d/a", "1");
    repo.write("d/sub/b", "1");
    recorded(&repo);
    repo.git(&["init", "-q", "d"]);
    repo.git(&["-C", "d", "add", "-A"]);
    repo.git(&["-C", "d", "commit", "-qm", "inner"]);
    repo.write("d/a", "changed");
    repo.write("d/new/c", "new");

    let checkpoint = recorded(&repo);

    assert_eq!(checkpoint.tree, repo.worktree_tree());
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_directory_that_held_half_a_repository_is_one_entry_when_it_is_whole() {
    for known in [false, true] {
        let repo = base();
        repo.write("d/a", "1");
        if known {
            recorded(&repo);
        }
        std::fs::create_dir(repo.path("d/.git")).unwrap();
        // Until the stamps of the directory are old enough to be believed.
        std::thread::sleep(std::time::Duration::from_millis(25));
        recorded(&repo);
        recorded(&repo);
        repo.git(&["init", "-q", "d"]);
        repo.git(&["-C", "d", "add", "-A"]);
        repo.git(&["-C", "d", "commit", "-qm", "inner"]);

        let checkpoint = recorded(&repo);

        assert_eq!(checkpoint.tree, repo.worktree_tree(), "known before: {known}");
    }
}

#[test]
fn what_was_forced_in_once_is_ignored_again_the_next_time() {
    let repo = base();
    repo.write(".gitignore", "secret\nx/*\n");
    repo.write("secret", "s");
    repo.write("x/.gitignore", "*.log\n");
    recorded(&repo);
    let forced = ["secret".into(), "x/.gitignore".into()];

    let mut context = context(&repo);
    let mut snapshot = take(&context.repo, Keep::Objects, &forced).unwrap();
    let held: Vec<bool> = forced.iter().map(|path: &BString| snapshot.entry(path.as_ref()).is_some()).collect();
    crate::ops::save::record(&mut context, &mut snapshot, &SaveRequest::default()).unwrap();
    repo.write("secret", "password");
    let after = recorded(&repo);

    assert_eq!(held, [true, true]);
    assert_eq!(after.tree, repo.worktree_tree());
}

#[test]
fn a_file_that_is_not_in_the_encoding_it_claims_is_left_out_and_named() {
    let repo = base();
    repo.write(".gitattributes", "*.u working-tree-encoding=UTF-16LE\n");
    repo.write("odd.u", "odd");
    repo.write("g", "2\n");

    let checkpoint = recorded(&repo);

    let skipped: Vec<_> = checkpoint.skipped.iter().map(|s| (s.path.to_string(), s.reason)).collect();
    assert_eq!(skipped, [("odd.u".to_owned(), SkipReason::Unconvertible)]);
    assert!(repo.git(&["ls-tree", "--name-only", &checkpoint.tree.to_string()]).contains('g'));
}

#[test]
fn a_tracked_file_that_became_a_fifo_makes_another_state() {
    let repo = base();
    let before = recorded(&repo);
    std::fs::remove_file(repo.top().join("f")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(repo.top().join("f")).status().unwrap();
    assert!(made.success());

    let outcome = save(&mut context(&repo), &SaveRequest::default()).unwrap();

    let SaveOutcome::Captured(after) = outcome else { panic!("{outcome:?}") };
    assert_eq!(after.tree, before.tree);
    assert_eq!(after.skipped.iter().map(|s| s.reason).collect::<Vec<_>>(), [SkipReason::Special]);
}

#[test]
fn turning_the_fsmonitor_daemon_on_changes_no_rules() {
    let repo = base();
    let of = || rules::fingerprint(&repo.open()).unwrap();
    let before = of();

    repo.git(&["config", "core.fsmonitor", "true"]);
    assert_eq!(of(), before);

    // A section of its own, as `git -c` makes one.
    repo.git(&["config", "--unset", "core.fsmonitor"]);
    let config = repo.read(".git/config");
    repo.write(".git/config", format!("{config}[core]\n\tfsmonitor = true\n"));
    assert_eq!(of(), before);
    repo.git(&["config", "core.fileMode", "false"]);
    assert_ne!(of(), before);
}

#[test]
fn a_cache_from_before_the_clock_was_set_back_is_not_used() {
    let repo = base();
    recorded(&repo);
    let repo = context(&repo).repo;
    let rules = rules::fingerprint(&repo).unwrap();
    let is_used = |change: fn(&mut Moment)| {
        let mut cache = read_cache(&repo).unwrap();
        let mut header = cache.header().unwrap();
        change(&mut header.taken);
        cache.set_header(&header);
        trust(&repo, cache, &rules, &Moment::now()).is_some()
    };

    assert!(is_used(|_| {}));
    assert!(!is_used(|taken| taken.wall_ns += 3_600_000_000_000), "the clock shows an earlier time");
    assert!(!is_used(|taken| taken.up_ns -= 60_000_000_000), "the clock shows a later time, but not by as much as has passed");
}
