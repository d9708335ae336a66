//! Predictions in a file that processes share: an SQLite database of hashes and answers.
//!
//! It is a cache: every failure is a miss, and no content is trusted without its check sum. Its folder can be deleted
//! at any time to empty it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::ffi::{SQLITE_CANTOPEN, SQLITE_CORRUPT};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use sha2::{Digest, Sha256};
use twincell_files::{databases, private};

use super::Key;

/// Increase the number when older files cannot be read.
const FILE: &str = "predictions-1.sqlite";
/// The maximum size of the file. The least recently used answers make room.
const LIMIT: i64 = 128 << 20;
/// The maximum time to wait for another process. The forward pass takes as long.
const PATIENCE: Duration = Duration::from_millis(20);
/// The number of seconds after which a use is recorded again.
const FRESH: i64 = 24 * 60 * 60;
/// The size in bytes of the check sum behind each answer.
const SUM: usize = 8;
/// The maximum size of an answer. Longer ones, of functions with tens of thousands of sites, are not cached here.
const LONGEST: usize = 4 << 20;
/// The whole schema of the file.
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS predictions (id INTEGER PRIMARY KEY, used INTEGER NOT NULL, answer BLOB NOT NULL)";

/// The file, opened on first use.
pub struct Disk {
    path: PathBuf,
    limit: i64,
    state: Mutex<State>,
}

enum State {
    Unopened,
    Open(Connection),
    /// Why it cannot be used.
    Unusable(String),
}

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub path: PathBuf,
    /// The number of answers and the size of the file in bytes, or why it is not used.
    pub contents: Result<(u64, u64), String>,
}

impl Disk {
    /// The file in this folder, which need not exist.
    pub fn in_folder(folder: &Path) -> Self {
        Disk { path: folder.join(FILE), limit: LIMIT, state: Mutex::new(State::Unopened) }
    }

    /// The answer under a key, if there is one and `decode` accepts it.
    pub(super) fn get<T>(&self, key: &Key, decode: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let (answer, _) = self.with(|connection| {
            let mut query = connection
                .prepare_cached("SELECT answer, used FROM predictions WHERE id = ?1 AND length(answer) <= ?2")?;
            let longest = (LONGEST + SUM) as i64;
            let row = query.query_row([id(key), longest], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?)));
            let row = row.optional()?;
            let now = now();
            if row.as_ref().is_some_and(|(_, used)| now.saturating_sub(*used) > FRESH) {
                let mut update = connection.prepare_cached("UPDATE predictions SET used = ?2 WHERE id = ?1")?;
                // Another process that writes at this moment does not make this a miss.
                let _ = update.execute(params![id(key), now]);
            }
            Ok(row)
        })??;
        let (bytes, sum) = answer.split_at_checked(answer.len().checked_sub(SUM)?)?;
        (sum == check_sum(key, bytes)).then(|| decode(bytes)).flatten()
    }

    /// Stores answers, except those without room or time.
    pub(super) fn put(&self, answers: &[(Key, Vec<u8>)]) {
        let written = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            for (key, bytes) in answers.iter().filter(|(_, bytes)| bytes.len() <= LONGEST) {
                let answer = [bytes.as_slice(), &check_sum(key, bytes)].concat();
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO predictions (id, used, answer) VALUES (?1, ?2, ?3)")?
                    .execute(params![id(key), now(), answer])?;
            }
            transaction.commit()
        };
        self.with(|connection| match written(connection) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                connection.execute(
                    "DELETE FROM predictions WHERE id IN (SELECT id FROM predictions ORDER BY used LIMIT \
                     (SELECT count(*) / 4 + 1 FROM predictions))",
                    [],
                )?;
                written(connection)
            }
            written => written,
        });
    }

    /// The present content of the file. Makes the file if it does not exist.
    pub fn stored(&self) -> Stored {
        let size = |connection: &mut Connection| {
            let answers: i64 = connection.query_row("SELECT count(*) FROM predictions", [], |row| row.get(0))?;
            let bytes = pragma(connection, "page_count")? * pragma(connection, "page_size")?;
            Ok((answers.unsigned_abs(), bytes.unsigned_abs()))
        };
        let contents = self.with(size).ok_or_else(|| match &*self.lock() {
            State::Unusable(reason) => reason.clone(),
            _ => "it is busy".to_owned(),
        });
        Stored { path: self.path.clone(), contents }
    }

    /// Does something with the database. A damaged one is discarded and made anew.
    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut state = self.lock();
        if matches!(*state, State::Unopened) {
            let opened = match open(&self.path, self.limit) {
                Err(error) if damaged(&error) => {
                    remove(&self.path);
                    open(&self.path, self.limit)
                }
                opened => opened,
            };
            *state = match opened {
                Ok(connection) => State::Open(connection),
                // Another process uses it at this moment. The next query finds it free.
                Err(error) if busy(&error) => State::Unopened,
                Err(error) => State::Unusable(error.to_string()),
            };
        }
        let State::Open(connection) = &mut *state else { return None };
        match work(connection) {
            Ok(result) => Some(result),
            Err(error) => {
                if damaged(&error) {
                    *state = State::Unopened;
                    remove(&self.path);
                }
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path, limit: i64) -> rusqlite::Result<Connection> {
    if let Some(folder) = path.parent() {
        let refused = |error: std::io::Error| failure(SQLITE_CANTOPEN, &error.to_string());
        private::lasting(folder).and_then(|()| private::file(path)).map_err(refused)?;
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    databases::restrict(&connection)?;
    // Readers and a writer do not wait for each other. Answers lost in a crash of the machine are predicted again.
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(failure(SQLITE_CANTOPEN, "its file system has no memory that processes share"));
    }
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "max_page_count", limit / pragma(&connection, "page_size")?.max(1))?;
    connection.execute(TABLE, [])?;
    match databases::has_schema(&connection, TABLE)? {
        true => Ok(connection),
        false => Err(failure(SQLITE_CORRUPT, "it holds other tables than that of predictions")),
    }
}

fn failure(code: i32, reason: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(reason.to_owned()))
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Processes that have it open continue with a file without a name.
fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = std::fs::remove_file(name);
    }
}

/// The number of a row. The check sum distinguishes keys that share one.
fn id(key: &Key) -> i64 {
    i64::from_le_bytes(key.first_chunk().copied().unwrap_or_default())
}

fn check_sum(key: &Key, bytes: &[u8]) -> [u8; SUM] {
    let sum: Key = Sha256::new().chain_update(key).chain_update(bytes).finalize().into();
    sum.first_chunk().copied().unwrap_or_default()
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> Key {
        Sha256::digest(number.to_le_bytes()).into()
    }

    fn get(disk: &Disk, number: u64) -> Option<Vec<u8>> {
        disk.get(&key(number), |bytes| Some(bytes.to_vec()))
    }

    #[test]
    fn what_was_put_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::in_folder(&folder.path().join("not/there/yet"));
        assert_eq!(get(&disk, 1), None);
        disk.put(&[(key(1), vec![1, 2, 3]), (key(2), Vec::new())]);
        let again = Disk::in_folder(&folder.path().join("not/there/yet"));
        assert_eq!((get(&again, 1), get(&again, 2), get(&again, 3)), (Some(vec![1, 2, 3]), Some(Vec::new()), None));
        let Ok((2, bytes)) = again.stored().contents else { panic!("{:?}", again.stored()) };
        assert!(bytes > 0);
    }

    #[test]
    fn an_answer_that_was_touched_is_a_miss() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::in_folder(folder.path());
        disk.put(&[(key(1), vec![7; 100]), (key(2), vec![8; 100])]);
        let other = Connection::open(folder.path().join(FILE)).unwrap();
        // The answer of 2 under the number of 1, a shorter one, and none.
        for answer in ["(SELECT answer FROM predictions WHERE id = ?2)", "x'0102'", "x''", "'text'", "7"] {
            let sql = format!("UPDATE predictions SET answer = {answer} WHERE id = ?1 AND ?2 = ?2");
            other.execute(&sql, [id(&key(1)), id(&key(2))]).unwrap();
            assert_eq!(get(&disk, 1), None, "{answer}");
        }
    }

    #[test]
    fn a_file_that_is_no_database_or_is_damaged_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, "this is no database at all, and long enough to be looked at".repeat(100)).unwrap();
        let disk = Disk::in_folder(folder.path());
        assert_eq!(get(&disk, 1), None);
        disk.put(&(0..200).map(|number| (key(number), vec![7; 3000])).collect::<Vec<_>>());
        assert!(get(&disk, 150).is_some());
        drop(disk);
        let mut bytes = std::fs::read(&path).unwrap();
        let (from, to) = (4096, bytes.len());
        bytes[from..to].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let disk = Disk::in_folder(folder.path());
        for number in 0..200 {
            assert_eq!(get(&disk, number), None);
        }
        disk.put(&[(key(1), vec![1])]);
        assert_eq!(get(&disk, 1), Some(vec![1]));
    }

    #[test]
    fn a_database_of_others_is_made_anew() {
        for others in [
            "CREATE TABLE predictions (id INTEGER PRIMARY KEY, used INTEGER, answer TEXT)",
            "CREATE VIEW predictions AS SELECT 1 AS id, 2 AS used, x'00' AS answer",
            &format!("{TABLE}; CREATE TRIGGER more AFTER INSERT ON predictions BEGIN DELETE FROM predictions; END"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(FILE);
            Connection::open(&path).unwrap().execute_batch(others).unwrap();
            let disk = Disk::in_folder(folder.path());
            assert_eq!(get(&disk, 1), None);
            disk.put(&[(key(1), vec![1])]);
            assert_eq!(get(&disk, 1), Some(vec![1]), "{others}");
        }
    }

    #[test]
    fn a_file_that_is_busy_when_it_is_opened_is_used_later() {
        let folder = tempfile::tempdir().unwrap();
        let other = Connection::open(folder.path().join(FILE)).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let disk = Disk::in_folder(folder.path());
        assert_eq!(get(&disk, 1), None);
        assert_eq!(disk.stored().contents, Err("it is busy".to_owned()));
        other.execute_batch("COMMIT").unwrap();
        disk.put(&[(key(1), vec![1])]);
        assert_eq!(get(&disk, 1), Some(vec![1]));
    }

    #[test]
    fn an_answer_that_is_too_long_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::in_folder(folder.path());
        disk.put(&[(key(1), vec![7; LONGEST + 1]), (key(2), vec![7; LONGEST])]);
        assert_eq!((get(&disk, 1), get(&disk, 2)), (None, Some(vec![7; LONGEST])));
    }

    #[test]
    fn where_no_file_can_be_made_everything_is_a_miss_and_the_reason_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let disk = Disk::in_folder(&file);
        disk.put(&[(key(1), vec![1])]);
        assert_eq!(get(&disk, 1), None);
        assert!(disk.stored().contents.is_err());
    }

    #[test]
    fn the_file_is_bounded_and_the_least_recently_used_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk { limit: 1 << 20, ..Disk::in_folder(folder.path()) };
        for number in 0..2000 {
            disk.put(&[(key(number), vec![7; 3000])]);
        }
        let Ok((answers, bytes)) = disk.stored().contents else { panic!("{:?}", disk.stored()) };
        assert!(bytes <= 1 << 20 && answers > 100, "{answers} answers, {bytes} bytes");
        let there = (1900..2000).filter(|&number| get(&disk, number).is_some()).count();
        assert!(there > 0, "none of the last ones is there");
    }

    #[test]
    fn threads_with_connections_of_their_own_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for first in 0..4 {
                let folder = folder.path();
                scope.spawn(move || {
                    let disk = Disk::in_folder(folder);
                    for number in 0..100u64 {
                        disk.put(&[(key(number), number.to_le_bytes().to_vec())]);
                        let other = (number + first) % 100;
                        assert!(get(&disk, other).is_none_or(|found| found == other.to_le_bytes()));
                    }
                });
            }
        });
        let disk = Disk::in_folder(folder.path());
        let there = (0..100).filter(|&number| get(&disk, number).is_some()).count();
        assert!(there > 90, "{there}");
    }
}
