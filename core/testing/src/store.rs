//! Results of tests, in an SQLite file that processes share.
//!
//! A result is written in one transaction, so that a killed process leaves whole results only. A damaged row is none, and a
//! damaged file is made anew. Nor is an outcome kept that one moment may have brought about: it would count for ever.
//!
//! What is in a result comes from tests. So the file has a largest size, in which the oldest results make room, and a result
//! that is too long is not kept.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ffi::SQLITE_CORRUPT;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use twincell_files::{databases, private};

use crate::{CollectionError, Test, TestError, TestRecord};

/// Increase the number when older files cannot be read, and add the older name.
const FILE: &str = "tests-2.sqlite";
const OLDER: &str = "tests-1.sqlite";
/// The maximum size of the file, and of one result and of what is written at once, in bytes.
const MOST: i64 = 256 << 20;
const LONGEST: usize = 4 << 20;
const BATCH: usize = 16 << 20;
/// The maximum time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS suites (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, collected TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, key TEXT NOT NULL, run INTEGER NOT NULL, test TEXT NOT NULL,
    record TEXT NOT NULL, UNIQUE (key, run, test));
";

/// The results of tests by version, environment, test and options.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
}

/// What pytest collected at a version.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Collection {
    pub tests: Vec<Test>,
    pub errors: Vec<CollectionError>,
    /// Absent where nobody knows.
    #[serde(default)]
    pub opened: Option<BTreeSet<String>>,
}

impl Store {
    /// Opens the store of a cache folder. It is made if it is not there.
    pub fn open(folder: &Path) -> Result<Self, TestError> {
        Self::bounded(folder, MOST)
    }

    fn bounded(folder: &Path, most: i64) -> Result<Self, TestError> {
        let file = folder.join(FILE);
        let opened = private::lasting(folder).and_then(|()| private::file(&file)).map_err(|error| error.to_string());
        let opened = opened.and_then(|_| {
            remove(folder, OLDER);
            let opened = match connect(&file, most) {
                Err(error) if is_damaged(&error) => {
                    remove(folder, FILE);
                    connect(&file, most)
                }
                opened => opened,
            };
            opened.map_err(|error| error.to_string())
        });
        match opened {
            Ok(connection) => Ok(Self { connection, file }),
            Err(reason) => Err(TestError::Store { file, reason }),
        }
    }

    /// Writes something. Where there is no room for it, the oldest quarter of all goes, and if that is too little, nothing is
    /// kept: tests then run again.
    fn write(&mut self, write: impl Fn(&Connection) -> rusqlite::Result<()>) -> Result<(), TestError> {
        let in_transaction = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            write(&transaction)?;
            transaction.commit()
        };
        let is_full = |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        let written = match in_transaction(&mut self.connection) {
            Err(error) if is_full(&error) => {
                forget(&self.connection).and_then(|()| in_transaction(&mut self.connection))
            }
            written => written,
        };
        match written {
            Err(error) if !is_full(&error) => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, error: &rusqlite::Error) -> TestError {
        TestError::Store { file: self.file.clone(), reason: error.to_string() }
    }

    pub(super) fn collection(&self, key: &str) -> Result<Option<Collection>, TestError> {
        let query = "SELECT collected FROM suites WHERE key = ?1";
        let row = self.connection.query_row(query, [key], |row| row.get::<_, String>(0)).optional();
        let row = row.map_err(|error| self.failed(&error))?;
        Ok(row.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub(super) fn put_collection(&mut self, key: &str, collection: &Collection) -> Result<(), TestError> {
        let text = serde_json::to_string(collection).map_err(io::Error::other)?;
        if text.len() > BATCH {
            return Ok(());
        }
        self.write(|connection| {
            let put = "INSERT OR REPLACE INTO suites (key, collected) VALUES (?1, ?2)";
            connection.execute(put, [key, &text]).map(drop)
        })
    }

    /// The records of one run, by test.
    pub(super) fn records(&self, key: &str, run: u32) -> Result<HashMap<String, TestRecord>, TestError> {
        let read = || {
            let mut query = self.connection.prepare("SELECT record FROM records WHERE key = ?1 AND run = ?2")?;
            let rows = query.query_map(params![key, run], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let rows = read().map_err(|error| self.failed(&error))?;
        Ok(readable(rows.iter()))
    }

    /// The records of one run of these tests.
    pub(super) fn records_of(
        &self,
        key: &str,
        run: u32,
        tests: &[String],
    ) -> Result<HashMap<String, TestRecord>, TestError> {
        let read = || {
            let mut query =
                self.connection.prepare("SELECT record FROM records WHERE key = ?1 AND run = ?2 AND test = ?3")?;
            let rows = tests.iter().map(|test| query.query_row(params![key, run, test], |row| row.get(0)).optional());
            rows.collect::<rusqlite::Result<Vec<Option<String>>>>()
        };
        let rows = read().map_err(|error| self.failed(&error))?;
        Ok(readable(rows.iter().flatten()))
    }

    pub(super) fn put(&mut self, key: &str, run: u32, records: &[TestRecord]) -> Result<(), TestError> {
        let lasting = records.iter().filter(|record| record.outcome.is_lasting());
        let texts = lasting.filter_map(|record| Some((record.id.as_str(), serde_json::to_string(record).ok()?)));
        let mut batch = Vec::new();
        let mut bytes = 0;
        for (id, text) in texts.filter(|(_, text)| text.len() <= LONGEST) {
            bytes += text.len();
            batch.push((id, text));
            if bytes > BATCH {
                self.put_batch(key, run, &std::mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        self.put_batch(key, run, &batch)
    }

    fn put_batch(&mut self, key: &str, run: u32, batch: &[(&str, String)]) -> Result<(), TestError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.write(|connection| {
            let put = "INSERT OR REPLACE INTO records (key, run, test, record) VALUES (?1, ?2, ?3, ?4)";
            let mut put = connection.prepare_cached(put)?;
            batch.iter().try_for_each(|(id, text)| put.execute(params![key, run, id, text]).map(drop))
        })
    }
}

fn connect(file: &Path, most: i64) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    databases::restrict(&connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "normal")?;
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    connection.pragma_update_and_check(None, "max_page_count", most / page.max(1), |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", most, |_| Ok(()))?;
    connection.execute_batch(TABLES)?;
    if !databases::has_schema(&connection, TABLES)? {
        return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(SQLITE_CORRUPT), None));
    }
    Ok(connection)
}

/// Removes the oldest quarter of what is kept.
fn forget(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["suites", "records"] {
        let oldest = format!("SELECT id FROM {table} ORDER BY id LIMIT (SELECT count(*) / 4 + 1 FROM {table})");
        connection.execute(&format!("DELETE FROM {table} WHERE id IN ({oldest})"), [])?;
    }
    Ok(())
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Removes a file of a store with what SQLite keeps beside it.
fn remove(folder: &Path, file: &str) {
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.join(format!("{file}{end}")));
    }
}

/// Records by test, without those that an earlier twincell should not have kept.
fn readable<'a>(rows: impl Iterator<Item = &'a String>) -> HashMap<String, TestRecord> {
    let records = rows.filter_map(|text| serde_json::from_str::<TestRecord>(text).ok());
    let lasting = records.filter(|record| record.outcome.is_lasting());
    lasting.map(|record| (record.id.clone(), record)).collect()
}

/// The files of the store of a cache folder, older ones included.
pub fn stored(folder: &Path) -> Vec<PathBuf> {
    let names = [FILE, OLDER].into_iter().flat_map(|file| ["", "-wal", "-shm"].map(|end| format!("{file}{end}")));
    names.map(|name| folder.join(name)).filter(|path| path.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Failure, Outcome};
    use super::*;

    #[test]
    fn what_one_moment_may_bring_about_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let record = |id: &str, outcome| TestRecord {
            id: id.to_owned(),
            outcome,
            failure: None,
            seconds: 0.0,
            lines: [].into(),
            observations: vec![],
            operands: vec![],
            values: vec![],
            opened: None,
        };
        let of_moments = [Outcome::TimedOut, Outcome::Crashed, Outcome::NotFound];
        let records = [Outcome::Failed].into_iter().chain(of_moments).map(|outcome| record("a", outcome));
        store.put("key", 0, &records.collect::<Vec<_>>()).unwrap();
        assert_eq!(store.records("key", 0).unwrap()["a"].outcome, Outcome::Failed);
        // As an earlier twincell kept it.
        let text = serde_json::to_string(&record("b", Outcome::TimedOut)).unwrap();
        let put = "INSERT INTO records (key, run, test, record) VALUES ('key', 0, 'b', ?1)";
        store.connection.execute(put, [&text]).unwrap();
        let both = ["a", "b"].map(str::to_owned);
        let found = [store.records("key", 0).unwrap(), store.records_of("key", 0, &both).unwrap()];
        assert!(found.iter().all(|records| records.len() == 1 && records.contains_key("a")));
    }

    fn passed(id: &str, message: &str) -> TestRecord {
        let failure = Failure {
            exception: String::new(),
            message: message.to_owned(),
            file: String::new(),
            line: 0,
            test_line: None,
            assertion: true,
        };
        TestRecord {
            id: id.to_owned(),
            outcome: Outcome::Failed,
            failure: Some(failure),
            seconds: 0.0,
            lines: [].into(),
            observations: vec![],
            operands: vec![],
            values: vec![],
            opened: None,
        }
    }

    #[test]
    fn the_file_has_a_largest_size_and_the_newest_results_stay() {
        let folder = tempfile::tempdir().unwrap();
        let most = 1 << 20;
        let mut store = Store::bounded(folder.path(), most).unwrap();
        for number in 0..300 {
            store.put(&format!("key {number}"), 0, &[passed("a", &"x".repeat(100_000))]).unwrap();
        }
        assert!(store.records("key 299", 0).unwrap().contains_key("a"));
        assert!(store.records("key 0", 0).unwrap().is_empty());
        let bytes: u64 = stored(folder.path()).iter().map(|path| path.metadata().unwrap().len()).sum();
        // SQLite lets its journal grow to four MiB.
        assert!(bytes <= most as u64 + (8 << 20), "{bytes}");
        // What does not fit at all is not kept, and nothing fails.
        store.put("key", 0, &[passed("b", &"x".repeat(2 << 20))]).unwrap();
        store.put("key", 0, &[passed("c", &"x".repeat(LONGEST))]).unwrap();
        assert!(store.records("key", 0).unwrap().is_empty());
        store.put("key", 0, &[passed("d", "")]).unwrap();
        assert!(store.records("key", 0).unwrap().contains_key("d"));
    }

    #[test]
    fn a_file_with_other_tables_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().put("key", 0, &[passed("a", "")]).unwrap();
        let costly = "CREATE INDEX costly ON records (hex(zeroblob(1)) || record);";
        Connection::open(folder.path().join(FILE)).unwrap().execute_batch(costly).unwrap();
        assert!(Store::open(folder.path()).unwrap().records("key", 0).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_file_is_made_anew_and_an_older_one_goes() {
        let folder = tempfile::tempdir().unwrap();
        for name in [FILE, OLDER] {
            std::fs::write(folder.path().join(name), "this is no database, and long enough".repeat(100)).unwrap();
        }
        let mut store = Store::open(folder.path()).unwrap();
        store.put("key", 0, &[passed("a", "")]).unwrap();
        assert_eq!(store.records("key", 0).unwrap().len(), 1);
        assert!(!folder.path().join(OLDER).exists());
    }
}
