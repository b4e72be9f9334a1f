//! Opening the database: creating it, bringing it to the present version, and getting by where it cannot be written.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::StoreError;
use super::schema::{MIGRATIONS, VERSION};
use crate::sys::sharing::Sharing;

/// The file's name in the folder given to [`Store::open`].
pub(super) const FILE_NAME: &str = "checkpoints.db";

/// How long a statement waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How large the write-ahead log may grow before it is moved into the database. Whoever opens the database first reads the whole
/// log, and that is every run of this program; moving it costs fsyncs.
const LARGEST_LOG: u64 = 512 * 1024;

/// An open database.
pub struct Store {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    access: Access,
}

/// What can be done with the open database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    ReadWrite,
    /// The file or its folder is read-only.
    ReadOnly,
    /// There is no file and none can be made: an empty database in memory stands in, for rows made from the refs.
    Memory,
}

impl Store {
    /// Opens or creates the database in `folder`. Where it cannot be written it is opened for reading, and where there is
    /// none an empty one in memory takes its place: listing works in a repository that is read-only.
    pub fn open(folder: &Path, sharing: Sharing) -> Result<Store, StoreError> {
        let path = folder.join(FILE_NAME);
        match Self::open_writable(&path, sharing) {
            Err(error) if is_denied(&error) => Self::open_readable(&path, error),
            other => other,
        }
    }

    /// Opens the database in `folder` if there is one.
    pub fn open_existing(folder: &Path, sharing: Sharing) -> Result<Option<Store>, StoreError> {
        if folder.join(FILE_NAME).exists() { Self::open(folder, sharing).map(Some) } else { Ok(None) }
    }

    fn open_writable(path: &Path, sharing: Sharing) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = match Connection::open_with_flags(path, flags) {
            Ok(db) => db,
            Err(_) => {
                if let Some(folder) = path.parent() {
                    sharing.create_dir_all(folder).map_err(|source| denied(path, source))?;
                }
                // SQLite makes the log beside it with the permissions that the database has.
                let made = sharing.open_lasting(OpenOptions::new().truncate(false).write(true), path);
                made.map_err(|source| denied(path, source))?;
                let flags = flags | OpenFlags::SQLITE_OPEN_CREATE;
                Connection::open_with_flags(path, flags).map_err(|e| StoreError::new("open", path, e))?
            }
        };
        let mut store = Store { db, path: path.to_owned(), access: Access::ReadWrite };
        store.prepare().map_err(|e| store.error("open", e))?;
        let version = store.version()?;
        if version < VERSION {
            store.migrate()?;
        }
        // A file that is writable in a folder that is not, or the reverse, shows itself only here.
        if store.db.is_readonly(rusqlite::MAIN_DB).map_err(|e| store.error("open", e))? {
            return Err(StoreError::ReadOnly { path: path.to_owned(), source: None });
        }
        Ok(store)
    }

    fn open_readable(path: &Path, error: StoreError) -> Result<Store, StoreError> {
        if !path.try_exists().unwrap_or(false) {
            let db = Connection::open_in_memory().map_err(|e| StoreError::new("open", path, e))?;
            let mut store = Store { db, path: path.to_owned(), access: Access::Memory };
            store.migrate()?;
            return Ok(store);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        // SQLite needs its log's companion files beside the database, or the promise that nobody writes it.
        for uri in [uri(path, ""), uri(path, "?immutable=1")] {
            let Ok(db) = Connection::open_with_flags(uri, flags) else { continue };
            let store = Store { db, path: path.to_owned(), access: Access::ReadOnly };
            match store.version() {
                Ok(VERSION) => return Ok(store),
                Err(newer @ StoreError::Newer { .. }) => return Err(newer),
                Ok(_) | Err(_) => {}
            }
        }
        Err(error)
    }

    /// Moves the database in `folder` out of the way, with what belongs to it, so that SQLite still finds that: `ending` is added to
    /// the name of the database.
    pub fn set_aside(folder: &Path, ending: &str) -> Result<(), StoreError> {
        for part in ["", "-wal", "-shm"] {
            let from = folder.join(format!("{FILE_NAME}{part}"));
            match std::fs::rename(&from, folder.join(format!("{FILE_NAME}.{ending}{part}"))) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(denied(&from, error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Has SQLite look at all of its pages; an error if they are damaged.
    pub fn check(&self) -> Result<(), StoreError> {
        let found: String =
            self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|e| self.error("read", e))?;
        match found.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Corrupt { path: self.path.clone(), source: found.into() }),
        }
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        self.db.busy_timeout(BUSY_TIMEOUT)?;
        // Moving the log into the database on every exit would cost two fsyncs a run. SQLite's own way of doing it now and then
        // serves programs that stay: it forgets on exit what it has moved, and the log would grow without end. See `Drop`.
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.db.set_prepared_statement_cache_capacity(32);
        Ok(())
    }

    /// The version of the file; an error if it is newer than this program.
    fn version(&self) -> Result<i64, StoreError> {
        let found: i64 = self.db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|e| self.error("read", e))?;
        if found > VERSION {
            return Err(StoreError::Newer { path: self.path.clone(), found, known: VERSION });
        }
        if found == VERSION && self.access == Access::ReadWrite {
            let settings = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0";
            self.db.execute_batch(settings).map_err(|e| self.error("open", e))?;
        }
        Ok(found)
    }

    /// Brings the tables to the present version. Any number of processes may do so at once: the first does the work.
    fn migrate(&mut self) -> Result<(), StoreError> {
        if self.access == Access::ReadWrite {
            self.use_log().map_err(|e| self.error("open", e))?;
        }
        let outcome = (|| {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
                transaction.execute_batch(step)?;
            }
            if found < VERSION {
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()
        })();
        outcome.map_err(|e| self.error("set up", e))?;
        self.version().map(|_| ())
    }

    /// Turns the write-ahead log on. SQLite does not wait for others here, so this does.
    fn use_log(&self) -> rusqlite::Result<()> {
        let deadline = Instant::now() + BUSY_TIMEOUT;
        loop {
            match self.db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
                Err(error)
                    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) && Instant::now() < deadline =>
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
                other => return other.map(|_| ()),
            }
        }
    }

    /// True until rows were made from the refs with [`Store::insert_all`]: the database is new, or was deleted.
    pub fn was_created(&self) -> Result<bool, StoreError> {
        Ok(self.meta(INDEXED)?.is_none())
    }

    /// False if nothing that is written would last.
    pub fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }

    /// An error if nothing that is written would last.
    pub fn require_writable(&self) -> Result<(), StoreError> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly | Access::Memory => Err(StoreError::ReadOnly { path: self.path.clone(), source: None }),
        }
    }

    /// Rows made from the refs may also go into the database in memory.
    pub(super) fn require_fillable(&self) -> Result<(), StoreError> {
        if self.access == Access::Memory { Ok(()) } else { self.require_writable() }
    }

    pub(super) fn error(&self, action: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::new(action, &self.path, error)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.access != Access::ReadWrite {
            return;
        }
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        if std::fs::metadata(log).is_ok_and(|log| log.len() > LARGEST_LOG) {
            // Nothing is lost if it cannot be done now: the next run tries again. Waiting for readers is not worth it.
            let _ = self.db.busy_timeout(Duration::ZERO);
            let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

/// The key in `meta` that tells that the rows were made from the refs.
pub(super) const INDEXED: &str = "indexed";

fn uri(path: &Path, query: &str) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri + query
}

fn denied(path: &Path, source: std::io::Error) -> StoreError {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: path.to_owned(), source: Some(source.into()) }
        }
        _ => StoreError::Failed { action: "create the folder of", path: path.to_owned(), source: source.into() },
    }
}

fn is_denied(error: &StoreError) -> bool {
    match error {
        StoreError::ReadOnly { .. } => true,
        StoreError::Failed { source, .. } => source
            .downcast_ref::<rusqlite::Error>()
            .is_some_and(|e| e.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)),
        StoreError::Newer { .. } | StoreError::Corrupt { .. } | StoreError::Busy { .. } | StoreError::Uncertain { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::store::Filter;
    use crate::store::testing::{Fixture, sample};

    #[test]
    fn a_database_is_made_and_opened_again() {
        let mut fixture = Fixture::new();
        fixture.store.insert(&sample(1)).unwrap();
        drop(fixture.store);

        let store = Store::open(fixture.folder.path(), Sharing::Umask).unwrap();

        assert_eq!(store.count().unwrap(), 1);
        assert!(store.is_writable());
    }

    #[test]
    fn a_newer_database_is_refused_and_left_as_it_is() {
        let fixture = Fixture::new();
        fixture.store.db.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let path = fixture.store.path.clone();
        drop(fixture.store);
        let before = std::fs::read(&path).unwrap();

        let error = Store::open(fixture.folder.path(), Sharing::Umask).err().unwrap();

        assert!(matches!(error, StoreError::Newer { found: 99, known: VERSION, .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_damaged_database_is_told_as_such_and_left_as_it_is() {
        let fixture = Fixture::new();
        fixture.store.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let path = fixture.store.path.clone();
        drop(fixture.store);
        for damaged in [b"no database at all, but long enough to be looked at".repeat(90), {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[100..].fill(0xa5);
            bytes
        }] {
            std::fs::write(&path, &damaged).unwrap();

            let opened =
                Store::open(fixture.folder.path(), Sharing::Umask).and_then(|store| store.list(&Filter::default()).map(|_| ()));

            assert!(matches!(opened, Err(StoreError::Corrupt { .. })), "{opened:?}");
            assert_eq!(std::fs::read(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn an_empty_file_becomes_a_database() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), b"").unwrap();

        let store = Store::open(folder.path(), Sharing::Umask).unwrap();

        assert!(store.was_created().unwrap());
    }

    #[test]
    fn the_log_does_not_grow_without_end_over_many_runs() {
        let fixture = Fixture::new();
        let log = fixture.folder.path().join("checkpoints.db-wal");
        let mut largest = 0;

        for n in 0..200 {
            let mut store = Store::open(fixture.folder.path(), Sharing::Umask).unwrap();
            store.insert(&sample(n)).unwrap();
            drop(store);
            largest = largest.max(log.metadata().unwrap().len());
        }

        assert_eq!(Store::open(fixture.folder.path(), Sharing::Umask).unwrap().count().unwrap(), 200);
        assert!(largest > LARGEST_LOG / 2 && largest <= LARGEST_LOG, "{largest}");
    }

    #[test]
    fn many_open_and_fill_a_new_database_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let work = |n: u8| {
            let mut store = Store::open(folder.path(), Sharing::Umask)?;
            store.insert(&sample(n)).map(|_| ())
        };

        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|n| scope.spawn(move || work(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });

        for result in results {
            result.unwrap();
        }
        assert_eq!(Store::open(folder.path(), Sharing::Umask).unwrap().count().unwrap(), 16);
    }

    #[test]
    fn where_nothing_can_be_written_there_is_still_something_to_read() {
        if rustix::process::geteuid().is_root() {
            // Root writes in spite of permissions; the black-box tests use a read-only mount instead.
            return;
        }
        let mut fixture = Fixture::new();
        fixture.store.insert(&sample(1)).unwrap();
        drop(fixture.store);
        std::fs::set_permissions(fixture.folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();

        let mut store = Store::open(fixture.folder.path(), Sharing::Umask).unwrap();

        assert_eq!(store.count().unwrap(), 1);
        assert!(matches!(store.insert(&sample(2)), Err(StoreError::ReadOnly { .. })));
        std::fs::set_permissions(fixture.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_path_is_written_as_a_uri() {
        assert_eq!(uri(Path::new("/a b/c?d#e%"), "?immutable=1"), "file:/a%20b/c%3Fd%23e%25?immutable=1");
    }
}
