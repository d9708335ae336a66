//! How far a search in a history is, for a bar: numbers and one line.

use twincell_blame::Progress;

/// The content of a bar, and what a program is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressLine {
    pub done: u64,
    /// If it is known.
    pub total: Option<u64>,
    pub text: String,
    /// The name of the stage, where a search has several, each with numbers of its own.
    pub stage: Option<&'static str>,
}

/// How far the search for a commit is.
pub fn blame_progress(now: Progress) -> ProgressLine {
    ProgressLine { done: now.runs as u64, total: None, text: format!("ran at {} commits", now.runs), stage: None }
}
