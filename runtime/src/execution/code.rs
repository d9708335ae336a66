//! Identifies whose code it is, by the names under which the compared text and its module run.

use pyo3::prelude::*;
use pyo3::types::PyType;

use twincell_engine::protocol::PROJECT_FOLDER;

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
        py.import("sys")?.getattr("modules")?.get_item(module)?.getattr("__file__")?.extract()
    };
    file().is_ok_and(|file| is_file_of_project(&file))
}

/// Whether a file is in the copy of the project.
pub(crate) fn is_file_of_project(file: &str) -> bool {
    file.starts_with(PROJECT_PATH)
}

/// A function that the code under comparison defines itself.
pub(crate) fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<pyo3::types::PyFunction>() && is_own_code(function, "__code__")
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
