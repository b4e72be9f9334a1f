//! What other processes write while a restore is at work is somewhere afterwards, whatever the restore came to.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Output, TestRepo};

/// To be replaced, to be deleted and to be made by a restore of `A`.
const PATHS: [&str; 3] = ["a", "x", "made"];

fn scene() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a", "A\n");
    repo.write("made", "A\n");
    repo.commit("two files");
    repo.save("A");
    repo
}

/// Brings the worktree to a state from which the restore has to replace, delete and make files.
fn reset(repo: &TestRepo) {
    PATHS.iter().filter(|path| repo.exists(path)).for_each(|path| repo.remove(path));
    repo.write("a", "mine\n");
    repo.write("x", "mine too\n");
}

/// A restore of `A` that stops at some of its points.
struct Held(Child);

impl Held {
    /// `also` are further orders for `sys::fault`.
    fn start(repo: &TestRepo, also: &str, points: &[usize]) -> Held {
        let orders: Vec<String> = points.iter().map(|point| format!("hold:{point}")).chain([also.to_owned()]).collect();
        let mut command = repo.program();
        command.args(["restore", "--yes", "A"]).env("GIT_CHECKPOINT_FAULT", orders.join(","));
        Held(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// True once it is stopped, false if it came to its end.
    fn is_stopped(&mut self) -> bool {
        let until = Instant::now() + Duration::from_secs(60);
        while self.0.try_wait().unwrap().is_none() {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
            if stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T")) {
                return true;
            }
            assert!(Instant::now() < until, "neither stopped nor ended");
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    fn go_on(&self) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        kill_process(pid, Signal::CONT).unwrap();
    }

    fn end(self) -> std::process::Output {
        self.go_on();
        self.0.wait_with_output().unwrap()
    }
}

/// True if a file in the worktree or among the rescued ones has `content`, or one in a checkpoint.
fn is_kept(repo: &TestRepo, content: &str) -> bool {
    fn is_below(folder: &Path, content: &str) -> bool {
        fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
            let path = entry.path();
            match path.is_dir() {
                true => entry.file_name() != ".git" && is_below(&path, content),
                false => fs::read_to_string(&path).is_ok_and(|text| text.contains(content)),
            }
        })
    }
    let in_checkpoint = || {
        let refs = repo.checkpoint_refs();
        let args = ["grep", "-q", "-F", content.trim_end()].into_iter().map(str::to_owned).chain(refs);
        repo.try_git(args).code() == Some(0)
    };
    is_below(repo.top(), content) || is_below(&repo.git_dir().join("checkpoint/rescued"), content) || in_checkpoint()
}

/// Writes as an editor does that puts a new file in place of the old one.
fn replace(repo: &TestRepo, path: &str, content: &str) {
    let beside = repo.git_dir().join("beside");
    fs::write(&beside, content).unwrap();
    fs::rename(beside, repo.path(path)).unwrap();
}

/// Lets `act` happen at each point of a restore in turn, to each path; all that it says it wrote must be somewhere.
fn at_every_point(act: impl Fn(&TestRepo, &str, &str, Option<&mut File>) -> bool) {
    // Also where a file system cannot exchange files.
    ["", "plain:1"].iter().for_each(|also| at_points(also, &act));
}

fn at_points(also: &str, act: &impl Fn(&TestRepo, &str, &str, Option<&mut File>) -> bool) {
    let repo = scene();
    for point in 1..200 {
        reset(&repo);
        let mut open: Vec<Option<File>> =
            PATHS.iter().map(|path| OpenOptions::new().append(true).open(repo.path(path)).ok()).collect();
        let mut held = Held::start(&repo, also, &[point]);
        if !held.is_stopped() {
            return;
        }
        let content = |path: &str| format!("{path} at {point}.\n");
        let mut wrote = |at: usize| act(&repo, PATHS[at], &content(PATHS[at]), open[at].as_mut());
        let written: Vec<&str> = (0..PATHS.len()).filter(|at| wrote(*at)).map(|at| PATHS[at]).collect();
        let output = held.end();
        for path in written {
            let talk = String::from_utf8_lossy(&output.stderr);
            assert!(is_kept(&repo, &content(path)), "lost: {path} at point {point} {also}, {:?}: {talk}", output.status);
        }
    }
}

#[test]
fn what_is_written_through_a_handle_opened_before_is_kept() {
    at_every_point(|_, _, content, open| {
        // Once the restore is over the file may have no name any more.
        let open = open.filter(|open| open.metadata().unwrap().nlink() > 0);
        open.is_some_and(|open| open.write_all(content.as_bytes()).is_ok())
    });
}

#[test]
fn what_is_written_into_the_files_is_kept() {
    at_every_point(|repo, path, content, _| {
        repo.write(path, content);
        true
    });
}

#[test]
fn what_is_put_in_place_of_the_files_is_kept() {
    at_every_point(|repo, path, content, _| {
        replace(repo, path, content);
        true
    });
}

#[test]
fn of_two_edits_the_later_one_is_at_the_path_and_the_earlier_one_is_kept() {
    let repo = scene();
    for point in 1..200 {
        reset(&repo);
        let mut held = Held::start(&repo, "", &[point, point + 1]);
        if !held.is_stopped() {
            return;
        }
        let (first, second) = (format!("first at {point}.\n"), format!("second at {point}\n"));
        PATHS.iter().for_each(|path| repo.write(path, &first));
        held.go_on();
        if !held.is_stopped() {
            continue;
        }
        let visible = PATHS.map(|path| repo.exists(path) && repo.read(path) == first);
        PATHS.iter().for_each(|path| replace(&repo, path, &second));
        let output = held.end();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            continue;
        }
        for (path, visible) in PATHS.iter().zip(visible) {
            assert_eq!(repo.read(path), second, "{path} at {point}: {talk}");
            // What was at the path was overwritten by the editor itself.
            assert!(visible || is_kept(&repo, &first), "lost: {path} at {point}: {talk}");
        }
    }
}

#[test]
fn the_place_of_what_is_kept_is_told() {
    let repo = scene();
    for point in 1..200 {
        reset(&repo);
        let mut open = OpenOptions::new().append(true).open(repo.path("x")).unwrap();
        let mut held = Held::start(&repo, "", &[point]);
        assert!(held.is_stopped(), "at no point the deleted file is aside");
        if repo.exists("x") {
            held.end();
            continue;
        }
        open.write_all(b"late\n").unwrap();
        repo.write("x", "made anew\n");
        let output = held.end();
        let talk = String::from_utf8_lossy(&output.stderr);
        let place = talk.split('`').find(|part| part.contains("/rescued/")).expect("a place is told");
        assert_eq!(fs::read_to_string(place).unwrap(), "mine too\nlate\n", "{talk}");
        assert_eq!(repo.read("x"), "made anew\n");
        let listed = Output::of(repo.program().arg("list"));
        assert_eq!(listed.code(), Some(0), "{listed}");
        return;
    }
}
