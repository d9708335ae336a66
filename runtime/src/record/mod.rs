//! Hooks that pass everything through and count what they see: the classes of values at each site of a module, their
//! lengths, their keys and attributes, and what calls changed and raised. The predictor learns from running programs in
//! this way (`models/train/collect`). This is not part of a comparison.
//!
//! No code of an observed value runs, and no value is kept alive: classes are known by exact type ([`class`]), contents
//! by the memory of builtin classes ([`seen`], [`effects`]). Marks of lines, branches and comparisons are those of
//! `hooks`.

mod class;
mod effects;
mod seen;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use twincell_syntax::instrument::RecordedFunction;
use twincell_values::value::AbstractValue;

pub use effects::Effects;
pub use seen::{LENGTHS, Seen};

use effects::Before;
use seen::Note;

use crate::{hooks, observe};

/// A module whose values are counted while its hooks are called.
#[pyclass(frozen, module = "twincell")]
pub struct Recording {
    pub package: String,
    /// The path of the module below its import root.
    pub file: String,
    pub functions: Vec<RecordedFunction>,
    names: Vec<Py<PyString>>,
    /// Held only between two calls of Python, so that no thread, no finalizer and no fork finds it taken.
    seen: Mutex<Vec<Option<Box<Seen>>>>,
}

static RECORDINGS: Mutex<Vec<Py<Recording>>> = Mutex::new(Vec::new());

impl Recording {
    /// A recording of a module with these functions, with the identifiers of its sites. It is kept until the process
    /// ends.
    pub fn start<'py>(
        py: Python<'py>,
        (package, file): (String, String),
        functions: Vec<RecordedFunction>,
        identifiers: &[&str],
    ) -> PyResult<Bound<'py, Self>> {
        let names = identifiers.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let seen = Mutex::new(vec![None; identifiers.len()]);
        let recording = Bound::new(py, Self { package, file, functions, names, seen })?;
        held(&RECORDINGS).push(recording.clone().unbind());
        Ok(recording)
    }

    /// What was seen at each site of a function, in order. `None` for sites that no value passed.
    pub fn seen(&self, function: &RecordedFunction) -> Vec<Option<Seen>> {
        let seen = held(&self.seen);
        let own = seen.get(function.first..function.first + function.sites.len()).unwrap_or_default();
        own.iter().map(|seen| seen.as_deref().filter(|seen| !seen.is_empty()).cloned()).collect()
    }

    fn at<R>(&self, site: usize, f: impl FnOnce(&mut Seen) -> R) -> Option<R> {
        let mut seen = held(&self.seen);
        seen.get_mut(site).map(|seen| f(seen.get_or_insert_default()))
    }

    fn note(&self, site: usize, value: &Bound<'_, PyAny>) {
        let Some(class) = class::of(value) else { return };
        let wants_keys = class == AbstractValue::Dict && self.at(site, |seen| seen.wants_keys()) == Some(true);
        let note = Note::of(value, class, wants_keys);
        self.at(site, |seen| seen.add(note));
    }

    fn name(&self, site: usize) -> PyResult<&Py<PyString>> {
        self.names.get(site).ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("no such site"))
    }
}

/// All recordings of this process, in the order in which they began.
pub fn all(py: Python<'_>) -> Vec<Py<Recording>> {
    held(&RECORDINGS).iter().map(|recording| recording.clone_ref(py)).collect()
}

/// Discards what was seen, since a child process has what its parent will report.
pub fn forget(py: Python<'_>) {
    for recording in all(py) {
        held(&recording.get().seen).iter_mut().for_each(|seen| *seen = None);
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Recording {
    /// Gives the module its hooks.
    fn install(slf: &Bound<'_, Self>, globals: &Bound<'_, PyDict>) -> PyResult<()> {
        hooks::install(globals, Vec::new())?;
        for (hook, method) in [
            ("_tc_v", "value"),
            ("_tc_a", "attribute"),
            ("_tc_s", "subscript"),
            ("_tc_c", "call"),
            ("_tc_n", "global_name"),
        ] {
            globals.set_item(hook, slf.getattr(method)?)?;
        }
        Ok(())
    }

    /// Names.
    #[pyo3(signature = (site, value, /))]
    fn value<'py>(&self, site: usize, value: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        self.note(site, &value);
        value
    }

    /// Attribute loads.
    #[pyo3(signature = (site, object, /))]
    fn attribute<'py>(&self, site: usize, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let value = object.getattr(self.name(site)?)?;
        self.note(site, &value);
        if class::of(object).is_some_and(|class| class >= AbstractValue::Callable) {
            self.at(site, |seen| seen.on_objects += 1);
        }
        Ok(value)
    }

    /// Subscript loads.
    #[pyo3(signature = (site, object, key, /))]
    fn subscript<'py>(
        &self,
        site: usize,
        object: &Bound<'py, PyAny>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = object.get_item(key)?;
        self.note(site, &value);
        Ok(value)
    }

    /// Calls.
    #[pyo3(signature = (site, callee, /, *arguments, **keywords))]
    fn call<'py>(
        &self,
        site: usize,
        callee: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_watched = self.at(site, |seen| seen.effects.begins()) == Some(true);
        let before = is_watched.then(|| Before::of(callee, arguments));
        let result = callee.call(arguments, keywords);
        if let Some(before) = before {
            let change = before.change();
            self.at(site, |seen| seen.effects.ends(change));
        }
        match &result {
            Ok(value) => self.note(site, value),
            Err(error) => {
                let class = observe::class_name(&error.get_type(callee.py()));
                self.at(site, |seen| seen.raised(class));
            }
        }
        result
    }

    /// Names in class bodies.
    #[pyo3(signature = (site, /))]
    fn global_name<'py>(&self, py: Python<'py>, site: usize) -> PyResult<Bound<'py, PyAny>> {
        let value = hooks::outside(py, self.name(site)?.bind(py))?.into_bound(py);
        self.note(site, &value);
        Ok(value)
    }
}
