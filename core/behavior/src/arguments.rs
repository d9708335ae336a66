//! Channel: injected values and globals after the call. Only changes by the code are recorded.

use std::collections::BTreeMap;

use twincell_engine::observed::{Behavior, Observed, Slot};
use twincell_syntax::{PerSide, Side};

use super::contrast::contrast;
use super::equal::equal;
use super::{Basis, Difference, Rules};
use crate::{EvidencePlace, Shown, display_slot};

/// A class without the members that only its new version has. Those break nobody who knows the old version.
fn without_additions(old: &Observed, new: &Observed) -> Option<Observed> {
    let (Observed::Object { attributes: known, .. }, Observed::Object { class, attributes }) = (old, new) else {
        return None;
    };
    let is_known = |(name, _): &&(String, Observed)| known.iter().any(|(other, _)| other == name);
    Some(Observed::Object { class: class.clone(), attributes: attributes.iter().filter(is_known).cloned().collect() })
}

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let mut slots: BTreeMap<&Slot, PerSide<Option<&Observed>>> = BTreeMap::new();
    for (side, behavior) in [(Side::Old, old), (Side::New, new)] {
        for (slot, value) in &behavior.arguments {
            let own = &mut slots.entry(slot).or_default()[side];
            // A slot that is named twice counts once.
            own.get_or_insert(value);
        }
    }
    let mut slots: Vec<_> = slots.into_iter().collect();
    // Reports list them by name.
    slots.sort_by_cached_key(|(slot, _)| display_slot(slot).into_owned());
    for (slot, PerSide { old: a, new: b }) in slots {
        let kept = b.filter(|_| *slot == Slot::ClassAttributes).and_then(|new| without_additions(a?, new));
        let b = kept.as_ref().or(b);
        let (old, new) = match (a, b) {
            (Some(a), Some(b)) if equal(a, b, rules) => continue,
            // A value that could not be observed is not evidence.
            (Some(Observed::Elided { .. }), None) | (None, Some(Observed::Elided { .. })) => continue,
            // A second call that did not end by itself shows nothing. What a function does counts where both versions
            // store one.
            (Some(_), None) | (None, Some(_)) if matches!(slot, Slot::Again | Slot::Repeats | Slot::Stored(_)) => {
                continue;
            }
            (Some(_), None) | (None, Some(_)) if !rules.ordered_keys && matches!(slot, Slot::Reordered(_)) => continue,
            (Some(a), Some(b)) => contrast(a, b, rules),
            _ => (Shown::left(slot, a), Shown::left(slot, b)),
        };
        let basis = match (a, b) {
            _ if slot.is_identity() => Basis::TypeOnly,
            (Some(a), Some(b)) => rules.basis(a, b),
            _ => Basis::Observable,
        };
        found.push(Difference::new(EvidencePlace::Left { slot: slot.clone() }, old, new, basis));
    }
}
