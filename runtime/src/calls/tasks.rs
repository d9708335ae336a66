//! Tasks of injected awaitables. A task runs a coroutine and refuses anything else that can be awaited, while an injected
//! object may stand for either.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyTuple};

use crate::calls::SiteCall;
use crate::execution::object::MockObject;

/// Functions of `asyncio` that take a coroutine alone.
const TAKING: [&str; 2] = ["create_task", "run"];
/// The function of `asyncio` that awaits an object once, however often it gets it. Equal calls have one injected object,
/// where real ones each give their own.
const GATHERING: &str = "gather";

const SOURCE: &std::ffi::CStr = c"
async def awaited(value):
    return await value
";

static AWAITED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The arguments of a call that makes tasks, with coroutines in place of injected objects. `None` for other calls.
pub(super) fn arguments<'py>(call: &SiteCall<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = call.py();
    let is_injected = |argument: &Bound<'_, PyAny>| argument.is_instance_of::<MockObject>();
    if !call.arguments.iter().any(|argument| is_injected(&argument)) {
        return Ok(None);
    }
    let count = taken(call.callee);
    if count == 0 {
        return Ok(None);
    }
    let awaited = AWAITED.get_or_try_init(py, || {
        let module = PyModule::from_code(py, SOURCE, c"twincell/tasks.py", c"twincell_tasks")?;
        Ok::<_, PyErr>(module.getattr("awaited")?.unbind())
    })?;
    let arguments =
        call.arguments.iter().enumerate().map(|(at, argument)| match at < count && is_injected(&argument) {
            true => awaited.bind(py).call1((argument,)),
            false => Ok(argument),
        });
    PyTuple::new(py, arguments.collect::<PyResult<Vec<_>>>()?).map(Some)
}

/// How many arguments, the first ones, a callee awaits.
fn taken(callee: &Bound<'_, PyAny>) -> usize {
    let text = |attribute: &str| callee.getattr(attribute).ok()?.extract::<String>().ok();
    let count = match text("__name__").as_deref() {
        Some(GATHERING) => usize::MAX,
        Some(name) if TAKING.contains(&name) => 1,
        _ => return 0,
    };
    if text("__module__").is_some_and(|module| module.split('.').next() == Some("asyncio")) { count } else { 0 }
}
