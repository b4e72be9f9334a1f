//! The screen, driven by keys at a terminal of 80 columns and 24 lines.
//!
//! What is expected lies beside this file, in `screens`: `SNAPSHOTS=overwrite cargo test` writes it anew.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Terminal, TestRepo, tools};

/// A session with four checkpoints: its baseline, `first`, `second` with a file more, `third` with an edit.
fn four() -> TestRepo {
    let repo = TestRepo::new();
    repo.checkpoint(["session", "start", "-q", "work"]).success();
    repo.save("first");
    repo.write("new", "one\ntwo\n");
    repo.save("second");
    repo.write("f", "changed\n");
    repo.save("third");
    repo
}

/// A screen that is driven.
struct Driven<'a> {
    repo: &'a TestRepo,
    terminal: Terminal<'a>,
}

impl<'a> Driven<'a> {
    fn open(repo: &'a TestRepo, command: &str) -> Driven<'a> {
        let line = format!("sh -c 'sh -c \"echo \\$\\$ >../pid; exec git-checkpoint {command}\"; echo ended=$?; sleep 60'");
        let terminal = Terminal::sized(repo.env(), repo.top(), &line, (80, 24));
        Driven { repo, terminal }
    }

    fn press(&self, keys: &[&str]) {
        keys.iter().for_each(|key| self.terminal.press(key));
    }

    /// Closes what stands over the screen, and leaves.
    fn leave(&self) {
        self.press(&["Escape"]);
        self.terminal.wait_for("that it is closed", |screen| !screen.contains('└'));
        self.press(&["q"]);
    }

    /// The screen without what is another one every time.
    fn screen(&self) -> String {
        // The path of the test's folder, which has the same length every time.
        let root = self.repo.env().root().to_str().unwrap().to_owned();
        let screen = self.terminal.screen();
        let lines = screen.lines().skip(1).map(|line| line.replace(&root, &format!("{:_<1$}", "<root>", root.len())));
        lines.map(|line| line.trim_end_matches([' ', '│']).to_owned() + "\n").collect()
    }

    /// Waits until all of `words` are there and the whole screen is as expected: it is drawn in parts, and what is beside the
    /// timeline is worked out meanwhile.
    #[track_caller]
    fn shows(&self, words: &[&str], name: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/verbs/screens/{name}.txt"));
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        let until = Instant::now() + Duration::from_secs(20);
        let mut screen = String::new();
        while Instant::now() < until {
            let now = self.screen();
            let is_whole = words.iter().all(|word| now.contains(word));
            if is_whole && (now == expected || (now == screen && std::env::var_os("SNAPSHOTS").is_some())) {
                screen = now;
                break;
            }
            screen = now;
            std::thread::sleep(Duration::from_millis(100));
        }
        let expected = snapbox::Data::read_from(&file, Some(snapbox::data::DataFormat::Text)).raw();
        snapbox::assert_data_eq!(screen, expected);
    }
}

#[test]
fn open_move_read_filter_and_compare() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = four();
    let screen = Driven::open(&repo, "browse");

    screen.shows(&["> * 4", "change of 4", "diff --git a/f"], "open");
    screen.press(&["j"]);
    screen.shows(&[">   3", "change of 3", "diff --git a/new"], "move");
    screen.press(&["/"]);
    screen.terminal.enter("first");
    screen.shows(&["first", "change of 2"], "filter");
    screen.press(&["Escape"]);
    // With what follows at once it would be another key.
    screen.terminal.wait_for("all of them", |screen| screen.contains("4 checkpoints"));
    screen.press(&["G", "m", "g"]);
    screen.shows(&["> * 4", "from 1 to 4"], "compare");
    screen.press(&["?"]);
    screen.shows(&["Esc closes"], "help");
    screen.leave();
    screen.terminal.wait_for("the end", |screen| screen.contains("ended=0"));
}

#[test]
fn a_restore_that_is_confirmed_and_its_undo() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = four();
    repo.write("f", "unsaved\n");
    // What a restore without a word opens is the same screen.
    let screen = Driven::open(&repo, "restore");

    screen.terminal.wait_for("the list", |screen| screen.contains("change of 4"));
    screen.press(&["G", "r"]);
    screen.shows(&["restore checkpoint 1", "y yes"], "restore_plan");
    screen.press(&["y"]);
    screen.shows(&["restored checkpoint 1", "verified"], "restored");
    assert_eq!((repo.read("f").as_str(), repo.exists("new")), ("1\n", false));
    screen.press(&["u"]);
    screen.shows(&["undo the last restore", "y yes"], "undo_plan");
    screen.press(&["y"]);
    screen.shows(&["undid the last restore"], "undone");
    assert_eq!((repo.read("f").as_str(), repo.read("new").as_str()), ("unsaved\n", "one\ntwo\n"));
    screen.leave();
    screen.terminal.wait_for("the end", |screen| screen.contains("ended=0"));
}

#[test]
fn a_restore_that_is_blocked_cannot_be_agreed_to() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = four();
    std::fs::write(repo.git_dir().join("MERGE_HEAD"), format!("{}\n", repo.git(["rev-parse", "HEAD"]).text())).unwrap();
    let screen = Driven::open(&repo, "browse");

    screen.terminal.wait_for("the list", |screen| screen.contains("change of 4"));
    screen.press(&["G", "r"]);
    screen.shows(&["operation-in-progress", "not available"], "blocked");
    screen.press(&["y"]);
    screen.leave();
    screen.terminal.wait_for("the end", |screen| screen.contains("ended=0"));
    assert_eq!((repo.read("f").as_str(), repo.read("new").as_str()), ("changed\n", "one\ntwo\n"));
}

#[test]
fn a_new_checkpoint_appears_by_itself_and_the_terminal_comes_back_after_a_signal() {
    if !tools::has("tmux", &["-V"]) {
        return;
    }
    let repo = TestRepo::new();
    let screen = Driven::open(&repo, "browse");
    screen.terminal.wait_for("that there is none", |screen| screen.contains("no checkpoint"));

    repo.save("fresh");
    screen.terminal.wait_for("the new one", |screen| screen.contains("fresh"));
    let pid = std::fs::read_to_string(repo.path("../pid")).unwrap().trim().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::TERM).unwrap();

    screen.terminal.wait_for("the end", |screen| screen.contains("ended=143") && !screen.contains("fresh"));
}

#[test]
fn without_a_terminal_there_is_no_screen() {
    let repo = four();

    repo.checkpoint(["browse"]).exits(128).says("terminal");
    repo.checkpoint(["restore"]).exits(129);
}
