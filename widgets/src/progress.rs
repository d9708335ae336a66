//! How far a search in a history is, for a bar: numbers and one line.

use twincell_blame::Progress;

/// The content of a bar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressLine {
    pub done: u64,
    /// If it is known.
    pub total: Option<u64>,
    pub text: String,
}

/// How far the search for a commit is.
pub fn blame_progress(now: Progress) -> ProgressLine {
    ProgressLine { done: now.runs as u64, total: None, text: format!("ran at {} commits", now.runs) }
}
