//! Injected values as they were when they were made, to see how the code changed them.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use twincell_behavior::{Rules, equal};
use twincell_engine::observed::{Observed, Slot};
use twincell_values::path::AccessPath;
use twincell_values::value::{Recipe, library};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::{given, resolve};
use crate::observe;

/// An injected container as it is now, if it is not as it was made, and in what it differs from that.
pub(crate) fn changed(value: &Bound<'_, PyAny>, recipe: &Recipe, path: AccessPath<'_>) -> Option<(Slot, Observed)> {
    if is_as_made(value, recipe) {
        return None;
    }
    let (was, now) = (observed(value.py(), recipe, path), observe::value(value));
    let slot = match now == was {
        true => return None,
        false if matches!(recipe, Recipe::Dict(_)) && equal(&was, &now, &Rules::default()) => Slot::Reordered,
        false => Slot::Argument,
    };
    Some((slot(path.to_string()), now))
}

/// Whether a value certainly is as it was made. Only exact builtin classes are read, which costs little.
fn is_as_made(value: &Bound<'_, PyAny>, recipe: &Recipe) -> bool {
    let all = |now: &mut dyn Iterator<Item = Bound<'_, PyAny>>, recipes: &[Recipe]| {
        now.zip(recipes).all(|(item, recipe)| is_as_made(&item, recipe))
    };
    match recipe {
        Recipe::None => value.is_none(),
        Recipe::Bool(known) => value.cast_exact::<PyBool>().is_ok_and(|flag| flag.is_true() == *known),
        Recipe::Int(known) => value.cast_exact::<PyInt>().is_ok_and(|number| number.extract().ok() == Some(*known)),
        Recipe::Float(known) => {
            value.cast_exact::<PyFloat>().is_ok_and(|number| number.value().to_bits() == known.to_bits())
        }
        Recipe::Str(known) => value
            .cast_exact::<PyString>()
            .is_ok_and(|text| text.len().is_ok_and(|length| length <= known.len()) && *text == known.as_str()),
        Recipe::Bytes(known) => value.cast_exact::<PyBytes>().is_ok_and(|bytes| bytes.as_bytes() == known),
        Recipe::List(items) => {
            value.cast_exact::<PyList>().is_ok_and(|list| list.len() == items.len() && all(&mut list.iter(), items))
        }
        Recipe::Tuple(items) => {
            value.cast_exact::<PyTuple>().is_ok_and(|tuple| tuple.len() == items.len() && all(&mut tuple.iter(), items))
        }
        Recipe::Dict(entries) => value.cast_exact::<PyDict>().is_ok_and(|dict| {
            dict.len() == entries.len()
                && dict
                    .iter()
                    .zip(entries)
                    .all(|((key, item), (known, recipe))| is_as_made(&key, known) && is_as_made(&item, recipe))
        }),
        Recipe::Mock(_) => value.cast_exact::<MockObject>().is_ok(),
        Recipe::Made(call) => !library::is_changeable(&call.class),
        Recipe::Given(object) => given::is_as_made(value, object),
        // Their order depends on hashes; what a name stands for must be looked up.
        Recipe::Set(_) | Recipe::Named(_) | Recipe::Provided(_) => false,
    }
}

/// An injected value in its original state.
pub(crate) fn observed(py: Python<'_>, recipe: &Recipe, path: AccessPath<'_>) -> Observed {
    let items = |items: &[Recipe]| {
        items.iter().enumerate().map(|(index, item)| observed(py, item, path.item(index).as_path())).collect()
    };
    match recipe {
        Recipe::None => Observed::None,
        Recipe::Bool(value) => Observed::Bool(*value),
        Recipe::Int(value) => Observed::Int(value.to_string()),
        Recipe::Float(value) => Observed::Float(format!("{value:?}")),
        Recipe::Str(text) => Observed::Str(text.clone()),
        Recipe::Bytes(bytes) => Observed::Bytes(bytes.clone()),
        Recipe::List(list) => Observed::List(items(list)),
        Recipe::Tuple(list) => Observed::Tuple(items(list)),
        Recipe::Set(list) => {
            let mut members: Vec<Observed> = items(list);
            members.sort_by_cached_key(|member| format!("{member:?}"));
            Observed::Set(members)
        }
        Recipe::Dict(entries) => Observed::Dict(
            entries
                .iter()
                .map(|(key, value)| (observed(py, key, path), observed(py, value, path.item(key.display()).as_path())))
                .collect(),
        ),
        Recipe::Mock(_) => Observed::Injected { path: path.to_buf(), assigned: vec![] },
        Recipe::Named(name) => resolve::named(py, name).map_or(Observed::None, |value| observe::value(value.bind(py))),
        Recipe::Made(_) | Recipe::Given(_) | Recipe::Provided(_) => {
            let known = state::with(|execution| execution.run.originals.get(path.as_str()).cloned()).flatten();
            let made = || match recipe {
                Recipe::Given(object) => given::of_table(py, object),
                recipe => resolve::as_made(py, recipe).ok(),
            };
            known.or_else(made).unwrap_or(Observed::None)
        }
    }
}
