//! The magics' entry points: lines and cells in, comparisons out. [`crate::magics`] decides what they mean.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use twincell_compare::Source;
use twincell_driver::options::Options;
use twincell_driver::reproducers;
use twincell_study::job::{Order, transformed};
use twincell_study::outputs::Outputs;

use super::comparison::PyComparison;
use super::errors::raised;
use super::farm;
use super::notebook::{Notebook, bring};
use super::options::print_old_spellings;
use super::providers;
use super::run_study::{self, Given, given};
use super::study::PyStudy;
use super::watch::{Watched, watch};
use crate::magics::{self, AutocompareLine, MagicError, MagicLine, StudyLine, Wanted};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compare_cell, module)?)?;
    module.add_function(wrap_pyfunction!(compare_stored, module)?)?;
    module.add_function(wrap_pyfunction!(study_line, module)?)?;
    module.add_function(wrap_pyfunction!(version_name, module)?)?;
    module.add_function(wrap_pyfunction!(autocompare, module)?)?;
    module.add_class::<Autocompare>()?;
    module.add_class::<MagicOutcome>()?;
    module.add_function(wrap_pyfunction!(magic_flags, module)?)
}

/// What a magic is to do: show a comparison or a study, run code, print a text, raise the interrupt that stopped it.
/// All may be absent.
#[pyclass(frozen, get_all, module = "twincell._twincell")]
#[derive(Default)]
pub struct MagicOutcome {
    comparison: Option<Py<PyComparison>>,
    code: Option<String>,
    text: Option<String>,
    interrupt: Option<Py<PyAny>>,
    study: Option<Py<PyStudy>>,
}

impl MagicOutcome {
    fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    fn of(py: Python<'_>, watched: Watched, code: Option<String>, text: Option<String>) -> PyResult<Self> {
        Ok(Self {
            comparison: Some(Py::new(py, watched.comparison)?),
            // What was interrupted is not followed by anything.
            code: code.filter(|_| watched.interrupt.is_none()),
            text,
            interrupt: watched.interrupt.map(|interrupt| interrupt.into_value(py).into_any()),
            ..Self::default()
        })
    }
}

/// `%%compare LINE` over a cell. `last` is the content of the same notebook cell when it last ran. For `progress` see
/// [`watch`].
#[pyfunction]
#[pyo3(signature = (line, cell, last = None, progress = None, notebook = None))]
fn compare_cell(
    py: Python<'_>,
    line: &str,
    cell: &str,
    last: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
    notebook: Option<Notebook<'_>>,
) -> PyResult<MagicOutcome> {
    providers::of_libraries(py)?;
    let request = match magics::read_compare_cell(line).map_err(raised)? {
        MagicLine::Run(request) => request,
        MagicLine::Help(help) => return Ok(MagicOutcome::text(help)),
    };
    print_old_spellings(py, &request.options)?;
    let (old, new) = if request.with_last {
        if cell.trim().is_empty() {
            return Err(raised(MagicError::EmptyCell));
        }
        // The magic is line 1 of the cell.
        let new = format!("\n{cell}");
        let Some(last) = last else {
            return Ok(MagicOutcome { code: request.run.then_some(new), ..MagicOutcome::text(magics::FIRST_RUN) });
        };
        (magics::code_of(last), new)
    } else {
        magics::split(cell).map_err(raised)?
    };
    let code = request.run.then(|| new.clone());
    let mut old = source(old, if request.with_last { BEFORE } else { "the old version" });
    let mut new = source(new, "the new version");
    let given = bring(py, notebook.as_ref(), &request.wanted, &mut old, &mut new)?;
    let watched = watch(py, old, new, &request.options, given, progress)?;
    let written = write_reproducer(&watched.comparison, request.reproducer.as_deref())?;
    MagicOutcome::of(py, watched, code, written)
}

/// The name in errors for the text of a cell when it last ran.
const BEFORE: &str = "what the cell held before";

fn source(text: String, label: &str) -> Source {
    Source { text, label: label.to_owned(), ..Source::default() }
}

/// `%compare LINE` over the stored versions.
#[pyfunction]
#[pyo3(signature = (line, versions, progress = None, notebook = None))]
fn compare_stored(
    py: Python<'_>,
    line: &str,
    versions: BTreeMap<String, String>,
    progress: Option<&Bound<'_, PyAny>>,
    notebook: Option<Notebook<'_>>,
) -> PyResult<MagicOutcome> {
    providers::of_libraries(py)?;
    let request = match magics::read_compare_stored(line).map_err(raised)? {
        MagicLine::Run(request) => request,
        MagicLine::Help(help) => return Ok(MagicOutcome::text(help)),
    };
    print_old_spellings(py, &request.options)?;
    let version = |name: &String| match versions.get(name) {
        Some(text) => Ok(source(text.clone(), &format!("the version {name}"))),
        None => {
            let names: Vec<_> = versions.keys().map(String::as_str).collect();
            let known = match names.as_slice() {
                [] => format!("store it with %%version {name} at the top of a cell"),
                names => format!("there are: {}", names.join(", ")),
            };
            Err(raised(MagicError::UnknownVersion { name: name.clone(), known }))
        }
    };
    let (mut old, mut new) = (version(&request.old)?, version(&request.new)?);
    let given = bring(py, notebook.as_ref(), &request.wanted, &mut old, &mut new)?;
    let watched = watch(py, old, new, &request.options, given, progress)?;
    let written = write_reproducer(&watched.comparison, request.reproducer.as_deref())?;
    MagicOutcome::of(py, watched, None, written)
}

/// `%study LINE`. The line may name the variables in `objects`.
#[pyfunction]
fn study_line(py: Python<'_>, line: &str, objects: &Bound<'_, PyDict>) -> PyResult<MagicOutcome> {
    providers::of_libraries(py)?;
    let StudyLine { options, changes, transform, out, fresh, on, html, reproducers } =
        match magics::read_study(line).map_err(raised)? {
            MagicLine::Run(request) => request,
            MagicLine::Help(help) => return Ok(MagicOutcome::text(help)),
        };
    print_old_spellings(py, &options)?;
    let object = match changes.to_str() {
        Some(name) => objects.get_item(name)?,
        None => None,
    };
    if object.is_some() && changes.exists() {
        let name = changes.display();
        return Err(raised(format!("{name} is a variable and a file: write ./{name} for the file, or rename one")));
    }
    let Given { changes, name, path, origin } = match (object, transform) {
        (_, Some(command)) => {
            let (transformed, name) = transformed(&changes, &command).map_err(raised)?;
            Given { changes: transformed, name, path: None, origin: None }
        }
        (Some(object), None) => given(&object, &options)?,
        (None, None) => given(changes.into_pyobject(py)?.as_any(), &options)?,
    };
    let stopped = |error: Option<String>| error.map_or_else(|| PyKeyboardInterrupt::new_err(()), raised);
    let farm = on.map(|address| farm::at(&address, &options)).transpose().map_err(stopped)?;
    let outputs = Outputs { out, fresh, html, reproducers, details: false };
    let order = Order { changes, name, source: path, options, outputs, farm };
    let (study, interrupt) = run_study::run(py, order, origin, None)?;
    let interrupt = interrupt.map(|interrupt| interrupt.into_value(py).into_any());
    Ok(MagicOutcome { study: Some(Py::new(py, study)?), interrupt, ..MagicOutcome::default() })
}

/// Writes the reproducer where the user asked for it. Returns a message about it.
fn write_reproducer(comparison: &PyComparison, path: Option<&Path>) -> PyResult<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let lines = reproducers::write(comparison.report(), path).map_err(raised)?;
    Ok(Some(lines.join("\n")))
}

/// `%autocompare LINE`: whether it shall be on from now on (`None`: unchanged) and how to compare, or help to print.
#[pyfunction]
fn autocompare(py: Python<'_>, line: &str) -> PyResult<(Option<bool>, Option<Autocompare>, Option<String>)> {
    Ok(match magics::read_autocompare(line).map_err(raised)? {
        MagicLine::Run(AutocompareLine::On(on)) => {
            print_old_spellings(py, &on.0)?;
            (Some(true), Some(Autocompare { options: on.0, wanted: on.1 }), None)
        }
        MagicLine::Run(AutocompareLine::Off) => (Some(false), None, None),
        MagicLine::Run(AutocompareLine::Ask) => (None, None, None),
        MagicLine::Help(help) => (None, None, Some(help)),
    })
}

/// How `%autocompare` compares.
#[pyclass(frozen, module = "twincell._twincell")]
pub struct Autocompare {
    options: Options,
    wanted: Wanted,
}

#[pymethods]
impl Autocompare {
    /// Compares the earlier and the present content of a cell.
    #[pyo3(signature = (old, new, progress = None, notebook = None))]
    fn compare(
        &self,
        py: Python<'_>,
        old: String,
        new: String,
        progress: Option<&Bound<'_, PyAny>>,
        notebook: Option<Notebook<'_>>,
    ) -> PyResult<MagicOutcome> {
        let (mut old, mut new) = (source(old, BEFORE), source(new, "the cell"));
        let given = bring(py, notebook.as_ref(), &self.wanted, &mut old, &mut new)?;
        let watched = watch(py, old, new, &self.options, given, progress)?;
        MagicOutcome::of(py, watched, None, None)
    }
}

/// `%%version LINE`: the name to store the cell under, or help to print.
#[pyfunction]
fn version_name(line: &str, cell: &str) -> PyResult<(Option<String>, Option<String>)> {
    match magics::read_version_cell(line).map_err(raised)? {
        MagicLine::Run(_) if cell.trim().is_empty() => Err(raised(MagicError::EmptyCell)),
        MagicLine::Run(name) => Ok((Some(name), None)),
        MagicLine::Help(help) => Ok((None, Some(help))),
    }
}

/// The flags of a magic, such as `%%compare`.
#[pyfunction]
fn magic_flags(magic: &str) -> Vec<String> {
    magics::flags(magic)
}
