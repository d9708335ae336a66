//! The globals that the code assigned.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};

use twincell_engine::observed::Observed;

use crate::execution::state;
use crate::observe;

/// Globals that the interpreter keeps for itself.
const BOOKKEEPING: [&str; 2] = ["__builtins__", "__warningregistry__"];

/// How many entries of a dict, from the first one on, are those of its earlier copy: as a rule, all except those that the
/// code added. Nothing is copied or looked up, because this runs for each of several large dicts in every execution.
pub(crate) fn unchanged(now: &Bound<'_, PyDict>, before: &Bound<'_, PyDict>) -> usize {
    let next = |dict: &Bound<'_, PyDict>, position: &mut isize| {
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dict lives, this thread holds the interpreter, and no code of Python runs between two steps. The
        // pointers are compared and never followed.
        let more = unsafe { pyo3::ffi::PyDict_Next(dict.as_ptr(), position, &mut key, &mut value) };
        (more != 0).then_some((key, value))
    };
    let (mut at, mut at_before, mut count) = (0, 0, 0);
    while let Some(entry) = next(now, &mut at)
        && next(before, &mut at_before) == Some(entry)
    {
        count += 1;
    }
    count
}

/// The globals that the code assigned, by name.
pub(crate) fn changed(globals: &Bound<'_, PyDict>, before: &Bound<'_, PyDict>) -> Vec<(String, Observed)> {
    let mut changed: Vec<(String, Observed)> = globals
        .iter()
        .skip(unchanged(globals, before))
        .filter(|(name, value)| !is_same(before, name, value))
        .filter_map(|(name, value)| {
            let name = name.extract::<String>().ok()?;
            let own = value.is_exact_instance_of::<PyFunction>();
            (!own && !BOOKKEEPING.contains(&name.as_str())).then(|| (name, observe::value(&value)))
        })
        .collect();
    changed.sort_by(|a, b| a.0.cmp(&b.0));
    changed
}

/// The globals that the running function has assigned so far. None for code that assigns no globals.
pub(crate) fn assigned(py: Python<'_>) -> Vec<(String, Observed)> {
    let globals = state::with(|execution| {
        let before = execution.globals_before.as_ref()?.clone_ref(py);
        Some((execution.globals.as_ref()?.clone_ref(py), before))
    });
    globals.flatten().map_or_else(Vec::new, |(globals, before)| changed(globals.bind(py), before.bind(py)))
}

fn is_same(before: &Bound<'_, PyDict>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> bool {
    before.get_item(name).ok().flatten().is_some_and(|known| known.is(value))
}
