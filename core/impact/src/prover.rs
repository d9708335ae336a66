//! Who says that two versions of a function do the same.

use std::sync::Arc;

/// Says of two versions of a function whether they do the same, for the same arguments and the same state, if what they call
/// does: they return and raise the same, and have the same effects on the same values in the same order.
pub trait Prover {
    /// How many calls deep it looks into what a function calls.
    fn depth(&self) -> u32;

    /// What shows that, if this depth is enough. Nothing does if it is only likely.
    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> Option<Shown>;

    /// Whether looking this many calls deep can show more than looking one call less deep. The depth is at least 1.
    fn is_deeper(&self, _old: &FunctionPlace, _new: &FunctionPlace, _depth: u32) -> bool {
        true
    }
}

/// What shows that two versions of a function do the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The functions of the same module of which it was not taken for granted that they do the same: the proof looked into every call
    /// of them.
    pub looked_into: Vec<Arc<str>>,
}

/// Proves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProver;

impl Prover for NoProver {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, _: &FunctionPlace, _: &FunctionPlace, _: u32) -> Option<Shown> {
        None
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
