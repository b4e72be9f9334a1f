//! The tables, as a list of steps from one version to the next.

/// The statements that lead from version `n` to version `n + 1`. Steps that were released are never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    // Object ids are kept as bytes. `skipped`, `intent_to_add` and `meta` are JSON, and null where there is nothing.
    // `created` is null for a restore of the whole worktree. `origin` is null for what was made in this repository: only those rows belong to a worktree here.
    "CREATE TABLE checkpoints (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        kind TEXT NOT NULL,
        step TEXT,
        turn INTEGER,
        agent TEXT,
        subject TEXT NOT NULL,
        message TEXT,
        commit_id BLOB NOT NULL,
        tree BLOB NOT NULL,
        index_tree BLOB,
        head BLOB,
        branch TEXT,
        operation TEXT,
        created_at INTEGER NOT NULL,
        completed_at INTEGER,
        worktree TEXT NOT NULL,
        worktree_path BLOB NOT NULL,
        origin TEXT,
        skipped TEXT,
        intent_to_add TEXT,
        meta TEXT,
        files INTEGER,
        insertions INTEGER,
        deletions INTEGER
    ) STRICT;
    CREATE INDEX checkpoints_of_worktree ON checkpoints (worktree) WHERE origin IS NULL;
    CREATE INDEX checkpoints_of_session ON checkpoints (session);
    CREATE INDEX checkpoints_by_commit ON checkpoints (commit_id);
    CREATE TABLE names (
        name TEXT PRIMARY KEY,
        checkpoint INTEGER NOT NULL REFERENCES checkpoints (number) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX names_of_checkpoint ON names (checkpoint);
    CREATE TABLE diff_stats (
        old_tree BLOB NOT NULL,
        new_tree BLOB NOT NULL,
        files INTEGER NOT NULL,
        insertions INTEGER NOT NULL,
        deletions INTEGER NOT NULL,
        PRIMARY KEY (old_tree, new_tree)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE restores (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        worktree TEXT NOT NULL,
        pre_restore TEXT NOT NULL,
        target TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        undone_by TEXT,
        created TEXT
    ) STRICT;
    CREATE INDEX restores_of_worktree ON restores (worktree);
    CREATE TABLE default_sessions (worktree TEXT PRIMARY KEY, session TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    "CREATE TABLE packs (name TEXT PRIMARY KEY, tier INTEGER NOT NULL) STRICT;
    CREATE INDEX packs_of_tier ON packs (tier);",
    "CREATE INDEX checkpoints_uncounted ON checkpoints (number) WHERE files IS NULL;",
    // `process` is JSON: a number, when it began, and which run of the machine it began in. A session that was never started has
    // no row; one that only `run` knows is never open, and has rows in `runs` while a command is at work.
    "CREATE TABLE sessions (
        key TEXT PRIMARY KEY,
        worktree TEXT NOT NULL,
        worktree_path BLOB NOT NULL,
        agent TEXT,
        process TEXT,
        started_at INTEGER NOT NULL,
        ended_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_open ON sessions (worktree) WHERE ended_at IS NULL;
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
        worktree TEXT NOT NULL,
        step TEXT,
        state TEXT NOT NULL,
        process TEXT NOT NULL,
        since INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_of_session ON runs (session);",
    "ALTER TABLE restores ADD COLUMN redone_to TEXT;",
    // `conversation` is the agent's own id of the session, if its hooks tell of it; what is at work in it is in `runs` alone then.
    // `boundary` is JSON: of a checkpoint, and of a turn as far as it was known when the turn began. A turn is not recorded until
    // its end is; it is known here even where boundaries are not to be kept.
    "ALTER TABLE checkpoints ADD COLUMN boundary TEXT;
    ALTER TABLE sessions ADD COLUMN conversation TEXT;
    ALTER TABLE sessions ADD COLUMN model TEXT;
    ALTER TABLE runs ADD COLUMN turn INTEGER;
    CREATE TABLE turns (
        session TEXT NOT NULL,
        number INTEGER NOT NULL,
        turn_id TEXT,
        started_at INTEGER NOT NULL,
        recorded_at INTEGER,
        boundary TEXT,
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX turns_by_id ON turns (session, turn_id);",
    // JSON: what the restore did to an agent's memory.
    "ALTER TABLE restores ADD COLUMN memory TEXT;",
];

/// The version that this program writes.
pub(super) const VERSION: i64 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_counts_the_steps() {
        assert_eq!(usize::try_from(VERSION), Ok(MIGRATIONS.len()));
    }
}
