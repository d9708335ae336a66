//! Values with a wanted property, near the present value if there is one: lengths, members, orders, matching texts.

mod containers;
mod inverse;
mod patterns;
mod values;

pub(super) use containers::{holding, members, strangers, with_element, with_item, without};
pub(super) use inverse::{answering, argument, left_of, receivers, right_of};
pub(super) use patterns::matching;
pub(super) use values::{instances, of_length, replace, targets, unlike, with_truth};

/// The maximum number of items of a container that is made longer.
const MAX_LENGTH: usize = 64;
