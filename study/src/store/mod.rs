//! Where the findings of a study go as they come, so that a killed study can be resumed.
//!
//! A store is told about every change once, in any order: [`Store::resume`] asks whether its row exists, and
//! [`Store::add`] brings the row if not. Rows that no change of the input asked for come from an earlier input or other
//! options. They stay until the study is complete. Only the readers and writers of three formats live here.
//! [`crate::finding`] decides what a row says, and [`crate::run`] which rows are wanted.

mod jsonl;
mod memory;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod rows;
mod sqlite;

use std::path::{Path, PathBuf};

use twincell_files::outputs;

use crate::finding::Finding;
#[cfg(not(feature = "parquet"))]
use crate::read::WITHOUT_PARQUET;

pub use memory::Memory;
pub(crate) use places::{foreign, open_locked, unreadable, unwritable};
pub use rows::Store;

/// The formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Jsonl,
    Sqlite,
    Parquet,
}

/// The format of a file, by its ending.
pub fn format(path: &Path) -> Result<Format, String> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("jsonl") => Ok(Format::Jsonl),
        Some("sqlite") => Ok(Format::Sqlite),
        Some("parquet") => Ok(Format::Parquet),
        _ => Err(format!(
            "results cannot go to {}: give a name that ends in .jsonl, .sqlite or .parquet",
            path.display()
        )),
    }
}

/// Where rows go that a complete study drops: `x.before.jsonl`.
pub fn aside(path: &Path) -> PathBuf {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("before.{ending}"))
}

/// Whether anything is there that a study may resume.
pub fn has_results(path: &Path) -> bool {
    let holds = |path: &Path| std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0);
    holds(path) || holds(&places::journal_of(path))
}

/// Opens the store of a study, with the rows that an earlier run left there. `fresh` discards those.
pub fn open(path: &Path, fresh: bool) -> Result<Box<dyn Store>, String> {
    // A file renamed into its place would replace a link, and not the link's target.
    let path = &outputs::settle(path).map_err(|error| unwritable(path, &error))?;
    if path.is_dir() {
        return Err(format!("cannot write {}: it is a folder; give a file", path.display()));
    }
    Ok(match format(path)? {
        Format::Jsonl => Box::new(jsonl::Jsonl::open(path, fresh)?),
        Format::Sqlite => Box::new(sqlite::Sqlite::open(path, fresh)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet::open(path, fresh)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(format!("cannot write {}: {WITHOUT_PARQUET}", path.display())),
    })
}

/// Reads results one by one, in order. Anything that is not a result is an error that names its place.
pub fn read(path: &Path, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
    match format(path) {
        Ok(Format::Sqlite) => sqlite::read(path, each),
        #[cfg(feature = "parquet")]
        Ok(Format::Parquet) => parquet::read(path, each),
        #[cfg(not(feature = "parquet"))]
        Ok(Format::Parquet) => Err(format!("cannot read {}: {WITHOUT_PARQUET}", path.display())),
        // A text may hold results under any name.
        Ok(Format::Jsonl) | Err(_) => jsonl::read(path, each),
    }
}

/// All results of a file.
pub fn read_all(path: &Path) -> Result<Vec<Finding>, String> {
    let mut results = Vec::new();
    read(path, &mut |finding| {
        results.push(finding);
        Ok(())
    })?;
    Ok(results)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use twincell_compare::verdict::Verdict;
    use twincell_engine::protocol::Mechanism;

    use super::*;
    use crate::change::Change;

    const ENDINGS: &[&str] =
        if cfg!(feature = "parquet") { &["jsonl", "sqlite", "parquet"] } else { &["jsonl", "sqlite"] };

    fn row(id: impl Into<Value>, key: Option<u8>) -> Finding {
        let change = Change { id: id.into(), label: Some("changing".into()), new: "x = 1".into(), ..Change::default() };
        let mut finding = Finding::not_compared(&change, format!("because of {key:?} \u{e9}\n"), 1.5);
        finding.key = key.map(hash);
        finding
    }

    fn hash(key: u8) -> String {
        format!("{key:032x}")
    }

    fn all(path: &Path) -> Vec<Finding> {
        let mut rows = Vec::new();
        read(path, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        rows
    }

    fn ids(path: &Path) -> Vec<Value> {
        all(path).into_iter().map(|row| row.id).collect()
    }

    /// Adds the row if it does not exist. Returns whether it did.
    fn put(store: &mut dyn Store, number: usize, finding: &Finding) -> bool {
        let name = |there: &mut Finding| there.id = finding.id.clone();
        if let Some(key) = &finding.key
            && let Some(there) = store.resume(number, key, &name).unwrap()
        {
            assert_eq!(there.id, finding.id);
            return true;
        }
        store.add(number, finding).unwrap();
        false
    }

    /// Every format, each in its own folder.
    fn each(test: impl Fn(&Path)) {
        for ending in ENDINGS {
            let folder = tempfile::tempdir().unwrap();
            test(&folder.path().join(format!("results.{ending}")));
            let left: Vec<_> =
                std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, [format!("results.{ending}").as_str()], "something was left behind");
        }
    }

    #[test]
    fn a_store_that_somebody_else_made_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let mut store = open(&path, false).unwrap();
        put(&mut *store, 1, &row("first", Some(1)));
        store.finish(true).unwrap();
        drop(store);
        let trigger = "CREATE TRIGGER hidden AFTER INSERT ON findings BEGIN DELETE FROM findings; END;";
        rusqlite::Connection::open(&path).unwrap().execute_batch(trigger).unwrap();
        let error = open(&path, false).err().unwrap();
        assert!(error.contains("other tables than those of a study") && error.contains("--fresh"), "{error}");
        for statements in [
            "DROP TRIGGER hidden; CREATE INDEX costly ON findings (hex(zeroblob(1)) || id);",
            "DROP INDEX costly; ALTER TABLE findings ADD COLUMN more TEXT AS (hex(reproducer));",
            "ALTER TABLE findings RENAME TO kept; CREATE VIEW findings AS SELECT * FROM kept;",
        ] {
            rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
            assert!(open(&path, false).is_err() && read(&path, &mut |_| Ok(())).is_err(), "{statements}");
        }
        assert!(open(&path, true).is_ok());
    }

    #[test]
    fn rows_come_back_as_they_were_in_the_order_of_their_changes() {
        each(|path| {
            let evidence = json!([{"channel": "return", "place": "p", "old": "a", "new": "b", "strength": "observable",
                "probability": 0.25, "edge_case": false, "score": 1.0, "execution": 3}]);
            let full = Finding {
                verdict: Verdict::Changing,
                evidence: serde_json::from_value(evidence).unwrap(),
                changed_lines_reached: Some(0.5),
                reproducer: Some("holds".into()),
                project: Some("p".into()),
                commit: Some("c".into()),
                file: Some("f".into()),
                function: Some("g".into()),
                first_difference: Some(3),
                complexity: Some(2),
                sandbox_lacks: Some(vec![Mechanism::Landlock, Mechanism::Seccomp]),
                ..row("full", Some(2))
            };
            let first = Finding { sandbox_lacks: Some(vec![]), ..row("first", Some(1)) };
            let rows = [first, full, row("third", None)];
            let mut store = open(path, false).unwrap();
            for number in [3, 1, 2] {
                store.add(number, &rows[number - 1]).unwrap();
            }
            store.finish(true).unwrap();
            drop(store);
            assert_eq!(all(path), rows);
        });
    }

    #[test]
    fn ids_keep_their_types() {
        let odd = [json!(5), json!(-1.5), json!(null), json!([1, "a"]), json!("5"), json!(u64::MAX), json!(true)];
        each(|path| {
            let mut store = open(path, false).unwrap();
            for (index, id) in odd.iter().enumerate() {
                store.add(index + 1, &row(id.clone(), None)).unwrap();
            }
            store.finish(true).unwrap();
            drop(store);
            let wanted = match format(path).unwrap() {
                // A column has one type.
                Format::Parquet => {
                    ["5", "-1.5", "null", "[1,\"a\"]", "5", "18446744073709551615", "true"].map(Value::from)
                }
                _ => odd.clone(),
            };
            assert_eq!(ids(path), wanted);
        });
        each(|path| {
            let mut store = open(path, false).unwrap();
            store.add(1, &row(7, None)).unwrap();
            store.finish(true).unwrap();
            drop(store);
            assert_eq!(ids(path), [7]);
        });
    }

    #[test]
    fn a_second_run_takes_up_what_is_there_and_drops_what_nobody_asked_for() {
        each(|path| {
            let mut store = open(path, false).unwrap();
            for number in 1..=4u8 {
                assert!(!put(&mut *store, number.into(), &row(number, Some(number))));
            }
            store.finish(true).unwrap();
            drop(store);
            // One change is new at the front, 2 is gone, 3 has another name, and 4 occurs twice.
            let mut store = open(path, false).unwrap();
            let asked = [row(9, Some(9)), row(1, Some(1)), row("three", Some(3)), row(4, Some(4)), row(5, Some(4))];
            let there: Vec<bool> =
                asked.iter().enumerate().map(|(index, row)| put(&mut *store, index + 1, row)).collect();
            assert_eq!(there, [false, true, true, true, true]);
            store.finish(true).unwrap();
            drop(store);
            assert_eq!(
                ids(path).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").replace('"', ""),
                "9 1 three 4 5"
            );
            // And once more, without changes.
            let mut store = open(path, false).unwrap();
            assert!(asked.iter().enumerate().all(|(index, row)| put(&mut *store, index + 1, row)));
            store.finish(true).unwrap();
            drop(store);
            assert_eq!(all(path).len(), 5);
        });
    }

    #[test]
    fn an_interrupted_run_loses_nothing_that_was_there() {
        each(|path| {
            let mut store = open(path, false).unwrap();
            for number in 1..=4u8 {
                put(&mut *store, number.into(), &row(number, Some(number)));
            }
            store.finish(true).unwrap();
            drop(store);
            let mut store = open(path, false).unwrap();
            put(&mut *store, 2, &row(2, Some(2)));
            put(&mut *store, 1, &row(8, Some(8)));
            store.finish(false).unwrap();
            drop(store);
            assert_eq!(ids(path), [8, 2, 1, 3, 4]);
            let mut store = open(path, false).unwrap();
            assert!([8u8, 2, 1, 3, 4].iter().enumerate().all(|(index, key)| put(
                &mut *store,
                index + 1,
                &row(*key, Some(*key))
            )));
            store.finish(true).unwrap();
        });
    }

    #[test]
    fn rows_that_are_compared_again_do_not_pile_up() {
        each(|path| {
            for _ in 0..3 {
                let mut store = open(path, false).unwrap();
                store.add(1, &row(1, None)).unwrap();
                put(&mut *store, 2, &row(2, Some(2)));
                store.finish(false).unwrap();
            }
            assert_eq!(all(path).len(), 2);
        });
    }

    #[test]
    fn fresh_throws_away_what_is_there() {
        each(|path| {
            for fresh in [false, true] {
                let mut store = open(path, fresh).unwrap();
                assert!(!put(&mut *store, 1, &row(1, Some(1))));
                store.finish(true).unwrap();
            }
            assert_eq!(all(path).len(), 1);
        });
    }

    #[test]
    fn two_studies_do_not_write_to_one_file() {
        each(|path| {
            let mut store = open(path, false).unwrap();
            let Err(error) = open(path, false) else { panic!("it was opened twice") };
            assert!(error.starts_with("another study is writing to "), "{error}");
            store.finish(true).unwrap();
        });
    }

    #[test]
    fn files_of_others_are_refused_and_left_as_they_are() {
        each(|path| {
            let whole = br#"{"id":"a","old":"x","new":"y"}"#;
            for content in [&b"hello"[..], b"{\"a\": 1}\n", b"a,b\n1,2\n", b"\x00\xff\xfe\n", whole] {
                std::fs::write(path, content).unwrap();
                let Err(error) = open(path, false) else { panic!("{content:?} was taken") };
                assert!(error.contains("give another --out, or --fresh"), "{error}");
                assert_eq!(std::fs::read(path).unwrap(), content);
            }
            std::fs::write(path, b"").unwrap();
            let mut store = open(path, false).unwrap();
            store.finish(true).unwrap();
            assert_eq!(all(path), []);
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url)").unwrap();
        let Err(error) = open(&path, false) else { panic!("another program's database was taken") };
        assert!(error.contains("is a database that twincell did not make"), "{error}");
    }

    #[test]
    fn a_torn_line_is_dropped_and_a_line_without_its_end_is_mended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let line = |key: u8| serde_json::to_string(&row(key, Some(key))).unwrap();
        for (tail, kept) in [(line(2)[..40].to_owned(), 1), (line(2), 2), ("\0\0\0".into(), 1), ("{\"i".into(), 1)] {
            std::fs::write(&path, format!("{}\n{tail}", line(1))).unwrap();
            assert!(!all(&path).is_empty());
            let mut store = open(&path, false).unwrap();
            assert!(put(&mut *store, 1, &row(1, Some(1))));
            assert_eq!(put(&mut *store, 2, &row(2, Some(2))), kept == 2, "{tail:?}");
            store.finish(true).unwrap();
            drop(store);
            assert_eq!(ids(&path), [1, 2]);
        }
    }

    #[test]
    fn a_line_in_the_middle_that_is_no_result_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let line = serde_json::to_string(&row(1, Some(1))).unwrap();
        std::fs::write(&path, format!("{line}\n{{\"id\":\n{line}\n")).unwrap();
        let Err(error) = open(&path, false) else { panic!("it was taken") };
        assert!(error.contains("something other than results in line 2"), "{error}");
    }

    #[test]
    fn results_without_keys_of_an_older_twincell_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let old = r#"{"id":1,"verdict":"changing","reason":"r","evidence":[],"executions":3,"coverage":1.0,"changed_lines_reached":1.0,"milliseconds":2.0,"reproducer":null}"#;
        std::fs::write(&path, format!("{old}\n")).unwrap();
        let mut store = open(&path, false).unwrap();
        assert!(!put(&mut *store, 1, &row("new", Some(1))));
        store.finish(true).unwrap();
        assert_eq!(ids(&path), ["new"]);
    }

    #[test]
    fn a_database_of_an_older_twincell_is_read_as_it_is_and_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let mut store = open(&path, false).unwrap();
        put(&mut *store, 1, &row(1, Some(1)));
        store.finish(true).unwrap();
        drop(store);
        let dropped = |column| format!("ALTER TABLE findings DROP COLUMN {column};");
        let old = ["sandbox_lacks", "date", "kind"].map(dropped).concat() + "PRAGMA user_version = 1;";
        rusqlite::Connection::open(&path).unwrap().execute_batch(&old).unwrap();
        assert_eq!(all(&path), [Finding { kind: None, ..row(1, Some(1)) }]);
        let mut store = open(&path, false).unwrap();
        assert!(put(&mut *store, 1, &row(1, Some(1))));
        let new = Finding { sandbox_lacks: Some(vec![Mechanism::Limits]), ..row(2, Some(2)) };
        assert!(!put(&mut *store, 2, &new));
        store.finish(true).unwrap();
        drop(store);
        assert_eq!(all(&path), [Finding { kind: None, ..row(1, Some(1)) }, new]);
    }

    #[test]
    fn names_say_the_format() {
        assert_eq!(format(Path::new("a/b.PARQUET")), Ok(Format::Parquet));
        for name in ["results", "results.csv", "jsonl"] {
            let error = format(Path::new(name)).unwrap_err();
            assert!(error.ends_with("give a name that ends in .jsonl, .sqlite or .parquet"), "{error}");
        }
    }
}
