//! The number of items that the running code is about to unpack.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

static UNPACKING: PyOnceLock<(u8, u8)> = PyOnceLock::new();

/// How many items the running Python code is about to unpack, if it is unpacking.
pub(crate) fn unpack_count(py: Python<'_>) -> Option<usize> {
    let (sequence, extended) = *UNPACKING
        .get_or_try_init(py, || -> PyResult<(u8, u8)> {
            let opmap = py.import("opcode")?.getattr("opmap")?;
            Ok((opmap.get_item("UNPACK_SEQUENCE")?.extract()?, opmap.get_item("UNPACK_EX")?.extract()?))
        })
        .ok()?;
    let frame = py.import("sys").ok()?.call_method1("_getframe", (0,)).ok()?;
    let last: usize = frame.getattr("f_lasti").ok()?.extract().ok()?;
    let code = frame.getattr("f_code").ok()?.getattr("co_code").ok()?;
    let code = code.cast::<PyBytes>().ok()?.as_bytes();
    let (operation, argument) = (*code.get(last)?, usize::from(*code.get(last + 1)?));
    // UNPACK_EX keeps the number of targets before the star in its low byte. One more item feeds the star.
    (operation == sequence).then_some(argument).or_else(|| (operation == extended).then_some(argument + 1))
}
