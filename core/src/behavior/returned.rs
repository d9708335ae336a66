//! Channel: the return value, with generators, coroutines and returned functions unwrapped.

use super::equal::equal;
use super::{Behavior, Difference, Outcome, Rules};
use crate::report::{Channel, Strength, display_observed};

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    if let (Outcome::Returned(a), Outcome::Returned(b)) = (&old.outcome, &new.outcome)
        && !equal(a, b, rules)
    {
        found.push(Difference {
            channel: Channel::Return,
            place: "return value".into(),
            old: display_observed(a),
            new: display_observed(b),
            strength: Strength::Observable,
        });
    }
}
