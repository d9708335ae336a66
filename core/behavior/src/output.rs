//! Channel: console output.

use twincell_engine::observed::{Behavior, Observed};

use super::contrast::contrast;
use super::equal::same_text;
use super::{Basis, Difference, Rules};
use crate::{EvidencePlace, Stream};

pub(super) fn compare(old: &Behavior, new: &Behavior, found: &mut Vec<Difference>) {
    for (stream, a, b) in [(Stream::Stdout, &old.stdout, &new.stdout), (Stream::Stderr, &old.stderr, &new.stderr)] {
        if !same_text(a, b) {
            let shown = |text: &str| Observed::Str(text.into());
            let (old, new) = contrast(&shown(a), &shown(b), &Rules::default());
            found.push(Difference::new(EvidencePlace::Output { stream }, old, new, Basis::Observable));
        }
    }
}
