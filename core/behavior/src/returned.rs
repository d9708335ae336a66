//! Channel: the return value, with generators, coroutines and returned functions unwrapped.

use twincell_engine::observed::{Behavior, Outcome};

use super::contrast::contrast;
use super::equal::equal;
use super::{Difference, Rules};
use crate::EvidencePlace;

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    if let (Outcome::Returned(a), Outcome::Returned(b)) = (&old.outcome, &new.outcome)
        && !equal(a, b, rules)
    {
        let basis = rules.basis(a, b);
        let (old, new) = contrast(a, b, rules);
        found.push(Difference::new(EvidencePlace::ReturnValue, old, new, basis));
    }
}
