//! Why a pair has its verdict, as data. Views put it into words.

use serde::{Deserialize, Serialize};

use twincell_behavior::Rule;
use twincell_engine::observed::Limit;
use twincell_prove::Proof;
use twincell_syntax::{PerSide, Side};

use crate::headline::Condition;

/// Why a pair has its verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Both versions are the same text.
    SameText,
    /// Only the name differs.
    SameCode {
        old: String,
        new: String,
    },
    /// Comments, docstrings, annotations and layout differ, and these names.
    SameProgram {
        locals: bool,
        private_attributes: bool,
    },
    /// A bound kept it from running or ended it.
    Bound(Bound),
    /// It could not run, because of this error.
    NotRun(String),
    /// The comparison was stopped before the pair's turn came.
    NotReached,
    /// The code wrote to the connection of its worker.
    Forged,
    /// The versions behaved differently on the same values.
    Differs,
    /// The worker was lost each time that a difference was repeated.
    NotRepeated,
    /// The comparison was stopped before a difference was repeated.
    StoppedBeforeRepetition,
    /// Nothing was executed.
    NothingRan,
    /// Each execution was lost, the first because of this.
    AllLost {
        first: String,
    },
    /// In so many executions only one version ran into a limit.
    MayNotEnd {
        side: Side,
        stopped: usize,
        executions: usize,
    },
    /// All executions were stopped, the first by this limit.
    AllStopped {
        executions: usize,
        limit: Limit,
    },
    /// All executions ended in an exception that injected values may have caused.
    AllRaised {
        executions: usize,
    },
    /// None of so many usable executions ran a changed line.
    ChangeNotRun {
        usable: usize,
    },
    NoDifference {
        usable: Usable,
        support: Support,
    },
    /// What differs does not count.
    NoneThatCounts {
        usable: Usable,
        why: Uncounted,
    },
}

/// How many executions say something about behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usable {
    pub valid: usize,
    pub all: usize,
    /// Whether an input could vary.
    pub varied: bool,
}

/// What it rests on that nothing differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// A proof says so, for arguments of the types in it.
    Proved(Proof),
    /// All combinations of the values that annotations allow ran.
    Exhausted { combinations: usize },
    /// Drawn values ran.
    #[default]
    Sampled,
}

/// Why a difference does not count. `decide.rs` chooses, and views word it.
#[derive(Debug, Clone, PartialEq)]
pub enum Uncounted {
    /// Only which of equal values is given.
    EqualValues,
    /// Only how results that are calculated from objects are written.
    Formatting,
    /// Only the order of calls on different objects.
    Reordered,
    /// It needs a result that Python would not give.
    Invented,
    /// It needs an unlikely value.
    Unlikely,
    /// So many executions differ, and each of them needs an unlikely value.
    EdgeCases(u32),
    /// These rules suppressed it.
    Suppressed(Vec<Rule>),
}

/// What the executions without a difference reached of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeReached {
    /// The number of changed lines that can run.
    pub changed: usize,
    /// Those of them that never ran, by their number in the file.
    pub never: PerSide<Vec<u32>>,
    /// The number of executions that ran the changed line that ran least, if these are few.
    pub least: Option<u32>,
    /// The names that the functions use and that their modules bind differently.
    pub changed_names: Vec<String>,
    /// Whether the campaign stopped before its budget was used up.
    pub stopped_early: bool,
}

/// An execution that only one version does not end, or that a limit stopped, with the first values that entered.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedExample {
    pub values: Vec<Condition>,
    /// [`crate::report::ExecutionReport::number`].
    pub execution: u32,
}

/// A bound of the comparison of one pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A version has more statements and expressions than this, and nothing ran.
    Size { side: Side, size: u32, most: u32 },
    /// The time of the pair was over. What was found by then is all that is known, and depends on the machine.
    Deadline { seconds: f64 },
    /// On this line, a statement outside of functions that only this version has may put something else in the place of
    /// functions, and `more` others may. What it does is not followed into the functions that run. `target` is the other
    /// module whose functions they are, if the text names it.
    Replaces {
        side: Side,
        line: u32,
        more: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
}
