//! `twincell.study`: a study from Python, in this process or on an executor.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use twincell_driver::options::{Job, Options};
use twincell_study::change::Changes;
use twincell_study::farm::Farm;
use twincell_study::job::{Order, run_study};
use twincell_study::outputs::Outputs;
use twincell_study::store::read_all;

use super::changes::changes_of;
use super::display::{Display, study_line};
use super::errors::raised;
use super::farm::{PyFarm, options_as_json};
use super::options::read_options;
use super::study::{Origin, PyStudy};
use super::transform::PyTransform;
use super::{environment, source};

/// Compares many changes; returns a `Study`.
///
/// `changes` is the path of a file of changes, as on the command line, or an iterable. Its items are dictionaries with
/// `old` and `new` (and `id`, `label`, ...), or pairs of texts or functions. Results go to the file `out` (`.jsonl`,
/// `.sqlite`, `.parquet`) as they come. Changes that have a result there are not compared again; `fresh=True` discards
/// these results. `executor` is an executor of PEP 3148, such as `ProcessPoolExecutor()`, or a function that makes one;
/// without it this process compares on all cores. `html` is a page to write, `reproducers` a folder for tests.
/// `progress` is called with the number of changes done, their total (`None` if unknown) and a line for people, and stops
/// the study by returning `True`; `False` shows nothing. Raises `TwincellError` if an option, the input or the output is wrong.
#[pyfunction]
#[pyo3(signature = (changes, *, out = None, executor = None, html = None, reproducers = None, progress = None,
                    fresh = false, **options))]
#[allow(clippy::too_many_arguments)]
pub fn study(
    py: Python<'_>,
    changes: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    executor: Option<&Bound<'_, PyAny>>,
    html: Option<PathBuf>,
    reproducers: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
    fresh: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyStudy> {
    let read = read_options(py, options, Job::Study)?;
    let Given { changes, name, path, origin } = given(changes, &read)?;
    let farm = match executor {
        Some(executor) => {
            Some(Box::new(PyFarm::new(executor, &options_as_json(&read).map_err(raised)?)?) as Box<dyn Farm>)
        }
        None => None,
    };
    let outputs = Outputs { out, fresh, html, reproducers, details: false };
    let order = Order { changes, name, source: path, options: read, outputs, farm };
    let (study, interrupt) = run(py, order, origin, progress)?;
    interrupt.map_or(Ok(study), Err)
}

/// The given changes, and facts about them.
pub struct Given {
    pub changes: Box<dyn Changes>,
    /// For people.
    pub name: String,
    pub path: Option<PathBuf>,
    /// The source for reading a change again. None if it could be read only once.
    pub origin: Option<Origin>,
}

pub fn given(object: &Bound<'_, PyAny>, options: &Options) -> PyResult<Given> {
    let path = match object.cast::<PyString>() {
        Ok(text) => Some(text.extract()?),
        Err(_) => source::path(object)?,
    };
    let name = match (&path, object.cast::<PyTransform>()) {
        (Some(path), _) => path.display().to_string(),
        (None, Ok(transform)) => transform.get().name.clone(),
        (None, Err(_)) => format!("a {}", object.get_type().name()?),
    };
    let changes = changes_of(object)?;
    let is_transform = object.is_instance_of::<PyTransform>();
    let once = object.hasattr("__next__")? && !is_transform || path.as_deref() == Some(Path::new("-"));
    let origin = if once { None } else { Some(Origin::of(object, options.clone())?) };
    Ok(Given { changes, name, path, origin })
}

/// Runs a study. Returns what it found, and the exception that ended it if one did.
pub fn run(
    py: Python<'_>,
    order: Order,
    origin: Option<Origin>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyStudy, Option<PyErr>)> {
    let environment = environment::find(py)?;
    let mut display = Display::new(py, progress)?;
    let (out, name) = (order.outputs.out.clone(), order.name.clone());
    let done =
        py.detach(|| run_study(order, &environment, &mut |_| {}, &mut |now| display.watch(study_line(now, "changes"))));
    let interrupt = display.end(py, done.is_ok());
    let done = match done {
        Ok(done) => done,
        Err(error) => return Err(interrupt.unwrap_or_else(|| raised(error))),
    };
    let unfinished = done.outcome.unfinished();
    // An exception says it by itself.
    for warning in done.warnings.iter().chain(unfinished.as_ref().filter(|_| interrupt.is_none())) {
        let text = std::ffi::CString::new(warning.replace('\0', "")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &text, 2)?;
    }
    let rows = match &out {
        Some(out) => read_all(out).map_err(raised)?,
        None => done.rows.into_values().collect(),
    };
    let title = format!("Study of {name}");
    let called = out.map_or(name, |out| out.display().to_string());
    let study = PyStudy::new(title, called, rows, done.comparisons, origin);
    Ok((study.with_unfinished(unfinished).with_notices(done.notices), interrupt))
}
