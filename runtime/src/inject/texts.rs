//! The texts of injected objects: `str(x)`, `repr(x)`, `f'{x}'`, `'%s' % x`.
//!
//! An object's text is its access path, unless the code looks at the text. Then it is drawn, under its own path, so
//! that the search learns with what it is compared.

use pyo3::prelude::*;
use pyo3::types::PyString;

use twincell_values::drawing::PathKnowledge;
use twincell_values::path::{AccessPath, AccessPathBuf, Question};
use twincell_values::value::Recipe;

use crate::execution::state;
use crate::inject::resolve;

/// Which text of an object is asked for: `str(x)` or `repr(x)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Text,
    Representation,
}

impl TextKind {
    fn question(self, of: AccessPath<'_>) -> Question<'_> {
        match self {
            TextKind::Text => Question::Text(of),
            TextKind::Representation => Question::Representation(of),
        }
    }
}

/// The result of `kind` (`str` or `repr`) for the object of a path. `site` is that of the call, if the code makes one.
pub(crate) fn of<'py>(
    py: Python<'py>,
    kind: TextKind,
    path: AccessPath<'_>,
    site: Option<u32>,
) -> PyResult<Bound<'py, PyString>> {
    let default = match kind {
        TextKind::Text => path.to_string(),
        TextKind::Representation => format!("<{path}>"),
    };
    // The code goes on with the text, so its question is a path as well.
    let own = AccessPathBuf::from(kind.question(path).to_string()).bounded();
    let drawn = state::with(|execution| {
        if execution.loading {
            return None;
        }
        if let Some(known) = execution.run.values.get(own.as_str()) {
            return Some(Err(known.clone_ref(py)));
        }
        let index = execution.index.clone();
        let by_site = || index.uses_of(execution.version, site?);
        let uses = index.known(own.as_path()).map(|(_, uses)| uses).or_else(by_site)?;
        let text = execution.draw.text(&index.pools, &*index, own.as_str(), &default, uses);
        Some(Ok(text))
    });
    match drawn.flatten() {
        None => Ok(PyString::new(py, &default)),
        Some(Ok(text)) if text == default => Ok(PyString::new(py, &default)),
        Some(Ok(text)) => {
            Ok(resolve::build(py, &Recipe::Str(text), own.as_path())?.into_bound(py).cast_into::<PyString>()?)
        }
        Some(Err(known)) => match known.into_bound(py).cast_into::<PyString>() {
            Ok(text) => Ok(text),
            Err(_) => Ok(PyString::new(py, &default)),
        },
    }
}
