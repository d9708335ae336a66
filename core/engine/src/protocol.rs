//! What goes over the socket between engine and worker: length-prefixed MessagePack, plain data only.
//!
//! Frame: u32 little-endian length, then that many bytes of one [`ToWorker`] or [`FromWorker`] (rmp-serde, fields
//! by position: both sides are of one version, and names would be half of a record). The worker speaks first
//! ([`FromWorker::Hello`]). Frames over [`MAX_FRAME`] are refused by both sides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use twincell_syntax::Parameter;
use twincell_syntax::site::{SiteKind, SiteTable};
use twincell_values::predictor::Distribution;
use twincell_values::reading::{Hint, Locals, Uses};
use twincell_values::value::{Choice, Fixed, Recipe};

use crate::observed::Behavior;

pub const PROTOCOL_VERSION: u32 = 5;
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

/// What runs of a version, and what of it is compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// The function is called on injected arguments.
    #[default]
    Function,
    /// The statements run; what they bind is compared.
    Snippet {
        /// (name in this version, canonical name) of what is compared.
        results: Vec<(String, String)>,
        /// Other names that the statements bind.
        temporary: Vec<String>,
    },
    /// An object is made on injected arguments, and a few of its members are used one after the other.
    Class {
        /// What the class says of the arguments that make an object, by parameter.
        constructor: BTreeMap<String, Hint>,
        members: Vec<Member>,
    },
}

/// A public member that both versions of a class have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// Read, not called.
    pub is_property: bool,
    /// What it says of its parameters.
    pub hints: BTreeMap<String, Hint>,
}

impl Member {
    /// As code would use it: `add()`, `total`.
    pub fn shown(&self) -> String {
        if self.is_property { self.name.clone() } else { format!("{}()", self.name) }
    }
}

/// The choice of how many members of an object are used after the first.
pub const MEMBERS_USED: &str = "members used";

/// The choice of the member that one step uses, counted from one: its position among a class's members.
pub fn member_step(step: impl std::fmt::Display) -> String {
    format!("member {step}")
}

/// Is this the path of [`MEMBERS_USED`] or of a [`member_step`]?
pub fn says_what_is_used(path: &str) -> bool {
    path == MEMBERS_USED || path.strip_prefix("member ").is_some_and(|step| step.bytes().all(|b| b.is_ascii_digit()))
}

/// A function of the same text that the compared one uses and that changed, too: its code takes the place of the plain
/// code that the module's evaluation gave, so that it is watched like the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Companion {
    pub qualname: String,
    pub name: String,
    pub code: String,
}

/// Where executions run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// One after the other in one process, which is put back after each; what cannot be put back is found, and then each
    /// gets a process of its own.
    #[default]
    Auto,
    /// Each in a fresh fork of the process that holds the loaded program.
    Process,
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
    /// The text that is evaluated before: that which the function came from, or as much of it as the context allows.
    pub module: String,
    pub body: Body,
    pub companions: Vec<Companion>,
    /// Decorators to apply, outermost first, as written.
    pub decorators: Vec<String>,
    /// (name in this version, canonical name) of attributes of `self` that the diff found renamed.
    pub attribute_renames: Vec<(String, String)>,
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
    pub isolation: Isolation,
}

/// Of what is there, what is injected all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Substitute {
    #[default]
    Nothing,
    /// By chance, functions and plain globals of the code's own module.
    Helpers,
    /// Nearly all functions that do more than calculate, imported ones as well.
    Most,
}

/// One execution to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    pub index: u32,
    pub seed: u64,
    pub fixed: Fixed,
    /// Which versions run, in order: `[0, 1]`, or `[0, 0]` to see whether a version is deterministic.
    pub versions: Vec<u8>,
    /// Send back what injected values were compared with.
    pub observe: bool,
    /// Send back how likely each class was for every injected value.
    pub explain: bool,
    /// What is given in `fixed` is replaced in any case.
    pub substitute: Substitute,
}

/// Where an observation was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Number of a comparison; the operands are its left and right side.
    Comparison(u32),
    /// Number of a call's site (`x.startswith(y)`, `re.match(y, x)`); the operands are what the method is of, then the
    /// arguments.
    Call(u32),
}

/// One operand of an observed comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Operand {
    /// Access path, where the runtime knows it.
    pub path: Option<String>,
    /// The value, if it is plain and small.
    pub value: Option<Recipe>,
}

/// A comparison that code made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub version: u8,
    pub place: Place,
    pub operands: Vec<Operand>,
    pub truth: bool,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    pub index: u32,
    pub seed: u64,
    /// All decisions in order: given as `fixed`, they repeat this execution.
    pub choices: Vec<Choice>,
    pub injections: Vec<Injection>,
    /// One for each of the request's `versions`.
    pub behaviors: Vec<Behavior>,
    /// In order of appearance, each once, bounded; empty unless the request asks for them.
    pub observations: Vec<Observation>,
    /// Access paths of what was invented where Python itself would have failed: an item that an injected dictionary
    /// does not have, the call of an injected number.
    pub repairs: Vec<String>,
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
    /// Run a file's tests as it is, without hooks, on one version. Answered by one `Tested`.
    Test {
        program: u64,
        source: String,
        /// `old` or `new`: what `TWINCELL_SUBJECT` says meanwhile.
        subject: String,
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
    /// `spoiled`: executions left something in the process that cannot be put back.
    Done {
        program: u64,
        spoiled: bool,
    },
    /// `failure` says why a test did not pass; `effects` what it tried to do to the world outside.
    Tested {
        program: u64,
        failure: Option<String>,
        effects: Vec<String>,
    },
}
