//! Readers of changes: one for each format, all giving [`Changes`] one at a time.

mod fields;
mod jsonl;

use std::path::Path;

pub use super::change::Changes;

/// The changes that a file holds. An error is one line for people.
pub fn open(path: &Path) -> Result<Box<dyn Changes>, String> {
    Ok(Box::new(jsonl::Lines::open(path)?))
}

#[cfg(test)]
pub(super) fn from_text(text: &str) -> impl Changes + use<> {
    jsonl::Lines::new(std::io::Cursor::new(text.as_bytes().to_vec()))
}
