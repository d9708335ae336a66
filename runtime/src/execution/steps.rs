//! The step budget. Executions that use it up are stopped.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;

use crate::execution::state;

pyo3::create_exception!(twincell, StopExecution, PyBaseException, "An execution used up its steps.");

/// Counts steps. An execution that used up its budget is stopped, again at each further step.
pub(crate) fn step(count: u64) -> PyResult<()> {
    let over = state::with(|execution| {
        execution.run.steps += count;
        execution.run.steps > execution.index.step_budget
    });
    if over == Some(true) { Err(StopExecution::new_err("the execution used up its steps")) } else { Ok(()) }
}
