//! Against conversations that the real program wrote.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Conversation, ForkOptions, Forkable, Homes, MemoryError, Side, Turn, Wanted, publish};
use crate::agents::Agent;

const WHOLE: [&str; 5] = ["branched-in-place", "compacted", "interactive-file-history-rewound", "three-turns", "with-subagent"];
const ALL: [&str; 6] =
    ["branched-in-place", "compacted", "interactive-file-history-rewound", "three-turns", "with-subagent", "interrupted-tail"];

const ID: &str = "00000001-0000-4000-8000-000000000001";

/// A home of the agent in which a conversation lies.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn with(bytes: &[u8]) -> Home {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("projects/-code-demo")).unwrap();
        let home = Home { folder };
        fs::write(home.path(), bytes).unwrap();
        home
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("projects/-code-demo").join(format!("{ID}.jsonl"))
    }

    fn find(&self, recorded: Option<&Path>) -> Result<Conversation, MemoryError> {
        let homes = Homes { claude: Some(self.folder.path().to_owned()), ..Homes::default() };
        Conversation::find(Agent::Claude, &homes, ID, recorded)
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path().parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

fn in_file(id: &str, path: &Path) -> Conversation {
    let place = path.parent().unwrap().to_owned();
    Conversation { agent: Forkable::Claude, id: id.to_owned(), path: path.to_owned(), place, cwd: None }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents/claude").join(format!("{name}.jsonl"));
    fs::read(path).unwrap()
}

fn after(turn: &Turn) -> Wanted {
    Wanted { turn_id: turn.id.clone(), prompt: Some(turn.prompt.clone()), ..Wanted::default() }
}

fn said(turns: &[Turn]) -> Vec<(Option<String>, String)> {
    turns.iter().map(|turn| (turn.id.clone(), turn.prompt.clone())).collect()
}

fn prompts(name: &str) -> Vec<String> {
    let home = Home::with(&fixture(name));
    home.find(None).unwrap().turns().unwrap().into_iter().map(|turn| turn.prompt).collect()
}

#[test]
fn the_turns_are_those_of_the_way_that_the_conversation_took() {
    let three = ["P1 WRITE alpha.txt one", "P2 WRITE beta.txt two", "P3 WRITE gamma.txt three"];
    assert_eq!(prompts("three-turns"), three);
    assert_eq!(prompts("compacted"), [&three[..], &["P9"]].concat());
    assert_eq!(prompts("interactive-file-history-rewound"), [three[0], "P4 WRITE gamma.txt four"]);
    let with_subagent = prompts("with-subagent");
    assert_eq!(with_subagent[..4], [&three[..], &["P4 AGENT"]].concat());
    assert!(with_subagent[4].starts_with("<task-notification>") && with_subagent.len() == 5, "{with_subagent:?}");
    assert_eq!(prompts("branched-in-place").last().unwrap(), "P9");
}

#[test]
fn a_fork_after_each_turn_holds_it_and_all_before_and_nothing_of_what_came_later() {
    for name in WHOLE {
        let source = fixture(name);
        let home = Home::with(&source);
        let conversation = home.find(None).unwrap();
        let turns = conversation.turns().unwrap();
        for (at, turn) in turns.iter().enumerate() {
            let options = ForkOptions { title: "(checkpoint 7)".into(), model: Some("m".into()), ..ForkOptions::default() };
            let prepared = conversation.prepare(&after(turn), Side::After, &options).unwrap().unwrap();
            assert!(!prepared.file.exists() && prepared.aside.exists(), "{name} {at}");
            publish(&prepared.aside, &prepared.file).unwrap();

            let fork = in_file(&prepared.conversation, &prepared.file);
            assert_eq!(said(&fork.turns().unwrap()), said(&turns[..=at]), "{name} {at}");
            let text = fs::read_to_string(&prepared.file).unwrap();
            assert!(!text.contains(&format!("\"sessionId\":\"{ID}\"")), "{name} {at}");
            for later in turns[at + 1..].iter().filter(|later| later.prompt.len() > 2) {
                assert!(!text.contains(&later.prompt), "{name} {at}: {}", later.prompt);
            }
            let last = text.lines().last().unwrap();
            assert!(last.contains("(checkpoint 7)") && last.contains(&prepared.conversation), "{last}");
            assert_eq!(prepared.resume, ["claude", "--resume", &prepared.conversation, "--model", "m"]);
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&prepared.file).unwrap().permissions().mode() & 0o777, 0o600);

            let again = conversation.prepare(&after(turn), Side::After, &options).unwrap().unwrap();
            let other = fs::read_to_string(&again.aside).unwrap();
            assert_eq!(other.replace(&again.conversation, &prepared.conversation), text, "{name} {at}");
            again.discard();
            fs::remove_file(&prepared.file).unwrap();
        }
        assert_eq!(fs::read(home.path()).unwrap(), source, "{name}");
        assert_eq!(home.files(), [home.path()], "{name}");
    }
}

#[test]
fn before_a_turn_is_after_the_one_before_and_nothing_before_the_first() {
    let home = Home::with(&fixture("three-turns"));
    let conversation = home.find(None).unwrap();
    let turns = conversation.turns().unwrap();

    assert!(conversation.prepare(&after(&turns[0]), Side::Before, &ForkOptions::default()).unwrap().is_none());
    let prepared = conversation.prepare(&after(&turns[2]), Side::Before, &ForkOptions::default()).unwrap().unwrap();
    publish(&prepared.aside, &prepared.file).unwrap();

    let fork = in_file(&prepared.conversation, &prepared.file);
    assert_eq!(said(&fork.turns().unwrap()), said(&turns[..2]));
}

#[test]
fn a_turn_of_a_way_that_was_left_comes_back_too() {
    let bytes = fixture("branched-in-place");
    let home = Home::with(&bytes);
    let conversation = home.find(None).unwrap();
    let third = String::from_utf8(bytes).unwrap();
    let third = third.lines().find(|line| line.contains("\"content\":\"P3 WRITE") && line.contains("promptId")).unwrap();
    let third: serde_json::Value = serde_json::from_str(third).unwrap();
    let wanted = Wanted { turn_id: third["promptId"].as_str().map(str::to_owned), ..Wanted::default() };

    let prepared = conversation.prepare(&wanted, Side::After, &ForkOptions::default()).unwrap().unwrap();
    publish(&prepared.aside, &prepared.file).unwrap();

    let fork = in_file(&prepared.conversation, &prepared.file);
    assert_eq!(fork.turns().unwrap().last().unwrap().prompt, "P3 WRITE gamma.txt three");
}

#[test]
fn without_an_id_the_prompt_and_the_time_tell() {
    let home = Home::with(&fixture("three-turns"));
    let conversation = home.find(None).unwrap();
    let turns = conversation.turns().unwrap();
    let forked = |wanted: &Wanted| {
        let prepared = conversation.prepare(wanted, Side::After, &ForkOptions::default());
        prepared.map(|prepared| {
            let prepared = prepared.unwrap();
            let count = in_file("", &prepared.aside).turns().unwrap().len();
            prepared.discard();
            count
        })
    };

    let prompt = Wanted { prompt: Some(turns[1].prompt.clone()), ..Wanted::default() };
    let time = Wanted { completed_at: turns[1].started_at.map(|at| at + 1), ..Wanted::default() };
    let none = Wanted { prompt: Some("another".into()), ..Wanted::default() };
    let unknown = Wanted { turn_id: Some("another".into()), ..prompt.clone() };

    assert_eq!(forked(&prompt).unwrap(), 2);
    assert_eq!(forked(&time).unwrap(), 2);
    assert!(matches!(forked(&none), Err(MemoryError::BoundaryMissing(_))));
    assert!(matches!(forked(&unknown), Err(MemoryError::BoundaryMissing(_))), "an id binds");
}

#[test]
fn what_was_recorded_must_still_be_there() {
    let bytes = fixture("three-turns");
    let home = Home::with(&bytes);
    let prefix = crate::agents::prefix::prefix_of(&home.path()).unwrap();
    let conversation = home.find(None).unwrap();
    let turns = conversation.turns().unwrap();
    let wanted = Wanted { prefix: Some((prefix.offset, prefix.sha256)), ..after(&turns[0]) };
    let attempt = || conversation.prepare(&wanted, Side::After, &ForkOptions::default());

    fs::write(home.path(), [&bytes[..], b"{}\n"].concat()).unwrap();
    attempt().unwrap().unwrap().discard();
    fs::write(home.path(), String::from_utf8(bytes.clone()).unwrap().replace("alpha.txt", "other.txt")).unwrap();
    assert!(matches!(attempt(), Err(MemoryError::PrefixMismatch(_))));
    fs::write(home.path(), &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(attempt(), Err(MemoryError::PrefixMismatch(_))));
    assert_eq!(home.files(), [home.path()]);
}

#[test]
fn every_beginning_of_a_conversation_is_read_and_forked_or_a_known_failure() {
    for name in ALL {
        let bytes = fixture(name);
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let ends: Vec<usize> = ends.flat_map(|at| [at, at + 1]).chain((0..bytes.len()).step_by(211)).collect();
        for end in ends {
            let home = Home::with(&bytes[..end]);
            let conversation = home.find(None).unwrap();
            let Ok(turns) = conversation.turns() else { continue };
            for turn in turns.iter().rev().take(1) {
                let prepared = conversation.prepare(&after(turn), Side::After, &ForkOptions::default());
                let prepared = prepared.unwrap_or_else(|error| panic!("{name} {end}: {error}")).unwrap();
                prepared.discard();
            }
            assert_eq!(home.files(), [home.path()], "{name} {end}");
        }
    }
}

#[test]
fn hostile_lines_are_no_reason_to_fail() {
    let deep = format!("{}{}\n", "[".repeat(5000), "]".repeat(5000));
    let lines = [
        "\n",
        "\0\0\0\n",
        "null\n",
        "{\"type\":1}\n",
        "{\"type\":\"user\",\"uuid\":7,\"parentUuid\":{}}\n",
        "{\"type\":\"user\",\"uuid\":\"x\",\"parentUuid\":\"x\",\"message\":{\"content\":\"loop\"}}\n",
        "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":{\"content\":[1,{\"text\":2}]}}\n",
        "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"timestamp\":1e999}\n",
        "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c\",\"parentUuid\":null,\"logicalParentUuid\":\"c\"}\n",
        "{\"type\":\"last-prompt\",\"leafUuid\":\"nowhere\",\"sessionId\":[]}\n",
        "{\"type\":\"user\",\"uuid\":\"d\",\"uuid\":\"e\",\"sessionId\":\"s\",\"sessionId\":\"t\"}\n",
        &deep,
    ];
    for line in lines {
        let home = Home::with(&[line.as_bytes(), &fixture("three-turns"), line.as_bytes()].concat());
        let conversation = home.find(None).unwrap();
        if let Ok(turns) = conversation.turns() {
            for turn in &turns {
                // It may be refused, and leaves nothing then.
                if let Ok(Some(prepared)) = conversation.prepare(&after(turn), Side::After, &ForkOptions::default()) {
                    prepared.discard();
                }
            }
        }
        assert_eq!(home.files(), [home.path()], "{line}");
    }
}

#[test]
fn only_a_file_of_the_agent_is_read() {
    let home = Home::with(&fixture("three-turns"));
    let outside = home.folder.path().join("outside.jsonl");
    fs::rename(home.path(), &outside).unwrap();
    assert!(matches!(home.find(Some(&outside)), Err(MemoryError::TranscriptGone(_))), "not where conversations are");

    std::os::unix::fs::symlink(&outside, home.path()).unwrap();
    assert!(matches!(home.find(None), Err(MemoryError::TranscriptGone(_))), "a link");
    assert!(matches!(home.find(Some(&home.path())), Err(MemoryError::NotAFile(_))), "a link");
    for id in ["", "../x", "a/b", "."] {
        let found =
            Conversation::find(Agent::Claude, &Homes { claude: Some(home.folder.path().into()), ..Homes::default() }, id, None);
        assert!(matches!(found, Err(MemoryError::TranscriptGone(_))), "{id}");
    }
}

#[test]
fn a_name_that_is_taken_stays() {
    let home = Home::with(&fixture("three-turns"));
    let conversation = home.find(None).unwrap();
    let turn = &conversation.turns().unwrap()[0];
    let prepared = conversation.prepare(&after(turn), Side::After, &ForkOptions::default()).unwrap().unwrap();
    fs::write(&prepared.file, "mine").unwrap();

    assert!(matches!(publish(&prepared.aside, &prepared.file), Err(MemoryError::Io { .. })));
    assert_eq!(fs::read(&prepared.file).unwrap(), b"mine");
    assert!(matches!(publish(&home.path(), &prepared.file), Err(MemoryError::NotAFile(_))), "only what was written aside");
}

#[test]
fn what_is_put_together_from_pieces_goes_on_in_another_home_and_directory() {
    for name in WHOLE {
        let source = fixture(name);
        let home = Home::with(&source);
        let conversation = home.find(None).unwrap();
        let turns = conversation.turns().unwrap();
        let ends: Vec<u64> = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1).collect();
        let [other, worktree] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let homes = Homes { claude: Some(other.path().to_owned()), ..Homes::default() };
        for middle in ends.iter().step_by(5) {
            let whole = *ends.last().unwrap();
            let pieces = [conversation.piece(0, *middle).unwrap(), conversation.piece(*middle, whole).unwrap()].concat();
            let copy = other.path().join("copy");
            fs::write(&copy, pieces).unwrap();
            let copied = Conversation::of_copy(Agent::Claude, &homes, ID, &copy, worktree.path()).unwrap();
            assert_eq!(said(&copied.turns().unwrap()), said(&turns), "{name} {middle}");
            for (at, turn) in turns.iter().enumerate() {
                let prepared = copied.prepare(&after(turn), Side::After, &ForkOptions::default()).unwrap().unwrap();
                let fork = in_file(&prepared.conversation, &prepared.aside);
                assert_eq!(said(&fork.turns().unwrap()), said(&turns[..=at]), "{name} {middle} {at}");
                let key = worktree.path().canonicalize().unwrap().display().to_string().replace(['/', '.'], "-");
                assert_eq!(prepared.file.parent().unwrap(), other.path().join("projects").join(key));
                prepared.discard();
            }
        }
        assert_eq!(fs::read(home.path()).unwrap(), source, "{name}");
    }
}

#[test]
fn what_was_only_sent_to_the_model_is_no_part_of_a_piece() {
    let line = "{\"type\":\"api-request-blob\",\"body\":\"x\",\"sessionId\":\"s\"}\n";
    let source = [line.as_bytes(), &fixture("three-turns")].concat();
    let home = Home::with(&source);

    let piece = home.find(None).unwrap().piece(0, source.len() as u64).unwrap();

    assert!(piece == fixture("three-turns"));
}
