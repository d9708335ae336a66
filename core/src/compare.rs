//! The main job: two texts -> a [`Comparison`].

use serde::{Deserialize, Serialize};

use crate::engine::WorkerPool;
use crate::engine::protocol::Context;
use crate::predictor::Predictor;
use crate::report::Comparison;
use crate::source::SourceError;

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The code to compare.
    pub text: String,
    /// The module that `text` was taken from, when `text` is only a part of it.
    pub module: Option<String>,
    /// What an error calls it: a file name, `old`, a cell.
    pub label: String,
}

/// Everything that changes the outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Executions at most, for each pair.
    pub budget: u32,
    pub seed: u64,
    pub context: Context,
    /// Compare only the function of this qualified name.
    pub function: Option<String>,
    /// Probability with which a call in a `try` body raises what the `except` clauses name, 0 to 1.
    pub raise_probability: f64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { budget: 300, seed: 0, context: Context::Module, function: None, raise_probability: 0.15 }
    }
}

/// Where a comparison stands, for progress displays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub pair: u32,
    pub pairs: u32,
    pub executions: u32,
    pub budget: u32,
    /// Share of executable lines that ran, 0 to 1.
    pub coverage: f64,
}

/// Answered by a progress callback: go on, or stop and report what was found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    Yes,
    Stop,
}

#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("{label} is not valid Python: {error}")]
    Syntax { label: String, error: SourceError },
    #[error("{label} has no function to compare; define one with def, async def or NAME = lambda")]
    NoFunction { label: String },
    #[error("no function is called {name} in both versions; there are: {known}")]
    UnknownFunction { name: String, known: String },
    #[error("the two versions have no function in common: old has {old}, new has {new}")]
    NothingInCommon { old: String, new: String },
    #[error("the predictor failed: {0}")]
    Predictor(#[from] crate::predictor::PredictError),
    #[error("the worker failed: {0}")]
    Worker(#[from] crate::engine::EngineError),
}

/// Compares every function that the two texts have in common and that changed.
///
/// A pure function of its arguments, times and counts of lost executions aside.
pub fn compare(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Comparison, CompareError> {
    let _ = (old, new, predictor, pool, options, progress);
    Err(CompareError::NoFunction { label: old.label.clone() })
}
