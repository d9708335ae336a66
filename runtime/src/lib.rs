//! What lives inside a sandboxed Python worker: the hooks that instrumented code calls, the objects that stand in for
//! what is missing, and the capture of what the code did.
//!
//! [`host::PythonHost`] loads programs and runs executions. During one, [`state`] holds the execution's decisions and
//! each version's consistency map; [`hooks`] and [`versatile`] ask [`resolve`] for missing values; [`observe`] turns
//! Python values into plain data. No Python object leaves this crate's process: recipes go in, records come out.
//!
//! Deliberately absent: any decision about what a difference means (that is `twincell-core`).

mod call;
mod capture;
mod exceptions;
pub mod hooks;
pub mod host;
mod imports;
mod module;
mod observe;
mod operators;
mod outcome;
mod prepared;
mod resolve;
mod state;
mod versatile;
