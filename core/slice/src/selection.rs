//! Which units of a range are taken.

use std::collections::BTreeSet;

/// A change of the range that is taken or left as a whole: a commit, or with `--by change` a part of one. Its number is its
/// place in the linear history, oldest first, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// The units that a candidate history takes, in their order.
pub type Selection = BTreeSet<UnitId>;
