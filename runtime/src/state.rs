//! The execution that is going on: its decisions, and what the version that runs now has seen.
//!
//! One execution at a time, on one thread. Code under comparison may start threads; their hooks find no execution: they
//! count nothing and inject nothing, and reading an attribute there is an error, because its name is not known. Nothing
//! in here calls Python while the state is borrowed.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_core::behavior::{Call, Logged};
use twincell_core::engine::protocol::Injection;
use twincell_core::value::{Draw, Recipe};

use crate::prepared::Prepared;

/// What one run of one version has seen and done so far.
#[derive(Default)]
pub(crate) struct Side {
    /// The consistency map: access path -> this version's value.
    pub values: FxHashMap<String, Py<PyAny>>,
    /// Access path of injected containers, by identity (they are kept alive in `values`).
    pub identities: FxHashMap<usize, String>,
    /// Containers as they were injected, to see what the code did to them.
    pub injected: Vec<(String, Py<PyAny>, Recipe)>,
    /// How often a call with the same arguments was made.
    pub occurrences: FxHashMap<String, u32>,
    /// Functions handed to external code.
    pub callbacks: Vec<Py<PyAny>>,
    pub calls: Vec<Call>,
    pub log: Vec<Logged>,
    pub lines: Vec<u32>,
    pub branches: Vec<(u32, u32)>,
    pub steps: u64,
    pub line: u32,
    /// Objects whose `id` was asked for, by address: a number and the object itself.
    pub ids: FxHashMap<usize, (i64, Py<PyAny>)>,
    /// The same version ran before in this execution.
    pub repeated: bool,
    /// Exceptions raised on purpose, by identity, kept alive.
    pub intended: Vec<Py<PyAny>>,
    pub intended_ids: FxHashSet<usize>,
    /// Stand-ins for exception types that are missing, by name.
    pub missing_classes: FxHashMap<String, Py<PyType>>,
    /// The last assertion failed.
    pub assertion_failed: bool,
    /// The sandbox blocked an effect in the call that is going on.
    pub blocked: bool,
}

/// One execution.
pub(crate) struct Execution {
    pub prepared: Rc<Prepared>,
    pub draw: Draw,
    pub injections: Vec<Injection>,
    /// Index into [`Prepared::versions`] of what runs now.
    pub version: usize,
    pub side: Side,
    /// Globals of the version that runs.
    pub globals: Option<Py<pyo3::types::PyDict>>,
    /// A module is being evaluated: decorators are passed through, nothing is recorded.
    pub loading: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Box<Execution>>> = const { RefCell::new(None) };
}

/// Makes an execution the current one; gives back the one before.
pub(crate) fn replace(execution: Option<Box<Execution>>) -> Option<Box<Execution>> {
    CURRENT.with(|current| current.replace(execution))
}

/// Calls `f` with the current execution, if there is one on this thread. `f` must not call Python.
pub(crate) fn with<R>(f: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    CURRENT.with(|current| current.try_borrow_mut().ok()?.as_deref_mut().map(f))
}
