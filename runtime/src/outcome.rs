//! Runs a function on injected arguments and unwraps what it gives: generators, coroutines, returned functions.

use std::collections::BTreeMap;

use pyo3::exceptions::{PyAssertionError, PyMemoryError, PyRecursionError, PySystemExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use twincell_core::behavior::{Observed, Outcome};
use twincell_core::engine::protocol::{Parameter, ParameterKind};
use twincell_core::site::SiteKind;
use twincell_core::source::Hint;
use twincell_core::value::{AbstractValue, Known, Recipe};

use crate::consumer::{self, Consumed, End};
use crate::exceptions::{self, StopExecution};
use crate::kinds::{self, Kind};
use crate::module::{FUNCTION_FILE_NAME, helpers, message};
use crate::observe::{self, MAX_ITEMS};
use crate::resolve::{self, Request};
use crate::state;
use crate::versatile::Versatile;

/// Functions that return functions are followed this far.
const MAX_UNWRAP: u32 = 2;
/// Extra positional arguments for `*args`: 0 to 3.
const EXTRA_WEIGHTS: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
/// A key for `**kwargs` that the code does not know, and how often it is there.
const UNKNOWN_KEYWORD: &str = "extra";
const UNKNOWN_PROBABILITY: f64 = 0.2;

/// Arguments for a function, injected by parameter name under `prefix`.
pub(crate) struct Arguments<'py> {
    positional: Vec<Bound<'py, PyAny>>,
    keywords: Bound<'py, PyDict>,
}

impl<'py> Arguments<'py> {
    /// `receiver` is the real class of `self` or `cls`, where the module has it.
    pub fn inject(py: Python<'py>, parameters: &[Parameter], receiver: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        // Callers of one version know nothing of a parameter that only the other has.
        let is_shared =
            |path: &str| state::with(|execution| execution.prepared.is_shared_parameter(path)).unwrap_or(true);
        Self::inject_as(py, parameters, receiver, &is_shared, &canonical, &BTreeMap::new())
    }

    /// As [`Self::inject`]; `path` names what each parameter gets, `hints` say what it is.
    pub fn inject_as(
        py: Python<'py>,
        parameters: &[Parameter],
        receiver: Option<&Bound<'py, PyAny>>,
        is_shared: &dyn Fn(&str) -> bool,
        path_of: &dyn Fn(&str) -> String,
        hints: &BTreeMap<String, Hint>,
    ) -> PyResult<Self> {
        let mut positional = Vec::new();
        let keywords = PyDict::new(py);
        let extra = parameters
            .iter()
            .find(|parameter| parameter.kind == ParameterKind::VarPositional)
            .map_or(0, |parameter| draw_number(&format!("len(*{})", parameter.name), &EXTRA_WEIGHTS));
        let mut by_keyword = false;
        for (index, parameter) in parameters.iter().enumerate() {
            let path = path_of(&parameter.name);
            let request = Request {
                kind: SiteKind::Name,
                identifier: &parameter.name,
                parameter: true,
                hint: hints.get(&parameter.name),
                ..Request::default()
            };
            match parameter.kind {
                ParameterKind::PositionalOnly | ParameterKind::Positional => {
                    if index == 0 && matches!(parameter.name.as_str(), "self" | "cls" | "mcs") {
                        positional.push(self_object(py, &path, receiver)?);
                        continue;
                    }
                    if parameter.has_default && !is_shared(&path) {
                        by_keyword = true;
                        continue;
                    }
                    let only = parameter.kind == ParameterKind::PositionalOnly;
                    if only && by_keyword {
                        // One before it was left out, so that this one cannot be passed.
                        continue;
                    }
                    let may_default = parameter.has_default && extra == 0;
                    match injected(py, &path, may_default, request)? {
                        None => by_keyword = true,
                        Some(value) if by_keyword => keywords.set_item(&parameter.name, value)?,
                        Some(value) => positional.push(value),
                    }
                }
                ParameterKind::VarPositional => {
                    for index in 0..extra {
                        let path = format!("{path}[{index}]");
                        positional.push(resolve::value(py, &path, &request)?.into_bound(py));
                    }
                }
                ParameterKind::KeywordOnly if parameter.has_default && !is_shared(&path) => {}
                ParameterKind::KeywordOnly => {
                    if let Some(value) = injected(py, &path, parameter.has_default, request)? {
                        keywords.set_item(&parameter.name, value)?;
                    }
                }
                ParameterKind::VarKeyword => {
                    for key in extra_keywords(&path, parameters) {
                        let path = format!("{path}['{key}']");
                        keywords.set_item(key, resolve::value(py, &path, &request)?)?;
                    }
                }
            }
        }
        Ok(Self { positional, keywords })
    }

    pub fn call(&self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        function.call(PyTuple::new(function.py(), &self.positional)?, Some(&self.keywords))
    }
}

pub(crate) fn canonical(name: &str) -> String {
    state::with(|execution| execution.prepared.canonical(execution.version, name).to_string())
        .unwrap_or_else(|| name.to_string())
}

pub(crate) fn draw_number(path: &str, weights: &[f64]) -> i64 {
    state::with(|execution| execution.draw.number(path, weights)).unwrap_or(0)
}

/// One argument; `None` when the parameter's default applies.
fn injected<'py>(
    py: Python<'py>,
    path: &str,
    may_default: bool,
    request: Request<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let found = resolve::optional(py, path, &Request { may_default, ..request })?;
    match found {
        Some(value) => Ok(Some(value.into_bound(py))),
        None if may_default => Ok(None),
        // The other version's default was chosen, and this version has none: a caller that leaves it out sees this.
        None => {
            let error = PyTypeError::new_err(format!("missing a required argument: '{}'", request.identifier));
            exceptions::mark_intended(error.value(py).as_any());
            Err(error)
        }
    }
}

fn self_object<'py>(py: Python<'py>, path: &str, receiver: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let Some(real) = receiver else {
        return resolve::build(py, &Recipe::Versatile(AbstractValue::Object), path).map(|value| value.into_bound(py));
    };
    let value = Py::new(py, Versatile::with_real(path, real.clone().unbind()))?.into_any();
    resolve::remember(py, path, &value);
    resolve::watch(py, path, &value);
    Ok(value.into_bound(py))
}

/// Names for `**kwargs`: those that the code looks up in it, each in half of the executions, and seldom one of which it
/// knows nothing.
fn extra_keywords(path: &str, parameters: &[Parameter]) -> Vec<String> {
    let is_free = |name: &str| parameters.iter().all(|parameter| parameter.name != name);
    state::with(|execution| {
        let prepared = execution.prepared.clone();
        let mut names: Vec<(String, f64)> = Vec::new();
        if let Some((_, uses)) = prepared.known(path) {
            for key in &uses.key_candidates {
                if let Recipe::Str(name) = key {
                    names.push((name.clone(), 0.5));
                }
            }
        }
        if names.iter().all(|(name, _)| name != UNKNOWN_KEYWORD) {
            names.push((UNKNOWN_KEYWORD.to_string(), UNKNOWN_PROBABILITY));
        }
        names.retain(|(name, _)| is_free(name));
        let mut drawn = |(name, probability): (String, f64)| {
            execution.draw.truth(&format!("'{name}' in **{path}"), probability).then_some(name)
        };
        names.into_iter().filter_map(&mut drawn).collect()
    })
    .unwrap_or_default()
}

/// How a call ended, unwrapped.
pub(crate) fn settle(
    py: Python<'_>,
    result: PyResult<Bound<'_, PyAny>>,
    extra: &mut Vec<(String, Observed)>,
) -> Outcome {
    let result = result.and_then(|value| unwrap(&value, 0, extra));
    if state::with(|execution| execution.side.steps > execution.prepared.step_budget) == Some(true) {
        // Also where the code caught the stop.
        return Outcome::Stopped { reason: "used up its steps".into() };
    }
    match result {
        Ok(observed) => Outcome::Returned(observed),
        Err(error) => raised(py, &error),
    }
}

pub(crate) fn raised(py: Python<'_>, error: &PyErr) -> Outcome {
    if error.is_instance_of::<StopExecution>(py) {
        return Outcome::Stopped { reason: "used up its steps".into() };
    }
    if error.is_instance_of::<PyRecursionError>(py) {
        return Outcome::Stopped { reason: "recursed too deeply".into() };
    }
    if error.is_instance_of::<PyMemoryError>(py) {
        return Outcome::Stopped { reason: "used up its memory".into() };
    }
    let exception = error.value(py).as_any();
    let identity = exception.as_ptr() as usize;
    let assertion = error.is_instance_of::<PyAssertionError>(py);
    let exit = error.is_instance_of::<PySystemExit>(py);
    let (intended, line) = state::with(|execution| {
        let side = &execution.side;
        (side.intended_ids.contains(&identity) || exit || assertion && side.assertion_failed, side.line)
    })
    .unwrap_or((false, 0));
    let line = raising_line(py, error).unwrap_or(line);
    Outcome::Raised { exception: observe::value(exception), intended, line, message: message(py, error) }
}

/// The innermost line of the compared code that an exception passed: the test of an `if` has no mark of its own.
fn raising_line(py: Python<'_>, error: &PyErr) -> Option<u32> {
    let mut found = None;
    let mut entry = error.traceback(py).map(Bound::into_any);
    while let Some(at) = entry {
        let frame = at.getattr("tb_frame").ok()?;
        if is_own_code(&frame, "f_code") {
            found = at.getattr("tb_lineno").ok()?.extract().ok();
        }
        entry = at.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    found
}

/// Follows a returned value to what can be compared.
pub(crate) fn unwrap(value: &Bound<'_, PyAny>, depth: u32, extra: &mut Vec<(String, Observed)>) -> PyResult<Observed> {
    let py = value.py();
    if value.is_instance_of::<Versatile>() {
        return Ok(observe::value(value));
    }
    let Some(kind) = kinds::of(value) else { return Ok(observe::value(value)) };
    let name = observe::class_name(&value.get_type());
    match kind {
        Kind::Coroutine if depth < MAX_UNWRAP => {
            if depth == 0 {
                extra.push(("the result must be awaited".into(), Observed::Bool(true)));
            }
            let result = helpers(py)?.getattr("run")?.call1((value,))?;
            let observed = unwrap(&result, depth + 1, extra)?;
            // What is awaited once gives a value; a coroutine within must be awaited again.
            Ok(match depth {
                0 => observed,
                _ => Observed::Object { class: name, attributes: vec![("result".into(), observed)] },
            })
        }
        Kind::AsyncGenerator => {
            let found = helpers(py)?.getattr("collect")?.call1((value, MAX_ITEMS))?.cast_into::<PyTuple>()?;
            let items =
                found.get_item(0)?.try_iter()?.filter_map(Result::ok).map(|item| observe::value(&item)).collect();
            let finished = found.get_item(1)?.is_truthy()?;
            let error = found.get_item(2)?;
            if !error.is_none() {
                extra.push(("yielded values".into(), Observed::List(items)));
                return Err(PyErr::from_value(error));
            }
            Ok(Observed::Iterator { kind: name, items, finished })
        }
        Kind::Generator => {
            let Consumed { items, changed, end } = consumer::consume(value, MAX_ITEMS);
            let finished = matches!(end, End::Finished(_));
            if let Some(changed) = changed {
                extra.push(("yielded values afterwards".into(), Observed::List(changed)));
            }
            match end {
                End::Finished(returned) => {
                    if !returned.is_none() {
                        extra.push(("value of the generator".into(), observe::value(&returned)));
                    }
                }
                End::Endless => {}
                End::Raised(error) => {
                    extra.push(("yielded values".into(), Observed::List(items)));
                    return Err(error);
                }
            }
            Ok(Observed::Iterator { kind: name, items, finished })
        }
        Kind::Function if depth < MAX_UNWRAP && is_own(value) => function_behavior(value, "result", depth + 1, extra),
        Kind::Iterator => {
            let mut items = Vec::new();
            let mut iterator = value.try_iter()?;
            let mut finished = false;
            while items.len() < MAX_ITEMS {
                match iterator.next() {
                    Some(item) => items.push(observe::value(&item?)),
                    None => {
                        finished = true;
                        break;
                    }
                }
            }
            Ok(Observed::Iterator { kind: "iterator".into(), items, finished })
        }
        _ => Ok(observe::value(value)),
    }
}

/// A function that the code under comparison defines itself.
pub(crate) fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<pyo3::types::PyFunction>() && is_own_code(function, "__code__")
}

/// Is the code in this attribute the compared function's, or of a function within?
pub(crate) fn is_own_code(object: &Bound<'_, PyAny>, attribute: &str) -> bool {
    let file = || -> PyResult<String> { object.getattr(attribute)?.getattr("co_filename")?.extract() };
    file().is_ok_and(|file| file == FUNCTION_FILE_NAME)
}

/// A function is what it does: called once on injected arguments.
fn function_behavior(
    function: &Bound<'_, PyAny>,
    prefix: &str,
    depth: u32,
    extra: &mut Vec<(String, Observed)>,
) -> PyResult<Observed> {
    let py = function.py();
    let code = function.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let only: usize = code.getattr("co_kwonlyargcount")?.extract()?;
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let path = |name: &str| format!("{prefix}({name})");
    let mut positional = Vec::new();
    for name in names.iter().take(count) {
        let request = Request { kind: SiteKind::Name, identifier: name, parameter: true, ..Request::default() };
        positional.push(resolve::value(py, &path(&canonical(name)), &request)?);
    }
    let keywords = PyDict::new(py);
    for name in names.iter().skip(count).take(only) {
        let request = Request { kind: SiteKind::Name, identifier: name, parameter: true, ..Request::default() };
        keywords.set_item(name, resolve::value(py, &path(&canonical(name)), &request)?)?;
    }
    let result = function.call(PyTuple::new(py, positional)?, Some(&keywords));
    let observed = match result.and_then(|value| unwrap(&value, depth, extra)) {
        Ok(observed) => observed,
        Err(error) if error.is_instance_of::<StopExecution>(py) => return Err(error),
        Err(error) => match raised(py, &error) {
            Outcome::Raised { exception, intended: true, .. } => exception,
            _ => Observed::Elided { reason: "an unintended exception".into() },
        },
    };
    Ok(Observed::Object { class: "function".into(), attributes: vec![("returned".into(), observed)] })
}

/// Functions of the code itself that it handed to external code: external code may call them.
pub(crate) fn callbacks(py: Python<'_>, extra: &mut Vec<(String, Observed)>) {
    let callbacks = state::with(|execution| std::mem::take(&mut execution.side.callbacks)).unwrap_or_default();
    for (index, callback) in callbacks.into_iter().enumerate().take(3) {
        let callback = callback.bind(py);
        if is_own(callback)
            && let Ok(observed) = function_behavior(callback, &format!("callback{index}"), 1, &mut Vec::new())
        {
            extra.push((format!("callback {index}"), observed));
        }
    }
}
