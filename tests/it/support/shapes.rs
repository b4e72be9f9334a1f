//! Verbs that bring a repository into a shape: linked worktrees, submodules, operations in progress.

use std::path::Path;

use super::TestRepo;

/// An operation that stops half-way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `git merge` with a conflict.
    Merge,
    /// `git rebase` with a conflict, merge backend.
    Rebase,
    /// `git rebase --apply` with a conflict.
    RebaseApply,
    /// `git cherry-pick` with a conflict.
    CherryPick,
    /// `git revert` with a conflict.
    Revert,
    /// `git am` with a patch that does not apply.
    Am,
    /// `git bisect` that is looking.
    Bisect,
    /// `git merge --no-commit` without a conflict.
    MergeWithoutConflict,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 8] = [
        Operation::Merge,
        Operation::Rebase,
        Operation::RebaseApply,
        Operation::CherryPick,
        Operation::Revert,
        Operation::Am,
        Operation::Bisect,
        Operation::MergeWithoutConflict,
    ];
}

impl TestRepo {
    /// Adds a linked worktree beside this one, on a new branch of the same name.
    pub fn linked_worktree(&self, name: &str) -> TestRepo {
        let linked = self.at(name);
        self.run(["worktree", "add", "-q", "-b", name].map(AsRef::as_ref).into_iter().chain([linked.top().as_os_str()]));
        linked
    }

    /// Makes another repository of one commit beside this one.
    pub fn neighbour(&self, name: &str) -> TestRepo {
        let other = self.at(name);
        self.run(["init", "-q"].map(AsRef::as_ref).into_iter().chain([other.top().as_os_str()]));
        other.write("s", "s\n");
        other.commit("first of the neighbour");
        other
    }

    /// Adds and commits a submodule at `path`; returns it as a repository.
    pub fn submodule(&self, path: &str) -> TestRepo {
        let source = self.neighbour("source of submodule");
        self.run(["submodule", "-q", "add"].map(AsRef::as_ref).into_iter().chain([source.top().as_os_str(), path.as_ref()]));
        self.run(["commit", "-q", "-m", "submodule"]);
        self.inner(path)
    }

    /// The repository at a path inside this worktree.
    pub fn inner(&self, path: &str) -> TestRepo {
        let shelf = self.env().shelf();
        let below = self.top().strip_prefix(&shelf).expect("every worktree lies on the shelf");
        self.at(&below.join(Path::new(path)).to_string_lossy())
    }

    /// Makes a repository with one commit inside this worktree.
    pub fn nested_repository(&self, path: &str) -> TestRepo {
        let nested = self.empty_nested_repository(path);
        nested.write("x", "x\n");
        nested.commit("nested");
        nested
    }

    /// Makes a repository without a commit inside this worktree.
    pub fn empty_nested_repository(&self, path: &str) -> TestRepo {
        self.run(["init", "-q", path]);
        self.inner(path)
    }

    /// Takes HEAD off its branch.
    pub fn detach(&self) {
        self.run(["checkout", "-q", "--detach"]);
    }

    /// Takes the lock of the index as another git command would.
    pub fn lock_index(&self) {
        std::fs::write(self.git_dir().join("index.lock"), "").unwrap();
    }

    /// Two branches that change `f` differently: `main` is checked out, `side` waits.
    pub fn diverge(&self) {
        self.run(["checkout", "-q", "-b", "side"]);
        self.write("f", "side\n");
        self.write("only-on-side", "side\n");
        self.commit("side");
        self.run(["checkout", "-q", "main"]);
        self.write("f", "main\n");
        self.commit("main");
    }

    /// Leaves a conflict at `path` in the index, of an operation that is over.
    pub fn leave_conflict(&self, path: &str) {
        self.write(path, "ours\n<<<\n");
        let blob = self.git(["hash-object", "-w", path]).text();
        let stages: String = (1..=3).map(|stage| format!("100644 {blob} {stage}\t{path}\n")).collect();
        let list = self.env().root().join("stages");
        std::fs::write(&list, stages).unwrap();
        let added = self.command("git").args(["update-index", "--index-info"]).stdin(std::fs::File::open(list).unwrap()).status();
        assert!(added.unwrap().success());
    }

    /// Starts an operation on diverged branches and leaves it where it stops.
    pub fn stop_in(&self, operation: Operation) {
        self.diverge();
        let stopped = match operation {
            Operation::Merge => self.try_git(["merge", "side"]),
            Operation::Rebase => self.try_git(["rebase", "side"]),
            Operation::RebaseApply => self.try_git(["rebase", "--apply", "side"]),
            Operation::CherryPick => self.try_git(["cherry-pick", "side"]),
            Operation::Revert => {
                self.write("f", "later\n");
                self.commit("later");
                self.try_git(["revert", "--no-edit", "HEAD~1"])
            }
            Operation::Am => {
                self.run(["format-patch", "-q", "-1", "side", "-o", "../patches"]);
                self.try_git(["am", "-q", "../patches/0001-side.patch"])
            }
            Operation::Bisect => self.try_git(["bisect", "start", "HEAD", "HEAD~1"]),
            Operation::MergeWithoutConflict => {
                self.run(["checkout", "-q", "-b", "clean", "HEAD~1"]);
                self.write("only-here", "x\n");
                self.commit("clean");
                self.try_git(["merge", "-q", "--no-commit", "side"])
            }
        };
        let clean = matches!(operation, Operation::Bisect | Operation::MergeWithoutConflict);
        assert_eq!(stopped.code() == Some(0), clean, "{operation:?}: {stopped}");
    }
}
