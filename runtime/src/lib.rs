//! What lives inside a sandboxed Python worker: the hooks that instrumented code calls, the objects that stand in for
//! what is missing, and the capture of what the code did.
//!
//! [`worker`] speaks the engine's protocol and hands programs to a [`worker::Host`]; [`sandbox`] locks the process in
//! before the first of them arrives; [`scratch`] is the one folder that it may still write to.
//!
//! [`host::PythonHost`] is that host: it loads programs and runs executions. During one, `state` holds the execution's
//! decisions and each version's consistency map; `hooks` and `versatile` ask `resolve` for missing values; `observe`
//! turns Python values into plain data. What code changes beyond that is put back: in its own module by `module_state`,
//! in the interpreter by `world`. `script` runs a finished test as it is. No Python object leaves the process: recipes go in, records come out.
//!
//! `record` is for another process: hooks that only count, by which the predictor learns what values real programs have.
//!
//! Deliberately absent: any decision about what a difference means (that is `twincell-core`).

mod builtin;
mod call;
mod capture;
mod clock;
mod consumer;
mod convert;
mod exceptions;
pub mod hooks;
pub mod host;
mod imports;
mod isolation;
mod kinds;
mod messages;
mod module;
mod module_state;
mod observations;
mod observe;
mod operators;
mod outcome;
mod prepared;
mod raises;
mod real_call;
pub mod record;
mod resolve;
pub mod sandbox;
pub mod scratch;
mod script;
mod state;
mod substitute;
mod texts;
mod versatile;
mod version;
pub mod worker;
mod world;
