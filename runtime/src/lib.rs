//! The inside of a sandboxed Python worker: it runs both versions of a program on injected values and records their
//! behavior.
//!
//! [`worker::serve`] forks workers for the engine. A worker locks itself with [`twincell_sandbox::lock`] and then hands its
//! program and the requests to a [`worker::Host`]. [`worker::PythonHost`] is that host. It loads programs and runs executions in
//! this process's interpreter. No Python object leaves the process: recipes come in, records go out.
//!
//! These are the rooms, from the bottom up. Each uses those before it, and none that comes later, except for what
//! `tests/docs/layers.toml` lists:
//!
//! - `execution`: the current execution as data: its decisions, its predictions, and what a version has seen.
//! - `observe`: recorded behavior: values as plain data, console output, messages, blocked effects, comparisons.
//! - `restore`: state that is restored after each run: the interpreter, the code's own module, the time, the files.
//! - `inject`: injection: a value for each access path that the code asks for and does not have.
//! - `outside`: files, other programs and servers, drawn once for all versions.
//! - `calls`: the results of calls, of missing and of existing code.
//! - [`hooks`]: the functions that instrumented code calls, and the mock object as Python sees it.
//! - [`worker`]: the loop: it loads programs, runs executions, and answers the engine.
//! - [`record`]: hooks for other processes that only count, from which the predictor learns the values of real programs.
//!
//! Deliberately absent: any decision about the meaning of a difference, which `twincell-compare` makes.

mod calls;
mod execution;
pub mod hooks;
mod inject;
mod observe;
mod outside;
pub mod record;
mod restore;
pub mod worker;
