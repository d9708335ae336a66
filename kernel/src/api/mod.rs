//! What Python sees: `compare`, `Comparison`, `TwincellError`, the command line and the magics' entry points.
//!
//! Only conversion between Python's objects and ours lives here. The interpreter is released while a comparison runs,
//! and asked for signals now and then, so that Ctrl-C stops the comparison.

mod amplify;
mod blame;
mod changes;
mod comparison;
mod display;
mod environment;
mod errors;
mod execute;
mod farm;
mod history;
mod impact;
mod magics;
mod mine;
mod notebook;
mod options;
mod plain;
mod predict;
mod prefix;
mod prefix_study;
mod providers;
mod replay;
mod run_study;
mod signals;
mod slice;
mod source;
mod study;
mod table_files;
mod tables;
mod transform;
mod watch;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use twincell_cli::{Output, Session};
use twincell_driver::options::{Job, TABLE};

use comparison::PyComparison;
use errors::TwincellError;
use options::read_options;
use signals::Signals;
use watch::watch;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TwincellError", module.py().get_type::<TwincellError>())?;
    module.add_class::<PyComparison>()?;
    tables::register(module)?;
    table_files::register(module)?;
    module.add_function(wrap_pyfunction!(environment::cache_folder, module)?)?;
    module.add_class::<study::PyStudy>()?;
    module.add_class::<study::PyDifference>()?;
    module.add_class::<study::PyPlot>()?;
    module.add_class::<study::PyPlots>()?;
    module.add_class::<study::PySummary>()?;
    module.add_class::<replay::Start>()?;
    module.add_function(wrap_pyfunction!(study::load_study, module)?)?;
    module.add_function(wrap_pyfunction!(run_study::study, module)?)?;
    module.add_function(wrap_pyfunction!(farm::study_fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(farm::compare_chunk, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(execute::execute, module)?)?;
    module.add_function(wrap_pyfunction!(providers::register, module)?)?;
    module.add_class::<mine::PyMine>()?;
    module.add_function(wrap_pyfunction!(mine::mine, module)?)?;
    module.add_class::<transform::PyTransform>()?;
    module.add_function(wrap_pyfunction!(transform::transform, module)?)?;
    module.add_class::<predict::PyPredictions>()?;
    module.add_class::<amplify::PyAmplification>()?;
    module.add_class::<amplify::AmplifyOutcome>()?;
    module.add_function(wrap_pyfunction!(amplify::amplify, module)?)?;
    module.add_class::<slice::PySlice>()?;
    module.add_function(wrap_pyfunction!(slice::slice, module)?)?;
    module.add_class::<blame::PyBlame>()?;
    module.add_function(wrap_pyfunction!(blame::blame, module)?)?;
    module.add_class::<impact::PyImpact>()?;
    module.add_function(wrap_pyfunction!(impact::impact, module)?)?;
    module.add_function(wrap_pyfunction!(impact::select_tests, module)?)?;
    module.add_class::<history::HistoryOutcome>()?;
    module.add_function(wrap_pyfunction!(history::slice_magic, module)?)?;
    module.add_function(wrap_pyfunction!(history::blame_magic, module)?)?;
    module.add_function(wrap_pyfunction!(history::impact_magic, module)?)?;
    module.add_class::<prefix::PyPrefixes>()?;
    module.add_class::<prefix_study::PyPrefixStudy>()?;
    module.add_class::<prefix::PrefixOutcome>()?;
    module.add_function(wrap_pyfunction!(prefix::prefix, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_study::prefix_study, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_study::load_prefix_study, module)?)?;
    module.add_function(wrap_pyfunction!(prefix::prefix_magic, module)?)?;
    module.add_function(wrap_pyfunction!(amplify::amplify_magic, module)?)?;
    module.add_function(wrap_pyfunction!(predict::predict, module)?)?;
    module.add_function(wrap_pyfunction!(predict::predict_magic, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(option_table, module)?)?;
    module.add_function(wrap_pyfunction!(widget_loader, module)?)?;
    module.add_function(wrap_pyfunction!(widget_module, module)?)?;
    module.py().import("atexit")?.call_method1("register", (wrap_pyfunction!(end, module)?,))?;
    magics::register(module)
}

/// Ends the workers when the interpreter ends.
#[pyfunction]
fn end(py: Python<'_>) {
    py.detach(twincell_driver::warm::end);
}

/// Compares two versions of Python code: did behavior change?
///
/// `old` and `new` are source text, paths (`os.PathLike`) or function objects. The options are those of the command
/// line, with underscores: `budget=100`, `raise_probability=0.2`. Raises `TwincellError` when the code or an option is
/// wrong.
///
/// `values` are values to inject: a dictionary from the names of parameters and globals. A copy of each goes into the
/// sandbox, as it is and varied. What cannot be pickled is left out, and the report says so.
#[pyfunction]
#[pyo3(signature = (old, new, *, values = None, **options))]
fn compare(
    py: Python<'_>,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    values: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyComparison> {
    let options = read_options(py, options, Job::Compare)?;
    let (old, new) = (source::read(old, "old")?, source::read(new, "new")?);
    let given = values.map(|values| notebook::given(py, values, [&old.text, &new.text])).transpose()?;
    let watched = watch(py, old, new, &options, given.unwrap_or_default(), None)?;
    match watched.interrupt {
        Some(interrupt) => Err(interrupt),
        None => Ok(watched.comparison),
    }
}

/// What the user shows long texts with; none if that is switched off.
fn pager() -> Option<String> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    (!matches!(pager.trim(), "" | "cat")).then_some(pager)
}

/// Runs the command `twincell` with these arguments, the program's name not among them; returns the exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<i32> {
    let environment = environment::find(py)?;
    Ok(py.detach(|| {
        let (out, err) = (io::stdout(), io::stderr());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let terminal = console::Term::stdout();
        let mut signals = Signals::new();
        let color = out.is_terminal() && !is_dumb && !no_color;
        let pager = (out.is_terminal() && !is_dumb).then(pager).flatten();
        let progress = err.is_terminal() && !is_dumb;
        let (mut out, mut err) = (io::BufWriter::new(out.lock()), err.lock());
        let (left, deaf) = (Cell::new(false), Cell::new(false));
        let mut session = Session {
            environment,
            color,
            width: terminal.size_checked().map_or(100, |(_, columns)| columns.into()),
            pager,
            progress,
            out: Output::new(&mut out, &left),
            err: Output::new(&mut err, &deaf),
            left: &left,
            interrupted: &mut || signals.stop(),
            farms: &farm::at,
        };
        twincell_cli::run(arguments, &mut session)
    }))
}

/// The source that anywidget loads with every view: a small ES module that finds the view's own module.
#[pyfunction]
fn widget_loader() -> &'static str {
    twincell_widgets::LOADER
}

/// The interactive view as the source of one ES module.
#[pyfunction]
fn widget_module() -> &'static str {
    twincell_widgets::MODULE
}

/// The options as dictionaries: `name`, `keyword`, `placeholder`, `allowed`, `techniques`, `default`, `absent`, `help`,
/// `jobs`. Old spellings are not among them.
#[pyfunction]
fn option_table(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = TABLE.iter().map(|spec| {
        let row = PyDict::new(py);
        row.set_item("name", spec.name)?;
        row.set_item("keyword", spec.keyword())?;
        row.set_item("placeholder", spec.kind.placeholder())?;
        row.set_item("allowed", spec.kind.allowed())?;
        row.set_item("techniques", spec.kind.techniques())?;
        row.set_item("default", (!spec.default.is_empty()).then_some(spec.default))?;
        row.set_item("absent", (!spec.absent.is_empty()).then_some(spec.absent))?;
        row.set_item("help", spec.help)?;
        row.set_item("jobs", spec.jobs.iter().map(|job| job.name()).collect::<Vec<_>>())?;
        Ok(row)
    });
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}
