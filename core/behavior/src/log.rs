//! Channel: messages to loggers, and warnings: level and message, in order.

use twincell_engine::observed::{Behavior, Logged};

use super::equal::same_text;
use super::{Basis, Difference};
use crate::display::displayed_message;
use crate::{EvidencePlace, Shown};

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    let same = |a: &Logged, b: &Logged| a.level == b.level && same_text(&a.message, &b.message);
    let (a, b) = (&old.log, &new.log);
    let first = (0..a.len().max(b.len())).find(|&index| match (a.get(index), b.get(index)) {
        (Some(a), Some(b)) => !same(a, b),
        _ => true,
    });
    if let Some(index) = first {
        let shown = |entry: Option<&Logged>| match entry {
            Some(entry) => Shown::Text(displayed_message(&entry.level, &entry.message)),
            None => Shown::NothingLogged,
        };
        let place = EvidencePlace::Message { number: index + 1 };
        found.push(Difference::new(place, shown(a.get(index)), shown(b.get(index)), Basis::Observable));
    }
}
