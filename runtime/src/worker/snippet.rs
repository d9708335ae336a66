//! Runs a snippet behind a prefix as plain Python, in a process that does nothing else. `snippet.py` does the work.

use std::fs::File;
use std::os::fd::OwnedFd;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyTuple};

use twincell_engine::protocol::{End, Raise, Script, ScriptRun};

use crate::execution::code::PROJECT_PATH;
use crate::observe::console::Console;
use crate::worker::tree;

static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    const SOURCE: &std::ffi::CStr = pyo3::ffi::c_str!(include_str!("snippet.py"));
    let make = || PyModule::from_code(py, SOURCE, c"twincell_snippet.py", c"twincell_snippet").map(Bound::unbind);
    Ok(HELPERS.get_or_try_init(py, make)?.bind(py))
}

/// Loads what running a snippet needs, once for all forks of this process.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    helpers(py).map(drop)
}

/// Runs it. Its output goes nowhere.
pub(crate) fn run(py: Python<'_>, script: &Script) -> PyResult<ScriptRun> {
    if let Some(beside) = &script.beside {
        tree::show(&OwnedFd::from(File::open(&beside.folder)?))?;
        let arguments = (PROJECT_PATH, &beside.search, &beside.begin, &beside.files);
        helpers(py)?.getattr("lay_beside")?.call1(arguments)?;
    }
    let console = Console::catch(py)?;
    let ran = helpers(py)?.getattr("run")?.call1((&script.prefix, &script.snippet, script.steps));
    console.release()?;
    let (lines, completed, end): (Vec<u32>, Vec<u32>, Bound<'_, PyTuple>) = ran?.extract()?;
    let kind: String = end.get_item(0)?.extract()?;
    let end = match kind.as_str() {
        "whole" => End::Whole,
        "steps" => End::Steps,
        "time" => End::Time,
        "waits" => End::Waits,
        "unreadable" => {
            let (_, line, message): (String, u32, String) = end.extract()?;
            End::Unreadable { line, message }
        }
        _ => End::Raised(Box::new(Raise {
            begun: end.get_item(1)?.extract()?,
            class: end.get_item(2)?.extract()?,
            bases: end.get_item(3)?.extract()?,
            message: end.get_item(4)?.extract()?,
            name: end.get_item(5)?.extract()?,
            intended: end.get_item(6)?.extract()?,
            in_snippet: end.get_item(7)?.extract()?,
            line: end.get_item(8)?.extract()?,
            columns: end.get_item(9)?.extract()?,
        })),
    };
    Ok(ScriptRun { lines, completed, end })
}
