//! A command that is run again and again on the same repository, each time with a fault at another call.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::strace::{Call, Fault, Reached};
use crate::support::{Output, RepoState, TestRepo, rounds, scenes, tools};

/// How many points of a command a plain run tries.
const USUAL: usize = 5;

/// How often a point is tried that was not reached.
const TRIES: usize = 4;

/// A command that changes the state of a worktree, in a repository that is made anew for every run of it.
pub(super) struct Scenario {
    pub(super) repo: TestRepo,
    template: PathBuf,
    pub(super) args: &'static [&'static str],
    /// The kind of file system, in the words of `sys::fault`.
    system: &'static str,
    /// Brings about what the command has to deal with.
    prepare: fn(&TestRepo),
    pub(super) before: Moment,
    after: Moment,
    /// The command that leads from `after` back to `before`.
    back: &'static str,
}

/// A state with all that there is to compare.
pub(super) struct Moment {
    pub(super) state: RepoState,
    /// The tree that a save makes of it.
    pub(super) tree: String,
    /// How far undo and redo can go.
    steps: (usize, usize),
}

impl Moment {
    pub(super) fn of(repo: &TestRepo) -> Moment {
        let (state, steps) = (RepoState::of(repo), steps(repo));
        repo.save("moment");
        Moment { state, tree: git_tree_of(repo, "moment"), steps }
    }
}

/// The program without git around it, which only costs time here.
pub(super) fn ours(repo: &TestRepo, args: &[&str]) -> Output {
    Output::of(repo.program().args(args))
}

/// The tree of the checkpoint with a name, as its ref has it, as git sees it.
pub(super) fn git_tree_of(repo: &TestRepo, name: &str) -> String {
    repo.git(["rev-parse", &format!("refs/checkpoint-names/{name}^{{tree}}")]).text()
}

pub(super) fn nothing(_: &TestRepo) {}

/// Leaves a restore that is half-way through its renames.
fn interrupt(repo: &TestRepo) {
    let (_output, reached) = repo.with_fault_at(&Call::nth("renameat2", 14), Fault::Kill, "", RESTORE);
    assert!(reached == Reached::Yes && !repo.exists("made/since/u") && repo.exists("dir2/y") && !repo.exists("tree/x"));
}

pub(super) const RESTORE: &[&str] = &["restore", "--quiet", "--yes", "A"];
pub(super) const UNDO: &[&str] = &["undo", "--quiet", "--yes"];
pub(super) const CONTINUE: &[&str] = &["restore", "--quiet", "--continue"];
pub(super) const ABORT: &[&str] = &["restore", "--quiet", "--abort"];

impl Scenario {
    pub(super) fn restore() -> Scenario {
        Scenario::new(scenes::far_from_checkpoint(), RESTORE, nothing, RESTORE, "undo")
    }

    /// The worktree is on another file system than the git directory, so files are kept aside in the worktree itself.
    pub(super) fn restore_apart() -> Scenario {
        Scenario { system: "apart:1", ..Scenario::restore() }
    }

    /// The file system knows no renames but plain ones.
    pub(super) fn restore_by_plain_renames() -> Scenario {
        Scenario { system: "plain:1", ..Scenario::restore() }
    }

    pub(super) fn undo() -> Scenario {
        let repo = scenes::far_from_checkpoint();
        repo.restore("A");
        Scenario::new(repo, UNDO, nothing, UNDO, "redo")
    }

    pub(super) fn interrupted(args: &'static [&'static str]) -> Scenario {
        Scenario::new(scenes::far_from_checkpoint(), args, interrupt, RESTORE, "undo")
    }

    pub(super) fn new(
        repo: TestRepo,
        args: &'static [&'static str],
        prepare: fn(&TestRepo),
        whole: &[&str],
        back: &'static str,
    ) -> Scenario {
        let template = repo.env().root().join("template");
        copy(&repo.env().shelf(), &template);
        Scenario::from_template(repo, template, args, prepare, whole, back)
    }

    /// The same where the repository lies on a file system of its own, which is mounted by `mount` for as long as the test runs.
    pub(super) fn elsewhere<M>(
        repo: TestRepo,
        args: &'static [&'static str],
        back: &'static str,
        mount: impl FnOnce(&Path) -> Option<M>,
    ) -> Option<(Scenario, M)> {
        let template = repo.env().root().join("template");
        copy(&repo.env().shelf(), &template);
        let mounted = mount(&repo.env().shelf())?;
        Some((Scenario::from_template(repo, template, args, nothing, args, back), mounted))
    }

    fn from_template(
        repo: TestRepo,
        template: PathBuf,
        args: &'static [&'static str],
        prepare: fn(&TestRepo),
        whole: &[&str],
        back: &'static str,
    ) -> Scenario {
        let renew = || renew(&template, &repo.env().shelf());
        renew();
        let before = Moment::of(&repo);
        renew();
        repo.checkpoint(whole).success();
        let after = Moment::of(&repo);
        Scenario { repo, template, args, system: "", prepare, before, after, back }
    }

    /// The repository as it is when the command begins.
    pub(super) fn renew(&self) {
        renew(&self.template, &self.repo.env().shelf());
        (self.prepare)(&self.repo);
    }

    /// Fails unless the worktree is whole and in one of the two states. Returns which: true for the later one.
    pub(super) fn is_after(&self) -> bool {
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
    pub(super) fn check_whole(&self, is_after: bool) {
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
    pub(super) fn try_points(&self, fault: Fault, check: impl Fn(&Output, &Call)) {
        self.try_some(fault, |calls| chosen(calls, fault), check);
    }

    /// The same with the points that `pick` chooses.
    pub(super) fn try_some(&self, fault: Fault, pick: impl FnOnce(Vec<Call>) -> Vec<Call>, check: impl Fn(&Output, &Call)) {
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

/// Makes what lies in `folder` anew from `template`. The folder itself stays: it may be a mount point.
fn renew(template: &Path, folder: &Path) {
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let is_folder = path.symlink_metadata().unwrap().is_dir();
        if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }
    copy(&template.join("."), folder);
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
pub(super) fn litter(folder: &Path) -> Vec<PathBuf> {
    const BEGINNINGS: [&str; 7] = ["tmp_", "restore-", "restore.json", "concluded-", "stat.tmp", "pending", "rescued"];
    let mut found = Vec::new();
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_lock = name.ends_with(".lock");
        let is_mark = folder.file_name().is_some_and(|name| name == "ref-locks");
        if is_lock || is_mark || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            found.push(path);
        } else if path.symlink_metadata().unwrap().is_dir() {
            found.extend(litter(&path));
        }
    }
    found
}

/// Every checkpoint is both a ref and in the list, and git agrees on its tree.
pub(super) fn assert_listed(repo: &TestRepo) {
    let document = ours(repo, &["list", "--all-worktrees", "--json"]).success().json();
    let listed = document["checkpoints"].as_array().unwrap().iter().map(|checkpoint| {
        let field = |key: &str| checkpoint[key].as_str().unwrap().to_owned();
        (field("ref"), field("tree"))
    });
    let refs = repo.git(["for-each-ref", "--format=%(refname) %(tree)", "refs/checkpoints"]).text();
    let refs = refs.lines().map(|line| line.split_once(' ').map(|(name, tree)| (name.to_owned(), tree.to_owned())).unwrap());
    assert_eq!(listed.collect::<BTreeMap<_, _>>(), refs.collect::<BTreeMap<_, _>>(), "refs and list differ");
}
