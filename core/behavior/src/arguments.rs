//! Channel: injected values and globals after the call. Only changes by the code are recorded.

use std::collections::BTreeMap;

use twincell_engine::observed::{Behavior, Observed};

use super::contrast::contrast;
use super::equal::equal;
use super::{Basis, Difference, Rules};
use crate::{Channel, display_observed};

/// The prefixes of places that are not arguments.
const OWN_PLACES: [&str; 5] = ["name ", "use ", "members", "class attributes", "how it is used"];

/// Whether this is the place of an argument or a global, and not of a name that a snippet binds or a use of an object.
pub fn is_argument(place: &str) -> bool {
    !OWN_PLACES.iter().any(|start| place.starts_with(start))
}

/// The place of the namespace of a class, without its methods.
const CLASS_ATTRIBUTES: &str = "class attributes";

/// A class without the members that only its new version has. Those break nobody who knows the old version.
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
        // Names that a snippet binds and results of using an object are not arguments.
        let own = !is_argument(place);
        let absent = if own { super::ABSENT } else { super::UNCHANGED };
        let text = |value: Option<&Observed>| value.map_or(absent.into(), display_observed);
        let kept = b.filter(|_| place == CLASS_ATTRIBUTES).and_then(|new| without_additions(a?, new));
        let b = kept.as_ref().or(b);
        let (old, new) = match (a, b) {
            (Some(a), Some(b)) if equal(a, b, rules) => continue,
            // A value that could not be observed is not evidence.
            (Some(Observed::Elided { .. }), None) | (None, Some(Observed::Elided { .. })) => continue,
            (Some(a), Some(b)) => contrast(a, b, rules),
            _ => (text(a), text(b)),
        };
        let place = if own { place.to_string() } else { format!("argument {place}") };
        found.push(Difference { channel: Channel::Arguments, place, old, new, basis: Basis::Seen });
    }
}
