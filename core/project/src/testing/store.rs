//! Results of tests, in an SQLite file that processes share.
//!
//! A result is written in one transaction, so that a killed process leaves whole results only. A damaged row is none. Nor is
//! an outcome that one moment may have brought about: it would count for ever.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use twincell_files::private;

use super::{CollectionError, Test, TestError, TestRecord};

/// Increase the number when older files cannot be read.
const FILE: &str = "tests-1.sqlite";
/// The maximum time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS suites (key TEXT PRIMARY KEY, collected TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (key TEXT, run INTEGER, test TEXT, record TEXT NOT NULL, PRIMARY KEY (key, run, test))
    WITHOUT ROWID;
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
}

impl Store {
    /// Opens the store of a cache folder. It is made if it is not there.
    pub fn open(folder: &Path) -> Result<Self, TestError> {
        let file = folder.join(FILE);
        let opened = private::lasting(folder).and_then(|()| private::file(&file)).map_err(|error| error.to_string());
        let opened = opened.and_then(|_| {
            let open = || {
                let connection = Connection::open(&file)?;
                connection.busy_timeout(PATIENCE)?;
                connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
                connection.pragma_update(None, "synchronous", "normal")?;
                connection.execute_batch(TABLES)?;
                rusqlite::Result::Ok(connection)
            };
            open().map_err(|error: rusqlite::Error| error.to_string())
        });
        match opened {
            Ok(connection) => Ok(Self { connection, file }),
            Err(reason) => Err(TestError::Store { file, reason }),
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

    pub(super) fn put_collection(&self, key: &str, collection: &Collection) -> Result<(), TestError> {
        let text = serde_json::to_string(collection).map_err(io::Error::other)?;
        let put = "INSERT OR REPLACE INTO suites (key, collected) VALUES (?1, ?2)";
        self.connection.execute(put, [key, &text]).map_err(|error| self.failed(&error))?;
        Ok(())
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
        let mut write = || {
            let transaction = self.connection.transaction()?;
            for record in records.iter().filter(|record| record.outcome.is_lasting()) {
                let text = serde_json::to_string(record).unwrap_or_default();
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO records (key, run, test, record) VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![key, run, record.id, text])?;
            }
            transaction.commit()
        };
        let written = write();
        written.map_err(|error| self.failed(&error))
    }
}

/// Records by test, without those that an earlier twincell should not have kept.
fn readable<'a>(rows: impl Iterator<Item = &'a String>) -> HashMap<String, TestRecord> {
    let records = rows.filter_map(|text| serde_json::from_str::<TestRecord>(text).ok());
    let lasting = records.filter(|record| record.outcome.is_lasting());
    lasting.map(|record| (record.id.clone(), record)).collect()
}

/// Removes the store of a cache folder. Returns how many bytes are free now.
pub(super) fn clean(folder: &Path) -> io::Result<u64> {
    let mut freed = 0;
    for end in ["", "-wal", "-shm"] {
        let path = folder.join(format!("{FILE}{end}"));
        if let Ok(about) = std::fs::metadata(&path) {
            std::fs::remove_file(&path)?;
            freed += about.len();
        }
    }
    Ok(freed)
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
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
}
