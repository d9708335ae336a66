//! The runtime's observations of one version, as plain data: values, outcomes, calls, messages.

use serde::{Deserialize, Serialize};

use twincell_values::path::AccessPathBuf;

use crate::sources::Sources;

/// A value as the runtime saw it after an execution: a bounded tree without addresses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    None,
    Bool(bool),
    /// Decimal text, because Python's integers have no bound.
    Int(String),
    /// The `repr` of the float, which is exact and makes NaN equal to itself.
    Float(String),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Observed>),
    Tuple(Vec<Observed>),
    /// In insertion order.
    Dict(Vec<(Observed, Observed)>),
    /// In a canonical order.
    Set(Vec<Observed>),
    /// An injected mock object, by its access path. Only [`Behavior::arguments`] has what the code assigned to it,
    /// so that this is compared once.
    Injected {
        path: AccessPathBuf,
        assigned: Vec<(String, Observed)>,
    },
    /// Any other object: class name and attributes, sorted by name. The columns of a table keep their order.
    Object {
        class: String,
        attributes: Vec<(String, Observed)>,
    },
    Function {
        name: String,
    },
    /// A function of the code that was called on injected values, with what it gave.
    Called {
        gave: Box<Observed>,
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
    /// The first items of a generator or other iterator. `finished` if there were no more.
    Iterator {
        kind: String,
        items: Vec<Observed>,
        finished: bool,
    },
    /// Refers back to the enclosing container `up` levels above.
    Cycle {
        up: u32,
    },
    /// Left out.
    Elided {
        reason: Elision,
    },
    /// Different from run to run. No worker sends this: it stands for the values of several runs.
    Varying(Varying),
}

/// What is known of a value that differs from run to run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Varying {
    /// The types of the values, sorted, each once.
    pub types: Vec<String>,
    /// The sources that it comes from, if the runs tell.
    pub sources: Option<Sources>,
    /// What stands before and behind the part of a text that varies.
    pub around: (String, String),
}

/// Why a part of a value is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elision {
    /// The value has too many parts.
    Size,
    /// The part is nested too deeply.
    Depth,
    /// The code deleted it.
    Deleted,
    /// An exception that the injected values may have caused stands in its place.
    UnintendedException,
    /// It is another one in each run.
    Noise,
}

impl Slot {
    /// Whether it says which objects are the same, and nothing about their content. Only versions in which this holds
    /// have the slot.
    pub fn is_identity(&self) -> bool {
        matches!(self, Slot::Same { .. } | Slot::Kept(_) | Slot::Rebound(_))
    }
}

impl Observed {
    /// Its characters, if it is a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Observed::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number of parts of this value, counted up to `most`.
    pub fn parts(&self, most: usize) -> usize {
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
                O::Called { gave } => left.push(gave),
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
        /// The 1-based line of the function's text that raised, or 0 if unknown.
        line: u32,
        message: String,
    },
    /// Stopped by a bound.
    Stopped {
        reason: Limit,
    },
}

/// The bound that stopped a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Steps,
    Recursion,
    Memory,
    /// What was observed of it takes more than so many bytes.
    RecordBytes(usize),
}

/// Where a value is that an execution leaves behind beside its result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// An injected value that the code changed, by its access path: `request.meta`.
    Argument(String),
    /// An injected value in which the code changed nothing but the order of keys, by its access path.
    Reordered(String),
    /// A global of the module that the code assigned or changed.
    Global(String),
    /// A name that a snippet binds, by its canonical name.
    Name(String),
    /// Whether the result must be awaited.
    Awaited,
    /// What a generator had yielded before it raised.
    Yielded,
    /// What a generator had yielded, as it is after the generator has ended.
    YieldedAfterwards,
    /// What a generator returned.
    GeneratorValue,
    /// What a function does that the code handed to external code, by number.
    Callback(usize),
    /// How a decorated function is reached: as a property, as a static method.
    Descriptor,
    /// What the namespace of a class holds beside its methods.
    ClassAttributes,
    /// The members of an enumeration.
    EnumMembers,
    /// What one use of an object gave: the step, counted from one, and the member.
    Use { step: u32, member: String },
    /// That the object in one place is the one in another place, where code can change it: the result is the list that
    /// was passed.
    Same { place: String, other: String },
    /// That the object in this place is one that the module keeps, so that other callers hold it, too.
    Kept(String),
    /// That a global of the module holds another object than before the call.
    Rebound(String),
    /// What a second call with the same arguments gave.
    Again,
    /// Whether the second call gave the same as the first.
    Repeats,
    /// What a function does that the code stored in this place: in an attribute, in a container, with a decorator.
    Stored(String),
    /// The cause that an exception names, or that it hides (`raise ... from None`).
    Cause,
    /// A file or folder of the working folder that the code made, changed or removed, by its path.
    File(String),
}

/// Something that other code can see at some moment, and that the code under comparison has changed by then.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// An attribute (`.archived`) or item (`['key']`) that was assigned to an injected object.
    Assigned { object: String, place: String },
    /// An injected container that was changed, by its access path.
    Container(String),
    /// A global of the module that was assigned.
    Global(String),
    /// The names of the actions on an object, by its access path.
    Actions(String),
    /// The content of a file or folder of the code's own that an argument names, by the argument's position from zero.
    File(usize),
    /// All that is not listed.
    Rest,
}

/// What other code can see at some moment of what the code under comparison has changed: each place once, in order.
pub type State = Vec<(Reached, Observed)>;

/// One call to missing code (a mock object), or a blocked effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The access path of the callee, e.g. `self.stats.inc_value`.
    pub callee: AccessPathBuf,
    pub arguments: Vec<Observed>,
    pub keywords: Vec<(String, Observed)>,
    /// The 1-based line of the function's text, or 0 if unknown.
    pub line: u32,
    /// The code does not use the call's value.
    pub discarded: bool,
    /// Each version calls something of this name somewhere.
    pub by_all: bool,
    /// What its receiver, its arguments and all that is reachable from them were like. Empty for calls that
    /// only ask for what is there.
    pub state: State,
}

/// A message to a logger, or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// `warning`, `error`, and so on. For a warning, the name of its category.
    pub level: String,
    /// The text, with its arguments filled in.
    pub message: String,
    /// The 1-based line of the function's text, or 0 if unknown.
    pub line: u32,
}

/// The behavior of one version in one execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Behavior {
    pub outcome: Outcome,
    /// What it leaves behind beside its result. Of a slot that is named twice the first counts.
    pub arguments: Vec<(Slot, Observed)>,
    pub stdout: String,
    pub stderr: String,
    pub log: Vec<Logged>,
    pub calls: Vec<Call>,
    /// What a consumer sees at each `yield` of a generator.
    pub yields: Vec<State>,
    /// (line, hits), ascending.
    pub lines: Vec<(u32, u32)>,
    /// (branch, times true, times false), ascending.
    pub branches: Vec<(u32, u32, u32)>,
    /// The steps that count for the budget.
    pub steps: u64,
}

impl Behavior {
    /// A behavior of which nothing but the outcome was seen.
    pub fn new(outcome: Outcome) -> Self {
        Behavior {
            outcome,
            arguments: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            log: Vec::new(),
            calls: Vec::new(),
            yields: Vec::new(),
            lines: Vec::new(),
            branches: Vec::new(),
            steps: 0,
        }
    }

    /// What it leaves behind in a slot.
    pub fn left(&self, slot: &Slot) -> Option<&Observed> {
        self.arguments.iter().find(|(known, _)| known == slot).map(|(_, value)| value)
    }

    /// Whether a bound stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.outcome, Outcome::Stopped { .. })
    }

    /// How often a line ran.
    pub fn hits(&self, line: u32) -> u32 {
        self.lines.binary_search_by_key(&line, |(own, _)| *own).map_or(0, |at| self.lines[at].1)
    }
}

impl Outcome {
    /// Whether the execution says something about behavior: it ended by itself, and not in an exception that the
    /// injected values may have caused.
    pub fn is_valid(&self) -> bool {
        matches!(self, Outcome::Returned(_) | Outcome::Raised { intended: true, .. })
    }
}

/// The pseudo-attribute of an object that is observed by its own `repr`: the text between the parentheses of
/// `Decimal('1.1')`.
pub const WRITTEN: &str = "[repr]";

/// The pseudo-attributes of an object whose class extends a builtin one: the items, the text or the number that it is.
pub const ITEMS: &str = "[items]";
pub const TEXT: &str = "[text]";
pub const VALUE: &str = "[value]";

/// The pseudo-attributes of tables and arrays: the values of one column or of all, the labels of the rows, and their
/// names.
pub const VALUES: &str = "[values]";
pub const INDEX: &str = "[index]";
pub const NAMES: &str = "[names]";
