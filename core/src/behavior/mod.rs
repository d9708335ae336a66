//! Observed behavior as plain data, and the channels in which two behaviors are compared.

mod arguments;
mod calls;
mod contrast;
mod crash;
mod effects;
mod equal;
mod exceptions;
mod log;
mod output;
mod returned;
mod steady;

use serde::{Deserialize, Serialize};

use crate::report::{Channel, Strength};

pub use arguments::is_argument;
pub use calls::align as align_calls;
pub use crash::is_telling;
pub use steady::{Steady, steady};

/// A value as the runtime saw it after an execution: a bounded tree without addresses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    None,
    Bool(bool),
    /// Decimal text, because Python's integers have no bound.
    Int(String),
    /// `repr` of the float: exact, and NaN equals itself.
    Float(String),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Observed>),
    Tuple(Vec<Observed>),
    /// In insertion order.
    Dict(Vec<(Observed, Observed)>),
    /// In a canonical order.
    Set(Vec<Observed>),
    /// An injected versatile object by its access path; what the code assigned to it stands in
    /// [`Behavior::arguments`] alone, so that it is compared once.
    Injected {
        path: String,
        assigned: Vec<(String, Observed)>,
    },
    /// Any other object: class name and attributes, sorted by name.
    Object {
        class: String,
        attributes: Vec<(String, Observed)>,
    },
    Function {
        name: String,
    },
    Class {
        name: String,
    },
    Module {
        name: String,
    },
    Exception {
        class: String,
        arguments: Vec<Observed>,
    },
    /// The first items of a generator or other iterator; `finished` when there were no more.
    Iterator {
        kind: String,
        items: Vec<Observed>,
        finished: bool,
    },
    /// Refers back to the enclosing container `up` levels above.
    Cycle {
        up: u32,
    },
    /// Left out because a bound on size or depth was reached.
    Elided {
        reason: String,
    },
}

impl Observed {
    /// How many parts this value has; more than `most` are not counted.
    pub(crate) fn parts(&self, most: usize) -> usize {
        use Observed as O;
        let mut left = vec![self];
        let mut count = 0;
        while let Some(value) = left.pop() {
            count += 1;
            if count > most {
                break;
            }
            match value {
                O::List(items) | O::Tuple(items) | O::Set(items) | O::Iterator { items, .. } => {
                    left.extend(items.iter().take(most));
                }
                O::Exception { arguments, .. } => left.extend(arguments.iter().take(most)),
                O::Dict(entries) => {
                    left.extend(entries.iter().take(most).flat_map(|(key, value)| [key, value]));
                }
                O::Object { attributes: named, .. } | O::Injected { assigned: named, .. } => {
                    left.extend(named.iter().take(most).map(|(_, value)| value));
                }
                _ => {}
            }
        }
        count
    }
}

/// How an execution of one version ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Returned(Observed),
    Raised {
        /// An [`Observed::Exception`].
        exception: Observed,
        /// Raised by a `raise` or a failing `assert` of the code itself, or injected by a decision.
        intended: bool,
        /// 1-based line of the function's text that raised, 0 when unknown.
        line: u32,
        message: String,
    },
    /// Stopped by a bound: steps, time or memory; says which.
    Stopped {
        reason: String,
    },
}

/// One call to code that is not there (a versatile object), or a blocked effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Access path of the callee, e.g. `self.stats.inc_value`.
    pub callee: String,
    pub arguments: Vec<Observed>,
    pub keywords: Vec<(String, Observed)>,
    /// 1-based line of the function's text, 0 when unknown.
    pub line: u32,
    /// The code does not use the call's value.
    pub discarded: bool,
}

/// One message to a logger, or one warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// `warning`, `error`, ...; for a warning the name of its category.
    pub level: String,
    /// With its arguments filled in.
    pub message: String,
    /// 1-based line of the function's text, 0 when unknown.
    pub line: u32,
}

/// What one version did in one execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Behavior {
    pub outcome: Outcome,
    /// Parameters after the call, by parameter name, and module globals that the code assigned (`global NAME`).
    pub arguments: Vec<(String, Observed)>,
    pub stdout: String,
    pub stderr: String,
    pub log: Vec<Logged>,
    pub calls: Vec<Call>,
    /// (line, hits), ascending.
    pub lines: Vec<(u32, u32)>,
    /// (branch, times true, times false), ascending.
    pub branches: Vec<(u32, u32, u32)>,
}

impl Behavior {
    /// How often a line ran.
    pub fn hits(&self, line: u32) -> u32 {
        self.lines.binary_search_by_key(&line, |(own, _)| *own).map_or(0, |at| self.lines[at].1)
    }
}

impl Outcome {
    /// The execution says something about behavior: it ended by itself, and not in an exception that the injected
    /// values may have caused.
    pub fn is_valid(&self) -> bool {
        matches!(self, Outcome::Returned(_) | Outcome::Raised { intended: true, .. })
    }
}

/// What a difference shows where one version made no call, or left a value as it was.
pub const NO_CALL: &str = "no call";
pub const UNCHANGED: &str = "unchanged";
/// What it shows where one version has nothing of the name: a name that a snippet does not bind, a member not reached.
pub const ABSENT: &str = "nothing";
pub const NOTHING_LOGGED: &str = "nothing";

/// The one attribute of an object that is observed as it writes itself: what stands between the parentheses of
/// `Decimal('1.1')`.
pub const WRITTEN: &str = "[repr]";

/// What a difference rests on, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// How a result is written that was calculated from objects; with numbers in their place it is the same.
    Written,
    /// The order of actions on different receivers.
    Reordered,
    /// An exception that only one version ends in, and that the values alone may have caused.
    Crashed,
    /// The answers of unknown calls, where each version makes calls of its own; with equal answers it goes away.
    Exchanged,
    /// The answers of unknown calls that only one version makes.
    Asked,
    /// A call to unknown code that does something, as far as its name and use tell.
    Acted,
    /// What a user of the code can see.
    Seen,
}

impl Basis {
    pub fn strength(self) -> Strength {
        match self {
            Basis::Seen | Basis::Crashed | Basis::Written => Strength::Observable,
            Basis::Acted | Basis::Asked | Basis::Exchanged | Basis::Reordered => Strength::CallPattern,
        }
    }
}

/// One difference between two behaviors, as text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub channel: Channel,
    pub place: String,
    pub old: String,
    pub new: String,
    pub basis: Basis,
}

/// What counts as the same, beyond equal values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// Floats are the same that differ by no more than this share of the greater one.
    pub float_tolerance: f64,
    /// Changed lines of old and new: an exception that only one version ends in may come from them.
    pub changed: [Vec<u32>; 2],
    /// Calls that only ask count as those that act do.
    pub every_call_acts: bool,
    /// Of old and new: changed lines that test a value for None or for its truth, each with the lines of the other
    /// version that use this value.
    pub guards: [Vec<(u32, Vec<u32>)>; 2],
}

/// Compares two behaviors in all channels. Says nothing when either is not valid.
pub fn differences(old: &Behavior, new: &Behavior, rules: &Rules) -> Vec<Difference> {
    if !old.outcome.is_valid() || !new.outcome.is_valid() {
        return crash::compare(old, new, rules).into_iter().collect();
    }
    let mut found = Vec::new();
    exceptions::compare(old, new, rules, &mut found);
    returned::compare(old, new, rules, &mut found);
    arguments::compare(old, new, rules, &mut found);
    output::compare(old, new, &mut found);
    log::compare(old, new, &mut found);
    calls::compare(old, new, rules, &mut found);
    found
}
