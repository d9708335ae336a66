//! Comparisons that the code makes, for the engine to learn from: the values compared, and their access paths.
//!
//! Reading operands runs no code: only exact builtin types are read, and within bounds. The engine decides how to use
//! them.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use twincell_engine::protocol::{Observation, ObservationPoint, Operand};
use twincell_syntax::site::TELLING_CALLS;
use twincell_values::value::{AbstractValue, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::observe;

/// Bounds of one operand.
const MAX_TEXT: usize = 200;
const MAX_ITEMS: usize = 24;
const MAX_DEPTH: u32 = 3;

/// Records a comparison and its result.
pub(crate) fn comparison(number: u32, left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>, truth: bool) {
    note(ObservationPoint::Comparison(number), truth, || vec![operand(left), operand(right)]);
}

/// Records a call of a method such as `startswith`, and whether it found what it searched for.
pub(crate) fn call(site: u32, callee: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>, result: &Bound<'_, PyAny>) {
    let telling = state::with(|execution| {
        let version = &execution.index.versions[execution.version].version;
        execution.observations.is_some()
            && version
                .sites
                .sites
                .get(site as usize)
                .is_some_and(|site| TELLING_CALLS.contains(&site.identifier.as_str()))
    });
    if telling != Some(true) {
        return;
    }
    let truth = match result.cast_exact::<PyBool>() {
        Ok(truth) => truth.is_true(),
        Err(_) => !result.is_none(),
    };
    note(ObservationPoint::Call(site), truth, || {
        let receiver = callee.getattr("__self__").ok().map_or_else(Operand::default, |receiver| {
            // A compiled pattern is known by its text.
            match receiver.getattr("pattern") {
                Ok(pattern) if !receiver.is_instance_of::<MockObject>() => operand(&pattern),
                _ => operand(&receiver),
            }
        });
        std::iter::once(receiver).chain(arguments.iter().take(3).map(|argument| operand(&argument))).collect()
    });
}

fn note(place: ObservationPoint, truth: bool, operands: impl FnOnce() -> Vec<Operand>) {
    let version = state::with(|execution| {
        let version = execution.version as u8;
        let wanted = execution.observations.as_ref().is_some_and(|known| known.wants(version, place));
        (wanted && !execution.loading).then_some(version)
    });
    let Some(version) = version.flatten() else { return };
    // The order in which threads take turns is arbitrary.
    if !state::is_owner() {
        return;
    }
    let operands = operands();
    if operands.iter().all(|operand| operand.path.is_none() && operand.value.is_none()) {
        return;
    }
    state::with(|execution| {
        if let Some(known) = &mut execution.observations {
            known.add(Observation { version, place, operands, truth });
        }
    });
}

fn operand(value: &Bound<'_, PyAny>) -> Operand {
    let path = match value.cast_exact::<MockObject>() {
        Ok(mock) => Some(mock.get().path().to_buf()),
        Err(_) => {
            let identity = value.as_ptr() as usize;
            state::with(|execution| execution.run.identities.get(&identity).cloned()).flatten()
        }
    };
    Operand { path, value: recipe(value, 0) }
}

/// A value in the form in which it would be injected, if it is plain and small.
pub(crate) fn plain(value: &Bound<'_, PyAny>) -> Option<Recipe> {
    recipe(value, 0)
}

fn recipe(value: &Bound<'_, PyAny>, depth: u32) -> Option<Recipe> {
    if value.is_none() {
        return Some(Recipe::None);
    }
    if value.cast_exact::<MockObject>().is_ok() {
        return Some(Recipe::Mock(AbstractValue::Object));
    }
    if let Ok(text) = value.cast_exact::<PyString>() {
        // A lone surrogate has no UTF-8.
        let text = text.to_cow().ok()?;
        return (text.len() <= MAX_TEXT).then(|| Recipe::Str(observe::without_addresses(text.into_owned())));
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Some(Recipe::Bool(flag.is_true()));
    }
    if let Ok(number) = value.cast_exact::<PyInt>() {
        return number.extract().ok().map(Recipe::Int);
    }
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return Some(Recipe::Float(number.value()));
    }
    if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        return (bytes.as_bytes().len() <= MAX_TEXT).then(|| Recipe::Bytes(bytes.as_bytes().to_vec()));
    }
    if depth >= MAX_DEPTH {
        return None;
    }
    let items = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| -> Option<Vec<Recipe>> {
        items.take(MAX_ITEMS + 1).map(|item| recipe(&item, depth + 1)).collect()
    };
    if let Ok(list) = value.cast_exact::<PyList>() {
        return (list.len() <= MAX_ITEMS).then(|| items(&mut list.iter())).flatten().map(Recipe::List);
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        return (tuple.len() <= MAX_ITEMS).then(|| items(&mut tuple.iter())).flatten().map(Recipe::Tuple);
    }
    let members = if let Ok(set) = value.cast_exact::<PySet>() {
        Some((set.len() <= MAX_ITEMS).then(|| items(&mut set.iter()))?)
    } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
        Some((set.len() <= MAX_ITEMS).then(|| items(&mut set.iter()))?)
    } else {
        None
    };
    if let Some(members) = members {
        // In an order that does not depend on hashes.
        let mut members = members?;
        members.sort_by_cached_key(Recipe::display);
        return Some(Recipe::Set(members));
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        if dict.len() > MAX_ITEMS {
            return None;
        }
        let entries = dict.iter().map(|(key, value)| Some((recipe(&key, depth + 1)?, recipe(&value, depth + 1)?)));
        return entries.collect::<Option<Vec<_>>>().map(Recipe::Dict);
    }
    None
}
