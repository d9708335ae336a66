//! Calls of missing code: recorded, and resolved by callee and arguments. `real.rs` has calls of existing code.

use pyo3::exceptions::{PySystemExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use twincell_engine::observed::{Call, Observed};
use twincell_syntax::site::SiteKind;
use twincell_values::drawing::Draw;
use twincell_values::value::{Decision, Recipe};

use crate::calls::conversions;
use crate::execution::object::Versatile;
use crate::execution::paths::{self, last_identifier};
use crate::execution::prediction_index::Prepared;
use crate::execution::{state, steps};
use crate::inject::operators;
use crate::inject::resolve::{self, Request};
use crate::observe::kinds::{self, Kind};
use crate::observe::{self, messages};

/// How often a call that consumes and repeats with the same arguments gives the same value.
const STABLE_PROBABILITY: f64 = 0.4;
/// The number of calls with the same arguments from one place after which the value turns false, so that loops end.
const PATIENCE: u32 = 12;
/// The position at which a part of an injected object is found: 0 to 3.
const PLACE_WEIGHTS: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
/// First words of the names of calls that consume: the same call gives something else the next time.
const CONSUMING: [&str; 16] = [
    "read", "readline", "recv", "receive", "next", "pop", "popleft", "poll", "fetch", "fetchone", "accept", "random",
    "randint", "choice", "uuid4", "time",
];

/// Methods of a mapping that list its content.
const MAPPING_PARTS: [&str; 3] = ["items", "keys", "values"];

/// What instrumented code says about a call.
#[derive(Default)]
struct Place {
    line: u32,
    discarded: bool,
    raised: bool,
    awaited: bool,
    /// Whether it is in the body of a `try`.
    guarded: bool,
}

fn place(site: Option<u32>) -> Place {
    state::with(|execution| {
        let line = execution.side.line;
        let version = &execution.prepared.versions[execution.version].version;
        let Some(number) = site else { return Place { line, ..Place::default() } };
        let uses = version.uses.get(number as usize);
        let known = version.sites.sites.get(number as usize);
        Place {
            line: known.map_or(line, |site| site.line),
            discarded: known.is_some_and(|site| site.discarded),
            raised: uses.is_some_and(|uses| uses.exception),
            awaited: uses.is_some_and(|uses| uses.awaited),
            guarded: site.is_some_and(|site| !execution.prepared.catches(execution.version, site).is_empty()),
        }
    })
    .unwrap_or_default()
}

/// Calls a versatile object.
pub(crate) fn versatile(
    slf: &Bound<'_, Versatile>,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    call(slf.py(), slf.get().path(), site, arguments, keywords)
}

/// A call of something missing, known by its access path.
pub(crate) fn call(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    external(py, callee, site, arguments, keywords, true)
}

/// Like [`call`]. `record` says whether the call is part of the behavior.
pub(crate) fn external(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
    record: bool,
) -> PyResult<Py<PyAny>> {
    if state::with(|execution| execution.loading).unwrap_or(true) {
        return Ok(while_loading(py, callee, arguments, keywords)?.unbind());
    }
    if record && logged(callee, arguments, keywords)? {
        return Ok(py.None());
    }
    if record && callee == "sys.exit" {
        // The caller has ended, so nobody intends to continue.
        return Err(PySystemExit::new_err(arguments.iter().next().map(Bound::unbind)));
    }
    if let Some(found) = looked_up(py, callee, site, arguments, keywords)? {
        return Ok(found);
    }
    if let Some(listed) = listed(py, callee, site, arguments, keywords)? {
        return Ok(listed);
    }
    if let Some(copy) = copied(py, callee, site, arguments, keywords)? {
        return Ok(copy);
    }
    if let Some(place) = place_of(callee, site, arguments, keywords)? {
        return Ok(pyo3::types::PyInt::new(py, place).into_any().unbind());
    }
    let decorated = site.is_none() && keywords.is_none_or(|keywords| keywords.is_empty()) && arguments.len() == 1;
    if decorated && is_function_or_class(&arguments.get_item(0)?) {
        // A missing decorator returns the decorated object.
        return Ok(arguments.get_item(0)?.unbind());
    }
    let passed =
        arguments.iter().chain(keywords.iter().flat_map(|keywords| keywords.values().iter().collect::<Vec<_>>()));
    let functions: Vec<Py<PyAny>> =
        passed.filter(|value| value.is_exact_instance_of::<pyo3::types::PyFunction>()).map(Bound::unbind).collect();
    let observed = arguments.iter().map(|argument| handed(&argument)).collect::<PyResult<Vec<_>>>()?;
    let named = match keywords {
        Some(keywords) => keywords
            .iter()
            .map(|(name, value)| Ok((name.to_string(), handed(&value)?)))
            .collect::<PyResult<Vec<(String, Observed)>>>()?,
        None => Vec::new(),
    };
    let mut ordered: Vec<&(String, Observed)> = named.iter().collect();
    state::with(|execution| {
        let callee = last_identifier(callee);
        ordered.sort_by_key(|(name, _)| execution.prepared.keyword_place(callee, name));
    });
    let digest = observe::arguments_text(&observed, ordered.into_iter().map(|(_, value)| value));
    let place = place(site);
    let key = paths::bounded(format!("{callee}({digest})"));
    let call = Call {
        callee: callee.to_string(),
        arguments: observed,
        keywords: named,
        line: place.line,
        discarded: place.discarded,
    };
    let path = state::with(|execution| {
        if record {
            execution.side.calls.push(call);
            execution.side.callbacks.extend(functions);
        }
        // The same question at another place has the same answer. In a loop the answer may change.
        let asked = format!("{key} at {}", site.map_or(0, |site| site + 1));
        let count = execution.side.occurrences.entry(asked).or_insert(0);
        *count += 1;
        let count = *count;
        let name = last_identifier(callee);
        let consumes = CONSUMING.contains(&name.split('_').next().unwrap_or(name));
        let stable = |draw: &mut Draw| !consumes || draw.truth(&format!("stable {key}"), STABLE_PROBABILITY);
        if count == 1 || count <= PATIENCE && stable(&mut execution.draw) {
            return key.clone();
        }
        let path = format!("{key}#{count}");
        if count > PATIENCE {
            execution.draw.settle(&path, Decision::Value(Recipe::None));
        }
        path
    })
    .unwrap_or(key);
    if !place.raised
        && !place.guarded
        && let Some(value) = conversions::converted(callee, arguments, keywords)
    {
        return Ok(value.unbind());
    }
    steps::step(1)?;
    if place.raised {
        return Ok(Py::new(py, Versatile::from_call(path, callee.to_string(), arguments.clone().unbind()))?.into_any());
    }
    resolve::value(
        py,
        &path,
        &Request {
            site,
            kind: SiteKind::Call,
            identifier: last_identifier(callee),
            callee,
            raises: true,
            discarded: place.discarded && !place.awaited,
            declared: site.is_none().then(|| resolve::of_protocol(last_identifier(callee), true)).flatten(),
            ..Request::default()
        },
    )
}

/// Records a message to a logger, or a warning. `false` if the call is neither.
fn logged(callee: &str, arguments: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
    if let Some(method) = messages::missing_method(callee) {
        messages::record(method, arguments, keywords)?;
        return Ok(true);
    }
    messages::missing_warning(callee, arguments, keywords)
}

/// `x.get(key)` and `x.get(key, default)` on an object that is also subscripted look up the same item.
fn looked_up(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let Some(base) = callee.strip_suffix(".get") else { return Ok(None) };
    if keywords.is_some_and(|keywords| !keywords.is_empty()) || !(1..=2).contains(&arguments.len()) {
        return Ok(None);
    }
    let is_mapping = arguments.len() == 2 || some_base(base, site, |prepared, base| prepared.is_subscripted(base));
    if !is_mapping {
        return Ok(None);
    }
    let key = observe::short(&arguments.get_item(0)?);
    if !operators::has_item(base, &key) {
        return Ok(Some(arguments.get_item(1).map_or_else(|_| py.None(), Bound::unbind)));
    }
    let path = paths::bounded(format!("{base}[{key}]"));
    let request = Request { site, kind: SiteKind::Call, identifier: "get", callee, ..Request::default() };
    resolve::value(py, &path, &request).map(Some)
}

/// Whether something holds for the receiver of a method, by its path in this execution or as written at the call.
fn some_base(base: &str, site: Option<u32>, holds: impl Fn(&Prepared, &str) -> bool) -> bool {
    let asked = state::with(|execution| {
        let prepared = &execution.prepared;
        let written = site.map(|site| prepared.container_path(execution.version, site));
        let written = written.as_deref().and_then(|path| path.rsplit_once('.')).map(|(base, _)| base);
        holds(prepared, base) || written.is_some_and(|base| holds(prepared, base))
    });
    asked.unwrap_or(false)
}

/// `x.items()`, `x.keys()` and `x.values()` of an object that some version also iterates or subscripts, like a mapping:
/// the keys are the items of the iteration, and the values those under the keys.
fn listed(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let Some((base, part)) = callee.rsplit_once('.').filter(|(_, part)| MAPPING_PARTS.contains(part)) else {
        return Ok(None);
    };
    if !arguments.is_empty() || keywords.is_some_and(|keywords| !keywords.is_empty()) {
        return Ok(None);
    }
    let is_mapping =
        some_base(base, site, |prepared, base| prepared.is_subscripted(base) || prepared.is_iterated(base));
    if !is_mapping {
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
        let path = paths::bounded(format!("{base}[{}]", observe::short(key.bind(py))));
        let request = Request { kind: SiteKind::Subscript, identifier: last_identifier(base), ..Request::default() };
        resolve::value(py, &path, &request)
    };
    let listed = match part {
        "keys" => keys,
        "values" => keys.iter().map(value).collect::<PyResult<Vec<_>>>()?,
        _ => {
            let pair = |key: &Py<PyAny>| Ok(PyTuple::new(py, [key.clone_ref(py), value(key)?])?.into_any().unbind());
            keys.iter().map(pair).collect::<PyResult<Vec<_>>>()?
        }
    };
    Ok(Some(pyo3::types::PyList::new(py, listed)?.into_any().unbind()))
}

/// The value that was injected at a path, if it is not an object.
fn plain_value<'py>(py: Python<'py>, path: &str) -> Option<Bound<'py, PyAny>> {
    let value = state::with(|execution| execution.side.values.get(path).map(|value| value.clone_ref(py))).flatten();
    value.map(|value| value.into_bound(py)).filter(|value| !value.is_instance_of::<Versatile>())
}

/// `x.copy()` of an object that some version copies with `dict(x)` or similar is that copy.
fn copied(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let (Some(base), Some(site)) = (callee.strip_suffix(".copy"), site) else { return Ok(None) };
    if !arguments.is_empty() || keywords.is_some_and(|keywords| !keywords.is_empty()) {
        return Ok(None);
    }
    let found = state::with(|execution| {
        let prepared = &execution.prepared;
        let written = prepared.container_path(execution.version, site);
        let class = prepared.copied_by(written.strip_suffix(".copy")?)?;
        Some((class, execution.side.values.get(base)?.clone_ref(py)))
    });
    match found.flatten() {
        Some((class, object)) => {
            py.import("builtins")?.getattr(class)?.call1((object,)).map(|copy| Some(copy.unbind()))
        }
        None => Ok(None),
    }
}

/// `x.find(part)` as the position of the part. It agrees with `part in x`, even if `x` is a plain value that cannot
/// find anything.
fn place_of(
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<i64>> {
    let Some(base) = callee.strip_suffix(".find").or_else(|| callee.strip_suffix(".rfind")) else { return Ok(None) };
    if arguments.len() != 1 || keywords.is_some_and(|keywords| !keywords.is_empty()) {
        return Ok(None);
    }
    let is_number = state::with(|execution| {
        let uses = site.and_then(|site| execution.prepared.uses_of(execution.version, site))?;
        Some(uses.ordered || uses.candidates.iter().any(|value| matches!(value, Recipe::Int(_))))
    });
    if is_number.flatten() != Some(true) {
        return Ok(None);
    }
    let part = arguments.get_item(0)?;
    let holds = match plain_value(part.py(), base).map(|value| value.contains(&part)) {
        // An object that cannot contain anything says nothing.
        Some(Err(error)) if error.is_instance_of::<PyTypeError>(part.py()) => None,
        other => other.transpose()?,
    };
    let part = observe::short(&part);
    Ok(state::with(|execution| {
        let question = format!("{part} in {base}");
        if let Some(holds) = holds {
            execution.draw.imply(&question, Decision::Value(Recipe::Bool(holds)));
        }
        if !execution.draw.truth(&question, 0.5) {
            return -1;
        }
        execution.draw.number(&format!("place of {part} in {base}"), &PLACE_WEIGHTS)
    }))
}

/// While a module is evaluated, missing decorators return the decorated object, and other calls give an object.
fn while_loading<'py>(
    py: Python<'py>,
    callee: &str,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if keywords.is_none_or(|keywords| keywords.is_empty()) && arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        if is_function_or_class(&only) {
            return Ok(only);
        }
    }
    let observed: Vec<Observed> = arguments.iter().map(|argument| observe::value(&argument)).collect();
    let path = paths::bounded(format!("{callee}({})", observe::arguments_text(&observed, &[])));
    let value = Versatile::from_call(path, callee.to_string(), arguments.clone().unbind());
    Ok(Py::new(py, value)?.into_bound(py).into_any())
}

/// An argument as external code would see it: such code consumes the items of an iterator.
fn handed(argument: &Bound<'_, PyAny>) -> PyResult<Observed> {
    if !matches!(kinds::of(argument), Some(Kind::Generator | Kind::Iterator)) {
        return Ok(observe::value(argument));
    }
    let mut items = Vec::new();
    for item in argument.try_iter()?.take(observe::MAX_ITEMS) {
        items.push(observe::value(&item?));
    }
    Ok(Observed::List(items))
}

fn is_function_or_class(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyType>() || value.is_exact_instance_of::<pyo3::types::PyFunction>()
}
