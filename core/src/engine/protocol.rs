//! What goes over the socket between engine and worker: length-prefixed MessagePack, plain data only.
//!
//! Frame: u32 little-endian length, then that many bytes of one [`ToWorker`] or [`FromWorker`] (rmp-serde, fields
//! by position: both sides are of one version, and names would be half of a record). The worker speaks first
//! ([`FromWorker::Hello`]). Frames over [`MAX_FRAME`] are refused by both sides.

use serde::{Deserialize, Serialize};

use crate::behavior::Behavior;
use crate::predictor::Distribution;
use crate::site::{SiteKind, SiteTable};
use crate::source::{Locals, Uses};
use crate::value::{Choice, Fixed, Recipe};

pub const PROTOCOL_VERSION: u32 = 2;
pub const MAX_FRAME: usize = 64 << 20;

/// Where missing names come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// The function alone: everything that it does not define is injected.
    Function,
    /// The function's own module is evaluated first; what cannot be evaluated is injected.
    #[default]
    Module,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    PositionalOnly,
    Positional,
    VarPositional,
    KeywordOnly,
    VarKeyword,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterKind,
    pub has_default: bool,
    /// Annotation text, if any.
    pub annotation: Option<String>,
}

/// One version of a function, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// `Session.auth`, `main.<locals>.log_error`.
    pub qualname: String,
    /// The name that the instrumented text binds.
    pub name: String,
    /// Instrumented text: one `def`, `async def` or assignment of a lambda at module level.
    pub code: String,
    pub sites: SiteTable,
    /// One distribution a site.
    pub predictions: Vec<Distribution>,
    /// How the code uses each site's value, one a site.
    pub uses: Vec<Uses>,
    pub parameters: Vec<Parameter>,
    /// (name in this version, canonical name): parameters and locals that the diff found renamed. Applied to access
    /// paths.
    pub renames: Vec<(String, String)>,
    pub locals: Locals,
    /// Innermost enclosing class, for private names and `super`.
    pub class_name: Option<String>,
    /// The whole text that the function came from; empty when there is none.
    pub module: String,
}

/// A program: versions that run on the same injected values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub versions: Vec<Version>,
    /// Literals of all versions, each once, in order of appearance.
    pub literals: Vec<Recipe>,
    pub context: Context,
    /// Probability with which a call in a `try` body raises what the `except` clauses name.
    pub raise_probability: f64,
    /// Marks that one version may pass in one execution.
    pub step_budget: u64,
}

/// One execution to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    pub index: u32,
    pub seed: u64,
    pub fixed: Fixed,
    /// Which versions run, in order: `[0, 1]`, or `[0, 0]` to see whether a version is deterministic.
    pub versions: Vec<u8>,
    /// Send back how likely each class was for every injected value.
    pub explain: bool,
}

/// One value that entered an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    pub path: String,
    pub value: Recipe,
    /// `None` for a parameter.
    pub kind: Option<SiteKind>,
    /// Version whose code asked first, and the 1-based line in its text (0 when unknown).
    pub version: u8,
    pub line: u32,
    /// Probability that the predictor gave to the value's class.
    pub probability: f32,
    /// Probability of each class, given what the code does with the value; empty unless the request asks.
    pub classes: Vec<f32>,
}

/// What one execution did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    pub index: u32,
    pub seed: u64,
    /// All decisions in order: given as `fixed`, they repeat this execution.
    pub choices: Vec<Choice>,
    pub injections: Vec<Injection>,
    /// One for each of the request's `versions`.
    pub behaviors: Vec<Behavior>,
    pub microseconds: u32,
}

/// What a worker enforces on itself, for reports and `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// e.g. `Landlock ABI 7`, `not available: ...`
    pub filesystem: String,
    pub network: String,
    pub programs: String,
    pub memory: String,
    pub time: String,
    /// All of the above are enforced by the operating system.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// Compile and keep a program under a number; replaces one of that number.
    Load {
        program: u64,
        source: Box<Program>,
    },
    Unload {
        program: u64,
    },
    /// Answered by one `Record` a request, in order, then `Done`; a `Failed` stands for a record that cannot be made.
    Run {
        program: u64,
        requests: Vec<ExecutionRequest>,
    },
    Exit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    Hello {
        protocol: u32,
        twincell: String,
        python: String,
        sandbox: SandboxReport,
    },
    /// `notes` say which parts of a module could not be evaluated.
    Loaded {
        program: u64,
        notes: Vec<String>,
    },
    Failed {
        program: u64,
        reason: String,
    },
    Record {
        program: u64,
        record: Box<ExecutionRecord>,
    },
    Done {
        program: u64,
    },
}
