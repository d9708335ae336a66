//! What a report notes beside its evidence. Views put it into words.

use std::fmt;

use serde::{Deserialize, Serialize};

use twincell_behavior::Rule;
use twincell_engine::protocol::Unevaluated;

use crate::ExampleSource;
use crate::headline::Contrast;
use crate::reason::Bound;

/// Something that a reader of a report should know.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// Lines of a text that only notebooks understand.
    Magics {
        label: String,
        lines: Vec<u32>,
    },
    /// The modules of the project that the code imports, which are real.
    OfProject(Vec<String>),
    /// A part of the module could not be evaluated.
    Unevaluated(Unevaluated),
    /// Evaluating the module ended the worker, so that the function alone was run.
    ModuleEndsWorker {
        reason: String,
    },
    /// A value that somebody wanted to give was not copied.
    NotGiven(NotGiven),
    /// Loading the given values ended the worker, so that others were injected.
    GivenEndsWorker {
        names: Vec<String>,
        reason: String,
    },
    /// What ran in processes of its own.
    Isolated(Isolated),
    /// Functions of different names are a pair, because they are the most similar.
    Paired {
        old: String,
        new: String,
    },
    /// (name in new, name in old) of what was renamed.
    Renamed(Vec<(String, String)>),
    /// Calls of old that fail with new: those that pass these parameters by name, and those that pass nothing for these.
    Signature {
        gone: Vec<String>,
        required: Vec<String>,
    },
    /// What the function uses in other modules of the project, and whether it is covered there.
    ChangedElsewhere {
        changed: Vec<Changed>,
        are_judged: bool,
    },
    /// The function is the same; these names that it uses are not.
    UsesChanged(Vec<String>),
    /// So many differences did not appear again.
    Nondeterministic(u32),
    /// So many executions were lost, the first for this reason.
    Lost {
        count: usize,
        first: String,
    },
    StoppedEarly,
    /// An example that does not fit its function.
    Misfit {
        source: ExampleSource,
        function: String,
        misfit: Misfit,
    },
    /// An example of a function that neither version has.
    UnknownExample {
        source: ExampleSource,
        function: String,
    },
    /// So many further examples that cannot be used.
    MoreMisfits(usize),
    /// Everything that the function does not define was injected.
    FunctionContext,
    /// The same, and only in the execution that shows the difference.
    ShownWithoutModule,
    /// What was injected in so many executions, since real objects kept the others away from the change.
    WithoutModule {
        executions: usize,
    },
    /// The existing objects that are injected in the execution that shows the difference.
    Replaced(Vec<String>),
    /// A rule suppressed a difference of this execution.
    Suppressed {
        rule: Rule,
        contrast: Contrast,
        execution: u32,
        changed_verdict: bool,
    },
    /// A bound ended the pair, which differs all the same.
    Bound(Bound),
    /// A changed cell of a notebook that was not compared.
    Cell {
        cell: CellNumbers,
        why: CellLeftOut,
    },
    /// The repository was not copied, because of this error.
    NotCopied {
        error: String,
    },
}

/// The numbers of a cell in both versions of a notebook, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellNumbers {
    pub old: u32,
    pub new: u32,
}

impl fmt::Display for CellNumbers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { old, new } if old == new => write!(out, "cell {new}"),
            Self { old, new } => write!(out, "cell {old} → {new}"),
        }
    }
}

/// Why a cell was not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellLeftOut {
    /// It cannot be, because of this error.
    Failed {
        error: String,
    },
    NoPython,
    /// The comparison was stopped before its turn came.
    Stopped,
    /// Only one version has it, and it may put something else in the place of functions of other cells.
    Alone,
}

impl Note {
    /// Whether a statement of the module may fail where it is evaluated again.
    pub fn is_of_module(&self) -> bool {
        match self {
            Note::Unevaluated(Unevaluated::Given { .. } | Unevaluated::Value { .. } | Unevaluated::Lacking { .. }) => {
                false
            }
            note => matches!(note, Note::Unevaluated(_) | Note::ModuleEndsWorker { .. }),
        }
    }
}

/// Something in another module that is not the same in both versions of the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// `Rates.of`.
    pub name: String,
    /// Its module's file in the new version, or else in the old one.
    pub file: String,
}

/// Why a call is no example of a function, or not a whole one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// It passes more positional arguments than the function takes.
    TooMany { given: usize, most: usize },
    /// It passes an argument that the function does not take.
    NoParameter(String),
    /// The values of these parameters cannot be read, so they are drawn.
    Open(Vec<String>),
}

/// A value that was to be given, and why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotGiven {
    pub name: String,
    pub reason: WhyNotGiven,
}

/// Why a value cannot be copied for the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNotGiven {
    /// Python cannot pickle it.
    Pickle { error: String },
    /// All copies together would be larger than so many bytes.
    TooLarge { most: u64 },
    /// Pickling took longer than so many seconds.
    TooSlow { seconds: u32 },
    /// No parameter and no global of the code has this name.
    Unused,
}

/// What was done in isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolated {
    /// The whole campaign.
    All,
    /// The execution that shows the difference.
    Witness,
    /// So many executions, which showed no difference either.
    Some(u32),
}
