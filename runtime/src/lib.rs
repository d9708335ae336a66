//! What lives inside a sandboxed Python worker.
//!
//! [`worker`] speaks the engine's protocol and hands programs to a [`worker::Host`]; [`sandbox`] locks the process in
//! before the first of them arrives; [`scratch`] is the one folder that it may still write to.

pub mod sandbox;
pub mod scratch;
pub mod worker;
