//! A disk that is really full, at every page that a command would take of it: a small file system in memory, of which a ballast
//! leaves one page more each time, until the command has all it needs. Where the tests may not mount, nothing of it can be seen.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::saving::SAVE;
use super::scenario::{RESTORE, Scenario, UNDO, ours};
use super::{ABORT, CONTINUE, is_interrupted};
use crate::support::{Output, RepoState, TestRepo, scenes, tools};

/// The unit in which the file system gives room.
const PAGE: u64 = 4096;

/// More pages than any of the commands needs here.
const ENOUGH: u64 = 4000;

/// The small file system; unmounted at the end of the test.
struct Disk(PathBuf);

impl Disk {
    fn mounted(at: &Path) -> Option<Disk> {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "none"]).arg(at).output().ok()?;
        done.status.success().then(|| Disk(at.to_owned()))
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Leaves so many pages free.
    fn leave(&self, pages: u64) {
        let free = rustix::fs::statvfs(&self.0).unwrap().f_bavail;
        let file = std::fs::File::create(self.ballast()).unwrap();
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, (free - pages) * PAGE).unwrap();
        assert_eq!(rustix::fs::statvfs(&self.0).unwrap().f_bavail, pages);
    }

    /// Somebody makes room.
    fn relieve(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Runs the command with one page more each time, until there is enough, and `check` after each run, when there is room again.
fn try_amounts(disk: &Disk, scenario: &Scenario, check: impl Fn(&Output, u64)) {
    let run = |pages| {
        scenario.renew();
        disk.leave(pages);
        let output = ours(&scenario.repo, scenario.args);
        let talk = output.talk();
        assert!(output.code().is_some() && !talk.contains("panicked"), "{pages} pages: {output}");
        if output.code() != Some(0) {
            assert!(talk.starts_with("error: "), "{pages} pages: {output}");
        }
        output
    };
    let succeeds = |pages: &u64| run(*pages).code() == Some(0);
    // What is written beside, such as the stat cache, may fail without harm, so that success is not quite the last of it.
    let needed = (0..ENOUGH).step_by(8).find(succeeds).expect("there is room for the command");
    let mut failed = 0;
    for pages in 0..needed {
        let output = run(pages);
        failed += u64::from(output.code() != Some(0));
        disk.relieve();
        check(&output, pages);
    }
    if std::env::var_os("CHECKPOINT_FAULT_POINTS").is_some() {
        tools::tell(&format!("{:?} on a full disk: {failed} of {needed} amounts of room too small", scenario.args));
    }
    assert!(failed > 0);
}

fn a_restore_is_whole(repo: TestRepo, args: &'static [&'static str], back: &'static str) {
    let Some((scenario, disk)) = Scenario::elsewhere(repo, args, back, Disk::mounted) else {
        return;
    };
    try_amounts(&disk, &scenario, |output, pages| {
        let interrupted = is_interrupted(&scenario.repo);
        assert!(!interrupted || output.code() == Some(6), "it is interrupted and does not say so: {output}");
        if interrupted {
            ours(&scenario.repo, if pages % 2 == 0 { CONTINUE } else { ABORT }).success();
        }
        let is_after = scenario.is_after();
        if !interrupted {
            assert_eq!(is_after, output.code() == Some(0), "not what was reported: {output}");
        }
        scenario.check_whole(is_after);
    });
}

#[test]
fn a_restore_with_any_amount_of_room_is_whole() {
    a_restore_is_whole(scenes::far_from_checkpoint(), RESTORE, "undo");
}

#[test]
fn an_undo_with_any_amount_of_room_is_whole() {
    let repo = scenes::far_from_checkpoint();
    repo.restore("A");
    a_restore_is_whole(repo, UNDO, "redo");
}

#[test]
fn a_save_with_any_amount_of_room_touches_nothing_and_the_next_one_works() {
    let Some((scenario, disk)) = Scenario::elsewhere(scenes::far_from_checkpoint(), SAVE, "", Disk::mounted) else {
        return;
    };
    try_amounts(&disk, &scenario, |output, _| {
        scenario.before.state.assert_same(&RepoState::of(&scenario.repo));
        scenario.repo.assert_sound();
        ours(&scenario.repo, SAVE).success();
        assert!(matches!(output.code(), Some(0 | 128)), "{output}");
    });
}
