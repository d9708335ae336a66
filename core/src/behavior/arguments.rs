//! Channel: injected values and globals after the call. Only what the code changed is recorded.

use std::collections::BTreeMap;

use super::contrast::contrast;
use super::equal::equal;
use super::{Basis, Behavior, Difference, Observed, Rules};
use crate::report::{Channel, display_observed};

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let mut places: BTreeMap<&str, [Option<&Observed>; 2]> = BTreeMap::new();
    for (side, behavior) in [old, new].into_iter().enumerate() {
        for (place, value) in &behavior.arguments {
            let own = &mut places.entry(place).or_default()[side];
            // A place that is named twice counts once.
            own.get_or_insert(value);
        }
    }
    let text = |value: Option<&Observed>| value.map_or(super::UNCHANGED.into(), display_observed);
    for (place, [a, b]) in places {
        let (old, new) = match (a, b) {
            (Some(a), Some(b)) if equal(a, b, rules) => continue,
            (Some(a), Some(b)) => contrast(a, b, rules),
            _ => (text(a), text(b)),
        };
        let place = format!("argument {place}");
        found.push(Difference { channel: Channel::Arguments, place, old, new, basis: Basis::Seen });
    }
}
