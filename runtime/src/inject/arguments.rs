//! Arguments for a function, injected by the names of its parameters.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use twincell_syntax::site::SiteKind;
use twincell_syntax::{Parameter, ParameterKind};
use twincell_values::drawing::PathKnowledge;
use twincell_values::path::{AccessPath, AccessPathBuf, Question};
use twincell_values::reading::Hint;
use twincell_values::value::{AbstractValue, Recipe};

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::exceptions;
use crate::inject::resolve::{self, ValueRequest};

/// The number of extra positional arguments for `*args`: 0 to 3.
const EXTRA_WEIGHTS: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
/// A key for `**kwargs` that the code does not know, and how often it is present.
const UNKNOWN_KEYWORD: &str = "extra";
const UNKNOWN_PROBABILITY: f64 = 0.2;
/// How often a keyword is given that the code looks up.
const LOOKED_UP_PROBABILITY: f64 = 0.5;
/// How often a keyword is given that the code hands on.
const PASSED_ON_PROBABILITY: f64 = 0.25;

/// The arguments for a function, injected by parameter name under `prefix`.
pub(crate) struct Arguments<'py> {
    positional: Vec<Bound<'py, PyAny>>,
    keywords: Bound<'py, PyDict>,
}

impl<'py> Arguments<'py> {
    /// `receiver` is the real class of `self` or `cls`, if the module has it.
    pub fn inject(py: Python<'py>, parameters: &[Parameter], receiver: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        // Callers of one version do not know a parameter that only the other has.
        let is_shared = |name: &str| state::with(|execution| execution.index.is_shared_parameter(name)).unwrap_or(true);
        Self::inject_as(py, parameters, receiver, &is_shared, &|name| canonical(name).into(), &BTreeMap::new())
    }

    /// Like [`Self::inject`], with `path` for the path of each parameter and `hints` for its uses.
    pub fn inject_as(
        py: Python<'py>,
        parameters: &[Parameter],
        receiver: Option<&Bound<'py, PyAny>>,
        is_shared: &dyn Fn(&str) -> bool,
        path_of: &dyn Fn(&str) -> AccessPathBuf,
        hints: &BTreeMap<String, Hint>,
    ) -> PyResult<Self> {
        let mut positional = Vec::new();
        let keywords = PyDict::new(py);
        let extra = parameters
            .iter()
            .find(|parameter| parameter.kind == ParameterKind::VarPositional)
            .map_or(0, |parameter| draw_number(Question::Positional(&parameter.name), &EXTRA_WEIGHTS));
        let mut by_keyword = false;
        for (index, parameter) in parameters.iter().enumerate() {
            let path = path_of(&parameter.name);
            let request = ValueRequest {
                kind: SiteKind::Name,
                identifier: &parameter.name,
                parameter: true,
                hint: hints.get(&parameter.name),
                ..ValueRequest::default()
            };
            match parameter.kind {
                ParameterKind::PositionalOnly | ParameterKind::Positional => {
                    if index == 0 && matches!(parameter.name.as_str(), "self" | "cls" | "mcs") {
                        positional.push(self_object(py, path.as_path(), receiver)?);
                        continue;
                    }
                    if parameter.has_default && !is_shared(path.as_str()) {
                        by_keyword = true;
                        if let Some(value) = collected(py, parameter, request)? {
                            keywords.set_item(&parameter.name, value)?;
                        }
                        continue;
                    }
                    let only = parameter.kind == ParameterKind::PositionalOnly;
                    if only && by_keyword {
                        // An earlier argument was left out, so this one cannot be passed.
                        continue;
                    }
                    let may_default = parameter.has_default && extra == 0;
                    match injected(py, path.as_path(), may_default, request)? {
                        None => by_keyword = true,
                        Some(value) if by_keyword => keywords.set_item(&parameter.name, value)?,
                        Some(value) => positional.push(value),
                    }
                }
                ParameterKind::VarPositional => {
                    for index in 0..extra {
                        let path = path.as_path().item(index);
                        positional.push(resolve::value(py, path.as_path(), &request)?.into_bound(py));
                    }
                }
                ParameterKind::KeywordOnly if parameter.has_default && !is_shared(path.as_str()) => {
                    if let Some(value) = collected(py, parameter, request)? {
                        keywords.set_item(&parameter.name, value)?;
                    }
                }
                ParameterKind::KeywordOnly => {
                    if let Some(value) = injected(py, path.as_path(), parameter.has_default, request)? {
                        keywords.set_item(&parameter.name, value)?;
                    }
                }
                ParameterKind::VarKeyword => {
                    for key in extra_keywords(path.as_path(), parameters) {
                        let path = path.as_path().keyword_item(&key);
                        keywords.set_item(key, resolve::value(py, path.as_path(), &request)?)?;
                    }
                }
            }
        }
        Ok(Self { positional, keywords })
    }

    pub fn call(&self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        function.call(PyTuple::new(function.py(), &self.positional)?, Some(&self.keywords))
    }
}

pub(crate) fn canonical(name: &str) -> String {
    state::with(|execution| execution.index.canonical(execution.version, name).to_string())
        .unwrap_or_else(|| name.to_string())
}

pub(crate) fn draw_number(question: Question<'_>, weights: &[f64]) -> i64 {
    state::with(|execution| execution.draw.number(&question.to_string(), weights)).unwrap_or(0)
}

/// One argument. `None` if the parameter's default applies.
fn injected<'py>(
    py: Python<'py>,
    path: AccessPath<'_>,
    may_default: bool,
    request: ValueRequest<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let found = resolve::optional(py, path, &ValueRequest { may_default, ..request })?;
    match found {
        Some(value) => Ok(Some(value.into_bound(py))),
        None if may_default => Ok(None),
        // The decision is the other version's default, and this version has none. A caller that omits the argument sees
        // this.
        None => {
            let error = PyTypeError::new_err(format!("missing a required argument: '{}'", request.identifier));
            exceptions::mark_intended(error.value(py).as_any());
            Err(error)
        }
    }
}

/// The argument for a parameter that another version looks up in its `**kwargs`, under the path that it has there.
/// `None` if the execution does not give it.
fn collected<'py>(
    py: Python<'py>,
    parameter: &Parameter,
    request: ValueRequest<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let by_keyword = matches!(parameter.kind, ParameterKind::Positional | ParameterKind::KeywordOnly);
    let path = state::with(|execution| {
        let collector = execution.index.collector(&parameter.name).filter(|_| by_keyword)?.to_owned();
        let question = Question::Keyword { name: &parameter.name, parameter: collector.as_str().into() }.to_string();
        let is_given = execution.draw.truth(&question, LOOKED_UP_PROBABILITY);
        is_given.then(|| AccessPath::from(&collector).keyword_item(&parameter.name))
    });
    let Some(path) = path.flatten() else { return Ok(None) };
    Ok(Some(resolve::value(py, path.as_path(), &request)?.into_bound(py)))
}

fn self_object<'py>(
    py: Python<'py>,
    path: AccessPath<'_>,
    receiver: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(real) = receiver else {
        return resolve::build(py, &Recipe::Mock(AbstractValue::Object), path).map(|value| value.into_bound(py));
    };
    let value = Py::new(py, MockObject::with_real(path, real.clone().unbind()))?.into_any();
    resolve::remember(py, path, &value);
    resolve::watch(py, path, &value);
    Ok(value.into_bound(py))
}

/// Names for `**kwargs`: those that somebody gave, those that the code looks up in it, each in half of the executions,
/// those that it hands on to what takes them, and seldom one that it does not know.
fn extra_keywords(path: AccessPath<'_>, parameters: &[Parameter]) -> Vec<String> {
    let is_free = |name: &str| parameters.iter().all(|parameter| parameter.name != name);
    state::with(|execution| {
        let index = execution.index.clone();
        let mut names: Vec<(String, f64)> = Vec::new();
        if let Some((_, uses)) = index.known(path) {
            for key in &uses.key_candidates {
                if let Recipe::Str(name) = key {
                    names.push((name.clone(), LOOKED_UP_PROBABILITY));
                }
            }
        }
        for name in execution.passed_on.get(path.as_str()).into_iter().flatten() {
            if names.iter().all(|(known, _)| known != name) {
                names.push((name.clone(), PASSED_ON_PROBABILITY));
            }
        }
        if names.iter().all(|(name, _)| name != UNKNOWN_KEYWORD) {
            names.push((UNKNOWN_KEYWORD.to_string(), UNKNOWN_PROBABILITY));
        }
        for given in execution.draw.given_paths() {
            if let Question::Keyword { name, parameter } = Question::parse(given)
                && parameter == path
                && names.iter().all(|(known, _)| known != name)
            {
                names.push((name.to_owned(), 0.0));
            }
        }
        names.retain(|(name, _)| is_free(name));
        let mut drawn = |(name, probability): (String, f64)| {
            let question = Question::Keyword { name: &name, parameter: path }.to_string();
            execution.draw.truth(&question, probability).then_some(name)
        };
        names.into_iter().filter_map(&mut drawn).collect()
    })
    .unwrap_or_default()
}
