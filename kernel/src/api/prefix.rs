//! `twincell.prefix`: what makes incomplete code run, as a Python object that notebooks can show.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_driver::options::Job;
use twincell_driver::warm::Engine;
use twincell_prefix::{Continue, Prefixes};
use twincell_widgets::prefixes_text;

use super::errors::raised;
use super::options::read_options;
use super::plain::plain;
use super::signals::Signals;
use super::{environment, source};

/// The prefixes of a snippet.
#[pyclass(frozen, name = "Prefixes", module = "twincell")]
pub struct PyPrefixes {
    snippet: String,
    prefixes: Prefixes,
}

/// Finds code that, put before a snippet, makes it run: imports and values for what it leaves undefined. `code` is source
/// text, a path (`os.PathLike`), a function or a class.
///
/// The snippet runs in the sandbox. A signal ends the search, and then the result has what was found. Raises
/// `TwincellError` if the code is not Python or an option is wrong.
#[pyfunction]
#[pyo3(signature = (code, **options))]
pub fn prefix(py: Python<'_>, code: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<PyPrefixes> {
    let snippet = source::read(code, "the code")?.text;
    let options = read_options(py, options, Job::Prefix)?;
    let environment = environment::find(py)?;
    let prefixes = py.detach(|| {
        let engine = Engine::warm(&options, &environment)?;
        engine.check_workers()?;
        let mut signals = Signals::new();
        let mut progress = |_| if signals.stop() { Continue::Stop } else { Continue::Yes };
        engine.prefixes(&snippet, &options.for_prefix(), &mut progress)
    });
    Ok(PyPrefixes { snippet, prefixes: prefixes.map_err(raised)? })
}

#[pymethods]
impl PyPrefixes {
    /// The share of lines that some prefix covers, 0 to 1.
    #[getter]
    fn coverage(&self) -> f64 {
        self.prefixes.coverage()
    }

    /// The source of the prefix that covers most. `None` if none ran.
    #[getter]
    fn best(&self) -> Option<&str> {
        self.prefixes.best.map(|best| self.prefixes.nodes[best].text.as_str())
    }

    /// The sources of a smallest set of prefixes that together covers as much as all.
    #[getter]
    fn chosen(&self) -> Vec<&str> {
        self.prefixes.chosen.iter().map(|&number| self.prefixes.nodes[number].text.as_str()).collect()
    }

    /// All of the result as dictionaries and lists: the tree's `nodes`, `lines`, `covered`, `chosen`, `best`, `undefined`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.prefixes)
    }

    /// The same as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.prefixes).map_err(raised)
    }

    /// A node of the tree with the snippet behind it, as one program; the best one unless a number is given.
    #[pyo3(signature = (node = None))]
    fn program(&self, node: Option<usize>) -> String {
        let node = node.or(self.prefixes.best).unwrap_or(0);
        self.prefixes.program(node, &self.snippet)
    }

    fn __repr__(&self) -> String {
        prefixes_text(&self.prefixes)
    }
}
