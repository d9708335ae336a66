//! `study[id]`: turns a row of a study into a comparison again.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde_json::Value;
use twincell_driver::files;
use twincell_driver::given::GivenValues;
use twincell_driver::options::Options;
use twincell_study::change::{Change, Reopen, shown};
use twincell_study::finding::Finding;
use twincell_study::kept::settle;
use twincell_study::key::Keys;

use crate::api::changes::changes_of;
use crate::api::comparison::PyComparison;
use crate::api::environment;
use crate::api::errors::raised;
use crate::api::transform::PyTransform;
use crate::api::watch::watch;

/// The input of a study.
pub struct Origin {
    pub changes: Reopen,
    /// The origin of the changes, for people.
    pub name: String,
    pub options: Options,
}

impl Origin {
    /// From an object that [`changes_of`] reads. Changes that can be read only once are held.
    pub fn of(changes: &Bound<'_, PyAny>, options: Options) -> PyResult<Self> {
        if let Ok(transform) = changes.cast::<PyTransform>() {
            let transform = transform.get();
            return Ok(Self { changes: transform.again(), name: transform.name.clone(), options });
        }
        let is_path = changes.is_instance_of::<PyString>() || changes.hasattr("__fspath__")?;
        let name = if is_path { changes.str()?.to_string() } else { "the given input".to_owned() };
        if changes.hasattr("__arrow_c_stream__")? && changes.hasattr("read_all")? {
            // A stream that is gone through once.
            return Self::of(&changes.call_method0("read_all")?, options);
        }
        let once = !is_path && !changes.hasattr("__arrow_c_stream__")? && changes.hasattr("__next__")?;
        let held = if once {
            PyList::new(changes.py(), changes.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any()
        } else {
            changes.clone()
        };
        // Found out now, and not when a row is opened.
        changes_of(&held)?;
        let held = held.unbind();
        let again = move || Python::attach(|py| changes_of(held.bind(py)).map_err(|error| error.value(py).to_string()));
        Ok(Self { changes: Box::new(again), name, options })
    }

    /// The comparison behind a row. `before` rows with the same id come before it.
    pub fn compare(&self, py: Python<'_>, finding: &Finding, before: usize) -> PyResult<PyComparison> {
        let mut change = self.find(finding, before).map_err(raised)?;
        settle(&mut change, &self.options.paths);
        let environment = environment::find(py)?;
        let keys = Keys::new(&self.options, &environment).map_err(raised)?;
        if finding.key.as_ref().is_some_and(|key| *key != keys.of_change(&change)) {
            let message = c"the study had other texts or options, or another model or version: this comparison may \
                differ from its row; give load_study the changes and the options that the study had";
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), message, 1)?;
        }
        let mut options = self.options.clone();
        let (old, new, for_core) = change.sources(&options.for_core());
        (options.function, options.budget) = (for_core.function, for_core.budget);
        let watched = watch(py, old, new, &options, GivenValues::default(), None)?;
        match watched.interrupt {
            Some(interrupt) => Err(interrupt),
            None => Ok(watched.comparison),
        }
    }

    fn find(&self, finding: &Finding, before: usize) -> Result<Change, String> {
        let id = shown(&finding.id);
        let mut changes = (self.changes)()?;
        let mut left = before;
        while let Some(row) = changes.next() {
            match row {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    return Err(format!("cannot read the rest of {}: {}", self.name, files::reason(&error)));
                }
                Ok(row) => {
                    let of = match &row {
                        Ok(change) => &change.id,
                        Err(none) => &none.id,
                    };
                    if shown(of) != id {
                        continue;
                    }
                    match (left, row) {
                        (0, Ok(change)) => return Ok(change),
                        (0, Err(none)) => return Err(format!("{id} is not a change: {}", none.reason())),
                        _ => left -= 1,
                    }
                }
            }
        }
        Err(format!("{} has no change {id}: give the input of the study", self.name))
    }
}

/// Whether an id matches, as it is or as its displayed text.
pub fn is_called(id: &Value, wanted: &Value) -> bool {
    id == wanted || wanted.as_str().is_some_and(|wanted| shown(id) == wanted)
}
