//! A snippet of a study of prefixes.

/// A snippet to search prefixes for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Its file.
    pub id: String,
    /// The folder among those that were given.
    pub folder: String,
    pub text: String,
    /// Why the file cannot be read.
    pub problem: Option<String>,
}
