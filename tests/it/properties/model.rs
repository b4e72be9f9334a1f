//! Saves, restores, undoes, redoes and edits in any order, beside a model of the worktree that is nothing but maps in memory.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Random, TestRepo};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File { content: String, executable: bool },
    Link(String),
}

/// What a checkpoint holds: the files, and the index as `git ls-files -s` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct State {
    files: BTreeMap<String, Node>,
    index: String,
}

/// A restore that was done: from a state, and where an undo has gone back from it to it, what it left.
struct Step {
    before: State,
    left_by_undo: Option<State>,
}

struct Model {
    repo: TestRepo,
    random: Random,
    now: State,
    saved: Vec<(String, State)>,
    steps: Vec<Step>,
    log: Vec<String>,
}

/// Few names, so that files, links and folders often take each other's place.
const PATHS: [&str; 14] = ["a", "a/b", "a/b/c", "b", "b/x", "c", "d/e", "d/e/f", "d/g", "é", "x y", "-dash", "b.x", "a-b"];

/// Plays `rounds` moves and compares after each.
pub fn agrees(seed: u64, rounds: usize) {
    let repo = TestRepo::new();
    let mut model = Model {
        now: State { files: files_of(repo.top()), index: String::new() },
        repo,
        random: Random::new(seed),
        saved: Vec::new(),
        steps: Vec::new(),
        log: vec![format!("seed {seed}")],
    };
    model.now.index = model.index();
    model.save();
    for _ in 0..rounds {
        match model.random.below(12) {
            0..5 => model.edit(),
            5 => model.stage(),
            6 | 7 => model.save(),
            8 | 9 => model.restore(),
            10 => model.undo(),
            _ => model.redo(),
        }
        model.compare();
    }
    model.repo.assert_sound();
}

impl Model {
    fn index(&self) -> String {
        self.repo.git(["ls-files", "-s"]).text()
    }

    fn edit(&mut self) {
        let path = self.random.pick(&PATHS).to_owned();
        self.log.push(format!("edit {path}"));
        if self.random.one_in(4) {
            self.clear(&path);
            let below = format!("{path}/");
            self.now.files.retain(|known, _| *known != path && !known.starts_with(&below));
            return;
        }
        // What stands in the way goes: a file where a folder must be, a folder where a file must be.
        let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
        for folder in above.into_iter().chain([path.as_str()]) {
            if self.now.files.contains_key(folder) || folder == path {
                self.clear(folder);
                let below = format!("{folder}/");
                self.now.files.retain(|known, _| known != folder && !(folder == path && known.starts_with(&below)));
            }
        }
        let node = if self.random.one_in(5) {
            let target = self.random.pick(&["a", "nowhere", "../outside", "d"]);
            self.repo.symlink(target, &path);
            Node::Link(target.to_owned())
        } else {
            let content = format!("{}\n", self.random.below(6)).repeat(self.random.below(3));
            let executable = self.random.one_in(4);
            self.repo.write(&path, &content);
            self.repo.chmod(&path, if executable { 0o755 } else { 0o644 });
            Node::File { content, executable }
        };
        self.now.files.insert(path, node);
    }

    fn clear(&self, path: &str) {
        if self.repo.exists(path) {
            self.repo.remove(path);
        }
    }

    fn stage(&mut self) {
        self.log.push("stage".to_owned());
        match self.random.below(3) {
            0 => self.repo.run(["add", "-A"]),
            1 => {
                let files: Vec<&String> = self.now.files.keys().collect();
                if let Some(file) = (!files.is_empty()).then(|| self.random.pick(&files)) {
                    self.repo.run(["add", "--", file]);
                }
            }
            _ => self.repo.run(["reset", "-q"]),
        }
        self.now.index = self.index();
    }

    fn save(&mut self) {
        let name = format!("s{}", self.saved.len());
        self.log.push(format!("save {name}"));
        self.repo.save(&name);
        self.saved.push((name, self.now.clone()));
    }

    fn restore(&mut self) {
        let (name, target) = self.random.pick(&self.saved.iter().map(|(n, s)| (n.clone(), s.clone())).collect::<Vec<_>>());
        self.log.push(format!("restore {name}"));
        self.repo.restore(&name);
        if target != self.now {
            self.steps.retain(|step| step.left_by_undo.is_none());
            self.steps.push(Step { before: std::mem::replace(&mut self.now, target), left_by_undo: None });
        }
    }

    fn undo(&mut self) {
        self.log.push("undo".to_owned());
        self.repo.undo();
        let Some(step) = self.steps.iter_mut().rev().find(|step| step.left_by_undo.is_none()) else { return };
        if step.before != self.now {
            step.left_by_undo = Some(std::mem::replace(&mut self.now, step.before.clone()));
        }
    }

    fn redo(&mut self) {
        self.log.push("redo".to_owned());
        self.repo.redo();
        let Some(step) = self.steps.iter_mut().find(|step| step.left_by_undo.is_some()) else { return };
        let Some(left) = step.left_by_undo.clone() else { return };
        if left != self.now {
            step.before = std::mem::replace(&mut self.now, left);
            step.left_by_undo = None;
        }
    }

    #[track_caller]
    fn compare(&self) {
        let last = || self.log[self.log.len().saturating_sub(25)..].join("\n");
        let files = files_of(self.repo.top());
        assert_eq!(files, self.now.files, "after:\n{}", last());
        assert_eq!(self.index(), self.now.index, "after:\n{}", last());
    }
}

/// Every file and link below `top`, without the git directory.
fn files_of(top: &Path) -> BTreeMap<String, Node> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            let meta = path.symlink_metadata().unwrap();
            if name == ".git" {
                continue;
            }
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_symlink() {
                found.insert(name, Node::Link(path.read_link().unwrap().to_str().unwrap().to_owned()));
            } else {
                let executable = meta.permissions().mode() & 0o100 != 0;
                found.insert(name, Node::File { content: std::fs::read_to_string(&path).unwrap(), executable });
            }
        }
    }
    found
}
