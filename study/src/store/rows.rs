//! The operations of every store: [`Store`].

use std::path::Path;

use crate::finding::Finding;

/// Holds the rows of a study. Errors are one line for people, with the file's name.
pub trait Store: Send {
    /// The row with this key, if there is one, as the row of the change `number`. `relabel` adds what the present input
    /// says about the change.
    fn resume(&mut self, number: usize, key: &str, relabel: &dyn Fn(&mut Finding)) -> Result<Option<Finding>, String>;

    /// The row of the change `number`.
    fn add(&mut self, number: usize, finding: &Finding) -> Result<(), String>;

    /// Call this often: then rows that were added a second ago survive a kill.
    fn tick(&mut self) -> Result<(), String>;

    /// The number of rows that no change has asked for so far.
    fn unclaimed(&self) -> Result<u64, String>;

    /// Writes all rows to another file, for users who did not intend to lose them.
    fn copy(&mut self, to: &Path) -> Result<(), String>;

    /// Ends the study. If it is complete, the store holds one row for each change, in the order of their numbers, and
    /// nothing else. Otherwise earlier rows stay behind them.
    fn finish(&mut self, complete: bool) -> Result<(), String>;
}
