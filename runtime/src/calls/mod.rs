//! Calls in the code under comparison: of what is missing ([`missing`]), of what is there ([`real`]), and of builtins
//! that must know about injected values.

mod builtins;
mod conversions;
pub(crate) mod missing;
pub(crate) mod real;
