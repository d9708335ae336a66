//! `%slice`, `%blame` and `%impact`: questions about histories and changes from a notebook.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use twincell_driver::files;
use twincell_driver::impact::ImpactVersions;
use twincell_driver::slice::{check_branch, check_patches, slice_options};
use twincell_syntax::{PerSide, Side};
use twincell_widgets::plain_sentence;

use super::blame::blamed;
use super::errors::raised;
use super::impact::impacted;
use super::options::print_old_spellings;
use super::slice::sliced;
use crate::magics::{self, MagicLine};

/// What `%slice`, `%blame` or `%impact` is to do: show the result, print a text, raise the interrupt that stopped the search. All may be
/// absent.
#[pyclass(frozen, get_all, module = "twincell._twincell")]
#[derive(Default)]
pub struct HistoryOutcome {
    result: Option<Py<PyAny>>,
    text: Option<String>,
    interrupt: Option<Py<PyAny>>,
}

impl HistoryOutcome {
    fn help(text: String) -> Self {
        Self { text: Some(text), ..Self::default() }
    }

    fn of(py: Python<'_>, result: Py<PyAny>, text: Option<String>, interrupt: Option<PyErr>) -> Self {
        Self { result: Some(result), text, interrupt: interrupt.map(|error| error.into_value(py).into_any()) }
    }
}

/// `%slice LINE`.
#[pyfunction]
pub fn slice_magic(py: Python<'_>, line: &str) -> PyResult<HistoryOutcome> {
    let asked = match magics::read_slice(line).map_err(raised)? {
        MagicLine::Help(text) => return Ok(HistoryOutcome::help(text)),
        MagicLine::Run(asked) => asked,
    };
    let options = slice_options(&asked.given).map_err(raised)?;
    if let Some(name) = &asked.branch {
        check_branch(&asked.request, name).map_err(raised)?;
    }
    if let Some(folder) = &asked.patches {
        check_patches(folder).map_err(raised)?;
    }
    if let Some(file) = &asked.html {
        files::check_writable(file).map_err(raised)?;
    }
    let (found, interrupt) = sliced(py, asked.request, &options, None)?;
    let mut said = Vec::new();
    // What cannot be written is said beside the result, which took long.
    let mut say = |done: PyResult<Option<String>>| {
        said.extend(done.unwrap_or_else(|error| Some(plain_sentence(&error.value(py).to_string()))));
    };
    if let Some(folder) = &asked.patches {
        let wrote = |files: Vec<PathBuf>| Some(format!("wrote {} patches to {}", files.len(), folder.display()));
        say(found.patches(folder).map(wrote));
    }
    if let Some(name) = &asked.branch {
        let made = |commits: Vec<String>| Some(found.branch_text(name, &commits).trim_end().to_owned());
        say(found.branch(name).map(made));
    }
    if let Some(file) = &asked.html {
        let written = files::write_text(file, &found.page(None), files::TextKind::Markup);
        say(written.map(|()| None).map_err(raised));
    }
    let text = (!said.is_empty()).then(|| said.join("\n"));
    Ok(HistoryOutcome::of(py, Py::new(py, found)?.into_any(), text, interrupt))
}

/// `%blame LINE`.
#[pyfunction]
pub fn blame_magic(py: Python<'_>, line: &str) -> PyResult<HistoryOutcome> {
    let asked = match magics::read_blame(line).map_err(raised)? {
        MagicLine::Help(text) => return Ok(HistoryOutcome::help(text)),
        MagicLine::Run(asked) => asked,
    };
    print_old_spellings(py, &asked.options)?;
    if let Some(file) = &asked.html {
        files::check_writable(file).map_err(raised)?;
    }
    let (found, interrupt) = blamed(py, &asked.request, &asked.options, None)?;
    if let Some(file) = &asked.html {
        files::write_text(file, &found.page(None), files::TextKind::Markup).map_err(raised)?;
    }
    Ok(HistoryOutcome::of(py, Py::new(py, found)?.into_any(), None, interrupt))
}

/// `%impact LINE`. The line may name stored versions of the notebook.
#[pyfunction]
pub fn impact_magic(py: Python<'_>, line: &str, versions: BTreeMap<String, String>) -> PyResult<HistoryOutcome> {
    let asked = match magics::read_impact(line).map_err(raised)? {
        MagicLine::Help(text) => return Ok(HistoryOutcome::help(text)),
        MagicLine::Run(asked) => asked,
    };
    print_old_spellings(py, &asked.options)?;
    if let Some(file) = &asked.html {
        files::check_writable(file).map_err(raised)?;
    }
    let (found, interrupt) = impacted(py, &stored(asked.versions, &versions), &asked.options)?;
    if let Some(file) = &asked.html {
        files::write_text(file, &found.page(None), files::TextKind::Markup).map_err(raised)?;
    }
    Ok(HistoryOutcome::of(py, Py::new(py, found)?.into_any(), None, interrupt))
}

/// The texts of stored versions, where a line names two of them.
fn stored(asked: ImpactVersions, versions: &BTreeMap<String, String>) -> ImpactVersions {
    let ImpactVersions::Paths(paths) = &asked else { return asked };
    let text = |path: &Path| {
        let name = path.to_str()?;
        Some((format!("the version {name}"), versions.get(name)?.clone()))
    };
    match Side::BOTH.map(|side| text(&paths[side])) {
        [Some(old), Some(new)] => ImpactVersions::Texts(PerSide::new(old, new)),
        _ => asked,
    }
}
