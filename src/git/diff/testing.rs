//! Two commits made by the real git, and generated contents, for unit tests.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{Comparison, Format, Paths, Scope};
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
        let specs = pathspecs.iter().map(|spec| (*spec).into()).collect();
        let paths = Paths { directory: self.folder.path().to_owned(), specs };
        self.compare_in(Scope { paths, ..Scope::default() })
    }

    /// The same for any scope.
    pub(crate) fn compare_in(&self, scope: Scope) -> Comparison {
        let trees = (self.repo.tree_named("old").unwrap(), self.repo.tree_named("new").unwrap());
        Comparison::new(&self.repo, Objects::new(self.repo.gix(), Default::default()), trees, scope).unwrap()
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

/// Makes a file, with the directories it needs.
pub(crate) fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Removes a file.
pub(crate) fn remove(folder: &Path, name: &str) {
    std::fs::remove_file(folder.join(name)).unwrap();
}

/// Changes of type and mode, odd names, binary and empty files.
pub(crate) fn odd_files() -> TwoCommits {
    TwoCommits::new(
        |folder| {
            for name in ["mode", "mode and text", "to link", "gone", "a\tb", "\"q\"", "é", "dir"] {
                write(folder, name, format!("{name}\nsecond\n"));
            }
            write(folder, "empty gone", "");
            write(folder, "bin", b"a\0b");
            write(folder, "bin same mode", b"a\0c");
            write(folder, "late nul", [&b"x\n".repeat(4000)[..], b"\0"].concat());
            symlink("somewhere", folder.join("link")).unwrap();
            symlink("somewhere", folder.join("to file")).unwrap();
        },
        |folder| {
            for name in ["mode", "mode and text", "bin same mode"] {
                std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o755)).unwrap();
            }
            for name in ["to link", "gone", "empty gone", "to file", "link", "dir"] {
                remove(folder, name);
            }
            for name in ["mode and text", "a\tb", "\"q\"", "é", "to file", "dir/inside", "new", "name with spaces"] {
                write(folder, name, format!("{name}\nother\n"));
            }
            write(folder, "empty new", "");
            write(folder, "bin", b"a\0bc");
            write(folder, "new bin", b"\0");
            write(folder, "late nul", [&b"y\n".repeat(4000)[..], b"\0"].concat());
            symlink("elsewhere", folder.join("link")).unwrap();
            symlink("somewhere", folder.join("to link")).unwrap();
        },
    )
}

/// Forty files, some of them much alike, in other places and edited.
pub(crate) fn moved_files(dice: &mut Dice) -> TwoCommits {
    let mut files: Vec<Vec<String>> = Vec::new();
    for _ in 0..40 {
        let size = dice.pick(&[0, 2, 8, 30, 90]);
        let file = match files.last() {
            Some(last) if dice.below(3) == 0 => dice.edited(&last.clone(), 3),
            _ => dice.lines(size),
        };
        files.push(file);
    }
    let names = ["mod.rs", "lib.rs", "a.c", "b.c", "Makefile", "x"];
    let place = |dice: &mut Dice| format!("{}/{}", dice.pick(&["a", "b", "a/c", "d/e"]), dice.pick(&names));
    let old: Vec<(String, Vec<u8>)> = files.iter().map(|file| (place(dice), dice.bytes(file))).collect();
    let moved = |file: &Vec<String>| {
        let edits = dice.pick(&[0, 1, 4, 12]);
        let file = dice.edited(file, edits);
        (place(dice).replace('/', "_/"), dice.bytes(&file))
    };
    let new: Vec<(String, Vec<u8>)> = files.iter().map(moved).collect();
    TwoCommits::new(
        |folder| old.iter().for_each(|(name, content)| write(folder, name, content)),
        |folder| {
            old.iter().for_each(|(name, _)| drop(std::fs::remove_file(folder.join(name))));
            new.iter().for_each(|(name, content)| write(folder, name, content));
        },
    )
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
