//! Who says that two versions of a function do the same.

use std::sync::Arc;

/// Says of two versions of a function whether they return and raise the same, for the same arguments and the same state, if
/// what they call does.
pub trait Prover {
    /// How many calls deep it looks into what a function calls.
    fn depth(&self) -> u32;

    /// Whether that is shown by looking this deep. It is not if it is only likely.
    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> bool;
}

/// Proves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProver;

impl Prover for NoProver {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, _: &FunctionPlace, _: &FunctionPlace, _: u32) -> bool {
        false
    }
}

/// A function of one version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionPlace {
    pub path: Arc<str>,
    pub function: Arc<str>,
    /// Which of the definitions of this name it is, from 0.
    pub ordinal: u32,
}
