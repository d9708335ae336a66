//! Channel: intended exceptions, by class and arguments. Which are intended is decided where they are raised, in a worker.

use twincell_engine::observed::{Behavior, Outcome};

use super::equal::equal;
use super::{Basis, Difference, Rules};

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let differs = match (&old.outcome, &new.outcome) {
        (Outcome::Raised { exception: a, .. }, Outcome::Raised { exception: b, .. }) => {
            !(equal(a, b, rules) || rules.same_but_for_message(a, b))
        }
        (Outcome::Raised { .. }, _) | (_, Outcome::Raised { .. }) => true,
        _ => false,
    };
    if differs {
        found.push(Difference::of_outcomes(old, new, Basis::Observable));
    }
}
