//! The verbs of the program under test, called as people call it: through git.

use std::ffi::OsStr;
use std::process::Command;

use super::{Output, TestRepo};

impl TestRepo {
    /// Runs `git checkpoint …`.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn checkpoint<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Output {
        Output::of(self.command("git").arg("checkpoint").args(args))
    }

    /// Runs `git checkpoint …` so many days after the clock of the test started.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn checkpoint_on_day<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, day: i64, args: I) -> Output {
        let now = super::env::FIRST_MOMENT + day * 24 * 3600 * 1000;
        Output::of(self.command("git").env("GIT_CHECKPOINT_NOW", now.to_string()).arg("checkpoint").args(args))
    }

    /// The program itself, not through git.
    pub fn program(&self) -> Command {
        self.command(self.env().program())
    }

    /// Runs a command with a fault at one of its points (see `sys::fault`, which release builds do not have).
    pub fn with_fault(&self, fault: &str, args: &[&str]) -> Output {
        Output::of(self.program().env("GIT_CHECKPOINT_FAULT", fault).args(args))
    }

    /// Kills a restore of a checkpoint at a point at which the worktree is as `is_there` says. The points before the first change
    /// are not always the same, so it must not be too particular.
    #[track_caller]
    pub fn interrupt(&self, selector: &str, is_there: impl Fn(&TestRepo) -> bool) {
        for point in 1.. {
            let output = self.with_fault(&format!("kill:{point}"), &["restore", "--quiet", "--yes", selector]);
            assert_eq!(output.code(), None, "no point of the restore leaves the worktree so: {output}");
            if self.git_dir().join("checkpoint/restore.json").exists() && is_there(self) {
                return;
            }
            let _ = self.checkpoint(["restore", "--quiet", "--abort"]);
        }
    }

    /// Saves a checkpoint under a name, even if nothing changed.
    #[track_caller]
    pub fn save(&self, name: &str) {
        self.try_save(name).success();
    }

    /// Tries to save a checkpoint under a name, even if nothing changed.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn try_save(&self, name: &str) -> Output {
        self.checkpoint(["save", "--quiet", "--allow-empty", "--name", name])
    }

    /// Restores a checkpoint.
    #[track_caller]
    pub fn restore(&self, selector: &str) {
        self.try_restore(selector).success();
    }

    /// Tries to restore a checkpoint.
    #[must_use = "an output that nobody looks at hides a failure"]
    pub fn try_restore(&self, selector: &str) -> Output {
        self.checkpoint(["restore", "--quiet", "--yes", selector])
    }

    /// Undoes the last restore.
    #[track_caller]
    pub fn undo(&self) {
        self.checkpoint(["undo", "--quiet", "--yes"]).success();
    }

    /// Goes forward again.
    #[track_caller]
    pub fn redo(&self) {
        self.checkpoint(["redo", "--quiet", "--yes"]).success();
    }

    /// One field of a checkpoint, by its format word.
    #[track_caller]
    pub fn field(&self, selector: &str, word: &str) -> String {
        self.checkpoint(["show", "--no-pager", &format!("--format=%({word})"), selector]).success().text()
    }

    /// The tree that a checkpoint recorded.
    #[track_caller]
    pub fn tree(&self, selector: &str) -> String {
        self.field(selector, "tree")
    }

    /// Makes the database claim another version of its format.
    pub fn set_database_version(&self, version: u32) {
        let database = rusqlite::Connection::open(self.common_dir().join("checkpoint/checkpoints.db")).unwrap();
        database.pragma_update(None, "user_version", version).unwrap();
        // Everything into the one file, so that its bytes can be compared.
        database.pragma_update(None, "journal_mode", "DELETE").unwrap();
    }

    /// Takes an object out of the repository, however it is stored.
    #[track_caller]
    pub fn lose_object(&self, object: &str) {
        let objects = self.common_dir().join("objects");
        let packs = self.env().root().join("packs");
        std::fs::rename(objects.join("pack"), &packs).unwrap();
        std::fs::create_dir(objects.join("pack")).unwrap();
        for pack in packs
            .read_dir()
            .unwrap()
            .map(|item| item.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "pack"))
        {
            let unpack = self.command("git").args(["unpack-objects", "-q"]).stdin(std::fs::File::open(pack).unwrap()).status();
            assert!(unpack.unwrap().success());
        }
        std::fs::remove_file(objects.join(&object[..2]).join(&object[2..])).unwrap();
        assert_ne!(self.try_git(["cat-file", "-e", object]).code(), Some(0));
    }

    /// Deletes the row of a checkpoint and nothing else.
    pub fn lose_row(&self, number: u32) {
        let database = rusqlite::Connection::open(self.common_dir().join("checkpoint/checkpoints.db")).unwrap();
        assert_eq!(database.execute("DELETE FROM checkpoints WHERE number = ?1", [number]).unwrap(), 1);
    }

    /// The refs of all checkpoints, as git sees them.
    pub fn checkpoint_refs(&self) -> Vec<String> {
        self.git(["for-each-ref", "--format=%(refname)", "refs/checkpoints"]).text().lines().map(str::to_owned).collect()
    }

    /// The codes of the blockers in a refused restore's JSON. The exit code is that of a refusal, or that of a lock that was
    /// not free in time if that is all there is.
    #[track_caller]
    pub fn blockers(&self, restore: &[&str]) -> Vec<String> {
        let output = self.checkpoint(restore.iter().chain(&["--json"]));
        let document = output.json();
        assert_eq!(document["status"], "refused", "{document}");
        let blockers = document["blockers"].as_array().unwrap();
        let codes: Vec<_> = blockers.iter().map(|blocker| blocker["code"].as_str().unwrap().to_owned()).collect();
        output.exits(if codes == ["index-locked"] { 5 } else { 3 });
        codes
    }
}
