//! Every key of the configuration: what it does when it is set in a file and with `git -c`, and what a wrong value is told.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use crate::support::{Output, TestRepo};

/// How a key is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Not at all.
    Unset,
    /// `git config <key> <value>`.
    File,
    /// `git config --global <key> <value>`.
    Global,
    /// `git -c <key>=<value> checkpoint …`.
    CommandLine,
}

/// A repository in which a key is set in one of the ways.
struct Setting<'a> {
    repo: TestRepo,
    key: &'a str,
    value: &'a str,
    way: Way,
}

impl Setting<'_> {
    fn set(&self) {
        match self.way {
            Way::Unset | Way::CommandLine => {}
            Way::File => self.repo.config(self.key, self.value),
            Way::Global => self.repo.env().global_config(self.key, self.value),
        }
    }

    /// Runs `git checkpoint …` so many days after the clock of the tests started.
    fn on_day(&self, day: i64, args: &[&str]) -> Output {
        let mut command = self.repo.command("git");
        if self.way == Way::CommandLine {
            command.arg("-c").arg(format!("{}={}", self.key, self.value));
        }
        let moment = 1_735_689_600_000 + day * 24 * 3600 * 1000;
        Output::of(command.env("GIT_CHECKPOINT_NOW", moment.to_string()).arg("checkpoint").args(args))
    }

    fn run(&self, args: &[&str]) -> Output {
        self.on_day(0, args)
    }

    /// Saves three states, each a day after the one before.
    fn save_three(&self) {
        for (day, content) in (0..).zip(["1", "22", "333"]) {
            self.repo.write("f", content);
            self.on_day(day, &["save", "-q"]).success();
        }
    }

    fn holds(&self, path: &str) -> String {
        self.run(&["save", "-q", "--name", "A"]).success();
        self.repo.holds("A", path).to_string()
    }

    /// A restore of what was before an edit, as a document.
    fn restored(&self) -> serde_json::Value {
        self.run(&["save", "-q", "--name", "A"]).success();
        self.repo.write("f", "edited\n");
        self.run(&["restore", "--yes", "--json", "A"]).json()
    }
}

/// A key with a value, what is seen of it, and how that looks without and with the value.
struct Key {
    key: &'static str,
    value: &'static str,
    seen: fn(&Setting<'_>) -> String,
    unset: &'static str,
    set: &'static str,
    wrong: &'static [&'static str],
}

const KEYS: [Key; 17] = [
    Key {
        key: "checkpoint.enabled",
        value: "false",
        seen: |s| {
            s.run(&["save", "-q", "--allow-empty"]).success();
            s.repo.checkpoint_refs().len().to_string()
        },
        unset: "1",
        set: "0",
        wrong: &["maybe", "2x"],
    },
    Key {
        key: "checkpoint.maxFileSize",
        value: "1k",
        seen: |s| {
            s.repo.write("big", [b'x'; 5000]);
            s.holds("big")
        },
        unset: "true",
        set: "false",
        wrong: &["big", "-1", "1x", "", "99999999999999999999"],
    },
    Key {
        key: "checkpoint.exclude",
        value: "*.tmp",
        seen: |s| {
            s.repo.write("scratch.tmp", "x");
            s.holds("scratch.tmp")
        },
        unset: "true",
        set: "false",
        wrong: &[":(nonsense)x", ""],
    },
    Key {
        key: "checkpoint.allowHome",
        value: "true",
        seen: |s| {
            let home = s.repo.env().home();
            s.repo.git([OsStr::new("init"), OsStr::new("-q"), home.as_os_str()]).success();
            let at_home = Setting { repo: s.repo.at("../home"), ..*s };
            at_home.set();
            at_home.run(&["save", "-q", "--allow-empty"]).code().unwrap().to_string()
        },
        unset: "128",
        set: "0",
        wrong: &["perhaps"],
    },
    Key {
        key: "checkpoint.lockTimeout",
        value: "300ms",
        seen: |s| {
            s.run(&["save", "-q", "--name", "A"]).success();
            s.repo.write("f", "edited\n");
            s.repo.write(".git/index.lock", "");
            let start = Instant::now();
            let wait: &[&str] = if s.way == Way::Unset { &["--wait", "2s"] } else { &[] };
            s.run(&[&["restore", "-y", "A"], wait].concat()).exits(5);
            let waited = start.elapsed();
            if waited > Duration::from_secs(2) { "long" } else { "briefly" }.to_owned()
        },
        unset: "long",
        set: "briefly",
        wrong: &["soon", "-1s", "5y", ""],
    },
    Key {
        key: "checkpoint.restore.mainWorktree",
        value: "refuse",
        seen: |s| s.restored()["status"].as_str().unwrap().to_owned(),
        unset: "restored",
        set: "refused",
        wrong: &["no", "Refuse", ""],
    },
    Key {
        key: "checkpoint.restore.what",
        // The checkpoint is of no agent, and has no memory that could come back.
        value: "memory",
        seen: |s| s.restored()["status"].as_str().unwrap().to_owned(),
        unset: "restored",
        set: "refused",
        wrong: &["everything", "Code", ""],
    },
    Key {
        key: "checkpoint.restore.verify",
        value: "false",
        seen: |s| s.restored()["code"]["verified"].to_string(),
        unset: "true",
        set: "false",
        wrong: &["often"],
    },
    Key {
        key: "checkpoint.statCache",
        value: "false",
        seen: |s| {
            s.run(&["save", "-q", "--allow-empty"]).success();
            s.repo.exists(".git/checkpoint/stat").to_string()
        },
        unset: "true",
        set: "false",
        wrong: &["sometimes"],
    },
    Key {
        key: "checkpoint.keepLast",
        value: "1",
        seen: |s| {
            s.save_three();
            s.on_day(2, &["prune", "-q"]).success();
            s.repo.checkpoint_refs().len().to_string()
        },
        unset: "3",
        set: "1",
        wrong: &["many", "-1", "", "1.5"],
    },
    Key {
        key: "checkpoint.maxAge",
        value: "36h",
        seen: |s| {
            s.save_three();
            s.on_day(3, &["prune", "-q"]).success();
            s.repo.checkpoint_refs().len().to_string()
        },
        unset: "3",
        set: "1",
        wrong: &["90", "3m", "old", "-1d", ""],
    },
    Key {
        key: "checkpoint.maxSize",
        value: "1",
        seen: |s| {
            s.save_three();
            s.on_day(2, &["prune", "-q"]).success();
            s.repo.checkpoint_refs().len().to_string()
        },
        unset: "3",
        set: "1",
        wrong: &["huge", "-5", ""],
    },
    Key {
        key: "checkpoint.autoPrune",
        value: "false",
        seen: |s| {
            s.repo.config("checkpoint.keepLast", "1");
            s.save_three();
            s.repo.checkpoint_refs().len().to_string()
        },
        unset: "1",
        set: "3",
        wrong: &["daily"],
    },
    Key {
        key: "checkpoint.remote",
        value: "two",
        seen: |s| {
            for remote in ["one", "two"] {
                s.repo.git(["init", "-q", "--bare", &format!("../{remote}.git")]).success();
                s.repo.git(["remote", "add", remote, &format!("../{remote}.git")]).success();
            }
            s.run(&["save", "-q", "--allow-empty"]).success();
            s.run(&["push", "--json"]).json()["remote"].to_string()
        },
        unset: "null",
        set: "\"two\"",
        wrong: &[],
    },
    Key {
        // Nothing asks for it before conversations are kept.
        key: "checkpoint.memory",
        value: "false",
        seen: |s| s.holds("f"),
        unset: "true",
        set: "true",
        wrong: &["some"],
    },
    Key {
        key: "color.checkpoint",
        value: "always",
        seen: |s| {
            s.run(&["save", "-q", "--allow-empty"]).success();
            s.run(&["list"]).success().stdout.contains(&0x1b).to_string()
        },
        unset: "false",
        set: "true",
        wrong: &["rainbow"],
    },
    Key {
        // Git itself reads it, and only at a terminal.
        key: "pager.checkpoint",
        value: "sed s/^/paged/",
        seen: |s| {
            s.run(&["save", "-q", "--allow-empty"]).success();
            let option = if s.way == Way::CommandLine { "-c pager.checkpoint='sed s/^/paged/'" } else { "" };
            let line = format!("git {option} -c core.pager=cat checkpoint list");
            s.repo.at_terminal(&line, &[]).success().text().starts_with("paged").to_string()
        },
        unset: "false",
        set: "true",
        wrong: &[],
    },
];

fn setting(key: &'static Key, way: Way) -> Setting<'static> {
    let setting = Setting { repo: TestRepo::new(), key: key.key, value: key.value, way };
    setting.set();
    setting
}

#[test]
fn a_setting_counts_in_whatever_way_it_is_set() {
    for key in &KEYS {
        for way in [Way::Unset, Way::File, Way::Global, Way::CommandLine] {
            let setting = setting(key, way);

            let expected = if way == Way::Unset { key.unset } else { key.set };
            assert_eq!((key.seen)(&setting), expected, "{} {way:?}", key.key);
        }
    }
}

#[test]
fn the_command_line_goes_before_the_repository_and_that_before_the_home() {
    let repo = TestRepo::new();
    let enabled = |options: &[&str]| {
        let save = ["checkpoint", "save", "--json", "--allow-empty"];
        repo.git([options, &save].concat()).json()["status"] == "captured"
    };

    repo.env().global_config("checkpoint.enabled", "false");
    assert!(!enabled(&[]));
    repo.config("checkpoint.enabled", "true");
    assert!(enabled(&[]));
    assert!(!enabled(&["-c", "checkpoint.enabled=false"]));
    assert!(enabled(&["-c", "checkpoint.enabled=false", "-c", "CHECKPOINT.Enabled"]), "a key alone is true");
}

#[track_caller]
fn refused(output: &Output, key: &str, message: &str) {
    let error = &output.json()["error"];
    assert_eq!((output.code(), error["code"].as_str()), (Some(128), Some("bad-config")), "{output}");
    assert_eq!(error["message"], message, "{key}");
    assert!(output.talk().starts_with(&format!("error: {message}\n")), "{output}");
    assert_eq!(output.talk().matches("error:").count(), 1, "{output}");
}

#[test]
fn a_wrong_value_is_told_in_one_sentence_and_nothing_is_done() {
    for key in &KEYS {
        let repo = TestRepo::new();
        for value in key.wrong {
            let message = format!("bad config value `{value}` for `{}`", key.key);
            let given = format!("{}={value}", key.key);
            for command in [&["save"][..], &["list"], &["restore", "-y", "1"], &["doctor"]] {
                let args = [&["-c", &given, "checkpoint"], command, &["--json"]].concat();
                refused(&repo.try_git(args), key.key, &message);
            }
            repo.config(key.key, value);
            refused(&repo.checkpoint(["save", "--json"]), key.key, &message);
            repo.run(["config", "--unset", key.key]);
        }
        assert_eq!(repo.checkpoint_refs(), [""; 0], "{}", key.key);
    }
}

#[test]
fn only_a_boolean_may_do_without_a_value() {
    let booleans =
        ["enabled", "allowHome", "restore.verify", "statCache", "autoPrune", "memory"].map(|key| format!("checkpoint.{key}"));
    for key in KEYS.iter().map(|key| key.key).filter(|key| key.starts_with("checkpoint.")) {
        let repo = TestRepo::new();
        let (section, name) = key.rsplit_once('.').unwrap();
        let header = section.split_once('.').map_or(section.to_owned(), |(section, sub)| format!("{section} \"{sub}\""));
        let config = repo.read(".git/config");
        let by_option = repo.try_git(["-c", key, "checkpoint", "save", "--json", "--allow-empty"]);
        repo.write(".git/config", format!("{config}[{header}]\n\t{name}\n[other]\n\tkey = value\n"));
        let by_file = repo.checkpoint(["save", "--json", "--allow-empty"]);

        for output in [by_option, by_file] {
            match booleans.contains(&key.to_owned()) {
                true => assert_eq!(output.success().json()["status"], "captured", "{key}"),
                // Git says the same of such keys: `git -c core.editor config` (config.c, `config_error_nonbool`).
                false => refused(&output, key, &format!("missing value for `{key}`")),
            }
        }
    }
}

#[test]
fn every_key_of_the_manual_is_in_the_table() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/man/git-checkpoint.1.in")).unwrap();
    let section = page.split_once(".SH CONFIGURATION").unwrap().1.split_once(".SH EXIT STATUS").unwrap().0;
    let words = section.lines().filter(|line| line.starts_with(".B")).flat_map(str::split_whitespace);
    let mut named: Vec<&str> = words.filter(|word| word.starts_with("checkpoint.") || word.ends_with(".checkpoint")).collect();
    named.sort_unstable();
    named.dedup();

    let mut tried: Vec<&str> = KEYS.iter().map(|key| key.key).collect();
    tried.sort_unstable();
    assert_eq!(named, tried);
}
