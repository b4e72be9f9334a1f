//! A worktree that changes at random, from a seed: files, links, folders, modes, ignore rules, the index and commits.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::support::{Random, TestRepo, raw};

/// Few names, so that paths meet again and turn into other types; some of them odd, some matched by the rules below.
const NAMES: [&[u8]; 12] =
    [b"a", b"b", b"c", b"d e", b"f.log", b"g.log", b"build", b"\xff\xfe", b"new\nline", b"-n", "\u{fc}".as_bytes(), b"*.log"];

const RULES: [&str; 8] = ["*.log\n", "build\n", "build/\n!f.log\n", "/a/\n", "*\n!*/\n!.gitignore\n", "", "!g.log\n", "**/b/c\n"];

const ATTRIBUTES: [&str; 6] = ["* text=auto\n", "*.log eol=crlf\n", "a text\nb -text\n", "c ident\n", "", "build text eol=lf\n"];

/// Which actions there are besides the common ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tricks {
    /// None.
    None,
    /// Edits that neither size nor time tells. Git, which looks at whole seconds, misses some of them.
    Unseen,
    /// Attributes that change what is recorded.
    Conversions,
}

/// A repository under random change. Tells its seed and its story if the test fails.
pub struct World {
    /// The repository.
    pub repo: TestRepo,
    /// Where chance comes from.
    pub random: Random,
    tricks: Tricks,
    seed: u64,
    story: Vec<String>,
}

impl World {
    /// Starts a world from `seed`.
    pub fn new(seed: u64, tricks: Tricks) -> Self {
        let mut random = Random::new(seed);
        let repo = if random.one_in(4) { TestRepo::sha256() } else { TestRepo::new() };
        if random.one_in(6) {
            repo.config("core.fileMode", "false");
        }
        let version = random.pick(&["2", "2", "4"]);
        repo.config("index.version", version);
        World { repo, random, tricks, seed, story: Vec::new() }
    }

    /// Notes a step for the story.
    pub fn tell(&mut self, step: impl Into<String>) {
        self.story.push(step.into());
    }

    /// Makes between one and `most` random changes.
    pub fn change(&mut self, most: usize) {
        for _ in 0..=self.random.below(most) {
            match self.random.below(20) {
                0 if self.tricks == Tricks::Unseen => self.edit_unseen(),
                1 if self.tricks == Tricks::Unseen => self.replace_by_copy(),
                2 if self.tricks == Tricks::Unseen => self.flag(),
                0..=6 => self.write(),
                7 | 8 => self.remove(),
                9 => self.link(),
                10 => self.turn_executable(),
                11 | 12 => self.rename(),
                13 => self.make_folder(),
                14 => self.change_rules(),
                15 if self.tricks == Tricks::Conversions => self.change_attributes(),
                15 | 16 => self.stage_some(),
                17 => self.change_index(),
                _ => self.commit_or_stage_all(),
            }
        }
    }

    fn some_path(&mut self) -> OsString {
        let mut path = raw(self.random.pick(&NAMES)).to_owned();
        for _ in 0..self.random.below(3) {
            path.push("/");
            path.push(raw(self.random.pick(&NAMES)));
        }
        path
    }

    /// A path where something stands already, if there is one: a file or link, or any entry.
    fn existing(&mut self, files_only: bool) -> Option<OsString> {
        let mut found = Vec::new();
        collect(self.repo.top(), self.repo.top(), files_only, &mut found);
        // Git itself is of two minds about attributes that were deleted: whose path comes before theirs still has them.
        found.retain(|path| self.tricks != Tricks::Conversions || !holds_attributes(&self.repo.path(path)));
        found.sort();
        (!found.is_empty()).then(|| self.random.pick(&found))
    }

    /// A path of the index where nothing stands, if there is one.
    fn absent(&mut self) -> Option<OsString> {
        let tracked = self.repo.git(["ls-files", "-z"]).stdout;
        let absent = |path: &&[u8]| !path.is_empty() && !self.repo.exists(raw(path));
        let absent: Vec<_> = tracked.split(|byte| *byte == 0).filter(absent).collect();
        (!absent.is_empty()).then(|| raw(self.random.pick(&absent)).to_owned())
    }

    fn content(&mut self) -> Vec<u8> {
        // Few contents of few lengths, so that edits of the same size are common.
        let letter = self.random.pick(b"abcdef");
        let line_end: &[u8] = if self.random.one_in(3) { b"\r\n" } else { b"\n" };
        let mut content = [&[letter; 8], line_end].concat().repeat(self.random.below(4));
        if self.random.one_in(12) {
            content.extend_from_slice(b"\0$Id$\n");
        }
        content
    }

    /// Clears the way for something at `path`: whatever stands there or at a parent goes, if it is of another type.
    fn clear_way(&mut self, path: &OsString) {
        let mut parent = PathBuf::new();
        for component in Path::new(path).parent().into_iter().flat_map(Path::components) {
            parent.push(component);
            if self.repo.exists(&parent) && !self.repo.path(&parent).symlink_metadata().unwrap().is_dir() {
                self.repo.remove(&parent);
            }
        }
        if self.repo.exists(path) {
            self.repo.remove(path);
        }
    }

    fn write(&mut self) {
        let path = match self.random.below(6) {
            0..=2 => self.existing(true),
            3 => self.absent(),
            _ => None,
        };
        let path = path.unwrap_or_else(|| self.some_path());
        let content = self.content();
        self.tell(format!("write {path:?} {content:?}"));
        let in_place = self.repo.path(&path).symlink_metadata().is_ok_and(|meta| meta.is_file());
        if !in_place {
            self.clear_way(&path);
        }
        self.repo.write(&path, content);
    }

    /// Changes the content of a file without changing its size or its modification time.
    fn edit_unseen(&mut self) {
        let Some(path) = self.existing(true) else { return };
        if self.repo.link_target(&path).is_some() {
            return;
        }
        self.tell(format!("edit {path:?} keeping size and time"));
        let time = self.repo.mtime(&path);
        let content: Vec<u8> =
            self.repo.bytes(&path).iter().map(|byte| if byte.is_ascii_lowercase() { byte ^ 1 } else { *byte }).collect();
        self.repo.write(&path, content);
        self.repo.set_mtime(&path, time);
    }

    fn remove(&mut self) {
        let Some(path) = self.existing(false) else { return };
        self.tell(format!("remove {path:?}"));
        self.repo.remove(&path);
    }

    fn link(&mut self) {
        let (path, target) = (self.some_path(), self.some_path());
        self.tell(format!("link {path:?} -> {target:?}"));
        self.clear_way(&path);
        self.repo.symlink(&target, &path);
    }

    fn turn_executable(&mut self) {
        let Some(path) = self.existing(true) else { return };
        if self.repo.link_target(&path).is_none() {
            let mode = if self.repo.is_executable(&path) { 0o644 } else { 0o755 };
            self.tell(format!("chmod {mode:o} {path:?}"));
            self.repo.chmod(&path, mode);
        }
    }

    fn rename(&mut self) {
        let Some(from) = self.existing(false) else { return };
        let to = self.some_path();
        let within = Path::new(&to).starts_with(&from) || Path::new(&from).starts_with(&to);
        if within {
            return;
        }
        self.clear_way(&to);
        if !self.repo.exists(&from) {
            return;
        }
        self.tell(format!("rename {from:?} to {to:?}"));
        std::fs::create_dir_all(self.repo.path(&to).parent().unwrap()).unwrap();
        std::fs::rename(self.repo.path(&from), self.repo.path(&to)).unwrap();
    }

    /// Replaces a file by a new one with another file's content, under the old time: another inode, nothing else to see.
    fn replace_by_copy(&mut self) {
        let (Some(path), Some(other)) = (self.existing(true), self.existing(true)) else { return };
        if self.repo.link_target(&path).is_some() || self.repo.link_target(&other).is_some() {
            return;
        }
        self.tell(format!("replace {path:?} by a copy of {other:?}"));
        let (time, content) = (self.repo.mtime(&path), self.repo.bytes(&other));
        let aside = self.repo.env().root().join("aside");
        std::fs::write(&aside, content).unwrap();
        std::fs::rename(aside, self.repo.path(&path)).unwrap();
        self.repo.set_mtime(&path, time);
    }

    fn make_folder(&mut self) {
        let path = self.some_path();
        self.tell(format!("folder {path:?}"));
        self.clear_way(&path);
        self.repo.mkdir(&path);
    }

    /// A path for a file of settings, at the top or in a folder that exists.
    fn settings_file(&mut self, name: &str) -> OsString {
        let folder = self.existing(false).filter(|path| self.repo.path(path).symlink_metadata().is_ok_and(|meta| meta.is_dir()));
        let path = folder.map(|folder| Path::new(&folder).join(name).into_os_string()).unwrap_or_else(|| name.into());
        if self.repo.exists(&path) && !self.repo.path(&path).symlink_metadata().unwrap().is_file() {
            self.repo.remove(&path);
        }
        path
    }

    fn change_rules(&mut self) {
        let (path, rules) = (self.settings_file(".gitignore"), self.random.pick(&RULES));
        self.tell(format!("ignore {path:?} {rules:?}"));
        self.repo.write(path, rules);
    }

    fn change_attributes(&mut self) {
        let (path, rules) = (self.settings_file(".gitattributes"), self.random.pick(&ATTRIBUTES));
        self.tell(format!("attributes {path:?} {rules:?}"));
        self.repo.write(path, rules);
    }

    /// Runs git on one path; that it refuses some is part of the game.
    fn git_on(&mut self, words: &[&str], path: &OsString) {
        let mut args: Vec<OsString> = vec!["--literal-pathspecs".into()];
        args.extend(words.iter().map(Into::into));
        args.extend(["--".into(), path.clone()]);
        let code = self.repo.try_git(&args).code();
        self.tell(format!("git {} {path:?}: {code:?}", words.join(" ")));
    }

    fn stage_some(&mut self) {
        let Some(path) = self.existing(false) else { return };
        let words: &[&str] = self.random.pick(&[&["add"] as &[&str], &["add"], &["add", "-f"], &["add", "-N"]]);
        // Of an entry that is only meant to be added, a checkpoint keeps the path: any other mode than the usual one is lost.
        let plain = |path: &OsString| {
            let meta = self.repo.path(path).symlink_metadata().unwrap();
            meta.is_file() && !self.repo.is_executable(path)
        };
        if !words.contains(&"-N") || plain(&path) {
            self.git_on(words, &path);
        }
    }

    fn change_index(&mut self) {
        let tracked = self.repo.git(["ls-files", "-z"]).stdout;
        // Nothing on entries without content, which may be only meant to be added.
        let full = |path: &&[u8]| !path.is_empty() && self.repo.staged_size(raw(path)) > 0;
        let tracked: Vec<_> = tracked.split(|byte| *byte == 0).filter(full).collect();
        if tracked.is_empty() {
            return;
        }
        let path = raw(self.random.pick(&tracked)).to_owned();
        let words: &[&str] =
            self.random.pick(&[&["rm", "-q", "--cached", "-f"] as &[&str], &["reset", "-q"], &["update-index", "--chmod=+x"]]);
        self.git_on(words, &path);
    }

    /// Sets or clears a flag of an entry, and often takes its file away.
    fn flag(&mut self) {
        let tracked = self.repo.git(["ls-files", "-z"]).stdout;
        let tracked: Vec<_> = tracked.split(|byte| *byte == 0).filter(|path| !path.is_empty() && path.is_ascii()).collect();
        if tracked.is_empty() {
            return;
        }
        let path = raw(self.random.pick(&tracked)).to_owned();
        let flags = ["--assume-unchanged", "--skip-worktree", "--no-assume-unchanged", "--no-skip-worktree"];
        let flag = self.random.pick(&flags);
        self.git_on(&["update-index", flag], &path);
        if self.random.one_in(2) && self.repo.exists(&path) {
            self.tell(format!("remove {path:?}"));
            self.repo.remove(&path);
        }
    }

    fn commit_or_stage_all(&mut self) {
        if self.random.one_in(3) {
            self.tell("commit");
            self.repo.run(["commit", "-q", "--allow-empty", "-m", "step"]);
        } else {
            self.tell("add -A");
            self.repo.run(["add", "-A"]);
        }
    }
}

/// True for a file of attributes and a folder with one below it.
fn holds_attributes(path: &Path) -> bool {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return path.read_dir().unwrap().any(|item| holds_attributes(&item.unwrap().path()));
    }
    path.file_name().is_some_and(|name| name == ".gitattributes")
}

/// Gathers what stands below `folder`, as paths from `top`.
fn collect(top: &Path, folder: &Path, files_only: bool, found: &mut Vec<OsString>) {
    for path in folder.read_dir().unwrap().map(|item| item.unwrap().path()) {
        let relative = path.strip_prefix(top).unwrap();
        if relative == Path::new(".git") {
            continue;
        }
        let is_folder = path.symlink_metadata().unwrap().is_dir();
        if !(is_folder && files_only) {
            found.push(relative.as_os_str().to_owned());
        }
        if is_folder {
            collect(top, &path, files_only, found);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            use std::io::Write;
            // Straight to the terminal: the harness shows it with or without its capture.
            let _ = writeln!(std::io::stderr(), "seed {} told this story:\n  {}", self.seed, self.story.join("\n  "));
        }
    }
}
