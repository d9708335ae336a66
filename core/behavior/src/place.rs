//! Where two behaviors differ, and what each of them shows there.

use serde::{Deserialize, Serialize};

use twincell_engine::observed::{Observed, Reached, Slot};
use twincell_values::path::AccessPathBuf;

use crate::Channel;
use crate::display::displayed;
use crate::displayed::Displayed;

/// Where in its channel a difference is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EvidencePlace {
    ReturnValue,
    Exception,
    /// What the code leaves behind beside its result.
    Left {
        slot: Slot,
    },
    Output {
        stream: Stream,
    },
    /// A message to a logger or a warning, counted from one.
    Message {
        number: usize,
    },
    /// An action among the calls, counted from one.
    Call {
        number: usize,
    },
}

/// A stream of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    Stdout,
    Stderr,
}

impl EvidencePlace {
    pub fn channel(&self) -> Channel {
        match self {
            EvidencePlace::ReturnValue => Channel::Return,
            EvidencePlace::Exception => Channel::Exception,
            EvidencePlace::Left { .. } => Channel::Arguments,
            EvidencePlace::Output { .. } => Channel::Output,
            EvidencePlace::Message { .. } => Channel::Log,
            EvidencePlace::Call { .. } => Channel::Calls,
        }
    }

    /// The slot of what is left behind.
    pub fn slot(&self) -> Option<&Slot> {
        match self {
            EvidencePlace::Left { slot } => Some(slot),
            _ => None,
        }
    }
}

/// Whether this is the slot of an argument or of the module, and not of a name that a snippet binds, a class or a use
/// of an object.
pub fn is_argument(slot: &Slot) -> bool {
    match slot {
        Slot::Argument(_)
        | Slot::Reordered(_)
        | Slot::Global(_)
        | Slot::Awaited
        | Slot::Yielded
        | Slot::YieldedAfterwards
        | Slot::GeneratorValue
        | Slot::Callback(_) => true,
        Slot::Name(_)
        | Slot::Descriptor
        | Slot::ClassAttributes
        | Slot::EnumMembers
        | Slot::Use { .. }
        | Slot::Same { .. }
        | Slot::Kept(_)
        | Slot::Rebound(_)
        | Slot::Again
        | Slot::Repeats
        | Slot::Stored(_)
        | Slot::File(_)
        | Slot::Cause => false,
    }
}

/// What one version shows in the place of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A value, an outcome, a message or a call, as text for people.
    Text(Displayed),
    /// What other code sees in a place when it is called, or when it gets an item.
    InState {
        shown: Displayed,
        /// The number of the call among those of the callee, or of the item, counted from one.
        moment: usize,
        /// The access path of what is called. `None` for an item of a generator.
        callee: Option<AccessPathBuf>,
        place: Reached,
    },
    /// It makes no call.
    NoCall,
    /// It leaves the value as it was.
    Unchanged,
    /// It has nothing of the name: a name that a snippet does not bind, a member that is not reached.
    Absent,
    NothingLogged,
    /// The object of which the place speaks.
    Same,
    /// Another object.
    Another,
}

impl Shown {
    /// What a version left in a slot, where it left something.
    pub fn left(slot: &Slot, value: Option<&Observed>) -> Self {
        match value {
            _ if slot.is_identity() && value.is_some() == matches!(slot, Slot::Rebound(_)) => Shown::Another,
            _ if slot.is_identity() => Shown::Same,
            Some(value) => Shown::Text(displayed(value)),
            None if is_argument(slot) => Shown::Unchanged,
            None => Shown::Absent,
        }
    }

    /// The value; none where there is nothing to show.
    pub fn displayed(&self) -> Option<&Displayed> {
        match self {
            Shown::Text(shown) | Shown::InState { shown, .. } => Some(shown),
            Shown::NoCall | Shown::Unchanged | Shown::Absent | Shown::NothingLogged | Shown::Same | Shown::Another => {
                None
            }
        }
    }

    /// Whether it shows an injected object whose path starts like this.
    pub fn holds_object(&self, path: &str) -> bool {
        self.displayed().is_some_and(|shown| shown.holds_object(path))
    }
}
