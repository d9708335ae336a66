//! Channel: console output.

use twincell_engine::observed::{Behavior, Observed};

use super::contrast::contrast;
use super::equal::same_text;
use super::{Basis, Difference, Rules};
use crate::Channel;

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    for (place, a, b) in [("stdout", &old.stdout, &new.stdout), ("stderr", &old.stderr, &new.stderr)] {
        if !same_text(a, b) {
            let shown = |text: &str| Observed::Str(text.into());
            let (old, new) = contrast(&shown(a), &shown(b), &Rules::default());
            found.push(Difference { channel: Channel::Output, place: place.into(), old, new, basis: Basis::Seen });
        }
    }
}
