//! Two commits made by the real git, and generated contents, for unit tests.

use std::path::Path;

use super::{Comparison, Format};
use crate::git::{Objects, Repo};
use crate::ops::testing::git;

/// A repository with two commits, tagged `old` and `new`; it goes away with the value.
pub(crate) struct TwoCommits {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) repo: Repo,
}

impl TwoCommits {
    /// Commits what `old` leaves in the folder, then what `new` makes of it.
    pub(crate) fn new(old: impl FnOnce(&Path), new: impl FnOnce(&Path)) -> TwoCommits {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        git(path, &["init", "-q", "-b", "main"]);
        // What a background process packs or removes meanwhile is none of a test's business.
        git(path, &["config", "gc.auto", "0"]);
        for (tag, change) in [("old", Box::new(old) as Box<dyn FnOnce(&Path)>), ("new", Box::new(new))] {
            change(path);
            git(path, &["add", "-A"]);
            git(path, &["commit", "-q", "--allow-empty", "-m", tag]);
            git(path, &["tag", tag]);
        }
        let repo = Repo::open(path).unwrap();
        TwoCommits { folder, repo }
    }

    /// The two commits, each with one file `file` of this content.
    pub(crate) fn of_file(old: &[u8], new: &[u8]) -> TwoCommits {
        let write = |content: &[u8]| {
            let content = content.to_vec();
            move |folder: &Path| std::fs::write(folder.join("file"), content).unwrap()
        };
        TwoCommits::new(write(old), write(new))
    }

    /// Our comparison of the two commits.
    pub(crate) fn compare(&self, pathspecs: &[&str]) -> Comparison {
        let trees = (self.repo.tree_named("old").unwrap(), self.repo.tree_named("new").unwrap());
        let pathspecs = pathspecs.iter().map(|spec| (*spec).into()).collect();
        Comparison::new(&self.repo, Objects::new(self.repo.gix(), Default::default()), trees, pathspecs).unwrap()
    }

    /// Our patch.
    pub(crate) fn patch(&self, format: &Format) -> String {
        let mut patch = Vec::new();
        let comparison = self.compare(&[]);
        comparison
            .patch(&self.repo, format, |piece| {
                patch.extend_from_slice(piece);
                true
            })
            .unwrap();
        String::from_utf8_lossy(&patch).into_owned()
    }

    /// What git prints, to the last byte.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        // The runner cuts white space off the end, so let there be something else.
        let output =
            git(self.folder.path(), &[&["-c", "alias.ended=!f() { git \"$@\"; echo END; }; f", "ended"], arguments].concat());
        output.strip_suffix("END").unwrap().to_owned()
    }

    /// What `git diff` says to the same.
    pub(crate) fn judge(&self, options: &[&str]) -> String {
        self.git(&[&["diff"], options, &["old", "new", "--"]].concat())
    }
}

/// Fails with the first line that differs.
pub(crate) fn assert_same_lines(ours: &str, gits: &str, what: &str) {
    let mut lines = std::iter::zip(ours.split('\n'), gits.split('\n')).enumerate();
    if let Some((number, (our, git))) = lines.find(|(_, (our, git))| our != git) {
        panic!("{what}, line {number}:\n ours {our:?}\ngit's {git:?}");
    }
    assert_eq!(ours.len(), gits.len(), "{what}");
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }

    /// One of the choices.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Lines that look like source code, many of them more than once.
    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        let pool: Vec<String> = (0..count / 3 + 2).map(|_| self.line()).collect();
        (0..count).map(|_| if self.below(3) > 0 { pool[self.below(pool.len())].clone() } else { self.line() }).collect()
    }

    fn line(&mut self) -> String {
        const WORDS: [&str; 12] = ["let", "if", "for", "self", "name", "count", "=", "+", "(x)", "&y", "end", "é"];
        let indent = self.pick(&["", "", "    ", "        ", "\t", "\t\t", "  "]);
        match self.below(10) {
            0 => String::new(),
            1 => indent.to_owned(),
            2 | 3 => format!("{indent}{}", self.pick(&["}", "{", "});", "else {", "return;"])),
            4 => format!("fn {}_{}() {{", self.pick(&WORDS), self.below(30)),
            _ => {
                let words: Vec<&str> = (0..=self.below(5)).map(|_| self.pick(&WORDS)).collect();
                format!("{indent}{}{}", words.join(" "), self.pick(&["", "", ";", ",", " "]))
            }
        }
    }

    /// The lines after a few edits as people make them: some removed, added, moved, repeated, indented.
    pub(crate) fn edited(&mut self, lines: &[String], edits: usize) -> Vec<String> {
        let mut lines = lines.to_vec();
        for _ in 0..edits {
            let at = self.below(lines.len() + 1);
            let end = (at + 1 + self.below(6)).min(lines.len());
            match self.below(8) {
                0 => drop(lines.drain(at..end)),
                1 => lines.splice(at..at, self.lines(end - at + 1)).for_each(drop),
                2 => {
                    let block: Vec<String> = lines.drain(at..end).collect();
                    let to = self.below(lines.len() + 1);
                    lines.splice(to..to, block).for_each(drop);
                }
                3 => {
                    let block = lines[at..end].to_vec();
                    lines.splice(at..at, block).for_each(drop);
                }
                4 => lines[at..end].iter_mut().for_each(|line| line.insert_str(0, "    ")),
                5 => lines.insert(at, String::new()),
                6 => lines[at..end].iter_mut().for_each(|line| line.push('x')),
                _ => lines.splice(at..end, self.lines(2)).for_each(drop),
            }
        }
        lines
    }

    /// The lines as bytes, now and then with other line ends or without the last one.
    pub(crate) fn bytes(&mut self, lines: &[String]) -> Vec<u8> {
        let end = if self.below(12) == 0 { "\r\n" } else { "\n" };
        let mut text = lines.join(end);
        if self.below(6) > 0 && !lines.is_empty() {
            text.push_str(end);
        }
        text.into_bytes()
    }
}
