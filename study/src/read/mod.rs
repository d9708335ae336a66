//! Readers of changes: one for each format. All give [`Changes`] one at a time, so that memory does not grow with the
//! input.

mod arrow;
mod csv;
mod fields;
mod folder;
mod json;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
mod patient;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use twincell_driver::files::reason;

pub use crate::change::Changes;
pub use arrow::Batches;
pub use fields::{RowPlace, from_fields, is_known};

use patient::Patient;

const ENDINGS: &str = "give .jsonl, .json, .csv, .tsv, .parquet, a folder of pairs, or - for standard input";

/// What a build without the feature says of Parquet files.
#[cfg(not(feature = "parquet"))]
pub(crate) const WITHOUT_PARQUET: &str =
    "this build has no Parquet; `pip install .` or `make build` makes one that has";

/// The size in bytes of the pieces in which input is read.
const PIECE: usize = 1 << 16;

/// The changes of a file or a folder, or of standard input for `-`. The ending tells the format; without a known one it
/// is JSON. An error is one line for people.
pub fn open(path: &Path) -> Result<Box<dyn Changes>, String> {
    let name = path.display();
    let unreadable = |error: io::Error| format!("cannot read {name}: {}", reason(&error));
    if path == Path::new("-") {
        let input = BufReader::with_capacity(PIECE, Patient::stdin().map_err(unreadable)?);
        return Ok(Box::new(jsonl::Lines::new(input)));
    }
    let file = File::open(path).map_err(unreadable)?;
    let kind = file.metadata().map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Ok(Box::new(folder::Pairs::open(path)?));
    }
    if !kind.is_file() {
        return Ok(Box::new(jsonl::Lines::new(BufReader::with_capacity(PIECE, Patient::new(file)))));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let in_it = |what: String| format!("cannot read {name}: {what}");
    match ending.as_str() {
        "csv" => Ok(Box::new(csv::Table::new(file, b',').map_err(in_it)?)),
        "tsv" => Ok(Box::new(csv::Table::new(file, b'\t').map_err(in_it)?)),
        #[cfg(feature = "parquet")]
        "parquet" | "pq" => Ok(Box::new(parquet::open(file).map_err(in_it)?)),
        #[cfg(not(feature = "parquet"))]
        "parquet" | "pq" => Err(in_it(WITHOUT_PARQUET.to_owned())),
        "xlsx" | "xls" | "pkl" | "pickle" | "feather" | "arrow" | "sqlite" | "db" | "py" | "zip" | "gz" => {
            Err(in_it(format!("changes are not read from .{ending}; {ENDINGS}")))
        }
        _ => {
            let mut input = BufReader::with_capacity(PIECE, file);
            let first = input.fill_buf().map_err(unreadable)?;
            let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start().first().copied();
            match first {
                Some(b'[') => Ok(Box::new(json::Entries::new(input))),
                _ => Ok(Box::new(jsonl::Lines::of(input, Some(path)))),
            }
        }
    }
}

#[cfg(test)]
pub(super) fn from_text(text: &str) -> impl Changes + use<> {
    jsonl::Lines::new(std::io::Cursor::new(text.as_bytes().to_vec()))
}
