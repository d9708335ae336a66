//! Consumes the generators of the code under comparison.
//!
//! Most consumers only ask for the next item. Where a version makes something of more (it uses the value of a `yield`, or
//! has a `try` or `with` around one), what a consumer does after each item is drawn like the result of an outside call:
//! the value that it sends in, or an exception that it throws in.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

use twincell_engine::observed::Observed;
use twincell_syntax::site::SiteKind;

use crate::execution::prediction_index::YIELD;
use crate::execution::{code, state};
use crate::inject::resolve::{self, Request};
use crate::observe;

/// How a generator ended.
pub(crate) enum End<'py> {
    /// With the value that it returned.
    Finished(Bound<'py, PyAny>),
    /// It had more items than are asked for.
    Endless,
    Raised(PyErr),
}

/// What a generator gave.
pub(crate) struct Consumed<'py> {
    /// The first items, each as it was when it came.
    pub items: Vec<Observed>,
    /// The same items once the generator has ended, where it changed what it had given: who keeps them (`list(f())`) sees
    /// these.
    pub changed: Option<Vec<Observed>>,
    pub end: End<'py>,
}

/// The first items of a generator, and how it went on from there.
pub(crate) fn consume<'py>(generator: &Bound<'py, PyAny>, most: usize) -> Consumed<'py> {
    let py = generator.py();
    let responds = code::is_own_code(generator, "gi_code").then(responds).flatten();
    let (mut given, mut items) = (Vec::new(), Vec::new());
    let mut next = generator.call_method1("send", (py.None(),));
    let end = loop {
        match next {
            Ok(item) => {
                items.push(observe::value(&item));
                given.push(item);
            }
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                let returned = error.value(py).getattr("value").unwrap_or_else(|_| py.None().into_bound(py));
                break End::Finished(returned);
            }
            Err(error) => break End::Raised(error),
        }
        if items.len() >= most {
            // Code may refuse to stop; its cleaning up is no part of the comparison.
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

/// Is it worth drawing what the consumer does, and does a value that it sends matter?
fn responds() -> Option<bool> {
    state::with(|execution| {
        let yields = &execution.prepared.yields;
        (yields.sent || !yields.thrown.is_empty()).then_some(yields.sent)
    })
    .flatten()
}

fn response(py: Python<'_>, item: usize, sent: bool) -> PyResult<Py<PyAny>> {
    let request = Request {
        kind: SiteKind::Call,
        identifier: YIELD,
        callee: YIELD,
        raises: true,
        discarded: !sent,
        ..Request::default()
    };
    resolve::value(py, &format!("{YIELD} {item}"), &request)
}
