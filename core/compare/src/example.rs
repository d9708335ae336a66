//! Examples: inputs that somebody gave, which are executed before any are drawn.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use twincell_syntax::Side;
use twincell_values::reading::examples::Call;
use twincell_values::value::{Choice, Decision, Fixed, Recipe};

/// Decisions that somebody gave for an execution. What they leave open is drawn as usual.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// By access path, with the old names of parameters.
    pub fixed: Fixed,
    pub source: ExampleSource,
}

impl Example {
    /// The same example with a value written in another way.
    pub(crate) fn with(&self, path: &str, value: Recipe) -> Self {
        let mut fixed = self.fixed.clone();
        fixed.insert(path.to_owned(), Decision::Value(value));
        Self { fixed, ..self.clone() }
    }

    /// Whether an execution with these decisions ran on the values of this example, as far as it asked for them.
    pub(crate) fn is_of(&self, choices: &[Choice]) -> bool {
        let mut given = choices.iter().filter_map(|choice| Some((choice, self.fixed.get(&choice.path)?))).peekable();
        // Values are compared as texts, since NaN does not equal itself.
        given.peek().is_some()
            && given
                .all(|(choice, own)| choice.decision == *own || format!("{:?}", choice.decision) == format!("{own:?}"))
    }
}

/// Where an example comes from. Its text reads within a sentence: `the example in cart.py, line 3`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExampleSource {
    /// A file of examples.
    File { label: String, line: u32 },
    /// A doctest in a docstring of this version, at a line of the whole text.
    Docstring { version: Side, line: u32 },
    /// `@example(...)` of Hypothesis in this version, at a line of the whole text.
    Decorator { version: Side, line: u32 },
    /// What the function received while the project's own tests ran; empty if the test is not known.
    Recorded { test: String },
    /// Values of the notebook, or of a program that calls the library.
    Notebook,
}

impl fmt::Display for ExampleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExampleSource::File { label, line } => write!(f, "the example in {label}, line {line}"),
            ExampleSource::Docstring { version, line } => {
                write!(f, "the docstring's example in line {line} of {}", version.name())
            }
            ExampleSource::Decorator { version, line } => write!(f, "@example in line {line} of {}", version.name()),
            ExampleSource::Recorded { test } if test.is_empty() => f.write_str("a recorded input"),
            ExampleSource::Recorded { test } => write!(f, "an input recorded in {test}"),
            ExampleSource::Notebook => f.write_str("the values given"),
        }
    }
}

/// The examples of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Examples {
    /// By the qualified name of the function.
    pub of: BTreeMap<String, Vec<Example>>,
    /// Those of every function, snippet and class that asks for one of their paths.
    pub of_all: Vec<Example>,
    /// Calls, each an example of the function that it calls.
    pub calls: Arc<Vec<GivenCall>>,
    /// Whether the calls are also of functions of other texts, so that unknown ones are no mistake.
    pub is_shared: bool,
}

/// A call that somebody gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenCall {
    pub call: Call,
    pub source: ExampleSource,
}

impl Examples {
    pub fn is_empty(&self) -> bool {
        self.of.is_empty() && self.of_all.is_empty() && self.calls.is_empty()
    }
}
