//! Tasks of injected awaitables. A task runs a coroutine and refuses anything else that can be awaited, while an injected
//! object may stand for either.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyTuple};

use crate::calls::SiteCall;
use crate::execution::object::Versatile;

/// Functions of `asyncio` that take coroutines alone.
const TAKING: [&str; 2] = ["create_task", "run"];

const SOURCE: &std::ffi::CStr = c"
async def awaited(value):
    return await value
";

static AWAITED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The arguments of a call that makes a task, with a coroutine in place of an injected object. `None` for other calls.
pub(super) fn arguments<'py>(call: &SiteCall<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = call.py();
    let Ok(first) = call.arguments.get_item(0) else { return Ok(None) };
    if !first.is_instance_of::<Versatile>() || !takes_coroutines(call.callee) {
        return Ok(None);
    }
    let awaited = AWAITED.get_or_try_init(py, || {
        let module = PyModule::from_code(py, SOURCE, c"twincell/tasks.py", c"twincell_tasks")?;
        Ok::<_, PyErr>(module.getattr("awaited")?.unbind())
    })?;
    let coroutine = awaited.bind(py).call1((first,))?;
    let arguments: Vec<_> = std::iter::once(coroutine).chain(call.arguments.iter().skip(1)).collect();
    PyTuple::new(py, arguments).map(Some)
}

fn takes_coroutines(callee: &Bound<'_, PyAny>) -> bool {
    let text = |attribute: &str| callee.getattr(attribute).ok()?.extract::<String>().ok();
    text("__name__").is_some_and(|name| TAKING.contains(&name.as_str()))
        && text("__module__").is_some_and(|module| module.split('.').next() == Some("asyncio"))
}
