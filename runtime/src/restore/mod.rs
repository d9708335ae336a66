//! Restores state, so that executions do not see each other: the interpreter ([`world`]), the state of the code's own
//! module, the time, and the folder that foreign code may write to.

pub(crate) mod clock;
pub(crate) mod module_state;
pub(crate) mod scratch;
pub(crate) mod world;
