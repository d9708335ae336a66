//! Runs a function on injected arguments and unwraps its result: generators, coroutines, returned functions.

use pyo3::exceptions::{PyAssertionError, PyMemoryError, PyRecursionError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use twincell_engine::observed::{Elision, Limit, Observed, Outcome, Slot};
use twincell_syntax::site::SiteKind;
use twincell_values::path::{self, AccessPath};

use crate::execution::object::Versatile;
use crate::execution::steps::StopExecution;
use crate::execution::{code, state};
use crate::inject::arguments;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe::kinds::{self, Kind};
use crate::observe::{self, MAX_ITEMS};
use crate::worker::consumer::{self, Consumed, End};
use crate::worker::module::{helpers, message};

/// The maximum depth to which functions that return functions are followed.
const MAX_UNWRAP: u32 = 2;

/// How a call ended, unwrapped.
pub(crate) fn settle(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>, extra: &mut Vec<(Slot, Observed)>) -> Outcome {
    let result = result.and_then(|value| unwrap(&value, 0, extra));
    if state::with(|execution| execution.run.steps > execution.index.step_budget) == Some(true) {
        // This also applies if the code caught the stop.
        return Outcome::Stopped { reason: Limit::Steps };
    }
    match result {
        Ok(observed) => Outcome::Returned(observed),
        Err(error) => raised(py, &error),
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
    if value.is_instance_of::<Versatile>() {
        return Ok(observe::value(value));
    }
    let Some(kind) = kinds::of(value) else { return Ok(observe::value(value)) };
    let name = observe::class_name(&value.get_type());
    match kind {
        Kind::Coroutine if depth < MAX_UNWRAP => {
            if depth == 0 {
                extra.push((Slot::Awaited, Observed::Bool(true)));
            }
            let result = helpers(py)?.getattr("run")?.call1((value,))?;
            let observed = unwrap(&result, depth + 1, extra)?;
            // Awaiting it once gives a value. A coroutine within it must be awaited again.
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
            function_behavior(value, path::of_result(), depth + 1, extra)
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

/// A function is compared by its behavior: it is called once on injected arguments.
fn function_behavior(
    function: &Bound<'_, PyAny>,
    prefix: AccessPath<'_>,
    depth: u32,
    extra: &mut Vec<(Slot, Observed)>,
) -> PyResult<Observed> {
    let py = function.py();
    let code = function.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let only: usize = code.getattr("co_kwonlyargcount")?.extract()?;
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let path = |name: &str| prefix.call(name);
    let mut positional = Vec::new();
    for name in names.iter().take(count) {
        let request =
            ValueRequest { kind: SiteKind::Name, identifier: name, parameter: true, ..ValueRequest::default() };
        positional.push(resolve::value(py, &path(&arguments::canonical(name)), &request)?);
    }
    let keywords = PyDict::new(py);
    for name in names.iter().skip(count).take(only) {
        let request =
            ValueRequest { kind: SiteKind::Name, identifier: name, parameter: true, ..ValueRequest::default() };
        keywords.set_item(name, resolve::value(py, &path(&arguments::canonical(name)), &request)?)?;
    }
    let result = function.call(PyTuple::new(py, positional)?, Some(&keywords));
    let observed = match result.and_then(|value| unwrap(&value, depth, extra)) {
        Ok(observed) => observed,
        Err(error) if error.is_instance_of::<StopExecution>(py) => return Err(error),
        Err(error) => match raised(py, &error) {
            Outcome::Raised { exception, intended: true, .. } => exception,
            _ => Observed::Elided { reason: Elision::UnintendedException },
        },
    };
    Ok(Observed::Called { gave: Box::new(observed) })
}

/// Functions of the code itself that it passed to external code, which may call them.
pub(crate) fn callbacks(py: Python<'_>, extra: &mut Vec<(Slot, Observed)>) {
    let callbacks = state::with(|execution| std::mem::take(&mut execution.run.callbacks)).unwrap_or_default();
    for (index, callback) in callbacks.into_iter().enumerate().take(3) {
        let callback = callback.bind(py);
        if code::is_own(callback)
            && let Ok(observed) =
                function_behavior(callback, AccessPath::from(&format!("callback{index}")), 1, &mut Vec::new())
        {
            extra.push((Slot::Callback(index), observed));
        }
    }
}
