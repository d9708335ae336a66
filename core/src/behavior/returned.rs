//! Channel: the return value, with generators, coroutines and returned functions unwrapped.

use super::equal::equal;
use super::{Behavior, Difference, Outcome};
use crate::report::{Channel, display_observed};

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    if let (Outcome::Returned(a), Outcome::Returned(b)) = (&old.outcome, &new.outcome)
        && !equal(a, b)
    {
        found.push(Difference {
            channel: Channel::Return,
            place: "return value".into(),
            old: display_observed(a),
            new: display_observed(b),
        });
    }
}
