//! Results as lines of JSON. While a study runs, rows are in the order in which they came. At its end the file is
//! rewritten if this is not the order of the input.
//!
//! Memory: 8 bytes for the position of each change's row, and some 40 more for its key.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use twincell_files::outputs;

use super::places::{beside, foreign, open_locked, unreadable, unwritable};
use super::rows::Store;
use crate::finding::Finding;

/// How the lines that we write begin.
const BEGINNING: &[u8] = br#"{"id":"#;
/// The position for a number that no change has.
const NOWHERE: u64 = u64::MAX;

pub struct Jsonl {
    path: PathBuf,
    file: File,
    /// The size of the file in bytes, all of them whole lines.
    length: u64,
    lines: usize,
    /// Where the latest row of each key begins, and whether it belongs to a change of this run.
    known: HashMap<u128, (u64, bool)>,
    /// Where the row of each change begins, by the change's number.
    places: Vec<u64>,
}

/// What distinguishes a result from other JSON.
#[derive(Deserialize)]
struct ResultLine {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "verdict")]
    _verdict: twincell_compare::verdict::Verdict,
    #[serde(rename = "reason")]
    _reason: String,
    key: Option<String>,
}

impl Jsonl {
    pub fn open(path: &Path, fresh: bool) -> Result<Self, String> {
        let file = open_locked(path)?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(format!("cannot write {}: it is not a file that a study can append to", path.display()));
        }
        let mut opened =
            Self { path: path.to_owned(), file, length: 0, lines: 0, known: HashMap::new(), places: Vec::new() };
        if !fresh {
            opened.read_what_is_there()?;
        }
        let cut = opened.file.set_len(opened.length).and_then(|()| opened.file.seek(SeekFrom::End(0)));
        cut.map_err(|error| unwritable(path, &error))?;
        Ok(opened)
    }

    fn read_what_is_there(&mut self) -> Result<(), String> {
        let mut reader = BufReader::new(&self.file);
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            line.clear();
            let count = reader.read_until(b'\n', &mut line).map_err(|error| unreadable(&self.path, &error))?;
            if count == 0 {
                return Ok(());
            }
            number += 1;
            let whole = line.ends_with(b"\n");
            if whole && line.trim_ascii().is_empty() {
                self.length += count as u64;
                // A line that is not a row, so that the end of the study leaves it out.
                self.lines += 1;
                continue;
            }
            match serde_json::from_slice::<ResultLine>(&line) {
                Ok(row) => {
                    if let Some(key) = row.key.as_deref().and_then(number_of) {
                        self.known.insert(key, (self.length, false));
                    }
                    self.length += count as u64;
                    self.lines += 1;
                    if !whole {
                        let ended = self.file.write_all_at(b"\n", self.length);
                        ended.map_err(|error| unwritable(&self.path, &error))?;
                        self.length += 1;
                    }
                }
                // A kill, or a machine that went off, left half a line.
                Err(error) if !whole && is_torn(&line, &error) => return Ok(()),
                Err(_) => {
                    return Err(foreign(&self.path, &format!("holds something other than results in line {number}")));
                }
            }
        }
    }

    fn row_at(&self, place: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        BufReader::new(At { file: &self.file, place }).read_until(b'\n', &mut line)?;
        Ok(line)
    }

    fn set_place(&mut self, number: usize, place: u64) {
        if self.places.len() <= number {
            self.places.resize(number + 1, NOWHERE);
        }
        if let Some(known) = self.places.get_mut(number) {
            *known = place;
        }
    }

    /// Whether every line is the row of a change, in order.
    fn is_in_order(&self) -> bool {
        let mut last = None;
        let mut rows = 0;
        for place in self.places.iter().filter(|place| **place != NOWHERE) {
            if last.is_some_and(|last| last >= *place) {
                return false;
            }
            last = Some(*place);
            rows += 1;
        }
        rows == self.lines
    }

    fn write_in_order(&mut self, complete: bool) -> io::Result<()> {
        let temporary = beside(&self.path, ".tmp");
        let mut out = BufWriter::new(outputs::make_beside(&temporary, &self.path)?);
        let placed = self.places.iter().filter(|place| **place != NOWHERE);
        for place in placed.clone() {
            out.write_all(&self.row_at(*place)?)?;
        }
        if !complete {
            let placed: HashSet<u64> = placed.copied().collect();
            let mut reader = BufReader::new(At { file: &self.file, place: 0 });
            let (mut place, mut line) = (0, Vec::new());
            while reader.read_until(b'\n', &mut line)? > 0 {
                let key = serde_json::from_slice::<ResultLine>(&line).map(|row| row.key.as_deref().and_then(number_of));
                let is_wanted = match key {
                    Ok(Some(key)) => self.known.get(&key).is_some_and(|(latest, _)| *latest == place),
                    // Without a key it is compared again.
                    Ok(None) | Err(_) => false,
                };
                if is_wanted && !placed.contains(&place) {
                    out.write_all(&line)?;
                }
                place += line.len() as u64;
                line.clear();
            }
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_data()?;
        std::fs::rename(&temporary, &self.path)
    }
}

impl Store for Jsonl {
    fn resume(&mut self, number: usize, key: &str, relabel: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String> {
        let Some(hash) = number_of(key) else { return Ok(None) };
        let Some((place, is_taken)) = self.known.get(&hash).copied() else { return Ok(None) };
        let line = self.row_at(place).map_err(|error| unreadable(&self.path, &error))?;
        let Ok(finding) = serde_json::from_slice::<Finding>(&line) else { return Ok(None) };
        let mut relabeled = finding.clone();
        relabel(&mut relabeled);
        if relabeled == finding && !is_taken {
            self.known.insert(hash, (place, true));
            self.set_place(number, place);
        } else {
            self.add(number, &relabeled)?;
        }
        Ok(Some(relabeled))
    }

    fn add(&mut self, number: usize, finding: &Finding) -> Result<(), String> {
        let mut line = serde_json::to_vec(finding).map_err(|error| error.to_string())?;
        line.push(b'\n');
        // One call for each row: the system has the finding at once, and a kill tears at most one row.
        self.file.write_all(&line).map_err(|error| unwritable(&self.path, &error))?;
        if let Some(key) = finding.key.as_deref().and_then(number_of) {
            self.known.insert(key, (self.length, true));
        }
        self.set_place(number, self.length);
        self.length += line.len() as u64;
        self.lines += 1;
        Ok(())
    }

    fn tick(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn unclaimed(&self) -> Result<u64, String> {
        Ok(self.known.values().filter(|(_, is_taken)| !is_taken).count() as u64)
    }

    fn copy(&mut self, to: &Path) -> Result<(), String> {
        outputs::copy_beside(&self.path, to).map_err(|error| unwritable(to, &error))
    }

    fn finish(&mut self, complete: bool) -> Result<(), String> {
        let ended = if self.is_in_order() { self.file.sync_data() } else { self.write_in_order(complete) };
        ended.map_err(|error| unwritable(&self.path, &error))
    }
}

/// A file read from some position on, without moving the position at which it is written.
struct At<'a> {
    file: &'a File,
    place: u64,
}

impl Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(bytes, self.place)?;
        self.place += count as u64;
        Ok(count)
    }
}

fn number_of(key: &str) -> Option<u128> {
    u128::from_str_radix(key, 16).ok()
}

fn is_torn(line: &[u8], error: &serde_json::Error) -> bool {
    let is_ours = line.iter().zip(BEGINNING).all(|(byte, ours)| byte == ours);
    is_ours && error.is_eof() || line.iter().all(|byte| *byte == 0)
}

pub fn read(path: &Path, each: &mut dyn FnMut(Finding) -> Result<(), String>) -> Result<(), String> {
    let mut reader = BufReader::new(File::open(path).map_err(|error| unreadable(path, &error))?);
    let (mut number, mut line) = (0, Vec::new());
    while reader.read_until(b'\n', &mut line).map_err(|error| unreadable(path, &error))? > 0 {
        number += 1;
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice(&line) {
                Ok(finding) => each(finding)?,
                Err(error) if !line.ends_with(b"\n") && is_torn(&line, &error) => {}
                Err(error) => {
                    return Err(format!("line {number} of {} is not a result of a study: {error}", path.display()));
                }
            }
        }
        line.clear();
    }
    Ok(())
}
