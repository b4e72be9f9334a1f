//! Killed, or out of disk, at any call by which a command changes something: nothing is lost, the next command says what is
//! the matter, and both ways out lead to a whole state.
//!
//! Each command is run once to learn its calls, then once for each of them with a fault there, on the same repository. A plain
//! run tries some of them; `CHECKPOINT_FAULT_POINTS=all` tries all, a number that many, beginning at `CHECKPOINT_FAULT_OFFSET`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::strace::{self, Call, Fault, Reached};
use crate::support::{Output, RepoState, TestRepo, rounds, scenes, tools};

/// How many points of a command a plain run tries.
const USUAL: usize = 5;

/// How often a point is tried that was not reached.
const TRIES: usize = 4;

/// A command that changes the state of a worktree, in a repository that is made anew for every run of it.
struct Scenario {
    repo: TestRepo,
    template: PathBuf,
    args: &'static [&'static str],
    /// The kind of file system, in the words of `sys::fault`.
    system: &'static str,
    /// Brings about what the command has to deal with.
    prepare: fn(&TestRepo),
    before: Moment,
    after: Moment,
    /// The command that leads from `after` back to `before`.
    back: &'static str,
}

/// A state with all that there is to compare.
struct Moment {
    state: RepoState,
    /// The tree that a save makes of it.
    tree: String,
    /// How far undo and redo can go.
    steps: (usize, usize),
}

impl Moment {
    fn of(repo: &TestRepo) -> Moment {
        let (state, steps) = (RepoState::of(repo), steps(repo));
        repo.save("moment");
        Moment { state, tree: git_tree_of(repo, "moment"), steps }
    }
}

/// The program without git around it, which only costs time here.
fn ours(repo: &TestRepo, args: &[&str]) -> Output {
    Output::of(repo.program().args(args))
}

/// The tree of the checkpoint with a name, as its ref has it, as git sees it.
fn git_tree_of(repo: &TestRepo, name: &str) -> String {
    repo.git(["rev-parse", &format!("refs/checkpoint-names/{name}^{{tree}}")]).text()
}

fn nothing(_: &TestRepo) {}

/// Leaves a restore that is half-way through its renames.
fn interrupt(repo: &TestRepo) {
    let (_output, reached) = repo.with_fault_at(&Call::nth("renameat2", 14), Fault::Kill, "", RESTORE);
    assert!(reached == Reached::Yes && !repo.exists("made/since/u") && repo.exists("dir2/y") && !repo.exists("tree/x"));
}

const RESTORE: &[&str] = &["restore", "--quiet", "--yes", "A"];
const UNDO: &[&str] = &["undo", "--quiet", "--yes"];
const CONTINUE: &[&str] = &["restore", "--quiet", "--continue"];
const ABORT: &[&str] = &["restore", "--quiet", "--abort"];

impl Scenario {
    fn restore() -> Scenario {
        Scenario::new(scenes::far_from_checkpoint(), RESTORE, nothing, RESTORE, "undo")
    }

    /// The worktree is on another file system than the git directory, so files are kept aside in the worktree itself.
    fn restore_apart() -> Scenario {
        Scenario { system: "apart:1", ..Scenario::restore() }
    }

    /// The file system knows no renames but plain ones.
    fn restore_by_plain_renames() -> Scenario {
        Scenario { system: "plain:1", ..Scenario::restore() }
    }

    fn undo() -> Scenario {
        let repo = scenes::far_from_checkpoint();
        repo.restore("A");
        Scenario::new(repo, UNDO, nothing, UNDO, "redo")
    }

    fn interrupted(args: &'static [&'static str]) -> Scenario {
        Scenario::new(scenes::far_from_checkpoint(), args, interrupt, RESTORE, "undo")
    }

    fn new(
        repo: TestRepo,
        args: &'static [&'static str],
        prepare: fn(&TestRepo),
        whole: &[&str],
        back: &'static str,
    ) -> Scenario {
        let template = repo.env().root().join("template");
        copy(&repo.env().shelf(), &template);
        let renew = || {
            std::fs::remove_dir_all(repo.env().shelf()).unwrap();
            copy(&template, &repo.env().shelf());
        };
        renew();
        let before = Moment::of(&repo);
        renew();
        repo.checkpoint(whole).success();
        let after = Moment::of(&repo);
        Scenario { repo, template, args, system: "", prepare, before, after, back }
    }

    /// The repository as it is when the command begins.
    fn renew(&self) {
        std::fs::remove_dir_all(self.repo.env().shelf()).unwrap();
        copy(&self.template, &self.repo.env().shelf());
        (self.prepare)(&self.repo);
    }

    /// Fails unless the worktree is whole and in one of the two states. Returns which: true for the later one.
    fn is_after(&self) -> bool {
        let now = RepoState::of(&self.repo);
        let mut after = self.after.state.clone();
        after.keep_index_file_of(&now);
        let comparable = |state: &RepoState| state.clone().with_times_of_what_is_as_in(&self.before.state);
        let now = comparable(&now);
        let (from_before, from_after) = (comparable(&self.before.state).differences(&now), comparable(&after).differences(&now));
        assert!(
            from_before.is_empty() || from_after.is_empty(),
            "neither as before: {}\nnor as after: {}",
            in_short(&from_before),
            in_short(&from_after)
        );
        from_after.is_empty()
    }

    /// Everything that must hold of a repository that is said to be in order.
    fn check_whole(&self, is_after: bool) {
        let repo = &self.repo;
        let moment = if is_after { &self.after } else { &self.before };
        assert_eq!(steps(repo), moment.steps, "what undo and redo know of");
        repo.assert_sound();
        let _next = ours(repo, &["save", "--quiet", "--allow-empty", "--name", "next"]).success();
        assert_eq!(git_tree_of(repo, "next"), moment.tree, "the tree of the next save");
        assert_eq!(litter(&repo.common_dir()), Vec::<PathBuf>::new(), "left behind");
        assert_listed(repo);
        if is_after {
            let _back = ours(repo, &[self.back, "--quiet", "--yes"]).success();
            let plain = |state: &RepoState| state.clone().without_times().without_folders();
            plain(&self.before.state).assert_same(&plain(&RepoState::of(repo)));
        }
        repo.run(["add", "-A"]);
    }

    /// Runs the command with each of the faults, and `check` after it. Tells how many there were.
    fn try_points(&self, fault: Fault, check: impl Fn(&Output, &Call)) {
        self.try_some(fault, |calls| chosen(calls, fault), check);
    }

    /// The same with the points that `pick` chooses.
    fn try_some(&self, fault: Fault, pick: impl FnOnce(Vec<Call>) -> Vec<Call>, check: impl Fn(&Output, &Call)) {
        self.renew();
        let calls = self.repo.calls(self.system, self.args);
        let all = calls.len();
        let (mut passed, mut missed, mut failed) = (0, Vec::new(), Vec::new());
        for call in pick(calls) {
            // Names that are made by chance decide whether a folder has to be made for them: some points are not always there.
            let try_once = || {
                self.renew();
                let (output, reached) = self.repo.with_fault_at(&call, fault, self.system, self.args);
                if reached != Reached::Elsewhere {
                    check(&output, &call);
                }
                reached == Reached::Yes
            };
            match catch_unwind(AssertUnwindSafe(|| (0..TRIES).any(|_| try_once()))) {
                Ok(true) => passed += 1,
                Ok(false) => missed.push(format!("{} {}", call.name, call.nth)),
                Err(panic) => {
                    let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    failed.push(format!("{fault:?} at {} {}: {}\n{why}", call.name, call.nth, call.shown));
                }
            }
        }
        let told = format!(
            "{fault:?} during {:?} {}: {passed} points passed, {} not reached {missed:?}, {} failed, of {all}",
            self.args,
            self.system,
            missed.len(),
            failed.len()
        );
        if std::env::var_os("CHECKPOINT_FAULT_POINTS").is_some() {
            tools::tell(&told);
        }
        assert!(failed.is_empty(), "{told}\n{}", failed.join("\n\n"));
        assert!(passed > 0, "{told}");
    }
}

/// What differs, without how.
fn in_short(differences: &[String]) -> String {
    let first_lines = differences.iter().filter_map(|difference| difference.lines().next());
    first_lines.collect::<Vec<_>>().join("\n  ")
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// The points to try. Most calls are of the database, one like the other: of a few points, one in four is one of them.
fn chosen(calls: Vec<Call>, fault: Fault) -> Vec<Call> {
    // Nothing is written to the disk by these.
    let is_talk =
        |call: &Call| call.name == "write" && (call.shown.starts_with("write(1,") || call.shown.starts_with("write(2,"));
    let calls: Vec<Call> = calls.into_iter().filter(|call| fault == Fault::Kill || !is_talk(call)).collect();
    if std::env::var("CHECKPOINT_FAULT_POINTS").as_deref() == Ok("all") {
        return calls;
    }
    let count = rounds("CHECKPOINT_FAULT_POINTS", USUAL);
    let offset = rounds("CHECKPOINT_FAULT_OFFSET", 0);
    let (of_database, others): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(Call::is_of_database);
    let mut chosen = spread(&others, count - count / 4, offset);
    chosen.extend(spread(&of_database, count / 4, offset));
    chosen
}

fn spread(calls: &[Call], count: usize, offset: usize) -> Vec<Call> {
    let step = (calls.len() / count.max(1)).max(1);
    calls.iter().skip(offset % step).step_by(step).take(count).cloned().collect()
}

fn steps(repo: &TestRepo) -> (usize, usize) {
    let count = |verb| {
        let document = ours(repo, &[verb, "--list", "--json"]).success().json();
        document["restores"].as_array().unwrap().len()
    };
    (count("undo"), count("redo"))
}

/// Files that a command makes for the time it runs, and that nobody needs after it.
fn litter(folder: &Path) -> Vec<PathBuf> {
    const BEGINNINGS: [&str; 8] = ["tmp_", "ref-", "restore-", "restore.json", "concluded-", "stat.tmp", "pending", "rescued"];
    let mut found = Vec::new();
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_lock = name.ends_with(".lock") && name != "tidy.lock";
        if is_lock || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            found.push(path);
        } else if path.symlink_metadata().unwrap().is_dir() {
            found.extend(litter(&path));
        }
    }
    found
}

/// Every checkpoint is both a ref and in the list, and git agrees on its tree.
fn assert_listed(repo: &TestRepo) {
    let document = ours(repo, &["list", "--all-worktrees", "--json"]).success().json();
    let listed = document["checkpoints"].as_array().unwrap().iter().map(|checkpoint| {
        let field = |key: &str| checkpoint[key].as_str().unwrap().to_owned();
        (field("ref"), field("tree"))
    });
    let refs = repo.git(["for-each-ref", "--format=%(refname) %(tree)", "refs/checkpoints"]).text();
    let refs = refs.lines().map(|line| line.split_once(' ').map(|(name, tree)| (name.to_owned(), tree.to_owned())).unwrap());
    assert_eq!(listed.collect::<BTreeMap<_, _>>(), refs.collect::<BTreeMap<_, _>>(), "refs and list differ");
}

/// True if the next command says that a restore was interrupted; then the others refuse.
fn is_interrupted(repo: &TestRepo) -> bool {
    let said = ours(repo, &["list"]).success().talk().contains("restore --continue");
    if said {
        ours(repo, &["save"]).exits(3).says("restore --abort");
    }
    said
}

/// After a kill: `end` is the way out that is gone, where there is one.
fn check_killed(scenario: &Scenario, end: &str) {
    let repo = &scenario.repo;
    let interrupted = is_interrupted(repo);

    let output = ours(repo, &["restore", end]).success();

    let is_after = scenario.is_after();
    if interrupted {
        assert_eq!(is_after, end == "--continue", "{end} did the opposite");
    } else {
        output.says("no restore was interrupted");
        assert!(scenario.args != CONTINUE || is_after, "given up half-way");
        assert!(scenario.args != ABORT || !is_after, "given up half-way");
    }
    scenario.check_whole(is_after);
}

/// After an error: the command says what was the matter, and is done, or has taken itself back, or can be.
fn check_failed(scenario: &Scenario, fault: Fault, output: &Output, call: &Call) {
    let repo = &scenario.repo;
    let code = output.code().unwrap_or_else(|| panic!("ended by a signal: {output}"));
    let talk = output.talk();
    assert!(matches!(code, 0 | 3 | 6 | 128), "{output}");
    assert!(!talk.contains("panicked"), "{output}");
    if fault == Fault::Once && code != 0 {
        // A refusal names each of its reasons in a line of its own.
        let lines = if code == 3 { 2 } else { 1 };
        assert!(talk.starts_with("error: ") && talk.matches("error: ").count() == lines, "{output}");
    }
    let interrupted = is_interrupted(repo);
    // One that was interrupted before still is.
    let may_be = code == 6 || code != 0 && (scenario.args == CONTINUE || scenario.args == ABORT);
    assert!(interrupted <= may_be, "it is interrupted and does not say so: {output}");
    let is_after = if interrupted {
        let end = if call.nth.is_multiple_of(2) { "--continue" } else { "--abort" };
        ours(repo, &["restore", end]).success();
        let is_after = scenario.is_after();
        assert_eq!(is_after, end == "--continue");
        is_after
    } else {
        let is_after = scenario.is_after();
        let done = scenario.args != ABORT;
        assert!(code != 0 || is_after == done, "success was reported: {output}");
        assert!(!matches!(code, 3 | 128) || is_after != done, "a failure was reported: {output}");
        is_after
    };
    scenario.check_whole(is_after);
}

fn kill(scenario: &Scenario, end: &str) {
    scenario.try_points(Fault::Kill, |_, _| check_killed(scenario, end));
}

fn fail(scenario: &Scenario, fault: Fault) {
    scenario.try_points(fault, |output, call| check_failed(scenario, fault, output, call));
}

macro_rules! ways_to_fail {
    ($($name:ident: $act:ident($scenario:expr, $how:expr);)*) => {
        $(#[test]
        fn $name() {
            if strace::is_usable() {
                $act(&$scenario, $how);
            }
        })*
    };
}

ways_to_fail! {
    a_restore_killed_at_any_call_can_be_taken_back: kill(Scenario::restore(), "--abort");
    a_restore_killed_at_any_call_can_be_finished: kill(Scenario::restore(), "--continue");
    an_undo_killed_at_any_call_can_be_taken_back: kill(Scenario::undo(), "--abort");
    an_undo_killed_at_any_call_can_be_finished: kill(Scenario::undo(), "--continue");
    finishing_killed_at_any_call_can_be_taken_back: kill(Scenario::interrupted(CONTINUE), "--abort");
    finishing_killed_at_any_call_can_be_finished: kill(Scenario::interrupted(CONTINUE), "--continue");
    taking_back_killed_at_any_call_can_be_taken_back: kill(Scenario::interrupted(ABORT), "--abort");
    taking_back_killed_at_any_call_can_be_finished: kill(Scenario::interrupted(ABORT), "--continue");
    a_restore_out_of_disk_at_any_call_is_whole: fail(Scenario::restore(), Fault::Once);
    a_restore_out_of_disk_from_any_call_on_is_whole: fail(Scenario::restore(), Fault::Lasting);
    an_undo_out_of_disk_at_any_call_is_whole: fail(Scenario::undo(), Fault::Once);
    an_undo_out_of_disk_from_any_call_on_is_whole: fail(Scenario::undo(), Fault::Lasting);
    a_restore_from_another_file_system_killed_at_any_call_can_be_taken_back: kill(Scenario::restore_apart(), "--abort");
    a_restore_from_another_file_system_killed_at_any_call_can_be_finished: kill(Scenario::restore_apart(), "--continue");
    a_restore_from_another_file_system_out_of_disk_at_any_call_is_whole: fail(Scenario::restore_apart(), Fault::Once);
    a_restore_by_plain_renames_killed_at_any_call_can_be_taken_back: kill(Scenario::restore_by_plain_renames(), "--abort");
    a_restore_by_plain_renames_killed_at_any_call_can_be_finished: kill(Scenario::restore_by_plain_renames(), "--continue");
    a_restore_by_plain_renames_out_of_disk_at_any_call_is_whole: fail(Scenario::restore_by_plain_renames(), Fault::Once);
    finishing_out_of_disk_from_any_call_on_is_whole: fail(Scenario::interrupted(CONTINUE), Fault::Lasting);
    taking_back_out_of_disk_from_any_call_on_is_whole: fail(Scenario::interrupted(ABORT), Fault::Lasting);
    finishing_out_of_disk_at_any_call_is_whole: fail(Scenario::interrupted(CONTINUE), Fault::Once);
    taking_back_out_of_disk_at_any_call_is_whole: fail(Scenario::interrupted(ABORT), Fault::Once);
}

/// A worktree with something to save, and an older checkpoint.
struct Save {
    scenario: Scenario,
}

const SAVE: &[&str] = &["save", "--quiet", "--name", "S", "-m", "under fault"];

impl Save {
    fn new() -> Save {
        Save { scenario: Scenario::new(scenes::far_from_checkpoint(), SAVE, nothing, SAVE, "") }
    }

    /// Whether it is there after all or not at all, nothing was touched, and the next save works.
    fn check(&self, output: Option<&Output>) {
        let repo = &self.scenario.repo;
        self.scenario.before.state.assert_same(&RepoState::of(repo));
        if let Some(output) = output {
            let code = output.code().unwrap_or_else(|| panic!("ended by a signal: {output}"));
            assert!(matches!(code, 0 | 128) && !output.talk().contains("panicked"), "{output}");
            let found = repo.checkpoint(["list", "--grep", "under fault", "--json"]).success().json();
            let found = found["checkpoints"].as_array().unwrap().len();
            assert!(code != 0 || found == 1, "success was reported: {output}");
        }
        repo.assert_sound();
        let _next = ours(repo, SAVE).success();
        assert_eq!(git_tree_of(repo, "%53"), self.scenario.before.tree);
        assert_eq!(litter(&repo.common_dir()), Vec::<PathBuf>::new(), "left behind");
        assert_listed(repo);
        repo.run(["add", "-A"]);
    }
}

#[test]
fn a_save_killed_at_any_call_leaves_no_trace_and_the_next_one_works() {
    if strace::is_usable() {
        let save = Save::new();
        save.scenario.try_points(Fault::Kill, |_, _| save.check(None));
    }
}

#[test]
fn a_save_out_of_disk_at_any_call_touches_nothing_and_the_next_one_works() {
    if strace::is_usable() {
        let save = Save::new();
        for fault in [Fault::Once, Fault::Lasting] {
            save.scenario.try_points(fault, |output, _| save.check(Some(output)));
        }
    }
}

/// The calls whose text contains `part`, as the only points.
fn only(part: &'static str) -> impl Fn(Vec<Call>) -> Vec<Call> {
    move |calls| calls.into_iter().filter(|call| call.shown.contains(part)).collect()
}

#[test]
fn a_folder_that_cannot_be_removed_is_not_passed_over() {
    if !strace::is_usable() {
        return;
    }
    for scenario in [Scenario::restore(), Scenario::interrupted(ABORT)] {
        let check = |output: &Output, call: &Call| check_failed(&scenario, Fault::Once, output, call);
        scenario.try_some(Fault::Once, only("REMOVEDIR"), check);
    }
}

#[test]
fn a_file_that_cannot_be_read_when_its_permissions_are_kept_for_undo_is_not_replaced() {
    if !strace::is_usable() {
        return;
    }
    let repo = scenes::far_from_checkpoint();
    // Reading back what was written would fail as well, and hide it.
    repo.config("checkpoint.restore.verify", "false");
    let before = RepoState::of(&repo);

    let output = repo.with_unreadable("private", RESTORE).exits(128);

    assert!(output.talk().contains("cannot read `") && output.talk().contains("private`"), "{output}");
    before.assert_same(&RepoState::of(&repo));
}

#[test]
fn a_name_can_be_given_again_although_the_process_that_gave_it_was_killed() {
    if strace::is_usable() {
        let save = Save::new();
        save.scenario.try_some(Fault::Kill, only("refs/checkpoint-names/%53.lock"), |_, _| save.check(None));
    }
}

#[test]
fn a_restore_of_which_nobody_can_tell_whether_it_was_recorded_is_left_to_be_ended() {
    if !strace::is_usable() {
        return;
    }
    for scenario in [Scenario::restore(), Scenario::undo()] {
        let flush = |calls: Vec<Call>| {
            let is_flush = |pair: &&[Call]| pair[0].name == "pwrite64" && pair[1].name == "fsync";
            calls.windows(2).filter(is_flush).map(|pair| pair[1].clone()).collect()
        };
        scenario.try_some(Fault::Lasting, flush, |output, call| {
            assert_eq!(output.code(), Some(6), "{output}");
            check_failed(&scenario, Fault::Lasting, output, call);
        });
    }
}

#[test]
fn a_checkpoint_that_gets_no_row_is_no_ref_either() {
    if strace::is_usable() {
        let save = Save::new();
        let last_of_database =
            |calls: Vec<Call>| calls.into_iter().filter(|call| call.name == "pwrite64").rev().take(2).collect();
        save.scenario.try_some(Fault::Lasting, last_of_database, |output, _| save.check(Some(output)));
    }
}
