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

    /// The program itself, not through git.
    pub fn program(&self) -> Command {
        self.command(self.env().program())
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
