//! What lives inside a sandboxed Python worker: it runs both versions of a program on injected values and records what
//! they do.
//!
//! [`worker::serve`] speaks the engine's protocol: it locks the process in by [`sandbox::lock`], then hands programs and
//! requests to a [`worker::Host`]. [`worker::PythonHost`] is that host. It loads programs and runs executions in this
//! process's interpreter. No Python object leaves the process: recipes come in, records go out.
//!
//! The rooms, from the bottom up; each uses those before it, and none that comes later:
//!
//! - [`sandbox`]: Landlock, seccomp and limits, and the report of what they do here.
//! - `execution`: the execution that is going on, as data: its decisions, its predictions, what a version has seen.
//! - `observe`: what is recorded: values as plain data, console output, messages, blocked effects, comparisons.
//! - `restore`: what is put back after each run: the interpreter, the code's own module, the time, the files.
//! - `inject`: what is injected: a value for each access path that the code asks for and does not have.
//! - `calls`: what a call gives, of what is missing and of what is there.
//! - [`hooks`]: what instrumented code calls, and the versatile object as Python sees it.
//! - [`worker`]: the loop: loads programs, runs executions, answers the engine.
//! - [`record`]: for another process: hooks that only count, by which the predictor learns what values real programs have.
//!
//! Deliberately absent: any decision about what a difference means (that is `twincell-compare`).

mod calls;
mod execution;
pub mod hooks;
mod inject;
mod observe;
pub mod record;
mod restore;
pub mod sandbox;
pub mod worker;
