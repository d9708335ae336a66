//! `twincell._twincell.execute`: single executions as plain data, for tests and for people who debug twincell.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_compare::{Inputs, written_decision};
use twincell_driver::options::Job;
use twincell_driver::warm::Engine;
use twincell_values::value::{Decision, Fixed};

use super::errors::raised;
use super::options::read_options;
use super::plain::plain;
use super::signals::interruptible;
use super::{environment, source};

/// Executes both versions of the first pair that changed, or of the first one, once for each of `inputs`, with no search.
///
/// Each of `inputs` is a seed and decisions by access path, as text: a literal of Python, `object()`, `callable()`,
/// `resource()`, `raises KeyError`, `missing`, `default` or `same as PATH`. Returns `executions`, each
/// with its `record` as the worker sent it, the channels in which the versions are `differing`, unconfirmed, and why it is
/// `lost`; and whether they left the process `tainted`. The options are those of `compare`. Raises `TwincellError` if nothing can be executed.
#[pyfunction]
#[pyo3(signature = (old, new, inputs, **options))]
pub fn execute<'py>(
    py: Python<'py>,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    inputs: Vec<(u64, BTreeMap<String, String>)>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read_options(py, options, Job::Compare)?;
    let (old, new) = (source::read(old, "old")?, source::read(new, "new")?);
    let environment = environment::find(py)?;
    let inputs: Vec<Inputs> = inputs
        .into_iter()
        .map(|(seed, written)| Ok(Inputs { seed, fixed: fixed(written)? }))
        .collect::<PyResult<_>>()?;
    let executions = interruptible(py, move |stop| {
        let engine = Engine::warm(&options, &environment)?.stopped_by(stop);
        engine.execute(&old, &new, &options.for_core(), &inputs)
    })?;
    plain(py, &executions)
}

fn fixed(written: BTreeMap<String, String>) -> PyResult<Fixed> {
    let decision = |(path, text): (String, String)| -> PyResult<(String, Decision)> {
        let decision = written_decision(&text);
        let decision = decision.ok_or_else(|| {
            raised(format!("the decision for {path} cannot be read: {text} is neither a literal nor one of the words"))
        })?;
        Ok((path, decision))
    };
    written.into_iter().map(decision).collect()
}
