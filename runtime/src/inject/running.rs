//! What the running Python code does next: it unpacks a value, or discards one.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use crate::execution::code::FILE_NAME;

static OPERATIONS: PyOnceLock<Operations> = PyOnceLock::new();

/// The numbers of operations in the bytecode of this Python.
struct Operations {
    unpack_sequence: u8,
    unpack_extended: u8,
    discard: u8,
    /// Every operation that calls something.
    calls: Vec<u8>,
    /// The place of what Python remembers beside an operation. 3.10 has none.
    cache: Option<u8>,
}

/// The size of an operation with its argument.
const UNIT: usize = 2;

impl Operations {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        OPERATIONS.get_or_try_init(py, || {
            let opmap = py.import("opcode")?.getattr("opmap")?;
            let named: Vec<(String, u16)> =
                opmap.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?;
            let number = |name: &str| -> PyResult<u8> { opmap.get_item(name)?.extract() };
            let calls = named.iter().filter(|(name, _)| name.starts_with("CALL"));
            Ok(Self {
                unpack_sequence: number("UNPACK_SEQUENCE")?,
                unpack_extended: number("UNPACK_EX")?,
                discard: number("POP_TOP")?,
                calls: calls.filter_map(|(_, number)| u8::try_from(*number).ok()).collect(),
                cache: number("CACHE").ok(),
            })
        })
    }
}

/// The running Python code: its file, its bytecode, and the place in it.
fn running(py: Python<'_>) -> PyResult<(String, Bound<'_, PyBytes>, usize)> {
    let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
    let code = frame.getattr("f_code")?;
    let bytes = code.getattr("co_code")?.cast_into::<PyBytes>()?;
    Ok((code.getattr("co_filename")?.extract()?, bytes, frame.getattr("f_lasti")?.extract()?))
}

/// How many items the running Python code is about to unpack, if it is unpacking.
pub(crate) fn unpack_count(py: Python<'_>) -> Option<usize> {
    let operations = Operations::get(py).ok()?;
    let (_, code, last) = running(py).ok()?;
    let code = code.as_bytes();
    let (operation, argument) = (*code.get(last)?, usize::from(*code.get(last + 1)?));
    // UNPACK_EX keeps the number of targets before the star in its low byte. One more item feeds the star.
    let is_extended = operation == operations.unpack_extended;
    (operation == operations.unpack_sequence).then_some(argument).or_else(|| is_extended.then_some(argument + 1))
}

/// Whether the running Python code of the program makes a call, without hooks, whose value it discards.
pub(crate) fn discards_call(py: Python<'_>) -> bool {
    let discards = || {
        let operations = Operations::get(py).ok()?;
        let (file, code, last) = running(py).ok()?;
        let mut following = code.as_bytes().get(last..)?.iter().step_by(UNIT);
        let is_call = operations.calls.contains(following.next()?);
        let next = following.find(|operation| Some(**operation) != operations.cache)?;
        Some(is_call && *next == operations.discard && file == FILE_NAME)
    };
    discards().unwrap_or(false)
}
