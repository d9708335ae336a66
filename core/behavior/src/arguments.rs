//! Channel: injected values and globals after the call. Only what the code changed is recorded.

use std::collections::BTreeMap;

use twincell_engine::observed::{Behavior, Observed};

use super::contrast::contrast;
use super::equal::equal;
use super::{Basis, Difference, Rules};
use crate::{Channel, display_observed};

/// How places begin that say by themselves what they are.
const OWN_PLACES: [&str; 5] = ["name ", "use ", "members", "class attributes", "how it is used"];

/// Is this the place of an argument, or of a global, and not of what a snippet binds or using an object gave?
pub fn is_argument(place: &str) -> bool {
    !OWN_PLACES.iter().any(|start| place.starts_with(start))
}

/// The place of what the namespace of a class holds beside its methods.
const CLASS_ATTRIBUTES: &str = "class attributes";

/// A class without what only its new version has: that breaks nobody who knows the old one.
fn without_additions(old: &Observed, new: &Observed) -> Option<Observed> {
    let (Observed::Object { attributes: known, .. }, Observed::Object { class, attributes }) = (old, new) else {
        return None;
    };
    let is_known = |(name, _): &&(String, Observed)| known.iter().any(|(other, _)| other == name);
    Some(Observed::Object { class: class.clone(), attributes: attributes.iter().filter(is_known).cloned().collect() })
}

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let mut places: BTreeMap<&str, [Option<&Observed>; 2]> = BTreeMap::new();
    for (side, behavior) in [old, new].into_iter().enumerate() {
        for (place, value) in &behavior.arguments {
            let own = &mut places.entry(place).or_default()[side];
            // A place that is named twice counts once.
            own.get_or_insert(value);
        }
    }
    for (place, [a, b]) in places {
        // What a snippet binds and what using an object gave are no arguments.
        let own = !is_argument(place);
        let absent = if own { super::ABSENT } else { super::UNCHANGED };
        let text = |value: Option<&Observed>| value.map_or(absent.into(), display_observed);
        let kept = b.filter(|_| place == CLASS_ATTRIBUTES).and_then(|new| without_additions(a?, new));
        let b = kept.as_ref().or(b);
        let (old, new) = match (a, b) {
            (Some(a), Some(b)) if equal(a, b, rules) => continue,
            // What could not be observed is no evidence.
            (Some(Observed::Elided { .. }), None) | (None, Some(Observed::Elided { .. })) => continue,
            (Some(a), Some(b)) => contrast(a, b, rules),
            _ => (text(a), text(b)),
        };
        let place = if own { place.to_string() } else { format!("argument {place}") };
        found.push(Difference { channel: Channel::Arguments, place, old, new, basis: Basis::Seen });
    }
}
