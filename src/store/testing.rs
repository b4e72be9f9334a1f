//! A database in a folder of its own and checkpoints to fill it, for unit tests.

use crate::model::{Checkpoint, CheckpointId, Kind, Millis, ObjectId, SessionKey, WorktreeId, WorktreeRef};
use crate::store::Store;

/// A new database; its folder goes away with it.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Default::default()).unwrap();
        Fixture { store, folder }
    }
}

/// The object id whose every byte is `n`.
pub(crate) fn object(n: u8) -> ObjectId {
    ObjectId::from_bytes_or_panic(&[n; 20])
}

/// A plain checkpoint of the main worktree, made `n` seconds after the epoch.
pub(crate) fn sample(n: u8) -> Checkpoint {
    Checkpoint {
        number: 0,
        id: CheckpointId::generate(Millis::from(n) * 1000),
        session: SessionKey::parse("main-1").unwrap(),
        kind: Kind::Manual,
        step: None,
        turn: None,
        agent: None,
        subject: format!("sample {n}"),
        message: None,
        commit: object(n),
        tree: object(n),
        index_tree: None,
        head: None,
        branch: Some("main".to_owned()),
        operation: None,
        created_at: Millis::from(n) * 1000,
        completed_at: None,
        boundary: None,
        worktree: WorktreeRef { id: WorktreeId::main(), path: "/w".into() },
        origin: None,
        skipped: Vec::new(),
        intent_to_add: Vec::new(),
        meta: Default::default(),
        names: Vec::new(),
        stat: None,
    }
}
