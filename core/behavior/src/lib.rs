//! The differences between two observed behaviors.
//!
//! [`differences`] compares two [`Behavior`]s in all channels and returns [`Difference`]s. [`Rules`] say what counts as
//! the same besides equal values. Each [`Channel`] has a file. `equal.rs` defines *equal*, `effects.rs` infers the
//! effect of a call, `declared.rs` has what a project says about both, `crash.rs` decides which exceptions of one
//! version count, and `denoise.rs` removes what differs within one version.
//!
//! Deliberately absent: which executions to run, and what a difference means for the verdict.
//!
//! ```
//! use twincell_behavior::{Channel, Rules, differences};
//! use twincell_engine::observed::{Behavior, Observed, Outcome};
//!
//! let returns = |value: &str| Behavior::new(Outcome::Returned(Observed::Int(value.into())));
//! let found = differences(&returns("1"), &returns("2"), &Rules::default());
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].channel, Channel::Return);
//! assert!(differences(&returns("1"), &returns("1"), &Rules::default()).is_empty());
//! ```

mod arguments;
mod calls;
mod contrast;
mod crash;
mod declared;
mod denoise;
mod display;
mod displayed;
mod effects;
mod endless;
mod equal;
mod exceptions;
mod log;
mod output;
mod place;
mod replaced;
mod returned;
mod state;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use twincell_engine::observed::{Behavior, Call, Observed};
use twincell_syntax::PerSide;

use display::displayed_outcome;

pub use calls::align as align_calls;
pub use contrast::{display_parts, innermost, is_inserted};
pub use crash::is_telling;
pub use declared::{
    Declared, DeclaredEffect, Effects, FunctionEffect, Ignored, Rule, Unordered, check_functions, suppressed,
};
pub use denoise::{Denoised, denoise};
pub use display::{
    DISPLAY_LIMIT, afterwards, bounded, display_call, display_decision, display_limit, display_observed,
    display_outcome, display_outcome_in_present, display_place, display_shown, display_slot, short_path, short_text,
};
pub use displayed::Displayed;
pub use effects::{Effect, effect, looks, receiver};
pub use endless::is_close;
pub use equal::equal;
pub use place::{EvidencePlace, Shown, Stream, is_argument};
pub use replaced::with_values;

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

impl Channel {
    pub const ALL: [Channel; 6] =
        [Channel::Return, Channel::Arguments, Channel::Output, Channel::Log, Channel::Calls, Channel::Exception];
}

/// How strong a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Missing code is called differently. Nobody knows what it would have answered.
    CallPattern,
    /// A user of the code can see it: what the code returns, changes, writes or raises, and its effects.
    Observable,
}

/// A row of the two aligned call logs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    pub old: Option<Call>,
    pub new: Option<Call>,
    pub equal: bool,
}

/// What a difference rests on, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// Which of the values is shown that are equal, as was decided when the code compared them.
    Equal,
    /// The notation of a result that was calculated from objects. With numbers in their place the results are the same.
    FormattingOnly,
    /// The order of actions on different receivers.
    Reordered,
    /// An exception that only one version ends in, and that the values alone may have caused; or one version that goes
    /// on where the other one ends.
    Crashed,
    /// The answers of unknown calls, where each version makes calls of its own. With equal answers the difference
    /// disappears.
    DifferentQueries,
    /// The answers of unknown calls that only one version makes.
    OneSidedQuery,
    /// What is returned or left behind is equal and of another type (`2.0` and `2`, a list and a tuple), or another object.
    TypeOnly,
    /// A call to unknown code that has an effect, as far as its name and use tell.
    SideEffect,
    /// Behavior that a user of the code can see.
    Observable,
}

impl Basis {
    pub fn strength(self) -> Strength {
        match self {
            Basis::Observable | Basis::TypeOnly | Basis::Crashed | Basis::FormattingOnly | Basis::Equal => {
                Strength::Observable
            }
            Basis::SideEffect | Basis::OneSidedQuery | Basis::DifferentQueries | Basis::Reordered => {
                Strength::CallPattern
            }
        }
    }
}

/// A difference between two behaviors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// That of its place.
    pub channel: Channel,
    pub place: EvidencePlace,
    pub old: Shown,
    pub new: Shown,
    pub basis: Basis,
}

impl Difference {
    pub fn new(place: EvidencePlace, old: Shown, new: Shown, basis: Basis) -> Self {
        Self { channel: place.channel(), place, old, new, basis }
    }

    /// Of two versions that do not end in the same way.
    fn of_outcomes(old: &Behavior, new: &Behavior, basis: Basis) -> Self {
        let shown = |behavior: &Behavior| Shown::Text(displayed_outcome(&behavior.outcome));
        Self::new(EvidencePlace::Exception, shown(old), shown(new), basis)
    }

    /// What both versions show.
    pub fn sides(&self) -> PerSide<&Shown> {
        PerSide::new(&self.old, &self.new)
    }

    /// What they show, where there is something.
    pub fn displayed(&self) -> impl Iterator<Item = &Displayed> {
        self.sides().into_iter().filter_map(Shown::displayed)
    }
}

/// What counts as the same, besides equal values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// The share of the greater float by which two floats may differ and still be the same.
    pub float_tolerance: f64,
    /// Whether the order of the keys of dictionaries counts.
    pub ordered_keys: bool,
    /// The changed lines of old and new. An exception that only one version ends in may come from them.
    pub changed: PerSide<Vec<u32>>,
    /// Whether calls that only ask count like calls that act.
    pub every_call_acts: bool,
    /// For old and new: the changed lines that test a value for None or for its truth, each with the lines of the other
    /// version that use this value.
    pub guards: PerSide<Vec<(u32, Vec<u32>)>>,
    /// The lines of old and new that unpack the parts of a text.
    pub splits: PerSide<Vec<u32>>,
    /// What counts for nothing.
    pub ignore: BTreeSet<Ignored>,
    /// What may be in any order.
    pub unordered: BTreeSet<Unordered>,
    /// What functions do, where a project says so.
    pub effects: Effects,
    /// Whether numbers of the same value and sequences of the same items count as equal, whatever their types: `2.0` and `2`,
    /// `[1]` and `(1,)`.
    pub types_alike: bool,
}

impl Rules {
    /// How two values differ that are not equal: maybe in their types alone.
    fn basis(&self, old: &Observed, new: &Observed) -> Basis {
        let lenient = Rules { types_alike: true, ..self.clone() };
        if equal::equal(old, new, &lenient) { Basis::TypeOnly } else { Basis::Observable }
    }

    /// Whether either version ran a changed line.
    fn ran_changed(&self, old: &Behavior, new: &Behavior) -> bool {
        let versions = [old, new].into_iter().zip(&self.changed);
        let mut ran =
            versions.flat_map(|(behavior, changed)| behavior.lines.iter().map(move |(line, _)| (line, changed)));
        ran.any(|(line, changed)| changed.binary_search(line).is_ok())
    }
}

/// Compares two behaviors in all channels. Of versions that did not end by themselves, few differences count.
pub fn differences(old: &Behavior, new: &Behavior, rules: &Rules) -> Vec<Difference> {
    if !old.outcome.is_valid() || !new.outcome.is_valid() {
        let found = crash::compare(old, new, rules).or_else(|| endless::compare(old, new, rules));
        return found.into_iter().filter(|difference| !rules.ignores(difference.channel)).collect();
    }
    let mut found = Vec::new();
    exceptions::compare(old, new, rules, &mut found);
    returned::compare(old, new, rules, &mut found);
    arguments::compare(old, new, rules, &mut found);
    output::compare(old, new, &mut found);
    log::compare(old, new, &mut found);
    calls::compare(old, new, rules, &mut found);
    state::compare_yields(old, new, rules, &mut found);
    found.retain(|difference| !rules.ignores(difference.channel));
    if found.iter().any(|difference| difference.basis == Basis::TypeOnly) {
        // What says most about the change is told first.
        found.sort_by_key(|difference| match difference.basis {
            Basis::Observable | Basis::SideEffect => 0,
            Basis::TypeOnly => 1,
            _ => 2,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::{Outcome, Slot};

    #[test]
    fn differences_of_type_alone_are_told_after_others() {
        let float = |number: &str| Observed::Float(number.into());
        let of = |value: Observed, output: &str| Behavior {
            stdout: output.into(),
            ..Behavior::new(Outcome::Returned(value))
        };
        let bases = |old: &Behavior, new: &Behavior| -> Vec<(Channel, Basis)> {
            differences(old, new, &Rules::default()).iter().map(|one| (one.channel, one.basis)).collect()
        };
        let (whole, other) = (of(Observed::Int("2".into()), "a"), of(float("2.0"), "b"));
        assert_eq!(bases(&whole, &other), [(Channel::Output, Basis::Observable), (Channel::Return, Basis::TypeOnly)]);
        assert_eq!(bases(&whole, &of(float("2.5"), "a")), [(Channel::Return, Basis::Observable)]);
        let same = Slot::Same { place: "a".into(), other: "b".into() };
        let with = Behavior { arguments: vec![(same, Observed::None)], ..whole.clone() };
        assert_eq!(bases(&whole, &with), [(Channel::Arguments, Basis::TypeOnly)]);
    }
}
