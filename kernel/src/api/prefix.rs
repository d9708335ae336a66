//! `twincell.prefix`: what makes incomplete code run, as a Python object that notebooks can show.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use twincell_driver::files;
use twincell_driver::options::{Job, Options};
use twincell_driver::warm::Engine;
use twincell_prefix::{Continue, Prefixes, Subject, first_function_subject, function_subject};
use twincell_widgets::{
    NO_TEST, no_function, prefixes_fragment, prefixes_page, prefixes_pytest, prefixes_state, prefixes_text,
};

use super::comparison::show;
use super::errors::raised;
use super::options::{print_old_spellings, read_options};
use super::plain::{json, plain};
use super::prefix_study::{self, PyPrefixStudy, Wanted};
use super::signals::Signals;
use super::{environment, source};
use crate::magics::{self, MagicError, MagicLine, StudyOfPrefixes};

/// The prefixes of a snippet.
#[pyclass(frozen, name = "Prefixes", module = "twincell")]
pub struct PyPrefixes {
    snippet: String,
    prefixes: Prefixes,
}

/// Finds code that, put before a snippet, makes it run: imports and values for what it leaves undefined. `code` is source
/// text, a path (`os.PathLike`), a function or a class. A function is called. `function` names one of the text, which runs
/// with the definitions that it needs.
///
/// What it imports and opens of `folder` is real: the folder of the path, or the current one, unless another one is given.
///
/// The snippet runs in the sandbox. A signal ends the search, and then the result has what was found. Raises
/// `TwincellError` if the code is not Python or an option is wrong.
#[pyfunction]
#[pyo3(signature = (code, *, function = None, folder = None, **options))]
pub fn prefix(
    py: Python<'_>,
    code: &Bound<'_, PyAny>,
    function: Option<String>,
    folder: Option<PathBuf>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyPrefixes> {
    let subject = snippet(code, function)?;
    let code = match folder {
        Some(folder) => Subject { folder: Some(folder), ..subject },
        None => in_folder(subject),
    };
    found(py, code, &read_options(py, options, Job::Prefix)?)
}

/// What `%prefix` is to do: show prefixes or a study of them, put a text into a new cell, print a text, raise the interrupt
/// that stopped a study. All may be absent.
#[pyclass(frozen, get_all, module = "twincell._twincell")]
#[derive(Default)]
pub struct PrefixOutcome {
    prefixes: Option<Py<PyPrefixes>>,
    study: Option<Py<PyPrefixStudy>>,
    inserted: Option<String>,
    text: Option<String>,
    interrupt: Option<Py<PyAny>>,
}

/// `%prefix LINE` and `%%prefix LINE`. `named` looks up a name of the notebook, or returns it as a path.
#[pyfunction]
pub fn prefix_magic(
    py: Python<'_>,
    line: &str,
    cell: Option<&str>,
    named: &Bound<'_, PyAny>,
) -> PyResult<PrefixOutcome> {
    let request = match magics::read_prefix(line, cell.is_some()).map_err(raised)? {
        MagicLine::Run(request) => request,
        MagicLine::Help(help) => return Ok(PrefixOutcome { text: Some(help), ..PrefixOutcome::default() }),
    };
    print_old_spellings(py, &request.options)?;
    if let Some(StudyOfPrefixes { rows, html, fresh }) = request.study {
        let inputs = request.code.iter().map(|name| named.call1((name,))).collect::<PyResult<Vec<_>>>()?;
        let inputs = match <[_; 1]>::try_from(inputs) {
            Ok([one]) => one,
            Err(several) => several.into_pyobject(py)?,
        };
        let (snippets, title) = prefix_study::snippets(&inputs)?;
        let wanted = Wanted { snippets, title, options: request.options, out: Some(rows), html, fresh };
        let (study, interrupt) = prefix_study::run(py, wanted, None)?;
        let interrupt = interrupt.map(|interrupt| interrupt.into_value(py).into_any());
        return Ok(PrefixOutcome { study: Some(Py::new(py, study)?), interrupt, ..PrefixOutcome::default() });
    }
    let code = match (cell, request.function) {
        (Some(cell), _) if cell.trim().is_empty() => return Err(raised(MagicError::EmptyCell)),
        (Some(cell), Some(function)) => body(cell, "the cell", &function)?,
        // The magic is line 1 of the cell.
        (Some(cell), None) => Subject::from(format!("\n{cell}")),
        (None, function) => match request.code.as_slice() {
            [code] => snippet(&named.call1((code,))?, function)?,
            _ => return Err(raised(MagicError::ManyCodes)),
        },
    };
    let prefixes = found(py, in_folder(code), &request.options)?;
    if let Some(file) = &request.pytest {
        files::write_text(file, &prefixes.pytest()?, files::TextKind::Python).map_err(raised)?;
    }
    let before =
        std::env::current_dir().map_or_else(|_| String::new(), |folder| prefixes.prefixes.before_cell(&folder));
    let inserted = prefixes.best().map(|text| before + text).filter(|text| request.insert && !text.is_empty());
    Ok(PrefixOutcome { prefixes: Some(Py::new(py, prefixes)?), inserted, ..PrefixOutcome::default() })
}

/// The text that an object stands for, or one of its functions.
fn snippet(code: &Bound<'_, PyAny>, function: Option<String>) -> PyResult<Subject> {
    let read = source::read(code, "the code")?;
    // A function runs when it is called.
    let is_function = code.is_instance_of::<PyFunction>() || code.get_type().name()? == "method";
    let path = source::path(code)?;
    let subject = match function {
        Some(function) => body(&read.text, &read.label, &function)?,
        None if is_function => first_function_subject(&read.text).unwrap_or_else(|| Subject::from(read.text)),
        None => Subject::from(read.text),
    };
    let folder = path.as_deref().and_then(Path::parent).map(Path::to_owned);
    let file = path.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).map(str::to_owned);
    Ok(Subject { folder, file, ..subject })
}

fn body(text: &str, label: &str, function: &str) -> PyResult<Subject> {
    function_subject(text, function).ok_or_else(|| raised(no_function(label, text, function)))
}

/// A notebook, and most programs, import from the current folder, and a file from its own.
fn in_folder(subject: Subject) -> Subject {
    let folder = subject.folder.clone().or_else(|| std::env::current_dir().ok());
    Subject { folder, ..subject }
}

/// Searches prefixes. A signal ends that, and then what was found is the result.
pub fn found(py: Python<'_>, subject: Subject, options: &Options) -> PyResult<PyPrefixes> {
    let environment = environment::find(py)?;
    let prefixes = py.detach(|| {
        let engine = Engine::warm(options, &environment)?;
        engine.check_workers()?;
        let mut signals = Signals::new();
        let mut progress = |_| if signals.stop() { Continue::Stop } else { Continue::Yes };
        engine.prefixes(&subject, &options.for_prefix(), &mut progress)
    });
    Ok(PyPrefixes { snippet: subject.text, prefixes: prefixes.map_err(raised)? })
}

#[pymethods]
impl PyPrefixes {
    /// The share of lines that some prefix covers, 0 to 1.
    #[getter]
    fn coverage(&self) -> f64 {
        self.prefixes.coverage()
    }

    /// Why the language model was asked no more, in one line. `None` if nothing was wrong.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.prefixes.problem.as_deref()
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
        json(&self.prefixes)
    }

    /// A node of the tree with the snippet behind it, as one program; the best one unless a number is given.
    /// Raises `TwincellError` if the tree has no such node.
    #[pyo3(signature = (node = None))]
    fn program(&self, node: Option<i64>) -> PyResult<String> {
        let count = self.prefixes.nodes.len();
        let node = match node {
            None => self.prefixes.best.unwrap_or(0),
            Some(node) => usize::try_from(node).ok().filter(|node| *node < count).ok_or_else(|| {
                raised(format!("there is no node {node}: the tree has {count}, from 0 on, in to_dict()['nodes']"))
            })?,
        };
        Ok(self.prefixes.program(node, &self.snippet))
    }

    /// A pytest file with a fixture for each chosen prefix and a test that runs the code on it, which calls the function. It needs no twincell. Raises `TwincellError` if the code ends behind no prefix.
    fn pytest(&self) -> PyResult<String> {
        prefixes_pytest(&self.snippet, &self.prefixes).ok_or_else(|| raised(NO_TEST))
    }

    /// The same as a page of its own, with the tree in which the prefixes were found.
    #[pyo3(signature = (title = "Prefixes"))]
    fn to_html(&self, title: &str) -> String {
        prefixes_page(&self.snippet, &self.prefixes, title)
    }

    /// What the interactive view shows, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&prefixes_state(&self.snippet, &self.prefixes)).map_err(raised)
    }

    /// Shows the interactive view where there is a front end for it. Elsewhere IPython uses the MIME bundle.
    fn _ipython_display_(slf: &Bound<'_, Self>) -> PyResult<()> {
        show(slf)
    }

    /// The MIME bundle that Jupyter shows.
    #[pyo3(signature = (include = None, exclude = None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<Bound<'py, PyAny>>,
        exclude: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Jupyter filters the bundle itself.
        let _ = (include, exclude);
        plain(
            py,
            &serde_json::json!({
                "text/plain": self.__repr__(),
                "text/html": prefixes_fragment(&self.snippet, &self.prefixes),
            }),
        )
    }

    fn __repr__(&self) -> String {
        prefixes_text(&self.prefixes)
    }
}
