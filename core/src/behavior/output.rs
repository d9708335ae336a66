//! Channel: console output.

use super::{Behavior, Difference};
use crate::report::{Channel, Strength};
use crate::value::python_string;

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    for (place, a, b) in [("stdout", &old.stdout, &new.stdout), ("stderr", &old.stderr, &new.stderr)] {
        if a != b {
            found.push(Difference {
                channel: Channel::Output,
                place: place.into(),
                old: python_string(a),
                new: python_string(b),
                strength: Strength::Observable,
            });
        }
    }
}
