//! Calls: of versatile objects (recorded, resolved by callee and arguments) and of the builtins that must know about
//! injected values.

use pyo3::exceptions::{
    PyException, PyMemoryError, PyOSError, PyRecursionError, PyStopAsyncIteration, PyStopIteration, PyTypeError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use twincell_core::behavior::{Call, Observed};
use twincell_core::site::SiteKind;
use twincell_core::value::{Decision, Draw, Recipe};

use crate::clock;
use crate::module;
use crate::observe;
use crate::outcome;
use crate::resolve::{self, Request};
use crate::state;
use crate::versatile::{Versatile, last_identifier};

/// A call that consumes and repeats with the same arguments gives the same value this often.
const STABLE_PROBABILITY: f64 = 0.4;
/// Calls with the same arguments from one place after which the value turns false, so that loops end.
const PATIENCE: u32 = 12;
/// First words of names that consume: the same call again gives something else.
const CONSUMING: [&str; 16] = [
    "read", "readline", "recv", "receive", "next", "pop", "popleft", "poll", "fetch", "fetchone", "accept", "random",
    "randint", "choice", "uuid4", "time",
];
/// How often a real call gives an injected value where its own failure would be caught.
const REPAIR_PROBABILITY: f64 = 0.35;
/// How often an attribute that is asked for with a way out (`hasattr`, `getattr` with a default) is there.
const PRESENT_PROBABILITY: f64 = 0.5;

/// What instrumented code says of a call.
struct Place {
    line: u32,
    discarded: bool,
    raised: bool,
    awaited: bool,
}

fn place(site: Option<u32>) -> Place {
    state::with(|execution| {
        let line = execution.side.line;
        let version = &execution.prepared.versions[execution.version].version;
        let Some(number) = site else { return Place { line, discarded: false, raised: false, awaited: false } };
        let uses = version.uses.get(number as usize);
        let known = version.sites.sites.get(number as usize);
        Place {
            line: known.map_or(line, |site| site.line),
            discarded: known.is_some_and(|site| site.discarded),
            raised: uses.is_some_and(|uses| uses.exception),
            awaited: uses.is_some_and(|uses| uses.awaited),
        }
    })
    .unwrap_or(Place { line: 0, discarded: false, raised: false, awaited: false })
}

/// Calls a versatile object.
pub(crate) fn versatile(
    slf: &Bound<'_, Versatile>,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    missing(slf.py(), slf.get().path(), site, arguments, keywords)
}

/// A call of something that is not there, known by its access path.
pub(crate) fn missing(
    py: Python<'_>,
    callee: &str,
    site: Option<u32>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    external(py, callee, site, arguments, keywords, true)
}

/// As [`missing`]; `record` says whether the call is part of the behavior.
fn external(
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
    if let Some(found) = looked_up(py, callee, site, arguments, keywords)? {
        return Ok(found);
    }
    let decorated = site.is_none() && keywords.is_none_or(|keywords| keywords.is_empty()) && arguments.len() == 1;
    if decorated && is_function_or_class(&arguments.get_item(0)?) {
        // A missing decorator passes through what it decorates.
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
    let digest = observe::arguments_text(&observed, &named);
    let place = place(site);
    let key = observe::bounded_path(format!("{callee}({digest})"));
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
        // The same question at another place has the same answer; in a loop the answer may change.
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
    crate::hooks::step(1)?;
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
            ..Request::default()
        },
    )
}

/// `x.get(key)` and `x.get(key, default)` of an object that is subscripted, too, look the same item up.
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
    let subscripted = || {
        state::with(|execution| {
            let prepared = &execution.prepared;
            let written = site.map(|site| prepared.container_path(execution.version, site));
            let written = written.as_deref().and_then(|path| path.strip_suffix(".get"));
            prepared.is_subscripted(base) || written.is_some_and(|base| prepared.is_subscripted(base))
        })
    };
    let mapping = arguments.len() == 2 || subscripted().unwrap_or(false);
    if !mapping {
        return Ok(None);
    }
    let key = observe::short(&arguments.get_item(0)?);
    let present = state::with(|execution| execution.draw.truth(&format!("{key} in {base}"), 0.5)).unwrap_or(false);
    if !present {
        return Ok(Some(arguments.get_item(1).map_or_else(|_| py.None(), Bound::unbind)));
    }
    let path = observe::bounded_path(format!("{base}[{key}]"));
    let request = Request { site, kind: SiteKind::Call, identifier: "get", callee, ..Request::default() };
    resolve::value(py, &path, &request).map(Some)
}

/// While a module is evaluated: missing decorators pass through what they decorate, other calls give an object.
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
    let path = observe::bounded_path(format!("{callee}({})", observe::arguments_text(&observed, &[])));
    let value = Versatile::from_call(path, callee.to_string(), arguments.clone().unbind());
    Ok(Py::new(py, value)?.into_bound(py).into_any())
}

/// An argument as external code would see it: it takes the items of a generator.
fn handed(argument: &Bound<'_, PyAny>) -> PyResult<Observed> {
    if argument.get_type().name()? != "generator" {
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

/// Entering and leaving a versatile resource is an effect on it.
pub(crate) fn record_protocol(slf: &Bound<'_, Versatile>, method: &str) {
    let callee = format!("{}.{method}", slf.get().path());
    state::with(|execution| {
        if !execution.loading {
            let line = execution.side.line;
            execution.side.calls.push(Call { callee, arguments: vec![], keywords: vec![], line, discarded: true });
        }
    });
}

/// Is a value an instance of a class that is not there? Each versatile object has at most one such class and keeps it.
pub(crate) fn is_instance_of_missing(value: &Bound<'_, PyAny>, class: &str) -> bool {
    let Ok(value) = value.cast::<Versatile>() else {
        return value.get_type().name().is_ok_and(|name| name == class);
    };
    let path = value.get().path().to_string();
    state::with(|execution| {
        if execution.loading {
            return false;
        }
        let own = format!("class({path})");
        match execution.draw.taken(&own) {
            Some(Decision::Value(Recipe::Str(known))) => known == class,
            _ => {
                let is = execution.draw.truth(&format!("isinstance({path}, {class})"), 0.5);
                if is {
                    execution.draw.settle(&own, Decision::Value(Recipe::Str(class.to_string())));
                }
                is
            }
        }
    })
    .unwrap_or(false)
}

/// `isinstance(versatile, classes)`: decided for classes that a stand-in may have, false for the builtin ones.
fn is_instance(value: &Bound<'_, Versatile>, classes: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(classes) = classes.cast::<PyTuple>() {
        for class in classes.iter() {
            if is_instance(value, &class)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if let Ok(class) = classes.cast::<Versatile>() {
        return Ok(is_instance_of_missing(value, class.get().path()));
    }
    if let Ok(class) = classes.cast::<PyType>() {
        let name = class.name()?.to_string();
        if name == "object" {
            return Ok(true);
        }
        if class.module()? == "builtins" && !class.is_subclass_of::<pyo3::exceptions::PyBaseException>()? {
            return Ok(false);
        }
        return Ok(is_instance_of_missing(value, &name));
    }
    value.is_instance(classes)
}

/// Builtins that must know about injected values.
pub(crate) struct Builtins {
    isinstance: Py<PyAny>,
    issubclass: Py<PyAny>,
    getattr: Py<PyAny>,
    hasattr: Py<PyAny>,
    superclass: Py<PyAny>,
    /// Reach outside the process: treated as missing.
    outside: Vec<Py<PyAny>>,
}

static BUILTINS: pyo3::sync::PyOnceLock<Builtins> = pyo3::sync::PyOnceLock::new();

fn builtins(py: Python<'_>) -> PyResult<&Builtins> {
    BUILTINS.get_or_try_init(py, || {
        let module = py.import("builtins")?;
        let get = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Builtins {
            isinstance: get("isinstance")?,
            issubclass: get("issubclass")?,
            getattr: get("getattr")?,
            hasattr: get("hasattr")?,
            superclass: get("super")?,
            outside: ["open", "input", "breakpoint"].iter().map(|name| get(name)).collect::<PyResult<_>>()?,
        })
    })
}

/// Any call in instrumented code.
pub(crate) fn any(
    site: u32,
    callee: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let py = callee.py();
    if let Ok(versatile_callee) = callee.cast::<Versatile>() {
        return versatile(versatile_callee, Some(site), arguments, keywords);
    }
    if let Some(answer) = builtin(py, site, callee, arguments, keywords)? {
        return Ok(answer);
    }
    if let Some(path) = logger_path(callee) {
        return missing(py, &path, Some(site), arguments, keywords);
    }
    inject_raise(py, site, callee, arguments)?;
    if let Some(moment) = clock::moment(callee, arguments, keywords)? {
        return Ok(moment.unbind());
    }
    // What was blocked before, at an import say, has nothing to do with this call.
    state::with(|execution| execution.side.blocked = false);
    let error = match callee.call(arguments, keywords) {
        Ok(value) => return Ok(value.unbind()),
        Err(error) => error,
    };
    match stand_in(py, callee, site, arguments, &error) {
        StandIn::No => Err(error),
        StandIn::Raise(error) => Err(error),
        StandIn::Value => external(py, &callee_path(callee, site), Some(site), arguments, keywords, false),
        StandIn::Effect => missing(py, &callee_path(callee, site), Some(site), arguments, keywords),
    }
}

fn builtin(
    py: Python<'_>,
    site: u32,
    callee: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let known = builtins(py)?;
    let count = arguments.len();
    if callee.is(&known.isinstance) || callee.is(&known.issubclass) {
        if count == 2
            && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
        {
            let answer = is_instance(value, &arguments.get_item(1)?)?;
            return Ok(Some(pyo3::types::PyBool::new(py, answer).to_owned().into_any().unbind()));
        }
    } else if callee.is(&known.hasattr) || callee.is(&known.getattr) && count == 3 {
        if count >= 2
            && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
            && let Ok(name) = arguments.get_item(1)?.extract::<String>()
        {
            let path = value.get().attribute_path(&name);
            let assigned = value
                .get()
                .assigned
                .lock()
                .is_ok_and(|assigned| assigned.attributes.iter().any(|(own, _)| *own == name));
            let present = assigned
                || state::with(|execution| {
                    execution.loading || execution.draw.truth(&format!("hasattr({path})"), PRESENT_PROBABILITY)
                })
                .unwrap_or(true);
            if callee.is(&known.hasattr) {
                return Ok(Some(pyo3::types::PyBool::new(py, present).to_owned().into_any().unbind()));
            }
            if !present {
                return Ok(Some(arguments.get_item(2)?.unbind()));
            }
            return Versatile::attribute(value, &name, None).map(Some);
        }
    } else if callee.is(&known.superclass) {
        return resolve::value(py, "super()", &Request { identifier: "super", ..Request::default() })
            .and_then(|value| {
                if value.bind(py).is_instance_of::<Versatile>() {
                    Ok(value)
                } else {
                    resolve::build(py, &Recipe::Versatile(twincell_core::value::AbstractValue::Object), "super()")
                }
            })
            .map(Some);
    } else if known.outside.iter().any(|outside| callee.is(outside)) {
        let name = callee.getattr("__name__")?.to_string();
        return missing(py, &name, Some(site), arguments, keywords).map(Some);
    }
    Ok(None)
}

/// A real call to another module may raise what the `except` clauses around it name, as calls to missing code do.
fn inject_raise(py: Python<'_>, site: u32, callee: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let catches = state::with(|execution| {
        let version = &execution.prepared.versions[execution.version].version;
        version.sites.sites.get(site as usize).is_some_and(|site| !site.catches.is_empty())
    });
    if catches != Some(true) || outcome::is_own(callee) {
        return Ok(());
    }
    let module = callee.getattr("__module__").and_then(|name| name.extract::<String>()).unwrap_or_default();
    if module.is_empty() || module == "builtins" {
        return Ok(());
    }
    let observed: Vec<Observed> = arguments.iter().map(|argument| observe::value(&argument)).collect();
    let callee = callee_path(callee, site);
    let path = observe::bounded_path(format!("raise {callee}({})", observe::arguments_text(&observed, &[])));
    let request =
        Request { site: Some(site), kind: SiteKind::Call, raises: true, discarded: true, ..Request::default() };
    resolve::value(py, &path, &request).map(|_| ())
}

/// How a value stands in for a real call that failed.
enum StandIn {
    /// The code sees the exception, as it would.
    No,
    /// The code sees this exception, raised on purpose by the module's own code.
    Raise(PyErr),
    /// What was injected made a call without effects fail: its value is injected as well.
    Value,
    /// What was injected made the call fail, or the sandbox blocked it: it counts as a call to external code.
    Effect,
}

/// May a real call that failed be replaced by an injected value? Not where the exception is part of the behavior: the
/// code raised it on purpose, or catches it.
fn stand_in(
    py: Python<'_>,
    callee: &Bound<'_, PyAny>,
    site: u32,
    arguments: &Bound<'_, PyTuple>,
    error: &PyErr,
) -> StandIn {
    if !callee.is_callable() {
        return StandIn::Effect;
    }
    let control = error.is_instance_of::<PyStopIteration>(py)
        || error.is_instance_of::<PyStopAsyncIteration>(py)
        || error.is_instance_of::<PyMemoryError>(py)
        || error.is_instance_of::<PyRecursionError>(py)
        || !error.is_instance_of::<PyException>(py);
    if control || outcome::is_own(callee) {
        return StandIn::No;
    }
    if error.is_instance_of::<PyOSError>(py)
        && state::with(|execution| std::mem::take(&mut execution.side.blocked)).unwrap_or(false)
    {
        return StandIn::Effect;
    }
    let identity = error.value(py).as_ptr() as usize;
    if state::with(|execution| execution.side.intended_ids.contains(&identity)) != Some(false) {
        return StandIn::No;
    }
    let names: Vec<String> =
        error.get_type(py).mro().iter().filter_map(|class| class.getattr("__name__").ok()?.extract().ok()).collect();
    let caught = state::with(|execution| {
        let version = &execution.prepared.versions[execution.version].version;
        version.sites.sites.get(site as usize).is_some_and(|site| {
            site.catches.iter().any(|name| names.iter().any(|class| class == last_identifier(name)))
        })
    });
    if caught == Some(true) && !repaired(callee, site, arguments) {
        return StandIn::No;
    }
    let called_by_all =
        state::with(|execution| execution.prepared.is_called_by_all(execution.version, site)).unwrap_or(false);
    match raised_by_module(py, error) {
        Some(intended) => StandIn::Raise(intended),
        // Where only one version makes the call, an invented result would be a difference of its own.
        None if !called_by_all => StandIn::No,
        // `int('a')` and `''.join([1])` fail in every world; a versatile argument would not be there in any.
        None if is_builtin(callee) && is_plain(callee, arguments) => StandIn::No,
        None if is_pure(callee) => StandIn::Value,
        None => StandIn::Effect,
    }
}

/// A call that fails and whose failure is caught may succeed all the same: injected texts are seldom what a parser
/// takes, and the code after it matters too.
fn repaired(callee: &Bound<'_, PyAny>, site: u32, arguments: &Bound<'_, PyTuple>) -> bool {
    let observed: Vec<Observed> = arguments.iter().map(|argument| observe::value(&argument)).collect();
    let text = observe::arguments_text(&observed, &[]);
    let path = observe::bounded_path(format!("succeeds {}({text})", callee_path(callee, site)));
    state::with(|execution| execution.draw.truth(&path, REPAIR_PROBABILITY)).unwrap_or(false)
}

/// Neither what is called nor what it is called with is versatile, as far as one level of containers shows.
fn is_plain(callee: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> bool {
    let is_versatile = |value: &Bound<'_, PyAny>| {
        value.is_instance_of::<Versatile>()
            || matches!(observe::value(value), Observed::List(items) | Observed::Tuple(items) | Observed::Set(items)
                if items.iter().any(|item| matches!(item, Observed::Injected { .. })))
    };
    let receiver = callee.getattr("__self__").ok();
    !receiver.iter().any(is_versatile) && !arguments.iter().any(|value| is_versatile(&value))
}

/// Builtin functions and classes, and methods of builtin classes.
fn is_builtin(callee: &Bound<'_, PyAny>) -> bool {
    let builtin = |object: &Bound<'_, PyAny>| {
        object.getattr("__module__").is_ok_and(|name| name.extract().is_ok_and(|name: String| name == "builtins"))
    };
    builtin(callee) || callee.getattr("__self__").is_ok_and(|owner| builtin(owner.get_type().as_any()))
}

/// Methods of loggers, and the functions of `logging` like them: what they do depends on how logging is set up, which
/// no module says by itself.
fn logger_path(callee: &Bound<'_, PyAny>) -> Option<String> {
    const LEVELS: [&str; 9] = ["debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"];
    let name: String = callee.getattr("__name__").ok()?.extract().ok()?;
    if !LEVELS.contains(&name.as_str()) || callee.getattr("__module__").ok()?.extract::<String>().ok()? != "logging" {
        return None;
    }
    let logger = callee.getattr("__self__").and_then(|logger| logger.getattr("name"));
    Some(match logger.and_then(|name| name.extract::<String>()) {
        Ok(logger) => format!("logger {logger}.{name}"),
        Err(_) => format!("logging.{name}"),
    })
}

/// Builtins and functions of pure modules do nothing but compute.
fn is_pure(callee: &Bound<'_, PyAny>) -> bool {
    match callee.getattr("__module__").and_then(|name| name.extract::<String>()) {
        Ok(module) => module == "builtins" || crate::imports::is_pure_module(&module),
        // Methods of builtin classes have no module.
        Err(_) => true,
    }
}

/// The exception that a `raise` or `assert` of the module's own code raised, if one did.
fn raised_by_module(py: Python<'_>, error: &PyErr) -> Option<PyErr> {
    let mut last = error.traceback(py).map(Bound::into_any)?;
    while let Ok(next) = last.getattr("tb_next") {
        if next.is_none() {
            break;
        }
        last = next;
    }
    let place = || -> PyResult<(String, usize)> {
        let file = last.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
        Ok((file, last.getattr("tb_lineno")?.extract()?))
    };
    let (file, line) = place().ok()?;
    if file != module::FILE_NAME {
        return None;
    }
    let statement = state::with(|execution| {
        let text = &execution.prepared.versions[execution.version].version.module;
        text.lines().nth(line.saturating_sub(1)).map(|line| line.trim_start().to_string())
    })??;
    let raised = statement.strip_prefix("raise");
    if raised.is_none() && !statement.starts_with("assert") {
        return None;
    }
    let missing = raised.filter(|_| {
        error.is_instance_of::<PyTypeError>(py)
            && error.value(py).to_string().starts_with("exceptions must derive from BaseException")
    });
    let intended = match missing {
        // The class is missing in this module: its stand-in is raised.
        Some(raised) => {
            let name: String =
                raised.trim_start().chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
            PyErr::from_value(crate::exceptions::missing_class(py, &name).ok()?.call0().ok()?)
        }
        None => error.clone_ref(py),
    };
    crate::exceptions::mark_intended(intended.value(py).as_any());
    Some(intended)
}

/// How a real callee is named in access paths.
fn callee_path(callee: &Bound<'_, PyAny>, site: u32) -> String {
    if !callee.is_callable() {
        let text = state::with(|execution| {
            let version = &execution.prepared.versions[execution.version].version;
            version.sites.sites.get(site as usize).map(|site| site.identifier.clone())
        });
        return text.flatten().filter(|text| !text.is_empty()).unwrap_or_else(|| observe::short(callee));
    }
    let name = callee
        .getattr("__qualname__")
        .and_then(|name| name.extract::<String>())
        .unwrap_or_else(|_| callee.get_type().name().map_or_else(|_| "call".into(), |name| name.to_string()));
    match callee.getattr("__self__") {
        Ok(owner) if !owner.is_none() && owner.get_type().name().is_ok_and(|name| name != "module") => {
            format!("{}.{}", observe::short(&owner), last_identifier(&name))
        }
        _ => name,
    }
}
