//! Files that were cut off or changed on the way: refused, or imported as they were made.

use std::path::Path;

use super::*;
use crate::agents::Agent;
use crate::agents::session_key::session_key;
use crate::model::{Boundary, Kind, MemoryCopy};
use crate::ops::save::{SaveRequest, save};
use crate::ops::testing::{Fixture, git};
use crate::store::Session;

/// How many changed files are tried unless `CHECKPOINT_BUNDLE_ROUNDS` says otherwise; the same number of places to cut at.
const ROUNDS: usize = 150;

/// A repository with a checkpoint of a turn that has a name, the conversation of the turn, and the file that both are exported to.
fn exported() -> (Fixture, Vec<u8>) {
    let mut fixture = Fixture::new();
    let context = &mut fixture.context;
    let key = session_key(Agent::Claude, "c-1");
    let session = Session {
        key: key.clone(),
        worktree: context.repo.worktree_ref(),
        agent: Some("claude".to_owned()),
        process: None,
        conversation: Some("c-1".to_owned()),
        model: None,
        started_at: 1,
        ended_at: None,
    };
    context.store.put_session(&session).unwrap();
    std::fs::write(fixture.folder.path().join("file"), "two\n").unwrap();
    let boundary = Boundary {
        conversation: "c-1".to_owned(),
        turn_id: Some("t1".to_owned()),
        offset: Some(9),
        prefix_sha256: Some("ab".to_owned()),
        ..Boundary::default()
    };
    let request = SaveRequest {
        session: Some(key.clone()),
        kind: Some(Kind::Turn),
        turn: Some(1),
        name: Some("A".to_owned()),
        boundary: Some(boundary),
        ..SaveRequest::default()
    };
    save(context, &request).unwrap();
    let copy = MemoryCopy {
        agent: "claude".to_owned(),
        conversation: "c-1".to_owned(),
        turn_id: Some("t1".to_owned()),
        offset: 9,
        prefix_sha256: "ab".to_owned(),
        ..MemoryCopy::default()
    };
    let secret = ["{\"type\":\"user\",\"message\":\"sk-", "ant-abcdefghijklmnopqrstuvwx\"}\n"].concat();
    memory_chain::append(&context.repo, &key, None, &copy, secret.as_bytes(), 1000).unwrap();
    let file = fixture.folder.path().join(".git/x.bundle");
    let request = ExportRequest { memory: Some(Secrets::TakenOut), ..ExportRequest::default() };
    let exported = export(context, &request, &file).unwrap();
    assert_eq!((exported.checkpoints.len(), exported.memory.unwrap()[0].redacted), (1, 1));
    let bytes = std::fs::read(&file).unwrap();
    (fixture, bytes)
}

/// What an import left: refs of ours, how many rows, and what lies in the folder that all worktrees share.
fn left(fixture: &Fixture) -> (String, u64, Vec<String>) {
    let refs = git(fixture.folder.path(), &["for-each-ref", "--format=%(objectname) %(refname)"]);
    let scratch = std::fs::read_dir(fixture.context.repo.shared_dir()).into_iter().flatten().flatten();
    let mut scratch: Vec<String> = scratch.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    scratch.retain(|name| name.starts_with("incoming"));
    (refs, fixture.context.store.count().unwrap(), scratch)
}

fn objects(folder: &Path) -> String {
    git(folder, &["cat-file", "--batch-all-objects", "--batch-check"])
}

/// Imports each of the files into a repository that has nothing of it. Returns how many were taken.
fn try_all(original: &[u8], files: impl Iterator<Item = Vec<u8>>) -> (usize, usize) {
    let mut receiver = Fixture::new();
    let (mut taken, mut all) = (0, 0);
    let mut before = (left(&receiver), objects(receiver.folder.path()));
    for bytes in files {
        all += 1;
        let file = receiver.folder.path().join(".git/y.bundle");
        std::fs::write(&file, &bytes).unwrap();
        let result = import(&mut receiver.context, &file, false);
        let after = left(&receiver);
        match result {
            Err(_) => assert_eq!(after, before.0, "a file that is refused leaves nothing"),
            Ok(imported) => {
                taken += 1;
                // What it names is in the header of the file, and every object is what its id says.
                let header = original.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
                let known: Vec<String> = header.map(|line| String::from_utf8_lossy(line).into_owned()).collect();
                for line in after.0.lines().filter(|line| !before.0.0.contains(*line) && !line.contains("refs/checkpoint-names/"))
                {
                    assert!(known.iter().any(|known| known == line), "{line}");
                }
                assert_eq!(u64::try_from(imported.new.len()).unwrap(), after.1);
                git(receiver.folder.path(), &["fsck", "--strict"]);
                receiver = Fixture::new();
                before = (left(&receiver), objects(receiver.folder.path()));
            }
        }
    }
    git(receiver.folder.path(), &["fsck", "--strict"]);
    assert_eq!(objects(receiver.folder.path()), before.1);
    (taken, all)
}

fn rounds() -> usize {
    std::env::var("CHECKPOINT_BUNDLE_ROUNDS").ok().and_then(|value| value.parse().ok()).unwrap_or(ROUNDS)
}

#[test]
fn a_whole_file_is_imported_and_one_that_is_cut_off_anywhere_is_refused() {
    let (_sender, whole) = exported();
    let step = (whole.len() / rounds()).max(1);

    let cut = (0..whole.len()).step_by(step).map(|at| whole[..at].to_vec());

    assert_eq!(try_all(&whole, cut).0, 0);
    assert_eq!(try_all(&whole, std::iter::once(whole.clone())), (1, 1));
}

#[test]
fn a_file_that_was_changed_is_refused_or_imported_as_it_was_made() {
    let (_sender, whole) = exported();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    let header = whole.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let changed = (0..rounds()).map(|_| {
        let mut bytes = whole.clone();
        // The header is short and says most.
        let room = if random(2) == 0 { header } else { whole.len() };
        for _ in 0..=random(3) {
            let at = random(room).min(bytes.len() - 1);
            match random(4) {
                0 => bytes[at] ^= 1 << random(8),
                1 => bytes[at] = u8::try_from(random(256)).unwrap(),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, u8::try_from(random(256)).unwrap()),
            }
        }
        bytes
    });
    let (taken, all) = try_all(&whole, changed);

    assert!(taken < all / 2, "{taken} of {all} were taken");
}
