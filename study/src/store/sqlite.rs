//! Results as an SQLite table, `findings`: one row for each change, one column for each field. Findings are committed
//! once a second, behind a write-ahead log, so that a kill costs a second and never the file.
//!
//! `id` is a text or an integer as it is, and anything else is JSON in a blob. `evidence` is JSON. `number` is the
//! change's position in the input. `run` counts the runs of this file, so that rows that the present input did not ask
//! for can be distinguished until the study is complete.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, ToSql, named_params, params};
use serde_json::Value;
use twincell_files::databases;

use super::places::{beside, foreign, open_locked, unreadable, unwritable};
use super::rows::Store;
use crate::finding::Finding;

/// Marks our files among SQLite's: `twcl`.
const APPLICATION: i32 = 0x7477_636c;
/// The version of the table. Increase it when an older twincell could not resume it.
const FORMAT: i32 = 3;
/// Earlier formats, without columns that a study adds: `sandbox_lacks`, and `date` with `kind`.
const WITHOUT_SANDBOX: i32 = 1;
const WITHOUT_KIND: i32 = 2;
/// The most that a kill may cost.
const COMMIT_INTERVAL: Duration = Duration::from_millis(900);

/// How long others may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

const TABLE: &str = r#"
    CREATE TABLE findings (
        number INTEGER NOT NULL, run INTEGER NOT NULL,
        id, verdict TEXT NOT NULL, reason TEXT NOT NULL, evidence TEXT NOT NULL, executions INTEGER NOT NULL,
        coverage REAL NOT NULL, changed_lines_reached REAL, milliseconds REAL NOT NULL, reproducer TEXT, label TEXT,
        project TEXT, "commit" TEXT, file TEXT, function TEXT, first_difference INTEGER, complexity INTEGER,
        key TEXT, sandbox_lacks TEXT, date TEXT, kind TEXT
    );
    CREATE INDEX findings_by_key ON findings (key);
    CREATE INDEX findings_by_number ON findings (number);
"#;
/// The columns to which formats have added some.
const LAST: &str = "key TEXT, sandbox_lacks TEXT, date TEXT, kind TEXT";
const ADD_SANDBOX: &str = "ALTER TABLE findings ADD COLUMN sandbox_lacks TEXT;";
const ADD_KIND: &str = "ALTER TABLE findings ADD COLUMN date TEXT; ALTER TABLE findings ADD COLUMN kind TEXT;";
const COLUMNS: &str = r#"id, verdict, reason, evidence, executions, coverage, changed_lines_reached, milliseconds,
    reproducer, label, project, "commit", file, function, first_difference, complexity, key, sandbox_lacks, date, kind"#;
const INSERT: &str = r#"INSERT INTO findings VALUES (:number, :run, :id, :verdict, :reason, :evidence, :executions,
    :coverage, :changed_lines_reached, :milliseconds, :reproducer, :label, :project, :commit, :file, :function,
    :first_difference, :complexity, :key, :sandbox_lacks, :date, :kind)"#;
const CLAIM: &str = r#"UPDATE findings SET number = :number, run = :run, id = :id, label = :label, project = :project,
    "commit" = :commit, file = :file, function = :function, date = :date, kind = :kind WHERE rowid = :row"#;

pub struct Sqlite {
    path: PathBuf,
    connection: Connection,
    /// The present run.
    run: i64,
    /// When the oldest uncommitted row came.
    since: Option<Instant>,
    /// The lock. It is released after the connection: closing any handle of the file ends SQLite's own locks.
    _file: File,
}

impl Sqlite {
    pub fn open(path: &Path, fresh: bool) -> Result<Self, String> {
        let file = open_locked(path)?;
        if fresh {
            file.set_len(0).map_err(|error| unwritable(path, &error))?;
            remove_logs(path);
        }
        // SQLite would follow a link in the place of a file of its own.
        for ending in LOGS {
            let log = beside(path, ending);
            if log.is_symlink() {
                return Err(format!("cannot write {}: it is a link; remove it", log.display()));
            }
        }
        let failed = |error: rusqlite::Error| broken(path, &error);
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        databases::restrict(&connection).map_err(failed)?;
        let format = check(path, &connection)?;
        // A file system that cannot share memory between processes has no write-ahead log. Then SQLite stays as it is.
        connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
        if format != FORMAT {
            let all = connection.transaction().map_err(failed)?;
            let changes = match format {
                WITHOUT_SANDBOX => [ADD_SANDBOX, ADD_KIND].concat(),
                WITHOUT_KIND => ADD_KIND.to_owned(),
                _ => TABLE.to_owned(),
            };
            all.execute_batch(&changes).map_err(failed)?;
            all.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            all.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
            all.commit().map_err(failed)?;
        }
        // A row without a key is compared again.
        connection.execute("DELETE FROM findings WHERE key IS NULL", ()).map_err(failed)?;
        let run: i64 = connection
            .query_row("SELECT coalesce(max(run), 0) + 1 FROM findings", (), |row| row.get(0))
            .map_err(failed)?;
        Ok(Self { path: path.to_owned(), connection, run, since: None, _file: file })
    }

    fn failed(&self, error: rusqlite::Error) -> String {
        broken(&self.path, &error)
    }

    fn begin(&mut self) -> Result<(), String> {
        if self.since.is_none() {
            self.connection.execute_batch("BEGIN").map_err(|error| self.failed(error))?;
            self.since = Some(Instant::now());
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), String> {
        if self.since.take().is_some() {
            self.connection.execute_batch("COMMIT").map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn insert(&self, number: usize, run: i64, finding: &Finding) -> Result<(), String> {
        let evidence = serde_json::to_string(&finding.evidence).map_err(|error| error.to_string())?;
        let lacks = finding.sandbox_lacks.as_ref().map(serde_json::to_string).transpose();
        let lacks = lacks.map_err(|error| error.to_string())?;
        let verdict = serde_json::to_value(finding.verdict).map_err(|error| error.to_string())?;
        let insert = || {
            self.connection.prepare_cached(INSERT)?.execute(named_params! {
                ":number": as_integer(number), ":run": run, ":id": Id(&finding.id), ":verdict": verdict.as_str(),
                ":reason": finding.reason, ":evidence": evidence, ":executions": finding.executions,
                ":coverage": finding.coverage, ":changed_lines_reached": finding.changed_lines_reached,
                ":milliseconds": finding.milliseconds, ":reproducer": finding.reproducer, ":label": finding.label,
                ":project": finding.project, ":commit": finding.commit, ":file": finding.file,
                ":function": finding.function, ":first_difference": finding.first_difference,
                ":complexity": finding.complexity, ":key": finding.key, ":sandbox_lacks": lacks,
                ":date": finding.date, ":kind": finding.kind,
            })
        };
        insert().map(|_| ()).map_err(|error| self.failed(error))
    }

    fn claim(&self, number: usize, row: i64, finding: &Finding) -> Result<(), String> {
        let claim = || {
            self.connection.prepare_cached(CLAIM)?.execute(named_params! {
                ":number": as_integer(number), ":run": self.run, ":id": Id(&finding.id), ":label": finding.label,
                ":project": finding.project, ":commit": finding.commit, ":file": finding.file,
                ":function": finding.function, ":date": finding.date, ":kind": finding.kind, ":row": row,
            })
        };
        claim().map(|_| ()).map_err(|error| self.failed(error))
    }
}

/// What the journal of a Parquet file needs.
#[cfg(feature = "parquet")]
impl Sqlite {
    /// Adds a row as if from an earlier run.
    pub(super) fn add_earlier(&mut self, number: usize, finding: &Finding) -> Result<(), String> {
        self.begin()?;
        self.insert(number, self.run - 1, finding)
    }

    pub(super) fn has(&self, key: &str) -> Result<bool, String> {
        self.connection
            .prepare_cached("SELECT 1 FROM findings WHERE key = ?")
            .and_then(|mut statement| statement.exists([key]))
            .map_err(|error| self.failed(error))
    }

    /// The rows in order: those of the present run, then the earlier ones.
    pub(super) fn each(&self, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
        each_row(&self.path, &self.connection, COLUMNS, each)
    }

    pub(super) fn all_ids_are_integers(&self) -> Result<bool, String> {
        self.connection
            .query_row("SELECT count(*) = 0 FROM findings WHERE typeof(id) <> 'integer'", (), |row| row.get(0))
            .map_err(|error| self.failed(error))
    }
}

impl Store for Sqlite {
    fn resume(&mut self, number: usize, key: &str, relabel: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String> {
        // A row that no change of this run has yet, if there is one.
        let select = format!("SELECT {COLUMNS}, rowid, run FROM findings WHERE key = ? ORDER BY run, rowid LIMIT 1");
        let found = self.connection.prepare_cached(&select).and_then(|mut statement| {
            let mut rows = statement.query([key])?;
            rows.next()?.map(|row| Ok((read_row(row)?, row.get::<_, i64>(20)?, row.get::<_, i64>(21)?))).transpose()
        });
        let Some((finding, row, run)) = found.map_err(|error| self.failed(error))? else { return Ok(None) };
        let Some(mut finding) = finding else { return Ok(None) };
        relabel(&mut finding);
        self.begin()?;
        if run < self.run {
            self.claim(number, row, &finding)?;
        } else {
            self.insert(number, self.run, &finding)?;
        }
        Ok(Some(finding))
    }

    fn add(&mut self, number: usize, finding: &Finding) -> Result<(), String> {
        self.begin()?;
        self.insert(number, self.run, finding)?;
        self.tick()
    }

    fn tick(&mut self) -> Result<(), String> {
        match self.since {
            Some(since) if since.elapsed() >= COMMIT_INTERVAL => self.commit(),
            _ => Ok(()),
        }
    }

    fn unclaimed(&self) -> Result<u64, String> {
        let count = "SELECT count(*) FROM findings WHERE run <> ?";
        let count = self.connection.query_row(count, [self.run], |row| row.get::<_, i64>(0));
        count.map(|count| count.unsigned_abs()).map_err(|error| self.failed(error))
    }

    fn copy(&mut self, to: &Path) -> Result<(), String> {
        self.commit()?;
        // SQLite does not write to an existing file.
        match std::fs::remove_file(to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unwritable(to, &error)),
            _ => {}
        }
        let copied = self.connection.execute("VACUUM INTO ?", [to.to_string_lossy()]);
        copied.map(drop).map_err(|error| self.failed(error))
    }

    fn finish(&mut self, complete: bool) -> Result<(), String> {
        if complete {
            self.begin()?;
            let run = self.run;
            let deleted = self.connection.execute("DELETE FROM findings WHERE run <> ?", params![run]);
            deleted.map_err(|error| self.failed(error))?;
        }
        self.commit()?;
        // One file can be copied, and read where nothing may be written. If somebody reads it now, the log stays beside
        // it, which does no harm.
        match self.connection.pragma_update(None, "journal_mode", "delete") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
            done => done.map_err(|error| self.failed(error)),
        }
    }
}

/// The endings of the files that SQLite has beside a file.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Removes the files that SQLite leaves beside a file that no longer exists.
pub(super) fn remove_logs(path: &Path) {
    for ending in LOGS {
        // Most do not exist.
        let _ = std::fs::remove_file(beside(path, ending));
    }
}

/// The tables of a format.
fn schema(format: i32) -> String {
    let missing = match format {
        WITHOUT_SANDBOX => ", sandbox_lacks TEXT, date TEXT, kind TEXT",
        WITHOUT_KIND => ", date TEXT, kind TEXT",
        _ => "",
    };
    LAST.strip_suffix(missing).map_or_else(|| TABLE.to_owned(), |last| TABLE.replacen(LAST, last, 1))
}

/// The format of the file: 0 for an empty one. An error for a foreign file.
fn check(path: &Path, connection: &Connection) -> Result<i32, String> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get::<_, i64>(0));
    let read = tables.and_then(|tables| Ok((tables, number("application_id")?, number("user_version")?)));
    match read.map_err(|error| broken(path, &error))? {
        (0, ..) => Ok(0),
        (_, APPLICATION, format @ (WITHOUT_SANDBOX | WITHOUT_KIND | FORMAT)) => {
            match databases::has_schema(connection, &schema(format)).map_err(|error| broken(path, &error))? {
                true => Ok(format),
                false => Err(foreign(path, "has other tables than those of a study, which could run something")),
            }
        }
        (_, APPLICATION, format) => Err(foreign(
            path,
            &format!("has format {format}, from another version of twincell (this one writes {FORMAT})"),
        )),
        _ => Err(foreign(path, "is a database that twincell did not make")),
    }
}

/// SQLite's message about a file, for people.
fn broken(path: &Path, error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(path, "is not an SQLite database"),
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => foreign(path, &format!("is damaged ({error})")),
        _ => format!("cannot use {}: {error}", path.display()),
    }
}

fn each_row(
    path: &Path,
    connection: &Connection,
    columns: &str,
    each: &mut dyn FnMut(Finding) -> Result<(), String>,
) -> Result<(), String> {
    let failed = |error: rusqlite::Error| broken(path, &error);
    let select = format!("SELECT {columns} FROM findings ORDER BY run DESC, number, rowid");
    let mut statement = connection.prepare(&select).map_err(failed)?;
    let mut rows = statement.query(()).map_err(failed)?;
    let mut number = 0;
    while let Some(row) = rows.next().map_err(failed)? {
        number += 1;
        match read_row(row).map_err(failed)? {
            Some(finding) => each(finding)?,
            None => return Err(format!("row {number} of {} is not a result of a study", path.display())),
        }
    }
    Ok(())
}

pub fn read(path: &Path, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
    // SQLite says only that it cannot open a file, not why.
    std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    // A killed study left a log, and recovering it writes. Where nothing may be written, there is nothing to recover.
    let open = |flags| {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        databases::restrict(&connection)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    let connection = open(OpenFlags::SQLITE_OPEN_READ_WRITE)
        .or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))
        .map_err(|error: rusqlite::Error| unread(path, &error))?;
    match check(path, &connection).map_err(|_| format!("{} holds no results of a study", path.display()))? {
        0 => Ok(()),
        // The file may be one that nobody may write.
        WITHOUT_SANDBOX => {
            each_row(path, &connection, &COLUMNS.replace("sandbox_lacks, date, kind", "NULL, NULL, NULL"), each)
        }
        WITHOUT_KIND => each_row(path, &connection, &COLUMNS.replace("date, kind", "NULL, NULL"), each),
        _ => each_row(path, &connection, COLUMNS, each),
    }
}

fn unread(path: &Path, error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => format!("{} is not an SQLite database", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    }
}

/// None if a field holds something that we never write.
fn read_row(row: &Row<'_>) -> rusqlite::Result<Option<Finding>> {
    let id = match row.get_ref(0)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(json) => serde_json::from_slice(json).unwrap_or_default(),
    };
    let Ok(verdict) = serde_json::from_value(Value::String(row.get(1)?)) else { return Ok(None) };
    let Ok(evidence) = serde_json::from_str(row.get_ref(3)?.as_str()?) else { return Ok(None) };
    let lacks = row.get_ref(17)?.as_str_or_null()?.map(serde_json::from_str).transpose();
    let Ok(sandbox_lacks) = lacks else { return Ok(None) };
    Ok(Some(Finding {
        id,
        verdict,
        reason: row.get(2)?,
        evidence,
        executions: row.get(4)?,
        coverage: row.get(5)?,
        changed_lines_reached: row.get(6)?,
        milliseconds: row.get(7)?,
        reproducer: row.get(8)?,
        label: row.get(9)?,
        project: row.get(10)?,
        commit: row.get(11)?,
        file: row.get(12)?,
        function: row.get(13)?,
        first_difference: row.get(14)?,
        complexity: row.get(15)?,
        key: row.get(16)?,
        sandbox_lacks,
        date: row.get(18)?,
        kind: row.get(19)?,
    }))
}

struct Id<'a>(&'a Value);

impl ToSql for Id<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::String(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            other => match other.as_i64() {
                Some(number) => ToSqlOutput::Owned(Sql::Integer(number)),
                None => ToSqlOutput::Owned(Sql::Blob(other.to_string().into_bytes())),
            },
        })
    }
}

fn as_integer(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
