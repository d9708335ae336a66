//! The input of a comparison: two sources and its options, and why it may be refused.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use twincell_behavior::Declared;
use twincell_engine::protocol::{Context, GivenValue, Isolation};
use twincell_semantic::ProjectModule;
use twincell_syntax::{SourceError, TooDeep};
use twincell_values::value::Provider;

use crate::Examples;
use crate::campaign::Techniques;
use crate::note::NotGiven;

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The code to compare.
    pub text: String,
    /// The module from which `text` was taken, if `text` is only a part of it.
    pub module: Option<String>,
    /// The name in errors: a file name, `old`, a cell.
    pub label: String,
    /// Whether the text is a notebook, a JSON document, whose cells are compared one by one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_notebook: bool,
    /// Whether it is a cell of a notebook: what it changes may stand in an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cell: bool,
    /// The file that the text was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Where the module lies, if the other modules of its project can be imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ProjectModule>,
    /// Statements that are evaluated before the text, as if they stood above it: what earlier cells of a notebook define.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
}

/// Everything that changes the result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// The maximum number of executions for each pair.
    pub budget: u32,
    pub seed: u64,
    pub context: Context,
    /// Compare only the function with this qualified name.
    pub function: Option<String>,
    /// The probability that a call in a `try` body raises what the `except` clauses name, 0 to 1.
    pub raise_probability: f64,
    /// The techniques that the search may use.
    pub techniques: Techniques,
    /// The relative difference up to which two floats count as equal.
    pub float_tolerance: f64,
    /// Whether differences that only an unlikely value shows are ignored.
    pub ignore_edge_cases: bool,
    /// Whether the order of the keys of dictionaries counts.
    pub ordered_keys: bool,
    /// What the project declares about behavior.
    pub declared: Declared,
    pub isolation: Isolation,
    /// Inputs that are executed before any are drawn.
    #[serde(default, skip_serializing_if = "Examples::is_empty")]
    pub examples: Examples,
    /// The maximum size of one source in bytes.
    pub max_source: u64,
    /// The maximum number of statements and expressions of one version of a pair.
    pub max_function: u32,
    /// The maximum time of one pair. It guards: a pair that ends by itself does not depend on it.
    pub deadline: Duration,
    /// What somebody gave for parameters and globals.
    #[serde(default)]
    pub given: Vec<GivenValue>,
    /// What could not be given.
    #[serde(default)]
    pub not_given: Vec<NotGiven>,
    /// What makes values of classes, as the project declares it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<Arc<Provider>>,
    /// The files of the project that the same job compares, each by itself, as paths from its root. Only what changed in
    /// these is covered there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub compared_files: BTreeSet<String>,
    /// The folders of the packages that are installed where workers run. What is in them says what their classes declare.
    #[serde(skip)]
    pub packages: Vec<PathBuf>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            budget: 300,
            seed: 0,
            context: Context::Module,
            function: None,
            raise_probability: 0.15,
            techniques: Techniques::default(),
            float_tolerance: 0.0,
            ignore_edge_cases: false,
            ordered_keys: false,
            declared: Declared::default(),
            isolation: Isolation::Auto,
            examples: Examples::default(),
            max_source: 2 << 20,
            max_function: 50_000,
            deadline: Duration::from_secs(600),
            given: vec![],
            not_given: vec![],
            providers: vec![],
            compared_files: BTreeSet::new(),
            packages: vec![],
        }
    }
}

/// Why two texts cannot be compared. The message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("{label} is not valid Python: {error}")]
    Syntax { label: String, error: SourceError },
    #[error(
        "{label} has more than {} MiB, the limit of a source: compare a part of it, or raise --max-source",
        limit >> 20
    )]
    TooLarge { label: String, limit: u64 },
    #[error("{label} cannot be read: {place}")]
    TooDeep { label: String, place: TooDeep },
    #[error("{label} has no function to compare: {holds}; define one with def, async def or NAME = lambda")]
    NoFunction { label: String, holds: &'static str },
    #[error("no function is called {name} in both versions; there are: {}", known.join(", "))]
    UnknownFunction { name: String, known: Vec<String> },
    #[error("the two versions have no function in common: old has {old}, new has {new}")]
    NothingInCommon { old: String, new: String },
    #[error("this execution cannot be repeated: {0}")]
    Replay(String),
    #[error("the predictor failed: {0}")]
    Predictor(#[from] twincell_values::predictor::PredictError),
    #[error("the worker failed: {0}")]
    Worker(#[from] twincell_engine::EngineError),
}
