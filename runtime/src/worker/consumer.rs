//! Consumes the generators of the code under comparison.
//!
//! Most consumers only ask for the next item. If a version uses more than that (the value of a `yield`, or a `try` or
//! `with` around one), the consumer's action after each item is drawn like the result of an outside call: a value that
//! it sends in, or an exception that it throws in.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

use twincell_engine::observed::Observed;
use twincell_syntax::site::SiteKind;

use crate::execution::prediction_index::YIELD;
use crate::execution::{code, state};
use crate::inject::reach;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe;
use crate::worker::module::helpers;

/// How a generator ended.
pub(crate) enum End<'py> {
    /// With the value that it returned.
    Finished(Bound<'py, PyAny>),
    /// It had more items than were asked for.
    Endless,
    Raised(PyErr),
}

/// The results of a generator.
pub(crate) struct Consumed<'py> {
    /// The first items, each in the state in which it came.
    pub items: Vec<Observed>,
    /// The same items after the generator has ended, if it changed an item that it had given. Callers that keep them
    /// (`list(f())`) see these.
    pub changed: Option<Vec<Observed>>,
    pub end: End<'py>,
}

/// The first items of a generator, and how it continued after them.
pub(crate) fn consume<'py>(generator: &Bound<'py, PyAny>, most: usize) -> Consumed<'py> {
    let py = generator.py();
    let responds = code::is_own_code(generator, "gi_code").then(responds).flatten();
    let (mut given, mut items) = (Vec::new(), Vec::new());
    let mut next = generator.call_method1("send", (py.None(),));
    let end = loop {
        match next {
            Ok(item) => {
                items.push(observe::value(&item));
                reach::at_yield(py);
                given.push(item);
            }
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                let returned = error.value(py).getattr("value").unwrap_or_else(|_| py.None().into_bound(py));
                break End::Finished(returned);
            }
            Err(error) => break End::Raised(error),
        }
        if items.len() >= most {
            // Code may refuse to stop. Its clean-up is not part of the comparison.
            let _ = generator.call_method0("close");
            break End::Endless;
        }
        next = match responds.map(|sent| response(py, items.len(), sent)) {
            None => generator.call_method1("send", (py.None(),)),
            Some(Ok(sent)) => generator.call_method1("send", (sent,)),
            Some(Err(thrown)) => generator.call_method1("throw", (thrown.value(py),)),
        };
    };
    let later: Vec<Observed> = given.iter().map(observe::value).collect();
    Consumed { changed: (later != items).then_some(later), items, end }
}

/// The same for an asynchronous generator: its first items, whether it had no more, and the exception in which it ended.
pub(crate) fn consume_async<'py>(generator: &Bound<'py, PyAny>, most: usize) -> PyResult<Bound<'py, PyTuple>> {
    let py = generator.py();
    let responds = code::is_own_code(generator, "ag_code").then(responds).flatten();
    let respond = move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<Response> {
        let py = arguments.py();
        reach::at_yield(py);
        let items: usize = arguments.get_item(0)?.extract()?;
        match responds.filter(|_| items < most).map(|sent| response(py, items, sent)) {
            None => Ok((None, None)),
            Some(Ok(sent)) => Ok((Some(sent), None)),
            Some(Err(thrown)) => Ok((None, Some(thrown.into_value(py).into_any()))),
        }
    };
    let respond = PyCFunction::new_closure(py, None, None, respond)?;
    Ok(helpers(py)?.getattr("collect")?.call1((generator, most, respond))?.cast_into::<PyTuple>()?)
}

/// What a consumer does after an item: the value that it sends, or the exception that it throws.
type Response = (Option<Py<PyAny>>, Option<Py<PyAny>>);

/// Whether drawing the consumer's action is worth it, and whether a value that it sends matters.
fn responds() -> Option<bool> {
    state::with(|execution| {
        let yields = &execution.index.yields;
        (yields.sent || !yields.thrown.is_empty()).then_some(yields.sent)
    })
    .flatten()
}

fn response(py: Python<'_>, item: usize, sent: bool) -> PyResult<Py<PyAny>> {
    let request = ValueRequest {
        kind: SiteKind::Call,
        identifier: YIELD,
        callee: YIELD.into(),
        raises: true,
        discarded: !sent,
        ..ValueRequest::default()
    };
    resolve::value(py, format!("{YIELD} {item}").as_str().into(), &request)
}
