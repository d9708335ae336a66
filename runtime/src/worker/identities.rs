//! Which objects are the same among what callers see after a run: injected values, changed globals, and results.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use twincell_engine::observed::{Observed, Slot};
use twincell_values::path::{AccessPath, AccessPathBuf};
use twincell_values::value::Recipe;

use crate::observe::identity::{self, Identities};
use crate::worker::version::LoadedVersion;

/// What callers see after a run.
pub(crate) struct Seen<'a, 'py> {
    /// The injected values, by access path.
    pub injected: &'a [(AccessPathBuf, Py<PyAny>, Recipe)],
    /// The names of the changed globals, and whether every version's module has them.
    pub changed: Vec<(String, bool)>,
    /// What the code returned, and what a second call returned.
    pub results: [Option<Bound<'py, PyAny>>; 2],
}

/// The identities that hold among these objects.
pub(crate) fn identities(
    version: &LoadedVersion,
    globals: &Bound<'_, PyDict>,
    seen: Seen<'_, '_>,
) -> Vec<(Slot, Observed)> {
    let py = globals.py();
    let mut found = Identities::default();
    let of_module = |identity: usize| version.state.holds(identity);
    let mut injected: Vec<(AccessPath<'_>, &Bound<'_, PyAny>)> =
        seen.injected.iter().map(|(path, value, _)| (path.as_path(), value.bind(py))).collect();
    injected.sort_by_key(|(path, _)| *path);
    for (path, value) in &injected {
        found.known(value, *path);
    }
    // What the result of an unknown call is, is not known, so nothing is found in it.
    for (path, value) in injected.into_iter().filter(|(path, _)| !identity::is_of_call(*path)) {
        found.look(path.as_str(), value, &of_module);
    }
    let mut slots = Vec::new();
    for (name, is_shared) in seen.changed {
        let Ok(Some(value)) = globals.get_item(&name) else { continue };
        found.look_at_global(&name, &value, is_shared, &of_module);
        let before = version.before.bind(py).get_item(&name).ok().flatten();
        let is_rebound = |before: &Bound<'_, PyAny>| identity::is_mutable(before) && !before.is(&value);
        if is_shared && identity::is_mutable(&value) && before.as_ref().is_some_and(is_rebound) {
            slots.push((Slot::Rebound(name), Observed::Bool(true)));
        }
    }
    for (place, result) in [identity::RESULT, identity::AGAIN].into_iter().zip(seen.results) {
        if let Some(result) = result {
            found.look(place, &result, &of_module);
        }
    }
    slots.extend(found.into_slots());
    slots
}
