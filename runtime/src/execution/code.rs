//! Identifies whose code it is, by the names under which the compared text and its module run.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyModule, PyType};

use twincell_engine::protocol::PROJECT_FOLDER;

use crate::execution::namespaces;

/// `__name__` of the code under comparison.
pub(crate) const MODULE_NAME: &str = "twincell_module";

/// The file name of a module's code objects. Instrumented functions have [`FUNCTION_FILE_NAME`].
pub(crate) const FILE_NAME: &str = "<twincell module>";
pub(crate) const FUNCTION_FILE_NAME: &str = "<twincell>";

/// The descriptor under which every version finds the copy of its own project, and the path of that copy.
pub(crate) const PROJECT: libc::c_int = 211;
pub(crate) const PROJECT_PATH: &str = PROJECT_FOLDER;

/// Whether a module with this name comes from the project of the running version.
pub(crate) fn is_of_project(py: Python<'_>, module: &str) -> bool {
    let file = || -> PyResult<String> {
        let module = py.import("sys")?.getattr("modules")?.get_item(module)?;
        // Looking in the namespace runs no `__getattr__`.
        module.cast::<PyModule>()?.dict().as_any().get_item("__file__")?.extract()
    };
    file().is_ok_and(|file| is_file_of_project(&file))
}

/// Whether a file is in the copy of the project.
pub(crate) fn is_file_of_project(file: &str) -> bool {
    file.starts_with(PROJECT_PATH)
}

/// Whether a callee is a function, method or class of the program: of the compared module or another one of its project.
pub(crate) fn is_of_program(callee: &Bound<'_, PyAny>) -> bool {
    let kind = callee.get_type();
    let is_method =
        kind.name().is_ok_and(|name| name == "method") && kind.module().is_ok_and(|module| module == "builtins");
    let function = if is_method { callee.getattr("__func__").ok() } else { None };
    program_name(function.as_ref().unwrap_or(callee)).is_some()
}

/// The name of a function or class of the program, with its module. `None` for other code. What a version changed is no
/// function that another version has.
pub(crate) fn program_name(object: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(class) = object.cast::<PyType>() {
        let (module, name) = namespaces::module_and_name(class)?;
        let is_it = module == MODULE_NAME || is_of_project(object.py(), &module);
        return is_it.then(|| format!("{module}:{name}"));
    }
    let function = object.cast_exact::<PyFunction>().ok()?;
    let text = |name: &str| function.getattr(name).and_then(|text| text.extract::<String>()).ok();
    let file: String = function.getattr("__code__").ok()?.getattr("co_filename").ok()?.extract().ok()?;
    let changed = match file.as_str() {
        FILE_NAME => "",
        FUNCTION_FILE_NAME => "changed ",
        _ => return None,
    };
    Some(format!("{changed}{}:{}", text("__module__")?, text("__qualname__")?))
}

/// A function that the code under comparison defines itself.
pub(crate) fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<PyFunction>() && is_own_code(function, "__code__")
}

/// CPython's flags of code that is a generator, a coroutine or both.
const GIVES_LATER: u32 = 0x20 | 0x80 | 0x100 | 0x200;

/// Whether calling a Python function gives a generator or a coroutine.
pub(crate) fn gives_later(function: &Bound<'_, PyAny>) -> bool {
    let flags = || -> PyResult<u32> { function.getattr("__code__")?.getattr("co_flags")?.extract() };
    flags().is_ok_and(|flags| flags & GIVES_LATER != 0)
}

/// Whether the code in this attribute belongs to the compared function or to a function within it.
pub(crate) fn is_own_code(object: &Bound<'_, PyAny>, attribute: &str) -> bool {
    let file = || -> PyResult<String> { object.getattr(attribute)?.getattr("co_filename")?.extract() };
    file().is_ok_and(|file| file == FUNCTION_FILE_NAME)
}

/// The qualified names of a class and its bases.
pub(crate) fn class_names(class: &Bound<'_, PyAny>) -> Vec<String> {
    let Ok(class) = class.cast::<PyType>() else { return Vec::new() };
    let named = |base: Bound<'_, PyAny>| Some(base.cast::<PyType>().ok()?.qualname().ok()?.to_string());
    class.mro().iter().filter_map(named).collect()
}

/// The globals of the Python code that called the hook.
pub(crate) fn callers_globals(py: Python<'_>) -> Option<Bound<'_, PyDict>> {
    // SAFETY: this thread holds the interpreter (`py`). The reference is borrowed from the running frame, or null if no
    // Python code runs.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, pyo3::ffi::PyEval_GetGlobals()) };
    globals?.cast_into::<PyDict>().ok()
}
