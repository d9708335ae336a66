//! The analysis behind `compare`: did a change to Python code alter its behavior?
//!
//! [`compare`] takes two [`Source`]s and returns a [`report::Comparison`], plain data that views show. For each pair of
//! functions, a [`campaign`] chooses values, executes both versions, learns, confirms a difference and shrinks its
//! witness. [`decide`] turns the campaign into a [`verdict::Verdict`], [`reproduce`] writes a test that shows the
//! witness without twincell, and `assemble` composes the report. Views make its sentences. `flow/` is the whole flow on one
//! page.
//!
//! A comparison is a pure function of texts, options and predictions, apart from times and lost executions.
//! Deliberately absent: a Python interpreter, networks, Jupyter, printing.
//!
//! Execution needs workers, but finding the parts of a change that a comparison would examine does not:
//!
//! ```
//! let old = "class Page:\n    size = 10\n\n    def next(self):\n        return self.size\n";
//! let new = "class Page:\n    size = 20\n\n    def next(self):\n        return self.size\n";
//! let found = twincell_compare::units(old, new);
//! assert_eq!(found.iter().map(|unit| unit.qualname.as_str()).collect::<Vec<_>>(), ["Page"]);
//! ```

pub mod assemble;
pub mod campaign;
mod cells;
mod decide;
mod example;
mod flow;
mod headline;
pub mod note;
pub mod notice;
mod options;
mod progress;
mod project_test;
mod reason;
pub mod report;
pub mod reproduce;
mod uses;
pub mod verdict;

pub use cells::together;
pub use decide::decide;
pub use example::{Example, ExampleSource, Examples, GivenCall};
pub use flow::{
    Again, Execution, Executions, Inputs, PredictionRequest, Replayed, Then, Unit, compare, execute, programs, replay,
    requests, units, unknown_functions, written_decision,
};
pub use headline::STATEMENTS;
pub use note::{NotGiven, WhyNotGiven};
pub use options::{CompareError, CompareOptions, Source};
pub use progress::Progress;
pub use twincell_engine::Continue;
