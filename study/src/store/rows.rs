//! What every store does: [`Store`].

use std::path::Path;

use crate::finding::Finding;

/// Holds the rows of a study. Errors are one line for people, with the file's name.
pub trait Store: Send {
    /// The row of this key, if there is one, as the row of the change `number`. `relabel` puts in what the input says of the
    /// change now.
    fn resume(&mut self, number: usize, key: &str, relabel: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String>;

    /// The row of the change `number`.
    fn add(&mut self, number: usize, finding: &Finding) -> Result<(), String>;

    /// To be called often: what was added a second ago is safe from a kill.
    fn tick(&mut self) -> Result<(), String>;

    /// Rows that no change has asked for up to now.
    fn unclaimed(&self) -> Result<u64, String>;

    /// Writes all that there is to another file, for who did not mean to lose it.
    fn copy(&mut self, to: &Path) -> Result<(), String>;

    /// Ends the study. When it is complete the store holds one row for each change, in the order of their numbers, and
    /// nothing else; else what was there before stays behind them.
    fn finish(&mut self, complete: bool) -> Result<(), String>;
}
