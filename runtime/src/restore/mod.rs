//! Restores state, so that executions do not see each other: the interpreter ([`world`]), the state of the code's own
//! module, the time, the names and numbers of the process ([`identity`]), hashes ([`order`]), and the folder that foreign
//! code may write to. What is not restored in imported modules is noticed ([`snapshot`]).

pub(crate) mod clock;
pub(crate) mod identity;
pub(crate) mod module_state;
pub(crate) mod order;
pub(crate) mod scratch;
pub(crate) mod snapshot;
pub(crate) mod world;
