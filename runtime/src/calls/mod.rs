//! Calls in the code under comparison: of missing code ([`missing`]), of existing code ([`real`]), and of builtins that
//! must know about injected values.

mod builtins;
mod conversions;
pub(crate) mod missing;
pub(crate) mod real;
