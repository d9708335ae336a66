//! What an analysis gives: plain data that serializes, in a fixed order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use twincell_syntax::Side;

use crate::dcia::Rule;
use crate::program::Unsound;

/// The version of the serialized form.
pub const IMPACT_VERSION: u32 = 1;

/// The impact of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impact {
    pub version: u32,
    /// The statements of the new version, by path and line.
    pub statements: Vec<StatementImpact>,
    /// The statements that only the old version has.
    pub removed: Vec<Place>,
    /// The functions, classes and bodies of modules of the new version that hold statements.
    pub functions: Vec<FunctionImpact>,
    /// What the analysis does not follow, in the new version.
    pub unsound: Vec<Unsound>,
    /// Entries that name no function of the new version.
    pub unknown_entries: Vec<Entry>,
    pub cut: Vec<Cut>,
    /// How many statements each level left impacted, DCIA first.
    #[serde(default)]
    pub levels: Vec<LevelSummary>,
    /// An interrupt or the callback ended the analysis before the last level.
    #[serde(default)]
    pub is_partial: bool,
}

/// One level of the anytime algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelSummary {
    /// How many calls deep functions were compared. `None` is DCIA, which compares none.
    pub k: Option<u32>,
    /// The statements that it leaves impacted, beyond the changed ones.
    pub impacted: usize,
    /// The functions that were compared.
    pub procedures: usize,
    /// The facts that were derived: a measure of work that is the same on every machine.
    pub steps: usize,
    /// When it was whole, in milliseconds since the beginning. Whoever runs the analysis may measure it: nothing here has a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
}

/// Why a statement that a level left impacted is not in a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// The level that pruned it.
    pub k: u32,
    pub equivalence: Equivalence,
    /// Where the chain of the level before was cut.
    pub at: StepPlace,
    /// That chain, from the change to the statement.
    pub chain: Vec<Step>,
    /// The place in it of the first step that no longer holds.
    pub cut: usize,
}

/// An equivalence of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Equivalence {
    /// The changed place computes the same values.
    SameValues,
    /// A call passes the same argument.
    SameArgument,
    /// A function gives the same for the same inputs.
    SameSummary,
    /// The prover showed that a function gives the same.
    Proved,
}

/// Something that is left out of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// A version has more code than is read.
    Program,
    /// The model of calls met a bound: some calls may be unknown.
    Calls,
    /// Chains are longer than the options allow. Their ends at the change are left out.
    Chains,
    /// There are more statements than the options allow.
    Statements,
}

/// Where a statement stands. A statement that holds others has the lines of its head.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub path: Arc<str>,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// The function or class whose body holds it. Empty for a module.
    pub function: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementImpact {
    #[serde(flatten)]
    pub place: Place,
    pub state: State,
    /// What showed that it is not impacted, where DCIA takes it to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<Pruned>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The old version has no such statement.
    Changed,
    /// It may see other values: the shortest chain from a change, the change first.
    Impacted {
        chain: Vec<Step>,
    },
    NotImpacted,
}

/// One step of a derivation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub rule: Rule,
    /// The version in which the step was made.
    pub side: Side,
    pub at: StepPlace,
}

/// What a step is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPlace {
    Statement(Place),
    /// The beginning or the end of a function, or where ways meet in it.
    Function {
        path: Arc<str>,
        function: Arc<str>,
    },
    Variable(VariableName),
}

/// A variable of the analyzed program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableName {
    Local(Arc<str>),
    /// The value of an expression.
    Expression,
    /// How often a function is called.
    Called {
        path: Arc<str>,
        function: Arc<str>,
    },
    Parameter {
        path: Arc<str>,
        function: Arc<str>,
        name: Arc<str>,
    },
    Returned {
        path: Arc<str>,
        function: Arc<str>,
    },
    Raised {
        path: Arc<str>,
        function: Arc<str>,
    },
    Global {
        path: Arc<str>,
        name: Arc<str>,
    },
    Captured {
        path: Arc<str>,
        function: Arc<str>,
        name: Arc<str>,
    },
    Default {
        path: Arc<str>,
        function: Arc<str>,
        parameter: Arc<str>,
    },
    Attribute(Arc<str>),
    AnyAttribute,
    /// The elements of containers.
    Items,
    /// The elements of containers that only attributes of this name hold.
    ItemsOfAttribute(Arc<str>),
    /// The elements of a container that only this global or captured variable holds.
    ItemsOfVariable(Arc<str>),
    /// How far generators are consumed.
    Consumption,
    /// What is outside of the project.
    Outside,
}

impl VariableName {
    /// The function whose results these are: its path and its name.
    pub fn result_of(&self) -> Option<(&Arc<str>, &Arc<str>)> {
        match self {
            VariableName::Returned { path, function } | VariableName::Raised { path, function } => {
                Some((path, function))
            }
            _ => None,
        }
    }
}

/// A function with the number of its statements in each state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionImpact {
    pub path: Arc<str>,
    /// Empty for the body of a module.
    pub function: Arc<str>,
    pub changed: usize,
    pub impacted: usize,
    pub not_impacted: usize,
    /// Whether an entry reaches it.
    pub is_reached: bool,
}

/// A function at which executions start.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// The dotted name of the module.
    pub module: String,
    /// The qualified name in it. Empty for the body of the module.
    pub function: String,
}

/// Where executions start. Without any, they may start at every function that both versions have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entries(pub Vec<Entry>);

/// What DCIA takes for a source of impact. Later levels compare values, so it makes no difference to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sources {
    /// The statements that have no counterpart.
    #[default]
    Statements,
    /// All statements of functions that hold a change, as in the paper's evaluation (section 5.1).
    Functions,
}

/// Bounds of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactOptions {
    /// Whether impact goes on through files, libraries and other state outside of the project. Without it, calls of code
    /// outside do not affect each other.
    pub outside: bool,
    /// What DCIA takes for changed.
    pub sources: Sources,
    /// How many calls deep changed functions are compared. `None` is as deep as the prover looks.
    pub depth: Option<u32>,
    /// The most steps of a chain.
    pub max_chain: usize,
    /// The most statements of a result.
    pub max_statements: usize,
}

impl Default for ImpactOptions {
    fn default() -> Self {
        Self { outside: true, sources: Sources::default(), depth: None, max_chain: 200, max_statements: 200_000 }
    }
}
