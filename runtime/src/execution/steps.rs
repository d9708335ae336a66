//! The step budget. Executions that use it up are stopped.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;

use crate::execution::state;

pyo3::create_exception!(twincell, StopExecution, PyBaseException, "An execution used up its steps.");

/// How many steps the module around may take for each step of the compared code's budget: in an execution, and when the
/// module is evaluated.
const AROUND: u64 = 50;
const WHILE_LOADING: u64 = 500;
/// How many steps a result counts that was invented where Python would have failed: code may go round in circles on them.
const INVENTED: u64 = 10;

/// Counts a step of the module around the compared code. Too many use up the execution's own budget.
pub(crate) fn step_around() -> PyResult<()> {
    let over = state::with(|execution| {
        let budget = execution.step_budget;
        let factor = if execution.loading { WHILE_LOADING } else { AROUND };
        execution.run.steps_around += 1;
        let over = execution.run.steps_around > budget.saturating_mul(factor);
        if over {
            execution.run.steps = budget.saturating_add(1);
        }
        over
    });
    if over == Some(true) { Err(StopExecution::new_err("the execution used up its steps")) } else { Ok(()) }
}

/// Counts a result that is invented where Python would have failed.
pub(crate) fn invented() -> PyResult<()> {
    step(INVENTED)
}

/// Counts steps. An execution that used up its budget is stopped, again at each further step.
pub(crate) fn step(count: u64) -> PyResult<()> {
    let over = state::with(|execution| {
        execution.run.steps += count;
        execution.run.steps > execution.step_budget
    });
    if over == Some(true) { Err(StopExecution::new_err("the execution used up its steps")) } else { Ok(()) }
}
