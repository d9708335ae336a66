//! `twincell.prefix_study`: prefixes for many snippets, as a Python object that behaves like a frame and that notebooks can
//! show.

use std::collections::HashMap;
use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyString};
use twincell_driver::files;
use twincell_driver::options::{Job, Options};
use twincell_prefix::Subject;
use twincell_study::prefixes::{self, PrefixRow, PrefixStudy, figures, read_snippets};
use twincell_study::snippet::Snippet;
use twincell_widgets::{prefix_study_fragment, prefix_study_page, prefix_study_text};

use super::display::{Display, study_line};
use super::errors::{call_python, raised};
use super::options::read_options;
use super::plain::plain;
use super::prefix::{PyPrefixes, found};
use super::{environment, source};

/// The rows of a study of prefixes.
#[pyclass(frozen, name = "PrefixStudy", module = "twincell")]
pub struct PyPrefixStudy {
    title: String,
    rows: Vec<PrefixRow>,
    /// The texts by id, and the options, if they are known.
    origin: Option<(HashMap<String, String>, Options)>,
}

/// What a study searches: where the snippets come from, where the rows and the page go.
pub struct Wanted {
    pub snippets: Vec<Snippet>,
    pub title: String,
    pub options: Options,
    pub out: Option<PathBuf>,
    pub html: Option<PathBuf>,
    pub fresh: bool,
}

/// Searches prefixes for many snippets; returns a `PrefixStudy`.
///
/// `inputs` is a folder of `.py` files, such a file, or an iterable: of paths, or of dictionaries with `code` (and `id`,
/// `folder`). Rows go to the file `out` (`.jsonl`) as they come. Snippets that have a row there are not searched again;
/// `fresh=True` discards these rows. `html` is a page to write. `progress` is called with the number of snippets done, their
/// total and a line for people; `False` shows nothing. An interrupt ends the study. What it found is then in `out`, and the
/// same call resumes it. Raises `TwincellError` if an option, the input or the output is wrong.
#[pyfunction]
#[pyo3(signature = (inputs, *, out = None, html = None, progress = None, fresh = false, **options))]
pub fn prefix_study(
    py: Python<'_>,
    inputs: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    html: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
    fresh: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyPrefixStudy> {
    let options = read_options(py, options, Job::Prefix)?;
    let (snippets, title) = snippets(inputs)?;
    let (study, interrupt) = run(py, Wanted { snippets, title, options, out, html, fresh }, progress)?;
    interrupt.map_or(Ok(study), Err)
}

/// Reads the rows of a study of prefixes: a `.jsonl` file. Raises `TwincellError` if it holds something else.
#[pyfunction]
pub fn load_prefix_study(rows: PathBuf) -> PyResult<PyPrefixStudy> {
    let title = format!("Prefixes in {}", rows.display());
    Ok(PyPrefixStudy { title, rows: prefixes::read(&rows).map_err(raised)?, origin: None })
}

/// Runs a study. What was found, and the exception that ended it before it was done.
pub fn run(
    py: Python<'_>,
    wanted: Wanted,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyPrefixStudy, Option<PyErr>)> {
    let Wanted { snippets, title, options, out, html, fresh } = wanted;
    let environment = environment::find(py)?;
    let mut display = Display::new(py, progress)?;
    let texts = snippets.iter().map(|one| (one.id.clone(), one.text.clone())).collect();
    let study = PrefixStudy { snippets, options: options.clone(), out, fresh };
    let done = py.detach(|| prefixes::run(study, &environment, &mut |now| display.watch(study_line(now, "snippets"))));
    let interrupt = display.end(py, done.is_ok());
    let rows = match done {
        Ok(outcome) => {
            // An exception says it by itself.
            if outcome.interrupted && interrupt.is_none() {
                let warning = c"the study was stopped before its end";
                PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), warning, 2)?;
            }
            outcome.rows
        }
        // A signal may come before anything was found.
        Err(error) => return Err(interrupt.unwrap_or_else(|| raised(error))),
    };
    let study = PyPrefixStudy { title, rows, origin: Some((texts, options)) };
    if let Some(page) = html {
        files::write_text(&page, &study.to_html(), files::TextKind::Markup).map_err(raised)?;
    }
    Ok((study, interrupt))
}

/// The snippets that an object stands for, and a title for their study.
pub fn snippets(inputs: &Bound<'_, PyAny>) -> PyResult<(Vec<Snippet>, String)> {
    const WANTED: &str = "give a folder, paths, or dictionaries with code (and id, folder)";
    if let Some(path) = path(inputs)? {
        return Ok((
            read_snippets(std::slice::from_ref(&path)).map_err(raised)?,
            format!("Prefixes of {}", path.display()),
        ));
    }
    let kind = inputs.get_type().name()?;
    let items = inputs.try_iter().map_err(|_| raised(format!("inputs are of class {kind}: {WANTED}")))?;
    let (mut paths, mut snippets) = (Vec::new(), Vec::new());
    for (number, item) in (1_usize..).zip(items) {
        let item = item?;
        if let Some(path) = path(&item)? {
            paths.push(path);
        } else if let Ok(item) = item.cast::<PyDict>() {
            let text = |name: &str| item.get_item(name)?.map(|value| value.str()?.extract::<String>()).transpose();
            let code = text("code")?.ok_or_else(|| raised(format!("input {number} has no code: {WANTED}")))?;
            let id = text("id")?.unwrap_or_else(|| number.to_string());
            let folder = text("folder")?.unwrap_or_else(|| "snippets".to_owned());
            snippets.push(Snippet { id, folder, text: code, problem: None });
        } else {
            return Err(raised(format!("input {number} is of class {}: {WANTED}", item.get_type().name()?)));
        }
    }
    match (paths.as_slice(), snippets.is_empty()) {
        ([], true) => Err(raised(format!("there are no inputs: {WANTED}"))),
        ([], false) => Ok((snippets, format!("Prefixes of a {kind}"))),
        (paths, true) => {
            let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
            Ok((read_snippets(paths).map_err(raised)?, format!("Prefixes of {names}")))
        }
        _ => Err(raised("inputs are paths and dictionaries: give one or the other")),
    }
}

/// A path, as `os.PathLike` or a text.
fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() { object.extract().map(Some) } else { source::path(object) }
}

#[pymethods]
impl PyPrefixStudy {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.rows(py)?.try_iter()
    }

    fn __contains__(&self, id: &str) -> bool {
        self.rows.iter().any(|row| row.id == id)
    }

    fn __bool__(&self) -> bool {
        !self.rows.is_empty()
    }

    /// One dictionary for each snippet.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.rows)
    }

    /// The prefixes of the snippet with this id, searched again with the options of the study.
    fn __getitem__(&self, py: Python<'_>, id: &str) -> PyResult<PyPrefixes> {
        if !self.rows.iter().any(|row| row.id == id) {
            return Err(PyKeyError::new_err(format!("no snippet has the id {id}: `study.rows` lists all snippets")));
        }
        let Some((texts, options)) = &self.origin else {
            return Err(raised(
                "the texts of the snippets are not known: resume the study, \
                 `twincell.prefix_study(inputs, out=rows)`",
            ));
        };
        found(py, Subject::from(texts.get(id).cloned().unwrap_or_default()), options)
    }

    /// The figures of each folder, and of all if there are several, as dictionaries.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &figures(&self.rows))
    }

    /// A pandas `DataFrame`, one row for each snippet.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_python(slf.py(), "twincell._study", "to_pandas", (slf,))
    }

    /// A polars `DataFrame`, one row for each snippet.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_python(slf.py(), "twincell._study", "to_polars", (slf,))
    }

    /// A pyarrow `Table`, one row for each snippet.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_python(slf.py(), "twincell._study", "to_arrow", (slf,))
    }

    /// Arrow's interface for frames of any kind.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        super::tables::stream_of_batches(py, prefixes::batches(&self.rows).map_err(raised)?)
    }

    /// The tables and figures as a complete HTML page.
    fn to_html(&self) -> String {
        prefix_study_page(&figures(&self.rows), &self.title)
    }

    /// Writes the study to a file. Its ending selects a page (.html) or the rows (.jsonl).
    fn save(&self, path: PathBuf) -> PyResult<()> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => files::write_text(&path, &self.to_html(), files::TextKind::Markup).map_err(raised),
            Some("jsonl") => prefixes::write(&path, &self.rows).map_err(raised),
            _ => Err(raised(format!(
                "a study of prefixes is not written to {}: give a name that ends in .html or .jsonl",
                path.display()
            ))),
        }
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
        let html = prefix_study_fragment(&figures(&self.rows));
        plain(py, &serde_json::json!({ "text/plain": self.__repr__(), "text/html": html }))
    }

    fn __repr__(&self) -> String {
        prefix_study_text(&figures(&self.rows)).trim_end().to_owned()
    }
}
