//! Against conversations that the real program wrote.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Conversation, ForkOptions, Homes, MemoryError, Side, Turn, Wanted, publish};
use crate::agents::Agent;

/// The fixtures with the conversation that each is of.
const ALL: [(&str, &str); 6] = [
    ("paginated-three-turns", "00000022-0000-7000-8000-000000000022"),
    ("paginated-interrupted", "00000022-0000-7000-8000-000000000022"),
    ("paginated-compacted", "00000045-0000-7000-8000-000000000045"),
    ("legacy-rolled-back", "00000064-0000-7000-8000-000000000064"),
    ("paginated-fork-pointer", "00000038-0000-7000-8000-000000000038"),
    ("revert-segment", "00000022-0000-7000-8000-000000000022"),
];

/// A home of the agent. The one that the pointers lead to is in it as well.
struct Home {
    folder: tempfile::TempDir,
    id: &'static str,
    path: PathBuf,
}

impl Home {
    fn with(name: &str, bytes: &[u8]) -> Home {
        let id = ALL.iter().find(|(known, _)| *known == name).unwrap().1;
        let folder = tempfile::tempdir().unwrap();
        let day = folder.path().join("sessions/2026/10/05");
        fs::create_dir_all(&day).unwrap();
        let path = match name {
            "revert-segment" => day.join(format!("rollout-2026-10-05T11-00-00-{id}_00000099-0000-4000-8000-000000000099.jsonl")),
            _ => day.join(format!("rollout-2026-10-05T11-00-00-{id}.jsonl")),
        };
        if ["revert-segment", "paginated-fork-pointer"].contains(&name) {
            fs::write(day.join(format!("rollout-2026-10-05T10-00-00-{}.jsonl", ALL[0].1)), fixture(ALL[0].0)).unwrap();
        }
        fs::write(&path, bytes).unwrap();
        Home { folder, id, path }
    }

    fn of(name: &str) -> Home {
        Home::with(name, &fixture(name))
    }

    fn find(&self) -> Conversation {
        let homes = Homes { codex: Some(self.folder.path().to_owned()), ..Homes::default() };
        Conversation::find(Agent::Codex, &homes, self.id, None).unwrap()
    }

    /// Every file with its content.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        super::history::collect(&self.folder.path().join("sessions"), 4, &mut found);
        found.sort();
        found.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents/codex").join(format!("{name}.jsonl"));
    fs::read(path).unwrap()
}

fn after(turn: &Turn) -> Wanted {
    Wanted { turn_id: turn.id.clone(), ..Wanted::default() }
}

fn said(turns: &[Turn]) -> Vec<(Option<String>, String)> {
    turns.iter().map(|turn| (turn.id.clone(), turn.prompt.clone())).collect()
}

fn prompts(name: &str) -> Vec<String> {
    Home::of(name).find().turns().unwrap().into_iter().map(|turn| turn.prompt).collect()
}

#[test]
fn the_turns_are_those_that_were_not_taken_back_wherever_they_lie() {
    let [one, two, three] = ["P1 WRITE alpha.txt one", "P2 WRITE beta.txt two", "P3 WRITE gamma.txt three"];
    assert_eq!(prompts("paginated-three-turns"), [one, two, three]);
    assert_eq!(prompts("paginated-interrupted"), [one, two, three, "P5 SLEEP"]);
    assert_eq!(prompts("paginated-compacted"), ["P1 WRITE c1.txt one", "P2 BIG", "P3"]);
    assert_eq!(prompts("legacy-rolled-back"), [one, "P7"]);
    assert_eq!(prompts("paginated-fork-pointer"), [one, "P9"]);
    assert_eq!(prompts("revert-segment"), [one, "P7"]);
}

#[test]
fn a_fork_after_each_turn_holds_it_and_all_before_and_nothing_of_what_came_later() {
    for (name, id) in ALL {
        let home = Home::of(name);
        let before = home.files();
        let conversation = home.find();
        let turns = conversation.turns().unwrap();
        for (at, turn) in turns.iter().enumerate() {
            let options = ForkOptions { model: Some("m".into()), ..ForkOptions::default() };
            let prepared = conversation.prepare(&after(turn), Side::After, &options).unwrap().unwrap();
            assert!(!prepared.file.exists() && prepared.aside.exists(), "{name} {at}");
            publish(&prepared.aside, &prepared.file).unwrap();

            let homes = Homes { codex: Some(home.folder.path().to_owned()), ..Homes::default() };
            let fork = Conversation::find(Agent::Codex, &homes, &prepared.conversation, None).unwrap();
            assert_eq!(said(&fork.turns().unwrap()), said(&turns[..=at]), "{name} {at}");
            let text = fs::read_to_string(&prepared.file).unwrap();
            assert!(!text.contains(&format!("\"thread_id\":\"{id}\"")) && !text.contains("history_base\":{"), "{name} {at}");
            for later in turns[at + 1..].iter().filter(|later| later.prompt.len() > 2) {
                assert!(!text.contains(&later.prompt), "{name} {at}: {}", later.prompt);
            }
            assert_eq!(prepared.resume, ["codex", "resume", &prepared.conversation, "--model", "m"]);

            let again = conversation.prepare(&after(turn), Side::After, &options).unwrap().unwrap();
            let other = fs::read_to_string(&again.aside).unwrap();
            assert_eq!(other.replace(&again.conversation, &prepared.conversation), text, "{name} {at}");
            again.discard();
            fs::remove_file(&prepared.file).unwrap();
        }
        assert_eq!(home.files(), before, "{name}");
    }
}

#[test]
fn before_a_turn_is_after_the_one_before_and_nothing_before_the_first() {
    let home = Home::of("paginated-three-turns");
    let conversation = home.find();
    let turns = conversation.turns().unwrap();
    let before = |turn: &Turn| conversation.prepare(&after(turn), Side::Before, &ForkOptions::default()).unwrap();

    assert!(before(&turns[0]).is_none());
    let prepared = before(&turns[2]).unwrap();
    let text = fs::read_to_string(&prepared.aside).unwrap();
    prepared.discard();

    assert!(text.contains("P2 WRITE") && !text.contains("P3 WRITE"));
}

#[test]
fn a_turn_that_a_revert_left_comes_back_from_the_file_before() {
    let home = Home::of("revert-segment");
    let left = Home::of("paginated-three-turns").find().turns().unwrap()[2].clone();

    let prepared = home.find().prepare(&after(&left), Side::After, &ForkOptions::default()).unwrap().unwrap();

    let text = fs::read_to_string(&prepared.aside).unwrap();
    assert!(text.contains("P3 WRITE") && !text.contains("P7"));
}

#[test]
fn a_file_that_a_pointer_leads_to_is_missed_by_name() {
    let home = Home::of("paginated-fork-pointer");
    let base = home.files().into_iter().map(|(path, _)| path).find(|path| *path != home.path).unwrap();
    fs::remove_file(base).unwrap();

    let error = home.find().turns().unwrap_err();

    assert_eq!(error.to_string(), format!("the conversation `{}` is not on this machine any more", ALL[0].1));
}

#[test]
fn every_beginning_of_a_conversation_is_read_and_forked_or_a_known_failure() {
    for (name, _) in ALL {
        let bytes = fixture(name);
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let ends: Vec<usize> = ends.flat_map(|at| [at, at + 1]).chain((0..bytes.len()).step_by(509)).collect();
        for end in ends {
            let home = Home::with(name, &bytes[..end]);
            let before = home.files();
            let conversation = home.find();
            let Ok(turns) = conversation.turns() else { continue };
            if let Some(turn) = turns.last() {
                let prepared = conversation.prepare(&after(turn), Side::After, &ForkOptions::default());
                prepared.unwrap_or_else(|error| panic!("{name} {end}: {error}")).unwrap().discard();
            }
            assert_eq!(home.files(), before, "{name} {end}");
        }
    }
}

#[test]
fn hostile_lines_are_no_reason_to_fail() {
    let deep = format!("{}{}\n", "[".repeat(5000), "]".repeat(5000));
    let looped = format!(
        "{{\"type\":\"session_meta\",\"payload\":{{\"history_base\":{{\"thread_id\":\"{}\",\"end_ordinal_exclusive\":1}}}}}}\n",
        ALL[0].1
    );
    let lines = [
        "\n",
        "null\n",
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":1e300}}\n",
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\",\"turn_id\":7,\"started_at\":1e308}}\n",
        "{\"type\":\"event_msg\",\"payload\":7,\"ordinal\":-1}\n",
        &deep,
        &looped,
    ];
    for line in lines {
        for bytes in [[line.as_bytes(), &fixture(ALL[0].0)].concat(), [&fixture(ALL[0].0), line.as_bytes()].concat()] {
            let home = Home::with(ALL[0].0, &bytes);
            let before = home.files();
            let conversation = home.find();
            for turn in conversation.turns().unwrap_or_default() {
                if let Ok(Some(prepared)) = conversation.prepare(&after(&turn), Side::After, &ForkOptions::default()) {
                    prepared.discard();
                }
            }
            assert_eq!(home.files(), before, "{line}");
        }
    }
}

#[test]
fn an_unknown_form_is_named() {
    let text = String::from_utf8(fixture(ALL[0].0)).unwrap().replacen("\"paginated\"", "\"columns\"", 1);
    let home = Home::with(ALL[0].0, text.as_bytes());

    assert!(matches!(home.find().turns(), Err(MemoryError::UnknownFormat(..))));
}

#[test]
fn what_is_put_together_from_pieces_stands_on_its_own_and_goes_on_in_another_home_and_directory() {
    for (name, id) in ALL {
        let home = Home::of(name);
        let before = home.files();
        let conversation = home.find();
        let turns = conversation.turns().unwrap();
        let source = fixture(name);
        let ends: Vec<u64> = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1).collect();
        let other = tempfile::tempdir().unwrap();
        let homes = Homes { codex: Some(other.path().to_owned()), ..Homes::default() };
        for middle in &ends {
            let whole = *ends.last().unwrap();
            let pieces = [conversation.piece(0, *middle).unwrap(), conversation.piece(*middle, whole).unwrap()].concat();
            let copy = other.path().join("copy");
            fs::write(&copy, pieces).unwrap();
            let copied = Conversation::of_copy(Agent::Codex, &homes, id, &copy, Path::new("/elsewhere")).unwrap();
            assert_eq!(said(&copied.turns().unwrap()), said(&turns), "{name} {middle}");
            for (at, turn) in turns.iter().enumerate() {
                let prepared = copied.prepare(&after(turn), Side::After, &ForkOptions::default()).unwrap().unwrap();
                publish(&prepared.aside, &prepared.file).unwrap();
                let fork = Conversation::find(Agent::Codex, &homes, &prepared.conversation, None).unwrap();
                assert_eq!(said(&fork.turns().unwrap()), said(&turns[..=at]), "{name} {middle} {at}");
                let first = fs::read_to_string(&prepared.file).unwrap();
                assert!(first.lines().next().unwrap().contains("\"cwd\":\"/elsewhere\""), "{first}");
                fs::remove_file(&prepared.file).unwrap();
            }
        }
        assert_eq!(home.files(), before, "{name}");
    }
}
