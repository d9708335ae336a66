//! Channel: injected values and globals after the call. Only what the code changed is recorded.

use super::equal::equal;
use super::{Behavior, Difference, Observed, Rules};
use crate::report::{Channel, Strength, display_observed};

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let get = |behavior: &'_ Behavior, place: &str| -> Option<Observed> {
        behavior.arguments.iter().find(|(own, _)| own == place).map(|(_, value)| value.clone())
    };
    let mut places: Vec<&String> = old.arguments.iter().chain(&new.arguments).map(|(place, _)| place).collect();
    places.sort();
    places.dedup();
    for place in places {
        let (a, b) = (get(old, place), get(new, place));
        let same = match (&a, &b) {
            (Some(a), Some(b)) => equal(a, b, rules),
            _ => false,
        };
        if !same {
            let text =
                |value: Option<Observed>| value.map_or(super::UNCHANGED.into(), |value| display_observed(&value));
            found.push(Difference {
                channel: Channel::Arguments,
                place: format!("argument {place}"),
                old: text(a),
                new: text(b),
                strength: Strength::Observable,
            });
        }
    }
}
