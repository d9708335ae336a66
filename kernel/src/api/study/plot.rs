//! `study.plot`: the plots of a study as Python objects.

use std::path::PathBuf;

use pyo3::prelude::*;
use twincell_driver::files;
use twincell_widgets::{Plot, StudyPlot, StudyState, study_plot};

use crate::api::errors::raised;

/// A plot. A notebook shows it as a drawing.
#[pyclass(frozen, name = "Plot", module = "twincell")]
pub struct PyPlot {
    plot: Plot,
}

impl PyPlot {
    pub fn of(plot: Plot) -> Self {
        Self { plot }
    }
}

#[pymethods]
impl PyPlot {
    #[getter]
    fn title(&self) -> &str {
        &self.plot.title
    }

    /// The content of the plot in a sentence.
    #[getter]
    fn description(&self) -> &str {
        &self.plot.description
    }

    /// The drawing as SVG.
    #[getter]
    fn svg(&self) -> &str {
        &self.plot.svg
    }

    /// Writes the drawing to a file, whose name ends in .svg.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        if path.extension().is_none_or(|ending| ending != "svg") {
            return Err(raised(format!("cannot save to {}: the name must end in .svg", path.display())));
        }
        files::write_text(&path, &self.plot.svg, files::TextKind::Markup).map_err(raised)
    }

    fn _repr_svg_(&self) -> &str {
        &self.plot.svg
    }

    fn __repr__(&self) -> String {
        format!("{}. {}", self.plot.title, self.plot.description)
    }
}

/// The plots of a study.
#[pyclass(frozen, name = "Plots", module = "twincell")]
pub struct PyPlots {
    study: StudyState,
}

impl PyPlots {
    pub fn new(study: StudyState) -> Self {
        Self { study }
    }

    fn draw(&self, which: StudyPlot) -> PyPlot {
        PyPlot::of(study_plot(&self.study, which))
    }
}

#[pymethods]
impl PyPlots {
    /// How many changes have which verdict.
    fn verdicts(&self) -> PyPlot {
        self.draw(StudyPlot::Verdicts)
    }

    /// Labels against verdicts.
    fn confusion(&self) -> PyPlot {
        self.draw(StudyPlot::Confusion)
    }

    /// Verdicts by the kind of change.
    fn kinds(&self) -> PyPlot {
        self.draw(StudyPlot::Kinds)
    }

    /// Verdicts by project.
    fn projects(&self) -> PyPlot {
        self.draw(StudyPlot::Projects)
    }

    /// Verdicts by the date of the commit.
    fn over_time(&self) -> PyPlot {
        self.draw(StudyPlot::OverTime)
    }

    /// Lines covered, over the changes that ran.
    fn coverage(&self) -> PyPlot {
        self.draw(StudyPlot::Coverage)
    }

    /// Executions until the verdict.
    fn executions(&self) -> PyPlot {
        self.draw(StudyPlot::Executions)
    }

    /// Executions until the first difference.
    fn until_difference(&self) -> PyPlot {
        self.draw(StudyPlot::UntilDifference)
    }

    /// Time of each change.
    fn time(&self) -> PyPlot {
        self.draw(StudyPlot::Time)
    }

    /// Lines covered, by the complexity of the new version.
    fn complexity(&self) -> PyPlot {
        self.draw(StudyPlot::Complexity)
    }

    fn __repr__(&self) -> String {
        let names: Vec<String> = StudyPlot::ALL.iter().map(|which| format!("{}()", which.name())).collect();
        format!("plots: {}", names.join(", "))
    }
}
