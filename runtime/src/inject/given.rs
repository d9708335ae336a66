//! Objects that somebody gave, from a file: loaded once for each version, and made again for each execution.
//!
//! What the file says runs when it is loaded, and what its classes say runs when an object is made again. `given.py` does
//! both, and makes the variations.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyModule, PySet, PyString, PyTuple};

use twincell_engine::observed::Observed;
use twincell_engine::protocol::{GivenContent, GivenValue};
use twincell_values::value::{ConstructorCall, Given, Recipe};

use crate::execution::given::{GivenObject, GivenObjects};
use crate::execution::state;
use crate::inject::resolve;
use crate::observe;

static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The number of contents that are kept of one object.
const KEPT: usize = 8;

fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    const SOURCE: &std::ffi::CStr = pyo3::ffi::c_str!(include_str!("given.py"));
    let make = || PyModule::from_code(py, SOURCE, c"twincell_given.py", c"twincell_given").map(Bound::unbind);
    Ok(HELPERS.get_or_try_init(py, make)?.bind(py))
}

/// Loads what was given for a version with these globals. `known` are the objects of another version. Failures go to
/// `failed`, with the position of the value.
pub(crate) fn load(
    given: &[GivenValue],
    globals: &Bound<'_, PyDict>,
    known: &[Option<Rc<GivenObject>>],
    failed: &mut dyn FnMut(usize, PyErr),
) -> GivenObjects {
    let one = |(position, value): (usize, &GivenValue)| {
        let GivenContent::File(file) = &value.content else { return None };
        if let Some(shared) = known.get(position).and_then(Option::as_ref).filter(|known| !known.is_own) {
            return Some(shared.clone());
        }
        let loaded = helpers(globals.py()).and_then(|helpers| {
            let object = helpers.getattr("Object")?.call1((&file.path, globals))?;
            Ok(Rc::new(GivenObject {
                is_table: object.getattr("is_table")?.extract()?,
                is_own: object.getattr("is_own")?.extract()?,
                object: object.unbind(),
                observed: RefCell::default(),
            }))
        });
        loaded.map_err(|error| failed(position, error)).ok()
    };
    given.iter().enumerate().map(one).collect()
}

fn object(given: &Given) -> Option<Rc<GivenObject>> {
    state::with(|execution| execution.given.get(given.index as usize)?.clone()).flatten()
}

/// A separate object for the running version. `None` if there is none of this number.
pub(super) fn make(py: Python<'_>, given: &Given) -> PyResult<Option<Py<PyAny>>> {
    object(given).map(|known| known.object.call_method1(py, "make", (given.variation, given.rows))).transpose()
}

/// What an object is like that was just made. Of a table this is known without reading it, and is found out when it is
/// asked for.
pub(super) fn as_made(given: &Given, value: &Bound<'_, PyAny>) -> Option<Observed> {
    object(given).filter(|known| !known.is_table).map(|_| observe::value(value))
}

/// Whether an object certainly is as it was made.
pub(super) fn is_as_made(value: &Bound<'_, PyAny>, given: &Given) -> bool {
    let Some(known) = object(given).filter(|known| known.is_table) else { return false };
    let same = known.object.call_method1(value.py(), "is_as_made", (value, given.variation, given.rows));
    same.and_then(|same| same.extract(value.py())).unwrap_or(false)
}

/// What a table was like when it was made.
pub(super) fn of_table(py: Python<'_>, given: &Given) -> Option<Observed> {
    let known = object(given).filter(|known| known.is_table)?;
    let kept = known
        .observed
        .borrow()
        .iter()
        .find(|(part, _)| *part == (given.variation, given.rows))
        .map(|(_, found)| found.clone());
    kept.or_else(|| {
        let table = known.object.call_method1(py, "table", (given.variation, given.rows)).ok()?;
        let observed = observe::value(table.bind(py));
        let mut all = known.observed.borrow_mut();
        if all.len() >= KEPT {
            all.remove(0);
        }
        all.push(((given.variation, given.rows), observed.clone()));
        Some(observed)
    })
}

/// What else makes a value like this one, if that is plain and small.
pub(super) fn written(value: &Bound<'_, PyAny>) -> Option<Recipe> {
    let py = value.py();
    let found = recipe(&helpers(py).ok()?.getattr("written").ok()?.call1((value,)).ok()?)?;
    let again = resolve::apart(py, &found).ok()?;
    (observe::value(again.bind(py)) == observe::value(value)).then_some(found)
}

/// Plain data, and calls that make values, as a recipe.
pub(crate) fn recipe(data: &Bound<'_, PyAny>) -> Option<Recipe> {
    if data.is_none() {
        return Some(Recipe::None);
    }
    plain(data).or_else(|| {
        let call: (String, Bound<'_, PyList>, Bound<'_, PyDict>) = data.cast::<PyTuple>().ok()?.extract().ok()?;
        let (class, arguments, keywords) = call;
        let arguments = arguments.iter().map(|argument| recipe(&argument)).collect::<Option<_>>()?;
        let named = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((name.extract().ok()?, recipe(&value)?));
        let keywords = keywords.iter().map(named).collect::<Option<_>>()?;
        Some(ConstructorCall { class, arguments, keywords }.into())
    })
}

/// Data of builtin classes as a recipe.
fn plain(data: &Bound<'_, PyAny>) -> Option<Recipe> {
    let all =
        |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| items.map(|item| recipe(&item)).collect::<Option<Vec<_>>>();
    if let Ok(flag) = data.cast_exact::<PyBool>() {
        Some(Recipe::Bool(flag.is_true()))
    } else if let Ok(number) = data.cast_exact::<PyInt>() {
        Some(Recipe::Int(number.extract().ok()?))
    } else if let Ok(number) = data.cast_exact::<PyFloat>() {
        Some(Recipe::Float(number.value()))
    } else if let Ok(text) = data.cast_exact::<PyString>() {
        Some(Recipe::Str(text.to_str().ok()?.to_owned()))
    } else if let Ok(bytes) = data.cast_exact::<PyBytes>() {
        Some(Recipe::Bytes(bytes.as_bytes().to_vec()))
    } else if let Ok(list) = data.cast_exact::<PyList>() {
        all(&mut list.iter()).map(Recipe::List)
    } else if let Ok(tuple) = data.cast_exact::<PyTuple>() {
        all(&mut tuple.iter()).map(Recipe::Tuple)
    } else if let Ok(set) = data.cast_exact::<PySet>() {
        all(&mut set.iter()).map(Recipe::Set)
    } else if let Ok(dict) = data.cast_exact::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((recipe(&key)?, recipe(&value)?));
        dict.iter().map(entry).collect::<Option<_>>().map(Recipe::Dict)
    } else {
        None
    }
}
