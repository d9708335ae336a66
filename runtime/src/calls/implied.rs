//! Calls of missing methods whose answer follows from other answers: `x.get(key)` is `x[key]`, and `x.items()` gives
//! its keys and their values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPath, AccessPathBuf, Question};
use twincell_values::value::{Decision, Recipe};

use crate::calls::MissingCall;
use crate::execution::object::MockObject;
use crate::execution::prediction_index::PredictionIndex;
use crate::execution::state;
use crate::inject::resolve::{self, ValueRequest};
use crate::inject::{membership, operators};
use crate::observe;

/// The position at which a part of an injected object is found: 0 to 3.
const POSITION_WEIGHTS: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
/// Methods of a mapping that list its content.
const MAPPING_PARTS: [&str; 3] = ["items", "keys", "values"];

/// `x`, `get` of the callee `x.get`.
fn method(callee: AccessPath<'_>) -> Option<(AccessPath<'_>, &str)> {
    callee.split_attribute()
}

/// `x.get(key)` and `x.get(key, default)` on an object that is also subscripted look up the same item.
pub(super) fn item(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let MissingCall { callee, site, arguments, .. } = *call;
    let Some((base, "get")) = method(callee) else { return Ok(None) };
    if call.has_keywords() || !(1..=2).contains(&arguments.len()) {
        return Ok(None);
    }
    let is_mapping = arguments.len() == 2 || some_base(base, site, |index, base| index.is_subscripted(base));
    if !is_mapping {
        return Ok(None);
    }
    let py = call.py();
    let key = observe::short(&arguments.get_item(0)?);
    if !membership::has_item(base, &key) {
        return Ok(Some(arguments.get_item(1).map_or_else(|_| py.None(), Bound::unbind)));
    }
    let path = base.item(key).bounded();
    let request = ValueRequest { site, kind: SiteKind::Call, identifier: "get", callee, ..ValueRequest::default() };
    resolve::value(py, path.as_path(), &request).map(Some)
}

/// `x.items()`, `x.keys()` and `x.values()` of an object that some version also iterates or subscripts, like a mapping:
/// the keys are the items of the iteration, and the values those under the keys.
pub(super) fn parts(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let py = call.py();
    let Some((base, part)) = method(call.callee).filter(|(_, part)| MAPPING_PARTS.contains(part)) else {
        return Ok(None);
    };
    let is_mapping =
        |index: &PredictionIndex, base: AccessPath<'_>| index.is_subscripted(base) || index.is_iterated(base);
    if call.has_arguments() || !some_base(base, call.site, is_mapping) {
        return Ok(None);
    }
    // A plain value that is not a mapping has the items that iterating and subscripting it give.
    let plain = plain_value(py, base);
    let keys = match &plain {
        Some(value) => value.try_iter()?.map(|key| key.map(Bound::unbind)).collect::<PyResult<Vec<_>>>()?,
        None => operators::items(py, base)?,
    };
    let value = |key: &Py<PyAny>| {
        if let Some(found) = plain.as_ref().and_then(|value| value.get_item(key).ok()) {
            return Ok(found.unbind());
        }
        let path = base.item(observe::short(key.bind(py))).bounded();
        let request =
            ValueRequest { kind: SiteKind::Subscript, identifier: base.last_name(), ..ValueRequest::default() };
        resolve::value(py, path.as_path(), &request)
    };
    let listed = match part {
        "keys" => keys,
        "values" => keys.iter().map(value).collect::<PyResult<Vec<_>>>()?,
        _ => {
            let pair = |key: &Py<PyAny>| Ok(PyTuple::new(py, [key.clone_ref(py), value(key)?])?.into_any().unbind());
            keys.iter().map(pair).collect::<PyResult<Vec<_>>>()?
        }
    };
    Ok(Some(PyList::new(py, listed)?.into_any().unbind()))
}

/// `x.readlines()` of an object that some version also iterates, like a file: the lines are the items of the iteration.
pub(super) fn lines(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let py = call.py();
    let Some((base, "readlines")) = method(call.callee) else { return Ok(None) };
    let is_file = state::with(|execution| execution.run.text_files.contains(base.as_str())).unwrap_or(false);
    if call.has_arguments() || !is_file && !some_base(base, call.site, PredictionIndex::is_iterated) {
        return Ok(None);
    }
    let lines = match plain_value(py, base) {
        Some(value) => value.try_iter()?.map(|line| line.map(Bound::unbind)).collect::<PyResult<Vec<_>>>()?,
        None => operators::items(py, base)?,
    };
    Ok(Some(PyList::new(py, lines)?.into_any().unbind()))
}

/// `x.copy()` of an object that some version copies with `dict(x)` or similar gives the same copy.
pub(super) fn copy(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let py = call.py();
    let (Some((base, "copy")), Some(site)) = (method(call.callee), call.site) else { return Ok(None) };
    if call.has_arguments() {
        return Ok(None);
    }
    let found = state::with(|execution| {
        let index = &execution.index;
        let written = index.container_path(execution.version, site);
        let (written, _) = method(written.as_path()).filter(|(_, name)| *name == "copy")?;
        let class = index.copied_by(written)?;
        Some((class, execution.run.values.get(base.as_str())?.clone_ref(py)))
    });
    match found.flatten() {
        Some((class, object)) => {
            py.import("builtins")?.getattr(class)?.call1((object,)).map(|copy| Some(copy.unbind()))
        }
        None => Ok(None),
    }
}

/// `x.find(part)`, where its value is used as a position. It agrees with `part in x`, even if `x` is a plain value that
/// cannot find anything.
pub(super) fn position(call: &MissingCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let MissingCall { callee, site, arguments, .. } = *call;
    let Some((base, "find" | "rfind")) = method(callee) else { return Ok(None) };
    if arguments.len() != 1 || call.has_keywords() {
        return Ok(None);
    }
    let is_number = state::with(|execution| {
        let uses = site.and_then(|site| execution.index.uses_of(execution.version, site))?;
        Some(uses.ordered || uses.candidates.iter().any(|value| matches!(value, Recipe::Int(_))))
    });
    if is_number.flatten() != Some(true) {
        return Ok(None);
    }
    let part = arguments.get_item(0)?;
    let holds = match plain_value(call.py(), base).map(|value| value.contains(&part)) {
        // An object that cannot contain anything says nothing.
        Some(Err(error)) if error.is_instance_of::<PyTypeError>(call.py()) => None,
        other => other.transpose()?,
    };
    let part = observe::short(&part);
    let position = state::with(|execution| {
        let question = Question::Item { item: &part, holder: base }.to_string();
        if let Some(holds) = holds {
            execution.draw.imply(&question, Decision::Value(Recipe::Bool(holds)));
        }
        if !execution.draw.truth(&question, 0.5) {
            return -1;
        }
        let place = Question::Place { item: &part, holder: base }.to_string();
        execution.draw.number(&place, &POSITION_WEIGHTS)
    });
    Ok(position.map(|position| PyInt::new(call.py(), position).into_any().unbind()))
}

/// Whether something holds for the receiver of a method, by its path in this execution or as written at the call.
fn some_base(
    base: AccessPath<'_>,
    site: Option<u32>,
    holds: impl Fn(&PredictionIndex, AccessPath<'_>) -> bool,
) -> bool {
    let asked = state::with(|execution| {
        let index = &execution.index;
        let written = site.map(|site| index.container_path(execution.version, site));
        let written = written.as_ref().map(AccessPathBuf::as_path).and_then(method).map(|(base, _)| base);
        holds(index, base) || written.is_some_and(|base| holds(index, base))
    });
    asked.unwrap_or(false)
}

/// The value that was injected at a path, if it is not an object.
fn plain_value<'py>(py: Python<'py>, path: AccessPath<'_>) -> Option<Bound<'py, PyAny>> {
    let value =
        state::with(|execution| execution.run.values.get(path.as_str()).map(|value| value.clone_ref(py))).flatten();
    value.map(|value| value.into_bound(py)).filter(|value| !value.is_instance_of::<MockObject>())
}
