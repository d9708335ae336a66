//! A folder of pairs: `x_old.py` and `x_new.py`, `old/x.py` and `new/x.py`, or `x/old.py` and `x/new.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use twincell_driver::files;
use twincell_repo::is_inside;
use twincell_syntax::{PerSide, Side};

use super::fields::{RowPlace, from_fields};
use crate::change::{Changes, Row};

/// The maximum nesting of folders.
const DEEPEST: usize = 50;

const EXPECTED: &str = "name them x_old.py and x_new.py, old/x.py and new/x.py, or x/old.py and x/new.py";

/// The pairs of a folder, by the common part of their names.
pub struct Pairs {
    folder: PathBuf,
    pairs: std::vec::IntoIter<(String, PerSide<Option<PathBuf>>)>,
    total: u64,
    number: usize,
}

impl Pairs {
    pub fn open(folder: &Path) -> Result<Self, String> {
        let mut files = BTreeSet::new();
        collect(folder, Path::new(""), 0, &mut files)
            .map_err(|error| format!("cannot read {}: {}", folder.display(), files::reason(&error)))?;
        let mut pairs: BTreeMap<String, PerSide<Option<PathBuf>>> = BTreeMap::new();
        for file in &files {
            // `old/whats_new.py` may be read in two ways. The one whose other file exists counts.
            let mut ways = readings(file);
            let way = ways.iter().position(|way| files.contains(&way.other)).unwrap_or(0);
            if way < ways.len() {
                let Reading { name, side, .. } = ways.swap_remove(way);
                pairs.entry(name).or_default()[side] = Some(file.clone());
            }
        }
        if pairs.is_empty() {
            return Err(format!("there are no pairs of Python files in {}: {EXPECTED}", folder.display()));
        }
        let total = pairs.len() as u64;
        Ok(Self {
            folder: folder.to_owned(),
            pairs: pairs.into_iter().collect::<Vec<_>>().into_iter(),
            total,
            number: 0,
        })
    }

    fn pair(&self, name: &str, files: &PerSide<Option<PathBuf>>, place: RowPlace) -> Row {
        let id = Value::from(name);
        let mut fields = Map::from_iter([("id".to_owned(), id.clone())]);
        for (side, file) in Side::BOTH.into_iter().zip(files) {
            let Some(file) = file else {
                let there = files.iter().flatten().next().map(|file| file.display().to_string()).unwrap_or_default();
                return Err(place.wrong(Some(&id), &format!("{there} has no {side} version beside it; {EXPECTED}")));
            };
            let path = self.folder.join(file);
            let text = files::read_source(&path).map_err(|reason| place.wrong(Some(&id), &reason))?;
            fields.insert(side.to_string(), Value::from(text));
            fields.insert("file".to_owned(), Value::from(file.display().to_string()));
        }
        from_fields(fields, place)
    }
}

impl Changes for Pairs {
    fn next(&mut self) -> Option<io::Result<Row>> {
        let (name, files) = self.pairs.next()?;
        self.number += 1;
        Some(Ok(self.pair(&name, &files, RowPlace { unit: "pair", number: self.number })))
    }

    fn total(&self) -> Option<u64> {
        Some(self.total)
    }

    fn unit(&self) -> &'static str {
        "pair"
    }
}

/// All Python files below, as seen from the folder. Links to folders are not followed, and links that lead out of it are left
/// out: the folder may be a stranger's.
fn collect(folder: &Path, within: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder.join(within))? {
        let entry = entry?;
        let path = within.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if depth < DEEPEST {
                collect(folder, &path, depth + 1, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "py") && is_inside(&entry.path(), folder) {
            files.insert(path);
        }
    }
    Ok(())
}

/// One way to read a file's name.
#[derive(Debug, PartialEq)]
struct Reading {
    /// The name of its pair.
    name: String,
    side: Side,
    /// The name of the other file in this case.
    other: PathBuf,
}

/// All ways to read a file's name: by a folder, the outermost first; as a whole; by its ending.
fn readings(file: &Path) -> Vec<Reading> {
    let without = file.with_extension("");
    let parts: Vec<String> = without.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let Some((stem, folders)) = parts.split_last() else { return Vec::new() };
    let replaced = |at: usize, by: &str| {
        let parts = parts.iter().enumerate().map(|(index, part)| if index == at { by } else { part.as_str() });
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    };
    let reading = |at: usize, side: Side, name: &str, other: String| {
        let other = PathBuf::from(replaced(at, &other) + ".py");
        Reading { name: replaced(at, name), side, other }
    };
    let mut readings = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if let Some(side) = Side::BOTH.into_iter().find(|side| side.name() == part)
            && !folders.is_empty()
        {
            readings.push(reading(at, side, "", side.other().to_string()));
        }
    }
    for side in Side::BOTH {
        for mark in ["_", "-", "."] {
            if let Some(start) = stem.strip_suffix(side.name()).and_then(|start| start.strip_suffix(mark))
                && !start.is_empty()
            {
                readings.push(reading(folders.len(), side, start, format!("{start}{mark}{}", side.other())));
            }
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_under_any_of_the_names() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for name in ["a_old.py", "sub/b-old.py", "old/c.py", "old/deep/d.py", "e/old.py", "lost_old.py", "bad_old.py"] {
            write(name, b"x = 1\n");
            let other = name.replace("old", "new");
            if name != "lost_old.py" {
                write(&other, if name == "bad_old.py" { b"\xff" } else { b"x = 2\n" });
            }
        }
        write("golden.py", b"");
        write("notes.txt", b"");
        let mut pairs = Pairs::open(folder.path()).unwrap();
        assert_eq!(pairs.total(), Some(7));
        let rows: Vec<Row> = std::iter::from_fn(|| pairs.next()).map(Result::unwrap).collect();
        let ids: Vec<_> = rows
            .iter()
            .map(|row| row.as_ref().map_or_else(|no_change| &no_change.id, |change| &change.id).as_str().unwrap())
            .collect();
        assert_eq!(ids, ["a", "bad", "c", "deep/d", "e", "lost", "sub/b"]);
        assert!(rows.iter().flatten().all(|change| change.old == "x = 1\n" && change.new == "x = 2\n"));
        let reason = |at: usize| rows[at].as_ref().unwrap_err().reason();
        assert!(
            reason(5).starts_with("pair 6 is not a change: lost_old.py has no new version beside it"),
            "{}",
            reason(5)
        );
        assert!(reason(1).contains("bad_new.py is not UTF-8"), "{}", reason(1));
        assert_eq!(rows[3].as_ref().unwrap().file.as_deref(), Some("new/deep/d.py"));
    }

    #[test]
    fn of_several_ways_to_read_a_name_the_one_with_both_files_counts() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["old/whats_new.py", "new/whats_new.py", "old/p/new/x.py", "new/p/new/x.py", "new/b_old.py", "new/b_new.py"]
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x = 1\n").unwrap();
        }
        let mut pairs = Pairs::open(folder.path()).unwrap();
        let rows: Vec<Row> = std::iter::from_fn(|| pairs.next()).map(Result::unwrap).collect();
        let ids: Vec<_> = rows.iter().map(|row| row.as_ref().unwrap().id.as_str().unwrap()).collect();
        assert_eq!(ids, ["new/b", "p/new/x", "whats_new"]);
    }

    #[test]
    fn a_folder_without_pairs_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = Pairs::open(folder.path()).err().unwrap();
        assert!(error.contains("name them x_old.py and x_new.py"), "{error}");
    }
}
