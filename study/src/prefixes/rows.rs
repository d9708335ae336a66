//! The rows of a study of prefixes as JSON lines, as they come, and at its end in the order of the input.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use twincell_files::outputs;
use twincell_files::runner::TextKind;

use super::row::PrefixRow;
use crate::snippet::Snippet;
use crate::store::{aside, foreign, open_locked, unreadable, unwritable};

/// A file of rows that this process alone writes to.
pub struct Rows {
    path: PathBuf,
    file: File,
    /// The rows of an earlier run by key.
    known: HashMap<String, PrefixRow>,
    /// The keys of those that nobody asked for.
    unclaimed: HashSet<String>,
}

impl Rows {
    /// Opens a file, with the rows that are there. `fresh` discards those.
    pub fn open(path: &Path, fresh: bool) -> Result<Self, String> {
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            return Err(format!("rows cannot go to {}: give a name that ends in .jsonl", path.display()));
        }
        let mut file = open_locked(path)?;
        let text = if fresh { String::new() } else { read_text(path)? };
        let (rows, end) = parse(path, &text)?;
        // A line that a kill has torn goes.
        file.set_len(end as u64).map_err(|error| unwritable(path, &error))?;
        file.seek(SeekFrom::End(0)).map_err(|error| unwritable(path, &error))?;
        let known: HashMap<String, PrefixRow> =
            rows.into_iter().filter_map(|row| Some((row.key.clone()?, row))).collect();
        Ok(Self { path: path.to_owned(), file, unclaimed: known.keys().cloned().collect(), known })
    }

    /// The row of a snippet, if an earlier run has it, under its present name.
    pub fn resume(&mut self, key: &str, snippet: &Snippet) -> Option<PrefixRow> {
        let known = self.known.get(key)?;
        self.unclaimed.remove(key);
        Some(PrefixRow { id: snippet.id.clone(), folder: snippet.folder.clone(), ..known.clone() })
    }

    pub fn add(&mut self, row: &PrefixRow) -> Result<(), String> {
        self.file.write_all(line(row)?.as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }

    /// Replaces the file by these rows. Where others go with it, the file as it was stays beside it.
    pub fn finish(self, rows: &[PrefixRow]) -> Result<(), String> {
        if !self.unclaimed.is_empty() {
            let before = aside(&self.path);
            outputs::copy_beside(&self.path, &before).map_err(|error| unwritable(&before, &error))?;
        }
        let text = rows.iter().map(line).collect::<Result<String, String>>()?;
        outputs::write(&self.path, text.as_bytes(), TextKind::Json).map_err(|error| unwritable(&self.path, &error))
    }
}

/// Writes rows to a file, in place of what is there.
pub fn write(path: &Path, rows: &[PrefixRow]) -> Result<(), String> {
    Rows::open(path, true)?.finish(rows)
}

/// All rows of a file.
pub fn read(path: &Path) -> Result<Vec<PrefixRow>, String> {
    Ok(parse(path, &read_text(path)?)?.0)
}

fn line(row: &PrefixRow) -> Result<String, String> {
    Ok(serde_json::to_string(row).map_err(|error| error.to_string())? + "\n")
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|_| foreign(path, "is not UTF-8"))
}

/// The rows of a text, and where the last whole one ends.
fn parse(path: &Path, text: &str) -> Result<(Vec<PrefixRow>, usize), String> {
    let (mut rows, mut end) = (Vec::new(), 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        match serde_json::from_str::<PrefixRow>(line) {
            Ok(row) if line.ends_with('\n') => rows.push(row),
            _ if end > 0 && end + line.len() == text.len() && !line.ends_with('\n') => break,
            _ => return Err(foreign(path, &format!("has something other than rows of prefixes in line {number}"))),
        }
        end += line.len();
    }
    Ok((rows, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str) -> PrefixRow {
        PrefixRow { id: id.into(), key: Some(format!("key of {id}")), ..PrefixRow::default() }
    }

    fn snippet(id: &str) -> Snippet {
        Snippet { id: id.into(), ..Snippet::default() }
    }

    #[test]
    fn a_killed_study_goes_on_and_one_of_others_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let mut rows = Rows::open(&path, false).unwrap();
        rows.add(&row("a")).unwrap();
        rows.add(&row("b")).unwrap();
        drop(rows);
        let torn = std::fs::read_to_string(&path).unwrap() + "{\"id\": \"c";
        std::fs::write(&path, torn).unwrap();
        let mut rows = Rows::open(&path, false).unwrap();
        assert_eq!(rows.resume("key of a", &snippet("new")).unwrap().id, "new");
        assert_eq!(rows.resume("key of c", &snippet("c")), None);
        rows.add(&row("c")).unwrap();
        rows.finish(&[row("c"), row("a")]).unwrap();
        assert_eq!(read(&path).unwrap(), [row("c"), row("a")]);
        assert_eq!(read(&folder.path().join("rows.before.jsonl")).unwrap().len(), 3, "b was dropped");
        for other in ["hello", "{\"a\": 1}\n"] {
            std::fs::write(&path, other).unwrap();
            let Err(error) = Rows::open(&path, false) else { panic!("{other} was taken") };
            assert!(error.contains("line 1") && std::fs::read_to_string(&path).unwrap() == other, "{error}");
        }
        assert!(Rows::open(&path, true).is_ok());
    }
}
