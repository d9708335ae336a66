//! Calls in the code under comparison: of missing code ([`missing`]), of existing code ([`real`]), and of builtins that
//! must know about injected values.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use twincell_values::path::AccessPath;
use twincell_values::value::Declared;

mod builtins;
mod conversions;
mod drawing;
mod files;
mod implied;
mod missing;
mod queries;
pub(crate) mod real;
pub(crate) mod supers;
mod tasks;

/// A call of something missing, known by its access path.
#[derive(Clone, Copy)]
pub(crate) struct MissingCall<'a, 'py> {
    pub callee: AccessPath<'a>,
    /// Number of the site, when instrumented code calls.
    pub site: Option<u32>,
    pub arguments: &'a Bound<'py, PyTuple>,
    pub keywords: Option<&'a Bound<'py, PyDict>>,
    /// The call is part of the behavior. It is not where its value stands in for that of a real call without effects.
    pub recorded: bool,
    /// What the function declares that it gives.
    pub declared: Option<&'a Declared>,
}

/// A call in instrumented code.
#[derive(Clone, Copy)]
pub(crate) struct SiteCall<'a, 'py> {
    /// Number of the site.
    pub site: u32,
    pub callee: &'a Bound<'py, PyAny>,
    pub arguments: &'a Bound<'py, PyTuple>,
    pub keywords: Option<&'a Bound<'py, PyDict>>,
}

impl<'a, 'py> SiteCall<'a, 'py> {
    fn py(&self) -> Python<'py> {
        self.callee.py()
    }

    fn has_keywords(&self) -> bool {
        self.keywords.is_some_and(|keywords| !keywords.is_empty())
    }

    /// The same call, of something missing.
    fn of_missing<'b>(&self, callee: AccessPath<'b>) -> MissingCall<'b, 'py>
    where
        'a: 'b,
    {
        let Self { site, arguments, keywords, .. } = *self;
        MissingCall { callee, site: Some(site), arguments, keywords, recorded: true, declared: None }
    }
}
