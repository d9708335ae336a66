//! The analysis behind `prefix`: code that, put before a snippet, makes it run (Treefix, ICSE 2025).
//!
//! [`prefixes`] takes a [`Subject`], a text that may lack definitions, and returns [`Prefixes`]: a tree of prefixes, the smallest set of
//! them that together covers as many of its lines as possible, and the single best one. `reading.rs` says what the
//! snippet leaves undefined. The text alone (the crate `sketch`) and executions with hooks find values for it,
//! [`Environment`](twincell_sketch::environment::Environment) holds them, `values.rs`, `stand_in.rs` and `render.rs` write them as Python, `repair.rs` learns from errors, and
//! `grow/` is the whole algorithm. `function.rs` makes a function of a file a snippet.
//!
//! Every prefix runs with the snippet as plain Python, in the sandbox, and only what it covers there counts: a line counts
//! when its statement completes.
//!
//! `libraries.rs` says which libraries a snippet imports, and which distributions bring them.
//!
//! `language.rs` says what a language model has to do that stands in for the executions, and `answer.rs` reads what it
//! answers.
//!
//! Deliberately absent: a Python interpreter, networks, printing.

mod answer;
mod answers;
mod arguments;
mod body;
mod callers;
mod code;
mod compact;
mod compat_shims;
mod distributions;
mod files;
mod flags;
mod function;
mod generators;
mod grow;
mod hints;
mod import;
mod known;
mod layout;
mod lessons;
mod libraries;
mod program;
mod reading;
mod render;
mod repair;
mod result;
mod signatures;
mod stand_in;
mod values;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use twincell_engine::EngineError;
use twincell_search::Methods;
use twincell_values::predictor::PredictError;

pub use code::TypeCounts;
pub use compact::Compact;
pub use function::{Beside, Subject, first_function_subject, function_subject};
pub use generators::Generators;
pub use grow::prefixes;
pub use libraries::{libraries, missing};
pub use result::{Guidance, Library, NotInstalled, Origin, Prefix, Prefixes, Used};
pub use twincell_engine::Continue;

/// What is asked of a search for prefixes.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixOptions {
    /// The number of prefixes that one step asks for: n of the paper.
    pub width: u32,
    /// The number of rounds of coverage guidance: k of the paper.
    pub rounds: u32,
    /// The time after which a search ends with what it has found.
    pub deadline: Duration,
    pub seed: u64,
    pub methods: Methods,
    pub techniques: Techniques,
    pub generators: Generators,
    /// The maximum number of tokens that a language model may use.
    pub tokens: u64,
}

impl PrefixOptions {
    /// The number of rounds of coverage guidance, which may be left out.
    pub(crate) fn rounds(&self) -> u32 {
        if self.techniques.coverage { self.rounds } else { 0 }
    }
}

impl Default for PrefixOptions {
    fn default() -> Self {
        Self {
            width: 10,
            rounds: 10,
            deadline: Duration::from_secs(60),
            seed: 0,
            methods: Methods::default(),
            techniques: Techniques::default(),
            generators: Generators::default(),
            tokens: 200_000,
        }
    }
}

/// What a search does besides asking for prefixes once. Each can be left out to measure what it contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Techniques {
    /// Mend prefixes that end in an error: the second level of the tree.
    pub errors: bool,
    /// Search for lines that are left: the third level.
    pub coverage: bool,
    /// Solve conditions there.
    pub solver: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Self { errors: true, coverage: true, solver: true }
    }
}

impl Techniques {
    /// The names by which techniques are left out, and what each does.
    pub const ALL: [(&str, &str); 3] = [
        ("errors", "mend prefixes that end in an error"),
        ("coverage", "search for lines that no prefix covers"),
        ("solver", "solve conditions that keep these lines from running"),
    ];

    /// All techniques but those of these names.
    pub fn except(names: &[&str]) -> Self {
        let is_used = |name| !names.contains(&name);
        Self { errors: is_used("errors"), coverage: is_used("coverage"), solver: is_used("solver") }
    }
}

/// Why there are no prefixes, in one line.
#[derive(Debug, thiserror::Error)]
pub enum PrefixError {
    #[error("line {line} is not valid Python: {message}")]
    Syntax { line: u32, message: String },
    #[error("{0}")]
    Text(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Predict(#[from] PredictError),
}

/// How far a search is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    pub prefixes: usize,
    /// 0 to 1.
    pub coverage: f64,
    /// Those that a language model has used.
    pub tokens: u64,
}
