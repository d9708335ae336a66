//! Observed behavior as plain data, and the channels in which two behaviors are compared.

mod arguments;
mod calls;
mod contrast;
mod crash;
mod display;
mod effects;
mod equal;
mod exceptions;
mod log;
mod output;
mod returned;
mod steady;

use serde::{Deserialize, Serialize};

use twincell_engine::observed::{Behavior, Call};

pub use arguments::is_argument;
pub use calls::align as align_calls;
pub use crash::is_telling;
pub use display::{DISPLAY_LIMIT, bounded, display_call, display_decision, display_observed, display_outcome};
pub use steady::{Steady, steady};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Return,
    Arguments,
    Output,
    /// Messages to loggers, and warnings.
    Log,
    Calls,
    Exception,
}

/// How much a difference says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Code that is not there is asked in another way; what it would have answered nobody knows.
    CallPattern,
    /// A user of the code can see it: what it returns, changes, writes, raises or effects.
    Observable,
}

/// The two call logs aligned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    pub old: Option<Call>,
    pub new: Option<Call>,
    pub equal: bool,
}

/// What a difference shows where one version made no call, or left a value as it was.
pub const NO_CALL: &str = "no call";
pub const UNCHANGED: &str = "unchanged";
/// What it shows where one version has nothing of the name: a name that a snippet does not bind, a member not reached.
pub const ABSENT: &str = "nothing";
pub const NOTHING_LOGGED: &str = "nothing";

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
