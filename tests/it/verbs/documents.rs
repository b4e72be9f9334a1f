//! What every command prints with `--json`, whole: keys, their order, and values. Scripts stand on these, so a change here is one
//! that the changelog must tell of.
//!
//! What is expected lies beside this file, a transcript for each test: `SNAPSHOTS=overwrite cargo test` writes them anew.

use std::path::Path;

use crate::support::golden::{Inner, document, talk};
use crate::support::{Output, TestRepo};

/// Commands with their documents and exit codes, compared with what is written down when a test is through.
struct Transcript<'a> {
    repo: &'a TestRepo,
    text: String,
}

impl<'a> Transcript<'a> {
    fn of(repo: &'a TestRepo) -> Self {
        Transcript { repo, text: String::new() }
    }

    /// Runs `git checkpoint --json …`.
    fn run(&mut self, args: &[&str]) {
        self.run_in(self.repo, args);
    }

    fn run_in(&mut self, repo: &TestRepo, args: &[&str]) {
        let output = repo.checkpoint(["--json"].iter().chain(args));
        self.note(args, &output, Inner::Word);
    }

    fn note(&mut self, args: &[&str], output: &Output, inner: Inner) {
        let command = args.join(" ").escape_debug().to_string();
        let exit = output.code().unwrap();
        let document = document(self.repo, output, inner);
        let talk = talk(self.repo, output);
        self.text.push_str(&format!("$ git checkpoint --json {command}\n{document}{talk}exit {exit}\n\n"));
    }

    #[track_caller]
    fn is(self, name: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/verbs/documents/{name}.txt"));
        snapbox::assert_data_eq!(self.text, snapbox::Data::read_from(&file, Some(snapbox::data::DataFormat::Text)).raw());
    }
}

/// Checkpoint 1 with a name, of a commit and an untracked file; the worktree has changed since.
fn saved() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("u", "untracked\n");
    repo.checkpoint(["save", "-q", "--name", "good", "-m", "subject\n\nbody"]).success();
    repo.write("f", "2\n");
    repo.write("new", "n\n");
    repo
}

#[test]
fn show_has_the_whole_checkpoint() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.fifo("pipe");
    repo.write("f", "staged\n");
    repo.git(["add", "f"]).success();
    let args = ["save", "-q", "--session", "agent-1", "--turn", "3", "--meta", "k=v"];
    repo.checkpoint(args).success();

    for selector in ["good", "turn:3"] {
        let output = repo.checkpoint(["--json", "show", selector]);
        transcript.note(&["show", selector], &output, Inner::Whole);
    }
    transcript.is("show");
}

#[test]
fn save_says_what_it_recorded_and_what_holds_the_state_already() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);

    transcript.run(&["save"]);
    transcript.run(&["save"]);
    transcript.run(&["save", "--exit-code"]);
    repo.config("checkpoint.enabled", "false");
    transcript.run(&["save", "--allow-empty"]);
    transcript.is("save");
}

#[test]
fn list_has_all_checkpoints_newest_first() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    transcript.run(&["list", "--session", "none"]);
    repo.save("second");

    transcript.run(&["list"]);
    transcript.is("list");
}

#[test]
fn diff_has_every_file_and_the_sum() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.write("bin", "\0");
    repo.remove("u");
    repo.write("moved", "untracked\n");

    transcript.run(&["diff"]);
    transcript.run(&["diff", "--exit-code", "good", "good"]);
    transcript.run(&["diff", "--exit-code", "HEAD", "good"]);
    transcript.is("diff");
}

#[test]
fn restore_has_each_of_its_states() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.write(".git/info/exclude", "*.log\n");
    repo.write("kept.log", "k\n");

    transcript.run(&["restore", "good", "--dry-run"]);
    transcript.run(&["restore", "good"]);
    transcript.run(&["restore", "good", "--yes"]);
    transcript.run(&["restore", "good", "--yes"]);
    transcript.run(&["restore", "good", "--to", "../copy"]);
    transcript.run(&["restore", "good", "--to", "../copy"]);
    transcript.run(&["restore", "good", "--yes", "--", "nothing"]);
    transcript.run(&["restore", "good", "--what", "memory"]);
    transcript.is("restore");
}

#[test]
fn a_restore_that_is_refused_names_every_reason() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.config("checkpoint.restore.mainWorktree", "refuse");
    repo.git(["bisect", "start"]).success();

    transcript.run(&["restore", "good"]);
    transcript.is("restore_refused");
}

#[test]
fn an_interrupted_restore_is_finished_or_taken_back() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.write("new", "n\n");
    repo.interrupt("good", |repo| !repo.exists("new"));

    transcript.run(&["undo", "--yes"]);
    transcript.run(&["save"]);
    transcript.run(&["restore", "--abort"]);
    repo.interrupt("good", |repo| !repo.exists("new"));
    transcript.run(&["restore", "--continue"]);
    transcript.run(&["restore", "--continue"]);
    transcript.is("restore_interrupted");
}

#[test]
fn undo_and_redo_are_restores_with_a_list() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    transcript.run(&["undo", "--yes"]);
    transcript.run(&["undo", "--list"]);
    repo.restore("good");

    transcript.run(&["undo", "--list"]);
    transcript.run(&["undo", "--dry-run"]);
    transcript.run(&["undo"]);
    transcript.run(&["undo", "--yes"]);
    transcript.run(&["redo", "--list"]);
    transcript.run(&["redo", "--yes"]);
    transcript.is("undo_and_redo");
}

#[test]
fn status_tells_how_things_stand() {
    let repo = TestRepo::new();
    let mut transcript = Transcript::of(&repo);
    transcript.run(&["status"]);
    repo.save("good");
    repo.write("f", "2\n");
    repo.restore("good");
    repo.write("f", "3\n");
    repo.config("checkpoint.restore.mainWorktree", "refuse");
    repo.write(".gitattributes", "* filter=broken\n");
    repo.config("filter.broken.clean", "false");
    repo.config("filter.broken.required", "true");
    repo.checkpoint(["save", "--best-effort"]).success();
    repo.remove(".gitattributes");

    transcript.run(&["status"]);
    transcript.is("status");
}

#[test]
fn name_branch_drop_and_prune_say_what_became_of_the_checkpoint() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.save("second");

    transcript.run(&["name", "1", "second"]);
    transcript.run(&["name", "--delete", "second"]);
    transcript.run(&["branch", "side", "1"]);
    transcript.run(&["drop", "2", "--dry-run"]);
    transcript.run(&["drop", "2"]);
    transcript.run(&["drop", "2", "--yes"]);
    repo.checkpoint(["-q", "--allow-empty"]).success();
    repo.checkpoint(["-q", "--allow-empty"]).success();
    transcript.run(&["prune", "--keep-last", "1", "--dry-run"]);
    transcript.run(&["prune", "--keep-last", "1"]);
    transcript.run(&["prune", "--keep-last", "1"]);
    transcript.is("name_branch_drop_prune");
}

#[test]
fn a_session_has_the_same_keys_everywhere() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);

    transcript.run(&["session", "end"]);
    transcript.run(&["session", "start", "ci-1", "--agent", "claude"]);
    transcript.note(&["session", "show"], &repo.checkpoint(["--json", "session", "show"]), Inner::Whole);
    transcript.run(&["session", "list"]);
    transcript.run(&["session", "end"]);
    transcript.run(&["session", "end", "ci-1"]);
    transcript.run(&["session", "delete", "ci-1", "--dry-run"]);
    transcript.run(&["session", "delete", "ci-1"]);
    transcript.run(&["session", "delete", "ci-1", "--yes"]);
    transcript.run(&["session", "show", "ci-1"]);
    transcript.is("session");
}

#[test]
fn doctor_has_its_problems_one_by_one() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);

    transcript.run(&["doctor", "--verify"]);
    repo.config("checkpoint.keepLats", "3");
    repo.lose_row(1);
    transcript.run(&["doctor"]);
    transcript.run(&["doctor", "--fix"]);
    transcript.is("doctor");
}

#[test]
fn checkpoints_that_travel_are_told_from_those_that_were_there() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    repo.git(["clone", "-q", "--bare", ".", "../hub.git"]).success();
    repo.git(["clone", "-q", "../hub.git", "../other"]).success();
    repo.git(["remote", "add", "hub", "../hub.git"]).success();
    let other = repo.at("other");

    transcript.run(&["push"]);
    transcript.run(&["push", "nowhere"]);
    transcript.run_in(&other, &["fetch"]);
    transcript.run_in(&other, &["fetch"]);
    repo.save("second");
    transcript.run(&["export", "-o", "../two.bundle"]);
    transcript.run(&["export"]);
    transcript.run_in(&other, &["import", "-n", "../two.bundle"]);
    transcript.run_in(&other, &["import", "../two.bundle"]);
    transcript.run_in(&other, &["import", "../two.bundle"]);
    transcript.run_in(&other, &["import", "../no.bundle"]);
    transcript.is("handoff");
}

#[test]
fn errors_have_one_shape_and_are_told_on_standard_error_too() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);

    for args in [&["show", "goof"][..], &["show", "@x"], &["show", "a b\u{1b}"], &["shwo"], &["name", "1", ""]] {
        transcript.run(args);
    }
    repo.config("checkpoint.keepLast", "many");
    transcript.run(&["list"]);
    transcript.is("errors");
}

#[test]
fn a_restore_that_fails_says_what_became_of_it() {
    let repo = saved();
    let mut transcript = Transcript::of(&repo);
    let args = ["restore", "good", "--yes"];
    // Two faults in a row: what would take the first one's restore back fails as well, if the place is the right one.
    let with_code = |fault: &str, code: &str| {
        (1..200).find_map(|at| {
            let faults = format!("{fault}:{at},{fault}:{}", at + 1);
            let output = repo.with_fault(&faults, &[&args[..], &["--json"]].concat());
            let _ = repo.checkpoint(["restore", "--quiet", "--abort"]);
            repo.write("f", "2\n");
            repo.write("new", "n\n");
            (output.code() != Some(0) && output.json()["error"]["code"] == code).then_some(output)
        })
    };

    transcript.note(&args, &with_code("full", "restore-failed").expect("one that is taken back"), Inner::Word);
    transcript.note(&args, &with_code("denied", "interrupted").expect("one that can be finished"), Inner::Word);
    transcript.is("restore_failed");
}
