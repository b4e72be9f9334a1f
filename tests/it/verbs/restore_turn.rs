//! Restoring to one end of an agent's turn.

use crate::support::{Conversation, TestRepo};

/// Two turns, with an edit of the person between them: turn 1 adds `alpha`, turn 2 adds `beta`, the person sets `mine` to 2.
fn two_turns() -> TestRepo {
    let repo = TestRepo::new();
    let agent = Conversation::new(&repo);
    repo.write("mine", "1\n");
    agent.start();
    agent.prompt("p-1", "add alpha");
    repo.write("alpha", "one\n");
    agent.stop("p-1");
    repo.write("mine", "2\n");
    agent.prompt("p-2", "add beta");
    repo.write("beta", "two\n");
    agent.stop("p-2");
    agent.end();
    assert_eq!(repo.story(), ["baseline", "turn 1", "turn-start 2", "turn 2"]);
    repo
}

fn files(repo: &TestRepo) -> (bool, bool, String) {
    (repo.exists("alpha"), repo.exists("beta"), repo.read("mine"))
}

#[test]
fn each_side_of_a_turn_comes_back_whichever_of_its_checkpoints_is_named() {
    let repo = two_turns();
    let restore = |selector: &str, side: &str| {
        repo.checkpoint(["restore", "-q", "-y", selector, "--turn", side]).success();
        files(&repo)
    };

    assert_eq!(restore("turn:1", "before"), (false, false, "1\n".to_owned()));
    assert_eq!(restore("turn:2", "before"), (true, false, "2\n".to_owned()));
    assert_eq!(restore("turn:2", "after"), (true, true, "2\n".to_owned()));
    assert_eq!(restore("3", "after"), (true, true, "2\n".to_owned()));
    assert_eq!(restore("3", "before"), (true, false, "2\n".to_owned()));
    assert_eq!(restore("turn:1", "after"), (true, false, "1\n".to_owned()));
    for _ in 0..6 {
        repo.undo();
    }
    assert_eq!(files(&repo), (true, true, "2\n".to_owned()));
}

#[test]
fn what_belongs_to_no_turn_has_no_sides() {
    let repo = two_turns();
    repo.save("plain");

    for (selector, number) in [("1", 1), ("plain", 5)] {
        let error = repo.checkpoint(["restore", "-y", "--json", selector, "--turn", "before"]).exits(129).json();
        assert_eq!(error["error"]["message"], format!("checkpoint {number} belongs to no turn of an agent"));
    }
    assert_eq!(files(&repo), (true, true, "2\n".to_owned()));
}
