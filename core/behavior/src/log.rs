//! Channel: messages to loggers, and warnings: level and message, in order.

use twincell_engine::observed::{Behavior, Logged};

use super::equal::same_text;
use super::{Basis, Difference, NOTHING_LOGGED};
use crate::{Channel, bounded};

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    let same = |a: &Logged, b: &Logged| a.level == b.level && same_text(&a.message, &b.message);
    let (a, b) = (&old.log, &new.log);
    let first = (0..a.len().max(b.len())).find(|&index| match (a.get(index), b.get(index)) {
        (Some(a), Some(b)) => !same(a, b),
        _ => true,
    });
    if let Some(index) = first {
        let text = |entry: Option<&Logged>| match entry {
            Some(entry) => bounded(&format!("{}: {}", entry.level, entry.message)),
            None => NOTHING_LOGGED.into(),
        };
        found.push(Difference {
            channel: Channel::Log,
            place: format!("message {}", index + 1),
            old: text(a.get(index)),
            new: text(b.get(index)),
            basis: Basis::Seen,
        });
    }
}
