//! `twincell.Study`: the results of a study, as a Python object that behaves like a frame and that notebooks can show.

mod difference;
mod open;
mod plot;
mod summary;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator};
use twincell_compare::notice::Notice;
use twincell_compare::verdict::Verdict;
use twincell_driver::files;
use twincell_driver::options::Job;
use twincell_study::change::shown;
use twincell_study::differences::differences;
use twincell_study::finding::Finding;
use twincell_study::page::{PageComparisons, study_state};
use twincell_study::{frame, store};
use twincell_widgets::{Notices, StudyState, notices_text, study_page};

use super::comparison::{PyComparison, show};
use super::errors::{call_python, raised};
use super::options::read_options;
use super::plain::{self, plain};

pub use difference::PyDifference;
pub use open::Origin;
pub use plot::{PyPlot, PyPlots};
pub use summary::PySummary;

/// The results of a study.
#[pyclass(frozen, name = "Study", module = "twincell")]
pub struct PyStudy {
    title: String,
    /// Its name beside another study.
    name: String,
    findings: Arc<Vec<Finding>>,
    /// What pages show of the comparisons.
    comparisons: Arc<PageComparisons>,
    /// The input, if it is known.
    origin: Option<Origin>,
    /// A sentence if it was stopped before its end.
    unfinished: Option<String>,
    /// What is to say beside the verdicts.
    notices: Vec<Notice>,
}

impl PyStudy {
    /// `name` names its results beside others: the file that they are in.
    pub fn new(
        title: String,
        name: String,
        findings: Vec<Finding>,
        comparisons: PageComparisons,
        origin: Option<Origin>,
    ) -> Self {
        let (findings, comparisons) = (Arc::new(findings), Arc::new(comparisons));
        Self { title, name, findings, comparisons, origin, unfinished: None, notices: vec![] }
    }

    /// The same, stopped before its end.
    pub fn with_unfinished(self, unfinished: Option<String>) -> Self {
        Self { unfinished, ..self }
    }

    /// The same, with what is to say beside its verdicts.
    pub fn with_notices(self, notices: Vec<Notice>) -> Self {
        Self { notices, ..self }
    }

    /// For views.
    fn state(&self, comparisons: &PageComparisons) -> StudyState {
        let (title, unfinished) = (self.title.clone(), self.unfinished.clone());
        study_state(title, unfinished, self.findings.to_vec(), comparisons, &self.notices)
    }
}

/// Reads the results of a study: a .jsonl, .parquet or .sqlite file. `changes` is the study's input (a file, a folder,
/// a frame or rows), which labels and `study[id]` need. The options are those of the study.
///
/// Raises `TwincellError` if a file cannot be read or holds something else.
#[pyfunction]
#[pyo3(signature = (results, changes = None, **options))]
pub fn load_study(
    py: Python<'_>,
    results: PathBuf,
    changes: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyStudy> {
    let options = read_options(py, options, Job::Study)?;
    let name = results.display().to_string();
    let given = changes.and_then(|changes| changes.extract::<PathBuf>().ok());
    let title = format!("Study of {}", given.as_ref().unwrap_or(&results).display());
    let mut findings = store::read_all(&results).map_err(raised)?;
    let origin = changes.map(|changes| Origin::of(changes, options)).transpose()?;
    if let Some(origin) = &origin {
        add_labels(&mut findings, origin).map_err(raised)?;
    }
    Ok(PyStudy::new(title, name, findings, PageComparisons::default(), origin))
}

/// Results of earlier versions have no labels. They get those of the changes with their ids.
fn add_labels(findings: &mut [Finding], origin: &Origin) -> Result<(), String> {
    let mut missing: HashMap<String, VecDeque<&mut Finding>> = HashMap::new();
    for finding in findings.iter_mut().filter(|finding| finding.label.is_none()) {
        missing.entry(shown(&finding.id)).or_default().push_back(finding);
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut changes = (origin.changes)()?;
    while let Some(row) = changes.next() {
        let row = match row {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            row => row.map_err(|error| format!("cannot read the rest of the changes: {}", files::reason(&error)))?,
        };
        if let Ok(change) = row
            && change.label.is_some()
            && let Some(finding) = missing.get_mut(&shown(&change.id)).and_then(VecDeque::pop_front)
        {
            finding.label = change.label;
        }
    }
    Ok(())
}

#[pymethods]
impl PyStudy {
    fn __len__(&self) -> usize {
        self.findings.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.rows(py)?.try_iter()
    }

    /// Whether the study has a change with this id.
    fn __contains__(&self, id: &Bound<'_, PyAny>) -> bool {
        plain::id(id).is_ok_and(|wanted| self.findings.iter().any(|one| open::is_called(&one.id, &wanted)))
    }

    fn __bool__(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Whether it was stopped before its end, so that it has only some of its changes.
    #[getter]
    fn stopped(&self) -> bool {
        self.unfinished.is_some()
    }

    /// One dictionary for each change.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.findings.as_ref())
    }

    /// The comparison of the change with this id, compared again with the options of the study.
    fn __getitem__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<PyComparison> {
        let wanted = plain::id(id)?;
        let mut places = self.findings.iter().enumerate().filter(|(_, one)| open::is_called(&one.id, &wanted));
        let Some((row, _)) = places.next() else {
            let place = wanted.as_u64().filter(|place| *place < self.findings.len() as u64);
            let place = place.map_or_else(String::new, |place| format!("; `study.comparison({place})` takes a place"));
            let error = format!("no change has the id {wanted}: `study.rows` lists all changes{place}");
            return Err(PyKeyError::new_err(error));
        };
        match places.count() {
            0 => self.comparison(py, row),
            more => Err(raised(format!(
                "the id {wanted} occurs {} times: `study.comparison({row})` opens the first of them, by its place",
                more + 1
            ))),
        }
    }

    /// The comparison of the change at this place, counted from 0, compared again with the options of the study.
    fn comparison(&self, py: Python<'_>, row: usize) -> PyResult<PyComparison> {
        let Some(finding) = self.findings.get(row) else {
            let count = self.findings.len();
            return Err(PyIndexError::new_err(format!("there is no row {row}: the study has {count}, counted from 0")));
        };
        let Some(origin) = &self.origin else {
            return Err(raised(
                "the texts of the changes are not known: give the input of the study, \
                 `twincell.load_study(results, changes)`",
            ));
        };
        let before = self.findings.iter().take(row).filter(|one| one.id == finding.id).count();
        origin.compare(py, finding, before)
    }

    /// The differences between two studies of the same changes: two runs, two models, two versions.
    fn diff(&self, other: &Self) -> PyDifference {
        let titles = [self.name.clone(), other.name.clone()];
        PyDifference::new(differences(titles, &self.findings, &other.findings))
    }

    /// The figures of the study.
    fn summary(&self) -> PyResult<PySummary> {
        PySummary::new(&self.findings)
    }

    /// The plots of the study: `study.plot.verdicts()` and so on.
    #[getter]
    fn plot(&self) -> PyPlots {
        PyPlots::new(self.state(&PageComparisons::default()))
    }

    /// A pandas `DataFrame`, one row for each change.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_python(slf.py(), "twincell._study", "to_pandas", (slf,))
    }

    /// A polars `DataFrame`, one row for each change.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call_python(slf.py(), "twincell._study", "to_polars", (slf,))
    }

    /// A pyarrow `Table`, one row for each change.
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
        super::tables::stream_of_batches(py, frame::batches(&self.findings).map_err(raised)?)
    }

    /// The study as a complete HTML page.
    fn to_html(&self) -> String {
        study_page(&self.state(&self.comparisons), &self.title)
    }

    /// Writes the study to a file. Its ending selects a page (.html) or the results (.jsonl, .parquet, .sqlite).
    fn save(&self, path: PathBuf) -> PyResult<()> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => files::write_text(&path, &self.to_html(), files::TextKind::Markup).map_err(raised),
            _ if store::format(&path).is_err() => Err(raised(format!(
                "a study is not written to {}: give a name that ends in .html, .jsonl, .sqlite or .parquet",
                path.display()
            ))),
            _ => {
                let mut file = store::open(&path, true).map_err(raised)?;
                for (index, finding) in self.findings.iter().enumerate() {
                    file.add(index + 1, finding).map_err(raised)?;
                }
                file.finish(true).map_err(raised)
            }
        }
    }

    /// The state of the interactive view, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&self.state(&self.comparisons)).map_err(raised)
    }

    /// The comparison that was kept of the change at this place, packed for the view. None if none was.
    fn _kept(&self, row: usize) -> Option<String> {
        let finding = self.findings.get(row)?;
        self.comparisons.of(finding).map(|text| text.to_string())
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
        let html = twincell_widgets::study_fragment(&self.state(&PageComparisons::default()));
        let text = self.__repr__() + "\n" + &notices_text(Notices { all: &self.notices, allows_changes: false });
        plain(py, &serde_json::json!({ "text/plain": text.trim_end(), "text/html": html }))
    }

    fn __repr__(&self) -> String {
        let count = self.findings.len();
        let verdicts = [Verdict::Changing, Verdict::LikelyPreserving, Verdict::Identical, Verdict::Inconclusive];
        let counted = verdicts.into_iter().filter_map(|verdict| {
            let count = self.findings.iter().filter(|finding| finding.verdict == verdict).count();
            (count > 0).then(|| format!("{count} {}", verdict.name()))
        });
        let counted = counted.collect::<Vec<_>>().join(", ");
        let counted = if counted.is_empty() { counted } else { format!(", {counted}") };
        let unfinished = self.unfinished.as_ref().map_or_else(String::new, |sentence| format!(". {sentence}"));
        format!("{}: {count} {}{counted}{unfinished}", self.title, if count == 1 { "change" } else { "changes" })
    }
}
