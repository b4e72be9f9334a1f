//! What a restore leaves behind, judged by git and by the files themselves.

mod contents;
mod hidden;
mod ignored;
mod refused;

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
            turn: None,
            what: What::Code,
            insists: false,
            dry_run: false,
            consent: Consent::Given,
            keep_index: false,
            keep_edits: false,
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

/// A repository where a filter runs on `a.sec` after the capture: someone at work in the worktree.
fn filtered() -> World {
    World::new(|repo| {
        repo.write(".gitattributes", "*.sec filter=x\n");
        repo.git(&["config", "filter.x.clean", "cat"]);
        repo.write("a.sec", "1");
        repo.write("z", "1");
    })
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
