//! Files and conversations that go from machine to machine and back, over a remote and in files.

use serde_json::{Value, json};

use crate::support::machine::{Machine, Talk, prompts_in};
use crate::support::{Output, TestRepo};

const AGENTS: [&str; 2] = ["claude", "codex"];
const ID: &str = "00000001-0000-4000-8000-000000000001";
const OTHER: &str = "00000002-0000-4000-8000-000000000002";
const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// How checkpoints go from one machine to another.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Remote,
    Bundle,
}

/// A laptop and a sandbox, each a clone of one bare repository at another path.
fn two_machines() -> (Machine, Machine) {
    let repo = TestRepo::new();
    repo.run(["clone", "-q", "--bare", ".", "../hub.git"]);
    repo.run(["remote", "add", "origin", "../hub.git"]);
    repo.run(["clone", "-q", "../hub.git", "../else where/demo"]);
    let sandbox = repo.at("else where/demo");
    (Machine::new(repo, "laptop"), Machine::new(sandbox, "sandbox"))
}

/// Sends all that a machine has. Returns what both sides say.
fn send(way: Way, from: &Machine, to: &Machine) -> (Value, Value) {
    match way {
        Way::Remote => (from.document(["push", "--json", "origin", "--with-memory"]), to.document(["fetch", "--json", "origin"])),
        Way::Bundle => {
            let file = from.repo.env().root().join("x.bundle");
            let file = file.to_str().unwrap();
            let sent = from.document(["export", "--json", "--with-memory", "-o", file]);
            from.repo.git(["bundle", "verify", "-q", file]);
            (sent, to.document(["import", "--json", file]))
        }
    }
}

/// Restores files and memory. Returns what is said of the memory.
fn restore(machine: &Machine, id: &str) -> Value {
    let restored = machine.document(["restore", "--json", "-y", id, "--what=both"]);
    assert_eq!(restored["memory"]["error"], Value::Null);
    restored["memory"].clone()
}

fn remembered(memory: &Value) -> Vec<String> {
    prompts_in(memory["to"]["path"].as_str().unwrap().as_ref())
}

/// All refs of ours, and all rows without their numbers.
fn everything(machine: &Machine) -> (String, Vec<Value>) {
    let refs = machine.repo.git(["for-each-ref", "refs/checkpoints", "refs/checkpoint-names", "refs/checkpoint-memory"]).text();
    let list = machine.document(["list", "--json", "-a"]);
    let row = |row: &Value| {
        let mut row = row.clone();
        row["number"] = Value::Null;
        row
    };
    (refs, list["checkpoints"].as_array().unwrap().iter().map(row).collect())
}

fn each(check: impl Fn(Way, &'static str)) {
    for way in [Way::Remote, Way::Bundle] {
        for agent in AGENTS {
            check(way, agent);
        }
    }
}

#[test]
fn a_there_and_back_without_a_turn_there() {
    each(|way, agent| {
        let (laptop, sandbox) = two_machines();
        let talk = Talk::new(&laptop, agent, ID);
        let first = talk.turn("add alpha", "alpha");
        talk.turn("add beta", "beta");
        let before = everything(&laptop);
        let untouched = crate::support::RepoState::of(&sandbox.repo);

        let (_, came) = send(way, &laptop, &sandbox);
        untouched.assert_same(&crate::support::RepoState::of(&sandbox.repo));
        assert_eq!((came["new"].as_array().unwrap().len(), &came["memory"]["sessions"]), (3, &json!([format!("{agent}-{ID}")])));
        let (_, back) = send(way, &sandbox, &laptop);

        assert_eq!((&back["new"], &back["known"]), (&json!([]), &json!(3)));
        assert_eq!(everything(&laptop), before, "{agent}");
        let memory = restore(&laptop, &first);
        assert_eq!((laptop.files(&NAMES), remembered(&memory)), (vec!["alpha"], vec!["add alpha".to_owned()]));
        assert_eq!(memory["copy"], Value::Null);
        laptop.repo.assert_sound();
        sandbox.repo.assert_sound();
    });
}

#[test]
fn b_a_turn_in_the_sandbox_comes_back() {
    each(|way, agent| {
        let (laptop, sandbox) = two_machines();
        let talk = Talk::new(&laptop, agent, ID);
        talk.turn("add alpha", "alpha");
        let second = talk.turn("add beta", "beta");
        send(way, &laptop, &sandbox);

        let memory = restore(&sandbox, &second);
        assert_eq!(
            (sandbox.files(&NAMES), remembered(&memory)),
            (vec!["alpha", "beta"], vec!["add alpha".into(), "add beta".into()])
        );
        let left_out = if agent == "codex" { 2 } else { 0 };
        assert_eq!(memory["copy"], json!({"redacted": 0, "left_out": left_out}));
        let file = memory["to"]["path"].as_str().unwrap();
        assert!(file.starts_with(sandbox.home(agent).to_str().unwrap()), "{file}");
        assert!(agent == "codex" || file.contains("-else-where-demo/"), "{file}");
        let there = Talk::resumed(&sandbox, agent, &memory["to"]).turn("add gamma", "gamma");
        talk.turn("add delta", "delta");
        send(way, &sandbox, &laptop);

        let memory = restore(&laptop, &there);
        let words = ["add alpha", "add beta", "add gamma"].map(str::to_owned);
        assert_eq!((laptop.files(&NAMES), remembered(&memory)), (vec!["alpha", "beta", "gamma"], words.to_vec()));
        assert!(memory["to"]["path"].as_str().unwrap().starts_with(laptop.home(agent).to_str().unwrap()));
        let undone = laptop.document(["undo", "--json", "-y"]);
        assert_eq!((undone["memory"]["to"]["conversation"].as_str().unwrap(), laptop.repo.exists("delta")), (ID, true));
        laptop.repo.assert_sound();
    });
}

#[test]
fn c_the_sandbox_alone_and_nothing_here_before() {
    each(|way, agent| {
        let (laptop, sandbox) = two_machines();
        let talk = Talk::new(&sandbox, agent, ID);
        let first = talk.turn("add alpha", "alpha");
        talk.turn("add beta", "beta");
        send(way, &sandbox, &laptop);

        let memory = restore(&laptop, &first);

        assert_eq!((laptop.files(&NAMES), remembered(&memory)), (vec!["alpha"], vec!["add alpha".to_owned()]));
        let listed = laptop.document(["list", "--json", "-a", "--kind", "turn"]);
        assert!(listed["checkpoints"].as_array().unwrap().iter().all(|one| one["origin"].is_string() && one["agent"] == agent));
    });
}

#[test]
fn d_there_and_back_and_there_and_back_with_turns_everywhere() {
    each(|way, agent| {
        let (laptop, sandbox) = two_machines();
        let first = Talk::new(&laptop, agent, ID).turn("add alpha", "alpha");
        send(way, &laptop, &sandbox);
        let memory = restore(&sandbox, &first);
        let second = Talk::resumed(&sandbox, agent, &memory["to"]).turn("add beta", "beta");
        send(way, &sandbox, &laptop);
        let memory = restore(&laptop, &second);
        Talk::resumed(&laptop, agent, &memory["to"]).turn("add gamma", "gamma");
        let (sent, _) = send(way, &laptop, &sandbox);
        if way == Way::Remote {
            let ids: Vec<&str> = sent["new"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
            assert!(!ids.contains(&first.as_str()) && !ids.contains(&second.as_str()), "{ids:?}");
            let again = laptop.document(["push", "--json", "--with-memory"]);
            assert_eq!((&again["new"], &again["memory"]["sessions"]), (&json!([]), &json!([])));
        }
        send(way, &sandbox, &laptop);

        let memory = restore(&laptop, &second);
        let words = ["add alpha", "add beta"].map(str::to_owned);
        assert_eq!((laptop.files(&NAMES), remembered(&memory)), (vec!["alpha", "beta"], words.to_vec()));
        // What was left behind does not come back as the present one, whatever is fetched again.
        let newest = |machine: &Machine| machine.document(["show", "--json", "@"])["checkpoint"]["id"].clone();
        let before = newest(&laptop);
        let (_, again) = send(way, &sandbox, &laptop);
        assert_eq!((&again["new"], newest(&laptop), laptop.files(&NAMES)), (&json!([]), before, vec!["alpha", "beta"]));
        laptop.document(["undo", "--json", "-y"]);
        assert_eq!(laptop.files(&NAMES), ["alpha", "beta", "gamma"]);
        laptop.repo.assert_sound();
        sandbox.repo.assert_sound();
    });
}

fn hub(machine: &Machine, args: &[&str]) -> String {
    Output::of(machine.command("git").args(["-C", "../hub.git"]).args(args)).success().text()
}

#[test]
fn no_conversation_leaves_unless_that_is_asked_for_and_no_secret_unless_that_is() {
    let secret = ["ghp_", "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"].concat();
    for agent in AGENTS {
        let (laptop, sandbox) = two_machines();
        let talk = Talk::new(&laptop, agent, ID);
        talk.turn(&format!("use {secret} for alpha"), "alpha");
        laptop.checkpoint(["push"]).success();
        assert_eq!(hub(&laptop, &["for-each-ref", "refs/checkpoint-memory"]), "");
        let messages = hub(&laptop, &["log", "--format=%B", "--glob=refs/checkpoints"]);
        assert!(messages.contains("use [redacted] for alpha") && !messages.contains(&secret), "{messages}");

        let pushed = laptop.document(["push", "--json", "--with-memory"]);
        let left_out = if agent == "codex" { 1 } else { 0 };
        let expected =
            json!({"sessions": [format!("{agent}-{ID}")], "redacted": 1, "left_out": left_out, "known": 0, "refused": []});
        assert_eq!(pushed["memory"], expected);
        let count = hub(&laptop, &["count-objects", "-v"]);
        let name = format!("refs/checkpoint-memory/{agent}-{ID}:tail");
        let there = hub(&laptop, &["show", &name]);
        assert!(there.contains("use [redacted] for alpha") && !there.contains(&secret) && !there.contains("RU5D"), "{there}");
        assert!(laptop.repo.git(["show", &name]).text().contains(&secret));
        assert!(std::fs::read_to_string(&talk.file).unwrap().contains(&secret));

        let again = laptop.checkpoint(["push", "--with-memory"]).success();
        assert!(again.text().contains("0 conversations pushed, 0 secrets taken out, 1 known there already"), "{again}");
        assert_eq!(hub(&laptop, &["count-objects", "-v"]), count, "{agent}");
        sandbox.checkpoint(["fetch"]).success();
        let memory = restore(&sandbox, "turn:1");
        assert_eq!(remembered(&memory), ["use [redacted] for alpha"]);
        let told = sandbox.checkpoint(["restore", "-y", "turn:1", "--what=memory"]).success();
        assert!(told.talk().contains("1 secret taken out"), "{told}");

        // One that goes further there is known; one that was made otherwise is not overwritten.
        Talk::new(&laptop, agent, OTHER).turn("use nothing", "beta");
        let other = laptop.checkpoint(["push", "--json", "--with-memory", "--no-redact"]).exits(128).json();
        assert_eq!(other["memory"]["sessions"], json!([format!("{agent}-{OTHER}")]));
        assert_eq!(other["status"], "refused");
        assert!(hub(&laptop, &["show", &name]).contains("[redacted]"));
    }
}

#[test]
fn a_conversation_that_is_none_is_left_out_and_one_of_ones_own_stays() {
    let (laptop, sandbox) = two_machines();
    Talk::new(&laptop, "claude", ID).turn("add alpha", "alpha");
    laptop.checkpoint(["push", "--with-memory"]).success();
    let own = laptop.repo.git(["rev-parse", &format!("refs/checkpoint-memory/claude-{ID}")]).text();
    for name in ["claude-x", "codex-y", &format!("claude-{OTHER}")] {
        hub(&laptop, &["update-ref", &format!("refs/checkpoint-memory/{name}"), "HEAD"]);
    }
    hub(&laptop, &["update-ref", "refs/checkpoint-memory/claude-z", &format!("refs/checkpoint-memory/claude-{ID}")]);

    let fetched = sandbox.document(["fetch", "--json"]);
    laptop.document(["fetch", "--json"]);

    assert_eq!(
        (fetched["refused"].as_array().unwrap().len(), &fetched["memory"]["sessions"]),
        (4, &json!([format!("claude-{ID}")]))
    );
    assert_eq!(laptop.repo.git(["rev-parse", &format!("refs/checkpoint-memory/claude-{ID}")]).text(), own);
    assert_eq!(
        sandbox.repo.git(["for-each-ref", "refs/checkpoint-memory", "refs/checkpoint-incoming"]).text().lines().count(),
        1
    );
    sandbox.repo.assert_sound();
}
