//! Questions about an injected object in code that is not instrumented: helpers of the module, and other modules of the
//! project. `isinstance(x, C)`, `inspect.isfunction(x)` and the like have the same answer there as in the code under
//! comparison, so that it does not matter where a version asks.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

use twincell_values::path::AccessPath;

use crate::execution::code;
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::reflection::{self, PRESENT_PROBABILITY};

/// Real ones know only real things, while an injected object may stand for anything. Libraries go on to ask the real
/// ones. Modules of the standard library reach their own names, which stay as they are, except for those of `inspect`.
const SOURCE: &std::ffi::CStr = cr"
import asyncio, functools, inspect, sys

def asks(original, is_injected, told):
    @functools.wraps(original)
    def question(*arguments, **keywords):
        if len(arguments) == 1 and not keywords and is_injected(arguments[0]):
            answer = told(original, arguments[0], sys._getframe(1).f_code.co_filename)
            if answer is not None:
                return answer
        return original(*arguments, **keywords)
    return question

def prepare(is_injected, is_question, told):
    for module in inspect, asyncio:
        for name, value in list(vars(module).items()):
            if is_question(value):
                setattr(module, name, asks(value, is_injected, told))
";

/// Makes these functions ask.
pub(super) fn prepare(py: Python<'_>) -> PyResult<()> {
    let module = PyModule::from_code(py, SOURCE, c"twincell_questions.py", c"twincell_questions")?;
    let hooks = (
        wrap_pyfunction!(is_injected, &module)?,
        wrap_pyfunction!(is_question, &module)?,
        wrap_pyfunction!(told, &module)?,
    );
    module.getattr("prepare")?.call1(hooks).map(drop)
}

/// Puts `isinstance` into the builtins of the code under comparison.
pub(super) fn install(builtins: &Bound<'_, PyDict>) -> PyResult<()> {
    builtins.set_item("isinstance", wrap_pyfunction!(isinstance, builtins.py())?)
}

#[pyfunction]
#[pyo3(signature = (object, class_or_tuple, /))]
fn isinstance(object: &Bound<'_, PyAny>, class_or_tuple: &Bound<'_, PyAny>) -> PyResult<bool> {
    match object.cast_exact::<MockObject>() {
        Ok(value) if state::with(|execution| execution.loading) == Some(false) => {
            reflection::is_instance(value, class_or_tuple)
        }
        _ => object.is_instance(class_or_tuple),
    }
}

#[pyfunction]
fn is_injected(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<MockObject>()
}

#[pyfunction]
fn is_question(function: &Bound<'_, PyAny>) -> bool {
    name(function).is_some()
}

/// The answer to code in this file. None if Python answers.
#[pyfunction]
fn told(original: &Bound<'_, PyAny>, value: &Bound<'_, MockObject>, file: &str) -> Option<bool> {
    let is_loading = state::with(|execution| execution.loading) != Some(false);
    let is_ours = matches!(file, code::FILE_NAME | code::FUNCTION_FILE_NAME) || code::is_file_of_project(file);
    if is_loading || !is_ours { None } else { kind(original, value) }
}

/// The name of a function that asks for the kind of its argument (`inspect.isfunction`).
fn name(function: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = function.getattr("__name__").ok()?.extract().ok()?;
    let module: String = function.getattr("__module__").ok()?.extract().ok()?;
    let asks =
        name.starts_with("is") && matches!(module.as_str(), "inspect" | "asyncio.coroutines" | "asyncio.futures");
    asks.then(|| format!("{module}.{name}"))
}

/// The answer of such a function for an injected object. `None` for every other function.
pub(crate) fn kind(function: &Bound<'_, PyAny>, value: &Bound<'_, MockObject>) -> Option<bool> {
    let path = AccessPath::from(&name(function)?).call(value.get().path());
    let answer = state::with(|execution| execution.loading || execution.draw.truth(path.as_str(), PRESENT_PROBABILITY));
    Some(answer.unwrap_or(false))
}
