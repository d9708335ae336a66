//! Whose code it is: the names that the compared text and its module run under.

use pyo3::prelude::*;

/// `__name__` of the code under comparison.
pub(crate) const MODULE_NAME: &str = "twincell_module";

/// File name of a module's code objects; instrumented functions have [`FUNCTION_FILE_NAME`].
pub(crate) const FILE_NAME: &str = "<twincell module>";
pub(crate) const FUNCTION_FILE_NAME: &str = "<twincell>";

/// A function that the code under comparison defines itself.
pub(crate) fn is_own(function: &Bound<'_, PyAny>) -> bool {
    function.is_exact_instance_of::<pyo3::types::PyFunction>() && is_own_code(function, "__code__")
}

/// Is the code in this attribute the compared function's, or of a function within?
pub(crate) fn is_own_code(object: &Bound<'_, PyAny>, attribute: &str) -> bool {
    let file = || -> PyResult<String> { object.getattr(attribute)?.getattr("co_filename")?.extract() };
    file().is_ok_and(|file| file == FUNCTION_FILE_NAME)
}
