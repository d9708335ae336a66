//! Runs a function on injected arguments, unwraps its result (generators, coroutines, returned functions), and says how it
//! ended: with a value, with an exception, intended or not, or stopped.

use pyo3::exceptions::{PyAssertionError, PyMemoryError, PyRecursionError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use twincell_engine::observed::{Elision, Limit, Observed, Outcome, Slot};
use twincell_syntax::site::SiteKind;
use twincell_values::path::{self, AccessPath, AccessPathBuf};

use crate::execution::object::MockObject;
use crate::execution::steps::StopExecution;
use crate::execution::{code, state};
use crate::inject::arguments;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe::kinds::{self, Kind};
use crate::observe::{self, MAX_ITEMS, identity};
use crate::worker::consumer::{self, Consumed, End};
use crate::worker::module::{HELPERS_FILE, helpers, message};

/// The maximum depth to which functions that return functions are followed.
const MAX_UNWRAP: u32 = 2;
/// The maximum number of stored functions that are called after one run, and how deep they may lie in containers.
const MAX_STORED: usize = 6;
const STORED_DEPTH: usize = 2;

/// How a call ended, unwrapped, and its result as it was returned.
pub(crate) fn settle<'py>(
    py: Python<'py>,
    result: PyResult<Bound<'py, PyAny>>,
    extra: &mut Vec<(Slot, Observed)>,
) -> (Outcome, Option<Bound<'py, PyAny>>) {
    let mut returned = None;
    let result = result.and_then(|value| {
        let (value, depth) = awaited(value, extra)?;
        returned = Some(value.clone());
        unwrap(&value, depth, extra)
    });
    if let Err(error) = &result {
        extra.extend(cause(py, error).map(|cause| (Slot::Cause, cause)));
    }
    (ended(py, result), returned)
}

/// What `raise ... from` named. `from None` only hides what was handled before, where something was.
fn cause(py: Python<'_>, error: &PyErr) -> Option<Observed> {
    let exception = error.value(py);
    let is_named = exception.getattr("__suppress_context__").and_then(|flag| flag.is_truthy()).unwrap_or(false);
    let cause = if is_named { exception.getattr("__cause__").ok()? } else { return None };
    (!cause.is_none()).then(|| observe::value(&cause))
}

/// The result of a coroutine, or the value itself. The second part says how deep it is.
fn awaited<'py>(value: Bound<'py, PyAny>, extra: &mut Vec<(Slot, Observed)>) -> PyResult<(Bound<'py, PyAny>, u32)> {
    if value.is_instance_of::<MockObject>() || kinds::of(&value) != Some(Kind::Coroutine) {
        return Ok((value, 0));
    }
    extra.push((Slot::Awaited, Observed::Bool(true)));
    Ok((helpers(value.py())?.getattr("run")?.call1((value,))?, 1))
}

fn ended(py: Python<'_>, result: PyResult<Observed>) -> Outcome {
    if state::with(|execution| execution.run.steps > execution.step_budget) == Some(true) {
        // This also applies if the code caught the stop.
        return Outcome::Stopped { reason: Limit::Steps };
    }
    match result {
        Ok(observed) => Outcome::Returned(observed),
        Err(error) => raised(py, &error),
    }
}

/// Observes what a second call gave, and returns it. A call that does not end by itself shows nothing.
pub(crate) fn again<'py>(
    py: Python<'py>,
    result: PyResult<Bound<'py, PyAny>>,
    extra: &mut Vec<(Slot, Observed)>,
) -> Option<Bound<'py, PyAny>> {
    let (outcome, returned) = settle(py, result, &mut Vec::new());
    let observed = match outcome {
        Outcome::Returned(observed) => observed,
        Outcome::Raised { exception, intended: true, .. } => exception,
        Outcome::Raised { .. } | Outcome::Stopped { .. } => return None,
    };
    extra.push((Slot::Again, observed));
    returned
}

/// Notes whether the second call gave the same as the first one: a time that is asked for once stays the same.
pub(crate) fn note_repetition(first: &Outcome, extra: &mut Vec<(Slot, Observed)>) {
    let second = extra.iter().find(|(slot, _)| *slot == Slot::Again).map(|(_, observed)| observed);
    if let (Outcome::Returned(first), Some(second)) = (first, second) {
        extra.push((Slot::Repeats, Observed::Bool(first == second)));
    }
}

pub(crate) fn raised(py: Python<'_>, error: &PyErr) -> Outcome {
    if error.is_instance_of::<StopExecution>(py) {
        return Outcome::Stopped { reason: Limit::Steps };
    }
    if error.is_instance_of::<PyRecursionError>(py) {
        return Outcome::Stopped { reason: Limit::Recursion };
    }
    if error.is_instance_of::<PyMemoryError>(py) {
        return Outcome::Stopped { reason: Limit::Memory };
    }
    let exception = error.value(py).as_any();
    let identity = exception.as_ptr() as usize;
    let assertion = error.is_instance_of::<PyAssertionError>(py);
    let exit = error.is_instance_of::<PySystemExit>(py);
    let (intended, line) = state::with(|execution| {
        let run = &execution.run;
        (run.intended_ids.contains(&identity) || exit || assertion && run.assertion_failed, run.line)
    })
    .unwrap_or((false, 0));
    let line = raising_line(py, error).unwrap_or(line);
    Outcome::Raised { exception: observe::value(exception), intended, line, message: message(py, error) }
}

/// Whether an exception passed Python code besides the worker's own.
pub(crate) fn passed_code(py: Python<'_>, error: &PyErr) -> bool {
    let mut entry = error.traceback(py).map(Bound::into_any);
    while let Some(at) = entry {
        let file = at.getattr("tb_frame").and_then(|frame| frame.getattr("f_code")?.getattr("co_filename"));
        if !file.is_ok_and(|file| file.to_string() == HELPERS_FILE) {
            return true;
        }
        entry = at.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    false
}

/// The innermost line of the compared code that an exception passed. The test of an `if` has no mark of its own.
fn raising_line(py: Python<'_>, error: &PyErr) -> Option<u32> {
    let mut found = None;
    let mut entry = error.traceback(py).map(Bound::into_any);
    while let Some(at) = entry {
        let frame = at.getattr("tb_frame").ok()?;
        if code::is_own_code(&frame, "f_code") {
            found = at.getattr("tb_lineno").ok()?.extract().ok();
        }
        entry = at.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    found
}

/// Follows a returned value to something that can be compared.
pub(crate) fn unwrap(value: &Bound<'_, PyAny>, depth: u32, extra: &mut Vec<(Slot, Observed)>) -> PyResult<Observed> {
    let py = value.py();
    if value.is_instance_of::<MockObject>() {
        return Ok(observe::value(value));
    }
    let Some(kind) = kinds::of(value) else { return Ok(observe::value(value)) };
    let name = observe::class_name(&value.get_type());
    match kind {
        Kind::Coroutine if depth < MAX_UNWRAP => {
            let result = match depth {
                0 => awaited(value.clone(), extra)?.0,
                _ => helpers(py)?.getattr("run")?.call1((value,))?,
            };
            let observed = unwrap(&result, depth + 1, extra)?;
            // Awaiting it once gives a value. A coroutine within it must be awaited again.
            Ok(match depth {
                0 => observed,
                _ => Observed::Object { class: name, attributes: vec![("result".into(), observed)] },
            })
        }
        Kind::AsyncGenerator => {
            let found = consumer::consume_async(value, MAX_ITEMS)?;
            let items =
                found.get_item(0)?.try_iter()?.filter_map(Result::ok).map(|item| observe::value(&item)).collect();
            let finished = found.get_item(1)?.is_truthy()?;
            let error = found.get_item(2)?;
            if !error.is_none() {
                extra.push((Slot::Yielded, Observed::List(items)));
                return Err(PyErr::from_value(error));
            }
            Ok(Observed::Iterator { kind: name, items, finished })
        }
        Kind::Generator => {
            let Consumed { items, changed, end } = consumer::consume(value, MAX_ITEMS);
            let finished = matches!(end, End::Finished(_));
            if let Some(changed) = changed {
                extra.push((Slot::YieldedAfterwards, Observed::List(changed)));
            }
            match end {
                End::Finished(returned) => {
                    if !returned.is_none() {
                        extra.push((Slot::GeneratorValue, observe::value(&returned)));
                    }
                }
                End::Endless => {}
                End::Raised(error) => {
                    extra.push((Slot::Yielded, Observed::List(items)));
                    return Err(error);
                }
            }
            Ok(Observed::Iterator { kind: name, items, finished })
        }
        Kind::Function if depth < MAX_UNWRAP && code::is_own(value) => {
            function_behavior(value, path::of_result(), depth + 1, true, extra)
        }
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

/// A function is compared by its behavior: it is called on injected arguments. One that the code returns (`is_result`)
/// is called once more on the same ones.
fn function_behavior(
    function: &Bound<'_, PyAny>,
    prefix: AccessPath<'_>,
    depth: u32,
    is_result: bool,
    extra: &mut Vec<(Slot, Observed)>,
) -> PyResult<Observed> {
    let py = function.py();
    let (names, count, only) = parameters(function)?;
    let path = |name: &str| prefix.call(name);
    let mut positional = Vec::new();
    for name in names.iter().take(count) {
        let request =
            ValueRequest { kind: SiteKind::Name, identifier: name, parameter: true, ..ValueRequest::default() };
        positional.push(resolve::value(py, path(&arguments::canonical(name)).as_path(), &request)?);
    }
    let keywords = PyDict::new(py);
    for name in names.iter().skip(count).take(only) {
        let request =
            ValueRequest { kind: SiteKind::Name, identifier: name, parameter: true, ..ValueRequest::default() };
        keywords.set_item(name, resolve::value(py, path(&arguments::canonical(name)).as_path(), &request)?)?;
    }
    let positional = PyTuple::new(py, positional)?;
    let result = function.call(&positional, Some(&keywords));
    let observed = match result.and_then(|value| unwrap(&value, depth, extra)) {
        Ok(observed) => {
            if is_result && depth == 1 {
                // A function may remember that it was called.
                again(py, function.call(positional, Some(&keywords)), extra);
            }
            observed
        }
        Err(error) if error.is_instance_of::<StopExecution>(py) => return Err(error),
        Err(error) => match raised(py, &error) {
            Outcome::Raised { exception, intended: true, .. } => exception,
            _ => Observed::Elided { reason: Elision::UnintendedException },
        },
    };
    Ok(Observed::Called { gave: Box::new(observed) })
}

/// The names of a function's parameters, and how many of them are positional and how many keywords only.
fn parameters(function: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, usize, usize)> {
    if kinds::of(function) == Some(Kind::Partial) {
        let free: Vec<(String, u8, bool)> =
            helpers(function.py())?.getattr("parameters")?.call1((function,))?.extract()?;
        let of = |kinds: &[u8]| {
            free.iter().filter(|(_, kind, _)| kinds.contains(kind)).map(|(name, ..)| name.clone()).collect::<Vec<_>>()
        };
        let (positional, only) = (of(&[0, 1]), of(&[3]));
        let counts = (positional.len(), only.len());
        return Ok(([positional, only].concat(), counts.0, counts.1));
    }
    let code = function.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let only: usize = code.getattr("co_kwonlyargcount")?.extract()?;
    Ok((code.getattr("co_varnames")?.extract()?, count, only))
}

/// Functions of the code itself that it passed to external code, or stored where external code finds them. Whoever has
/// one may call it.
pub(crate) fn callbacks(py: Python<'_>, returned: Option<&Bound<'_, PyAny>>, extra: &mut Vec<(Slot, Observed)>) {
    let (callbacks, registered, injected) = state::with(|execution| {
        let run = &mut execution.run;
        let injected: Vec<(AccessPathBuf, Py<PyAny>)> =
            run.injected.iter().map(|(path, value, _)| (path.clone(), value.clone_ref(py))).collect();
        (std::mem::take(&mut run.callbacks), std::mem::take(&mut run.registered), injected)
    })
    .unwrap_or_default();
    for (index, callback) in callbacks.into_iter().enumerate().take(3) {
        let callback = callback.bind(py);
        if is_own_function(callback)
            && let Ok(observed) =
                function_behavior(callback, AccessPath::from(&format!("callback{index}")), 1, false, &mut Vec::new())
        {
            extra.push((Slot::Callback(index), observed));
        }
    }
    let registered = registered.into_iter().map(|(path, function)| (path, function.into_bound(py)));
    let mut stored: Vec<(AccessPathBuf, Bound<'_, PyAny>)> =
        registered.filter(|(_, function)| is_own_function(function)).collect();
    for (path, value) in injected {
        functions_in(path.as_path(), value.bind(py), 0, &mut stored);
    }
    if let Some(returned) = returned {
        functions_in(identity::RESULT.into(), returned, 0, &mut stored);
    }
    stored.sort_by(|(one, _), (other, _)| one.cmp(other));
    stored.dedup_by(|(one, _), (other, _)| one == other);
    for (place, function) in stored.into_iter().take(MAX_STORED) {
        if let Ok(observed) = function_behavior(&function, place.as_path(), 1, false, &mut Vec::new()) {
            extra.push((Slot::Stored(place.into_string()), observed));
        }
    }
}

/// The functions of the code itself that an object holds, by their place. The object itself is not one of them.
fn functions_in<'py>(
    place: AccessPath<'_>,
    value: &Bound<'py, PyAny>,
    depth: usize,
    found: &mut Vec<(AccessPathBuf, Bound<'py, PyAny>)>,
) {
    for (place, held) in identity::contents(place, value) {
        if is_own_function(&held) {
            found.push((place, held));
        } else if depth < STORED_DEPTH && found.len() < MAX_STORED {
            functions_in(place.as_path(), &held, depth + 1, found);
        }
    }
}

/// Whether it is a function of the code itself, or one with some of its arguments.
fn is_own_function(value: &Bound<'_, PyAny>) -> bool {
    match kinds::of(value) {
        Some(Kind::Partial) => value.getattr("func").is_ok_and(|function| code::is_own(&function)),
        _ => code::is_own(value),
    }
}
