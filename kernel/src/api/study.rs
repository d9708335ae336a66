//! `twincell.load_study`: the results of `twincell study` as a Python object that shows itself.

use std::path::PathBuf;

use pyo3::prelude::*;
use twincell_widgets::{StudyState, study_page};

use super::changes::changes_of;
use super::comparison::{plain, show};
use super::raised;
use crate::study::change::Changes;
use crate::study::job::read_all;
use crate::study::page::{Kept, study_state};

/// What a study found.
#[pyclass(frozen, name = "Study", module = "twincell")]
pub struct PyStudy {
    state: StudyState,
}

/// Reads the results of `twincell study`. `changes` is what the study was made of, for the labels: a
/// file or a folder, a frame, or the rows.
///
/// Raises `TwincellError` when a file cannot be read or a line is no result.
#[pyfunction]
#[pyo3(signature = (results, changes = None))]
pub fn load_study(results: PathBuf, changes: Option<&Bound<'_, PyAny>>) -> PyResult<PyStudy> {
    let mut of_changes = changes.map(changes_of).transpose()?;
    let given = changes.and_then(|changes| changes.extract::<PathBuf>().ok());
    let title = format!("Study of {}", given.as_ref().unwrap_or(&results).display());
    let of_changes = of_changes.as_mut().map(|changes| &mut **changes as &mut dyn Changes);
    let state = study_state(title, of_changes, read_all(&results).map_err(raised)?, &Kept::default());
    let state = state.map_err(raised)?;
    Ok(PyStudy { state })
}

#[pymethods]
impl PyStudy {
    fn __len__(&self) -> usize {
        self.state.rows.len()
    }

    /// One dictionary for each change.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.state.rows)
    }

    /// The study as an HTML page of its own.
    fn to_html(&self) -> String {
        study_page(&self.state, &self.state.title)
    }

    /// What the interactive view shows, as JSON.
    fn _state(&self) -> PyResult<String> {
        serde_json::to_string(&self.state).map_err(raised)
    }

    /// Shows the interactive view where there is a front end for it; IPython takes the MIME bundle elsewhere.
    fn _ipython_display_(slf: &Bound<'_, Self>) -> PyResult<()> {
        show(slf)
    }

    /// What Jupyter shows.
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
                "text/html": twincell_widgets::study_fragment(&self.state),
            }),
        )
    }

    fn __repr__(&self) -> String {
        format!("{}: {} changes", self.state.title, self.state.rows.len())
    }
}
