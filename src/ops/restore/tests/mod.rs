//! What a restore leaves behind, judged by git and by the files themselves.

mod hidden;

use std::os::unix::fs::MetadataExt;

use super::*;
use crate::git::path_bytes;
use crate::git::restore::KeepReason;
use crate::git::testing::TestRepo;
use crate::ops::save::{SaveOutcome, SaveRequest, save};
use crate::ops::undo::{self, Direction};

/// A repository with a checkpoint to come back to.
struct World {
    repo: TestRepo,
}

impl World {
    /// `f` is committed, and everything else that `prepare` makes is there.
    fn new(prepare: impl FnOnce(&TestRepo)) -> World {
        let repo = TestRepo::new();
        repo.write("f", "1");
        repo.commit_all("first");
        prepare(&repo);
        World { repo }
    }

    fn context(&self) -> Context {
        Context::open(&self.repo.top()).unwrap()
    }

    fn save(&self, name: &str) -> Checkpoint {
        let request = SaveRequest { name: Some(name.into()), allow_empty: true, ..SaveRequest::default() };
        match save(&mut self.context(), &request).unwrap() {
            SaveOutcome::Captured(checkpoint) => checkpoint,
            other => panic!("{other:?}"),
        }
    }

    fn request(&self, name: &str) -> RestoreRequest {
        RestoreRequest {
            selector: name.into(),
            dry_run: false,
            consent: Consent::Given,
            keep_index: false,
            allow: Vec::new(),
            // A child of another test that was just forked may keep the lock open for a moment.
            wait: Some(Duration::from_secs(2)),
            paths: Vec::new(),
            directory: self.repo.top(),
        }
    }

    fn restore(&self, name: &str) -> RestoreOutcome {
        self.restore_with(self.request(name))
    }

    fn restore_with(&self, request: RestoreRequest) -> RestoreOutcome {
        restore(&mut self.context(), &request).unwrap()
    }

    fn step(&self, direction: Direction) -> RestoreOutcome {
        undo::step(&mut self.context(), direction, &self.request("")).unwrap().unwrap()
    }

    fn status(&self) -> String {
        self.repo.git(&["--no-optional-locks", "status", "--porcelain=v2"])
    }

    /// Every entry of the worktree with its type, permissions and content.
    fn files(&self) -> Vec<(String, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.repo.top()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != ".git") {
                let (path, meta) = (entry.path(), entry.metadata().unwrap());
                let content = match meta.file_type() {
                    kind if kind.is_symlink() => path_bytes(&std::fs::read_link(&path).unwrap()).into(),
                    kind if kind.is_file() => std::fs::read(&path).unwrap(),
                    _ => Vec::new(),
                };
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path.display().to_string(), meta.mode(), content));
            }
        }
        found.sort();
        found
    }

    fn refused(&self, name: &str) -> Vec<BlockerCode> {
        let before = (self.files(), self.status());
        let outcome = self.restore(name);
        assert_eq!(outcome.status, RestoreStatus::Refused);
        assert_eq!((self.files(), self.status()), before, "a refusal changes nothing");
        assert!(!self.repo.exists(".git/index.lock") && !self.repo.exists(".git/checkpoint/restore.json"));
        outcome.blockers.iter().map(|blocker| blocker.code).collect()
    }
}

fn every_kind(repo: &TestRepo) {
    repo.write("d/a", "a");
    repo.write("x", "x");
    repo.chmod("x", 0o755);
    repo.symlink("ln", "f");
    repo.write("staged", "1");
    repo.commit_all("second");
    repo.write("staged", "2");
    repo.git(&["add", "staged"]);
    repo.write("staged", "3");
    repo.write("untracked", "u");
    repo.write("announced", "i");
    repo.git(&["add", "-N", "announced"]);
}

fn change_every_kind(repo: &TestRepo) {
    repo.remove("d");
    repo.write("d", "a file now");
    repo.chmod("x", 0o644);
    repo.remove("ln");
    repo.write("ln/deep/n", "a directory now");
    repo.remove("untracked");
    repo.remove("announced");
    repo.git(&["add", "-A"]);
    repo.write("new/n", "n");
    repo.write("staged", "4");
}

#[test]
fn worktree_and_status_are_those_of_the_checkpoint_and_undo_and_redo_are_exact() {
    let world = World::new(every_kind);
    world.save("A");
    let at_save = (world.files(), world.status());
    change_every_kind(&world.repo);
    let changed = (world.files(), world.status());

    let outcome = world.restore("A");
    assert_eq!(outcome.status, RestoreStatus::Restored, "{:?}", outcome.blockers);
    assert!(outcome.verified);
    assert_eq!((world.files(), world.status()), at_save);
    world.repo.git(&["fsck", "--strict"]);

    world.step(Direction::Undo);
    assert_eq!((world.files(), world.status()), changed);
    world.step(Direction::Redo);
    assert_eq!((world.files(), world.status()), at_save);
    world.step(Direction::Undo);
    assert_eq!((world.files(), world.status()), changed);
}

#[test]
fn undo_goes_back_one_restore_at_a_time() {
    let world = World::new(|_| {});
    let states = ["a", "b", "c", "d"].map(|content| {
        world.repo.write("f", content);
        world.save(content);
        content
    });
    for name in ["a", "b", "c"] {
        world.restore(name);
    }

    for expected in ["b", "a", states[3]] {
        world.step(Direction::Undo);
        assert_eq!(world.repo.read("f"), expected);
    }
    for expected in ["a", "b", "c"] {
        world.step(Direction::Redo);
        assert_eq!(world.repo.read("f"), expected);
    }
    assert!(undo::step(&mut world.context(), Direction::Redo, &world.request("")).unwrap().is_none());
}

#[test]
fn a_restore_of_what_is_there_records_nothing() {
    let world = World::new(every_kind);
    world.save("A");
    let before = world.repo.git(&["for-each-ref"]);

    let outcome = world.restore("A");

    assert_eq!(outcome.status, RestoreStatus::Unchanged);
    assert_eq!(world.repo.git(&["for-each-ref"]), before);
    assert!(undo::step(&mut world.context(), Direction::Undo, &world.request("")).unwrap().is_none());
}

#[test]
fn a_dry_run_changes_nothing_and_lists_what_would_be_done() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);
    let context = &mut world.context();
    let everything = || {
        let output = std::process::Command::new("find").arg(world.repo.top()).args(["-printf", "%p %i %s %T@ %C@\n"]).output();
        let list = String::from_utf8(output.unwrap().stdout).unwrap();
        // SQLite's own files change when they are read.
        list.lines().filter(|line| !line.contains("checkpoints.db")).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = everything();

    let outcome = restore(context, &RestoreRequest { dry_run: true, ..world.request("A") }).unwrap();

    assert_eq!(everything(), before);

    assert_eq!(outcome.status, RestoreStatus::DryRun);
    let (dry, real) = (outcome.plan, world.restore("A").plan);
    assert_eq!(dry, real);
    assert!(dry.contains(&(OpKind::Delete, "d".into())) && dry.contains(&(OpKind::Add, "d/a".into())));
    assert_eq!(outcome.written, real.len() - outcome.deleted);
}

#[test]
fn ignored_files_stay_under_the_rules_of_either_side() {
    let world = World::new(|repo| repo.write(".gitignore", "then.log\n"));
    world.save("A");
    world.repo.write(".gitignore", "now.log\ndata/\n");
    for name in ["then.log", "now.log", "data/d", "gone"] {
        world.repo.write(name, name);
    }

    let outcome = world.restore("A");

    assert!(["then.log", "now.log", "data/d"].iter().all(|name| world.repo.read(name) == *name));
    assert!(!world.repo.exists("gone"));
    let kept: Vec<_> = outcome.kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("then.log".to_owned(), KeepReason::Ignored)], "the others are in no tree at all");
}

#[test]
fn an_ignored_file_in_the_way_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("conf", "tracked"));
    world.save("A");
    world.repo.write(".gitignore", "conf\n");
    world.repo.remove("conf");
    world.repo.write("conf", "ignored edit");

    world.restore("A");
    assert_eq!(world.repo.read("conf"), "tracked");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("conf"), "ignored edit");
}

#[test]
fn an_ignored_directory_in_the_way_comes_back_with_undo_file_by_file() {
    let world = World::new(|repo| repo.write("build", "a file"));
    world.save("A");
    world.repo.remove("build");
    world.repo.write(".gitignore", "build/\n");
    world.repo.write("build/x/deep", "1");
    world.repo.write("build/y", "2");
    world.repo.symlink("build/ln", "y");
    let before = world.files();

    let outcome = world.restore("A");
    assert_eq!((outcome.status, world.repo.read("build").as_str()), (RestoreStatus::Restored, "a file"));

    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
}

#[test]
fn an_ignored_file_where_a_directory_must_be_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("build/x", "1"));
    world.save("A");
    world.repo.remove("build");
    world.repo.write(".gitignore", "build\n");
    world.repo.write("build", "ignored");

    world.restore("A");
    assert_eq!(world.repo.read("build/x"), "1");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("build"), "ignored");
}

#[test]
fn undo_takes_away_an_ignored_file_that_the_restore_created() {
    let world = World::new(|repo| {
        repo.write(".gitignore", "*.log\n");
        repo.write("forced.log", "1");
        repo.git(&["add", "-f", "."]);
    });
    world.save("A");
    world.repo.git(&["rm", "-q", "-f", "forced.log"]);
    let before = (world.files(), world.status());

    world.restore("A");
    assert_eq!(world.repo.read("forced.log"), "1");
    world.step(Direction::Undo);
    assert_eq!((world.files(), world.status()), before);

    world.step(Direction::Redo);
    world.repo.write("forced.log", "edited since");
    world.step(Direction::Undo);
    assert!(!world.repo.exists("forced.log"));
    world.step(Direction::Redo);
    assert_eq!(world.repo.read("forced.log"), "edited since", "nothing was lost on the way");
}

#[test]
fn head_and_later_commits_stay_and_the_index_is_then_heads() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.write("f", "2");
    world.repo.commit_all("later");
    world.repo.write("f", "3");
    let head = world.repo.commit_all("still later");

    let outcome = world.restore("A");

    assert_eq!(world.repo.id("HEAD"), head);
    assert_eq!(world.repo.read("f"), "1");
    assert_eq!(outcome.index, IndexMode::Head);
    let moved = HeadMoved { branch: Some("main".into()), head: Some(head), commits: Some(2) };
    assert_eq!(outcome.head_moved, Some(moved));
    assert_eq!(world.repo.git(&["diff", "--cached"]), "");
}

#[test]
fn the_index_is_left_alone_when_asked() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);
    let index = std::fs::read(world.repo.path(".git/index")).unwrap();

    let outcome = world.restore_with(RestoreRequest { keep_index: true, ..world.request("A") });

    assert_eq!(outcome.index, IndexMode::Kept);
    assert_eq!(std::fs::read(world.repo.path(".git/index")).unwrap(), index);
    assert_eq!(world.repo.read("d/a"), "a");
}

#[test]
fn only_the_paths_asked_for_are_restored() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);
    let before = (world.files(), world.status());

    world.restore_with(RestoreRequest { paths: vec!["d".into(), "x".into()], ..world.request("A") });

    assert_eq!(world.repo.read("d/a"), "a");
    assert_eq!(world.repo.path("x").metadata().unwrap().mode() & 0o777, 0o755);
    assert_eq!(world.repo.read("staged"), "4");
    assert!(world.repo.exists("new/n") && !world.repo.exists("untracked"));
    world.step(Direction::Undo);
    assert_eq!((world.files(), world.status()), before);
}

#[test]
fn unchanged_files_are_not_touched_and_hard_links_are_not_written_through() {
    let world = World::new(|repo| repo.write("same", "same"));
    world.save("A");
    let stamp = |world: &World| world.repo.path("same").metadata().map(|meta| (meta.ino(), meta.mtime_nsec(), meta.ctime_nsec()));
    let before = stamp(&world).unwrap();
    std::fs::hard_link(world.repo.path("f"), world.repo.outside("elsewhere")).unwrap();
    world.repo.write("f", "written through both names");

    world.restore("A");

    assert_eq!(stamp(&world).unwrap(), before);
    assert_eq!(world.repo.read("f"), "1");
    assert_eq!(std::fs::read_to_string(world.repo.outside("elsewhere")).unwrap(), "written through both names");
}

#[test]
fn several_names_of_one_file_are_replaced_and_deleted() {
    let world = World::new(|repo| {
        repo.write("a", "1");
        repo.write("b", "2");
    });
    world.save("A");
    world.repo.write("p", "new");
    for name in ["q", "r", "elsewhere"] {
        std::fs::hard_link(world.repo.path("p"), world.repo.path(name)).unwrap();
    }
    world.repo.remove("b");
    world.repo.write("a", "one file now");
    std::fs::hard_link(world.repo.path("a"), world.repo.path("b")).unwrap();
    let before = world.files();

    let outcome = world.restore("A");
    assert_eq!(outcome.status, RestoreStatus::Restored, "{:?}", outcome.blockers);
    assert_eq!((world.repo.read("a"), world.repo.read("b")), ("1".into(), "2".into()));
    assert!(!world.repo.exists("p") && !world.repo.exists("q"));

    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
}

#[test]
fn nothing_is_written_or_deleted_through_a_link() {
    let world = World::new(|repo| repo.write("d/x", "in"));
    world.save("A");
    std::fs::create_dir(world.repo.outside("out")).unwrap();
    std::fs::write(world.repo.outside("out/x"), "keep").unwrap();
    world.repo.remove("d");
    world.repo.symlink("d", "../out");
    world.save("B");

    world.restore("A");
    assert_eq!(world.repo.read("d/x"), "in");
    world.restore("B");
    assert!(world.repo.path("d").is_symlink());
    assert_eq!(std::fs::read_to_string(world.repo.outside("out/x")).unwrap(), "keep");
}

#[test]
fn directories_go_only_if_the_restore_emptied_them() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.write("new/deep/n", "n");
    world.repo.write("half/n", "n");
    for empty in ["empty/nested", "half/empty"] {
        std::fs::create_dir_all(world.repo.path(empty)).unwrap();
    }

    world.restore("A");

    assert!(!world.repo.exists("new"));
    assert!(world.repo.exists("empty/nested") && world.repo.exists("half/empty"));
}

#[test]
fn the_directory_one_stands_in_stays() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.write("new/deep/n", "n");

    world.restore_with(RestoreRequest { directory: world.repo.path("new/deep"), ..world.request("A") });

    assert!(world.repo.exists("new/deep") && !world.repo.exists("new/deep/n"));
}

#[test]
fn a_special_file_in_the_way_refuses_the_restore() {
    let world = World::new(|repo| repo.write("p", "a file"));
    world.save("A");
    world.repo.remove("p");
    assert!(std::process::Command::new("mkfifo").arg(world.repo.path("p")).status().unwrap().success());

    assert_eq!(world.refused("A"), [BlockerCode::PathBlocked]);
}

#[test]
fn a_nested_repository_in_the_way_refuses_the_restore_and_one_beside_stays() {
    let world = World::new(|repo| repo.write("n/file", "1"));
    world.save("A");
    world.repo.remove("n");
    world.repo.git(&["init", "-q", "n"]);
    world.repo.write("n/work", "mine");

    assert_eq!(world.refused("A"), [BlockerCode::WorktreeOverlap]);

    std::fs::rename(world.repo.path("n"), world.repo.path("beside")).unwrap();
    assert_eq!(world.restore("A").status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("beside/work"), "mine");
}

#[test]
fn every_reason_to_refuse_is_given_at_once() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.git(&["config", "checkpoint.restore.mainWorktree", "refuse"]);
    world.repo.write("f", "2");
    std::fs::write(world.repo.path(".git/MERGE_HEAD"), format!("{}\n", world.repo.id("HEAD"))).unwrap();
    std::fs::write(world.repo.path(".git/index.lock"), "").unwrap();

    let outcome = world.restore_with(RestoreRequest { consent: Consent::Missing, ..world.request("A") });

    let codes: Vec<_> = outcome.blockers.iter().map(|blocker| blocker.code).collect();
    use BlockerCode::{ConfirmationRequired, IndexLocked, MainWorktree, OperationInProgress};
    assert_eq!(codes, [MainWorktree, IndexLocked, OperationInProgress, ConfirmationRequired]);
    assert!(outcome.blockers.iter().all(|blocker| !blocker.hint.is_empty()));
    assert_eq!(world.repo.read("f"), "2");
    assert!(world.repo.exists(".git/index.lock"));
}

#[test]
fn a_lock_that_goes_away_in_time_is_waited_for() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.write("f", "2");
    let lock = world.repo.path(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let impatient = world.restore_with(RestoreRequest { wait: Some(Duration::from_millis(20)), ..world.request("A") });
    assert_eq!((impatient.blockers[0].code, impatient.timed_out), (BlockerCode::IndexLocked, true));

    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            std::fs::remove_file(&lock).unwrap();
        });
        world.restore_with(RestoreRequest { wait: Some(Duration::from_secs(20)), ..world.request("A") })
    });

    assert_eq!(outcome.status, RestoreStatus::Restored);
}

#[test]
fn a_checkpoint_of_another_worktree_needs_to_be_allowed() {
    let world = World::new(|_| {});
    let linked = world.repo.outside("linked");
    world.repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let request = SaveRequest { name: Some("L".into()), allow_empty: true, ..SaveRequest::default() };
    std::fs::write(linked.join("f"), "linked").unwrap();
    save(&mut Context::open(&linked).unwrap(), &request).unwrap();

    assert_eq!(world.refused("L"), [BlockerCode::OtherWorktree]);

    let allow = vec![BlockerCode::OtherWorktree];
    world.restore_with(RestoreRequest { allow, ..world.request("L") });
    assert_eq!(world.repo.read("f"), "linked");
    world.step(Direction::Undo);
    world.repo.git(&["worktree", "remove", "--force", linked.to_str().unwrap()]);
    assert_eq!(world.restore("L").status, RestoreStatus::Restored, "it belongs to no worktree any more");
}

#[test]
fn unmerged_entries_refuse_the_restore() {
    let world = World::new(|_| {});
    world.save("A");
    let id = world.repo.git(&["hash-object", "-w", "f"]);
    let entries = format!("0 {} 0\tf\n100644 {id} 1\tf\n100644 {id} 2\tf\n100644 {id} 3\tf\n", "0".repeat(40));
    std::fs::write(world.repo.outside("entries"), entries).unwrap();
    let script = format!("git update-index --index-info < '{}'", world.repo.outside("entries").display());
    assert!(world.repo.command(&world.repo.top()).args(["-c", &format!("alias.x=!{script}"), "x"]).status().unwrap().success());

    assert_eq!(world.refused("A"), [BlockerCode::UnmergedIndex]);
}

#[test]
fn a_failing_filter_is_found_before_anything_changes() {
    let world = World::new(|repo| {
        repo.write(".gitattributes", "*.sec filter=x\n");
        repo.git(&["config", "filter.x.clean", "cat"]);
        repo.git(&["config", "filter.x.smudge", "cat"]);
        repo.git(&["config", "filter.x.required", "true"]);
        repo.write("a.sec", "1");
    });
    world.save("A");
    world.repo.write("a.sec", "2");
    world.repo.write("f", "2");
    world.repo.git(&["config", "filter.x.smudge", "false"]);

    assert_eq!(world.refused("A"), [BlockerCode::FilterFailed]);

    let outcome = world.restore_with(RestoreRequest { dry_run: true, ..world.request("A") });
    assert_eq!(outcome.blockers[0].code, BlockerCode::FilterFailed);
    assert!(outcome.blockers[0].message.contains("a.sec"));
}

#[test]
fn contents_are_filtered_by_the_attributes_of_the_checkpoint() {
    let world = World::new(|repo| {
        repo.write(".gitattributes", "*.txt text eol=crlf\n");
        repo.write("a.txt", "1\r\n");
    });
    world.save("A");
    world.repo.remove(".gitattributes");
    world.repo.write("a.txt", "2\n");

    world.restore("A");

    assert_eq!(world.repo.read("a.txt"), "1\r\n");
    assert_eq!(world.step(Direction::Undo).status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("a.txt"), "2\n");
}

#[test]
fn a_file_that_changes_while_the_restore_is_at_work_is_not_lost() {
    let world = World::new(|repo| {
        repo.write(".gitattributes", "*.sec filter=x\n");
        repo.git(&["config", "filter.x.clean", "cat"]);
        repo.write("a.sec", "1");
        repo.write("z", "1");
    });
    world.save("A");
    world.repo.write("a.sec", "2");
    world.repo.write("f", "2");
    world.repo.write("z", "2");
    // The filter runs after the capture: someone at work in the worktree.
    let script = format!("printf edited > '{}'; cat", world.repo.path("z").display());
    world.repo.git(&["config", "filter.x.smudge", &script]);

    let outcome = world.restore("A");

    assert_eq!(outcome.status, RestoreStatus::Refused);
    assert_eq!(outcome.blockers[0].code, BlockerCode::PathBlocked);
    assert!(outcome.blockers[0].message.contains("`z`"), "{}", outcome.blockers[0].message);
    assert_eq!((world.repo.read("z"), world.repo.read("f"), world.repo.read("a.sec")), ("edited".into(), "2".into(), "2".into()));
}

#[test]
fn what_the_checkpoint_did_not_capture_stays() {
    let world = World::new(|repo| repo.write("big", "0123456789"));
    world.repo.git(&["config", "checkpoint.maxFileSize", "5"]);
    let checkpoint = world.save("A");
    assert_eq!(checkpoint.skipped.len(), 1);
    world.repo.write("big", "1");
    world.repo.write("late and large", "0123456789");

    let outcome = world.restore("A");

    assert_eq!(world.repo.read("big"), "1");
    assert_eq!(world.repo.read("late and large"), "0123456789");
    assert_eq!(outcome.kept[0].reason, KeepReason::NotCaptured);
}

#[test]
fn a_large_file_in_the_way_comes_back_with_undo() {
    let world = World::new(|repo| repo.write("big", "small"));
    world.save("A");
    world.repo.git(&["config", "checkpoint.maxFileSize", "5"]);
    world.repo.remove("big");
    world.repo.write("big", "0123456789");

    assert_eq!(world.restore("A").status, RestoreStatus::Restored);
    assert_eq!(world.repo.read("big"), "small");

    world.step(Direction::Undo);
    assert_eq!(world.repo.read("big"), "0123456789");
}

#[test]
fn a_checkpoint_is_written_into_an_empty_directory_and_nothing_else_is_touched() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);
    let before = (world.files(), world.status());
    let directory = world.repo.outside("copy");

    let outcome = restore_to(&world.context(), &world.request("A"), &directory).unwrap();

    assert_eq!(outcome.export.written, 7);
    assert_eq!(std::fs::read_to_string(directory.join("d/a")).unwrap(), "a");
    assert_eq!(directory.join("x").metadata().unwrap().mode() & 0o111, 0o111);
    assert!(directory.join("ln").is_symlink());
    assert_eq!((world.files(), world.status()), before);
    assert!(restore_to(&world.context(), &world.request("A"), &directory).is_err(), "not empty any more");
}

#[test]
fn git_reads_no_file_again_after_a_restore() {
    let world = World::new(every_kind);
    world.save("A");
    change_every_kind(&world.repo);

    world.restore("A");

    let unproven = world.repo.git(&["diff-files", "--name-only"]);
    assert_eq!(unproven, "announced\nstaged", "diff-files goes by stat data alone");
}

#[test]
fn undo_brings_back_bytes_that_git_would_not_keep() {
    let world = World::new(|_| {});
    world.save("A");
    world.repo.git(&["config", "core.autocrlf", "true"]);
    world.repo.write("f", "unix\nand dos\r\n");
    world.repo.write("new", "unix\n");
    world.repo.write("secret", "s");
    world.repo.chmod("secret", 0o600);
    let before = world.files();

    world.restore("A");
    assert!(!world.repo.exists("new") && !world.repo.exists("secret"));
    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
    world.step(Direction::Redo);
    world.step(Direction::Undo);
    assert_eq!(world.files(), before);
}
