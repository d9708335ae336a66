//! Supplies missing values by access path: the decision is drawn once for each execution, the value built once for each
//! version.

use std::borrow::Cow;

use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyNameError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyModule, PySet, PyString, PyTuple, PyType};

use twincell_engine::observed::Observed;
use twincell_engine::protocol::{INJECTED_MESSAGE, Injection};
use twincell_syntax::site::SiteKind;
use twincell_values::drawing::likelihood::class_probabilities;
use twincell_values::drawing::{Ask, PathKnowledge};
use twincell_values::path::{AccessPath, AccessPathBuf, environment_key};
use twincell_values::reading::{Hint, Uses};
use twincell_values::value::{AbstractValue, ConstructorCall, Decision, Declared, Recipe, library, within_module};

use crate::execution::given::Supplied;
use crate::execution::object::MockObject;
use crate::execution::prediction_index::Knowledge;
use crate::execution::state::{self, Execution};
use crate::execution::{code, namespaces};
use crate::inject::{environment, exceptions, given, names, project, provided, templates};
use crate::observe;

/// The exception with which a call fails where no handler names one.
const UNNAMED: &str = "RuntimeError";
/// How often a look-up raises an exception that the code catches, relative to every call that does.
const LOOK_UP_SHARE: f64 = 0.2;

/// Facts about the place that asks for a value.
pub(crate) struct ValueRequest<'a> {
    /// The number of the site, if instrumented code asks.
    pub site: Option<u32>,
    pub kind: SiteKind,
    /// The last identifier of the expression.
    pub identifier: &'a str,
    /// The access path of the callee, for a call.
    pub callee: AccessPath<'a>,
    /// Whether the exception types that `except` clauses around the site name may be raised.
    pub raises: bool,
    /// The exception that Python would raise. If the code catches it, the look-up may fail.
    pub failure: Option<&'static str>,
    /// The value is not used; only an exception matters.
    pub discarded: bool,
    /// A parameter, or another value that no site reads: its injection has no kind of site.
    pub parameter: bool,
    pub may_default: bool,
    /// It is a line of a file that is read as text.
    pub is_line: bool,
    /// The class of the object for which it stands.
    pub class: Option<AbstractValue>,
    /// What a signature declares about it, in addition to the sites.
    pub hint: Option<&'a Hint>,
    /// The type that it must have, if no annotation declares one.
    pub declared: Option<Declared>,
}

impl Default for ValueRequest<'_> {
    fn default() -> Self {
        Self {
            site: None,
            kind: SiteKind::Name,
            identifier: "",
            callee: "".into(),
            raises: false,
            failure: None,
            discarded: false,
            parameter: false,
            may_default: false,
            is_line: false,
            class: None,
            hint: None,
            declared: None,
        }
    }
}

/// What Python itself asks of an object by name: `dict(x)` and `**x` call its method `keys`, which gives texts.
pub(crate) fn of_protocol(name: &str, called: bool) -> Option<Declared> {
    let keys =
        Declared { items: Some(Box::new(Declared::of(&[AbstractValue::Str]))), ..Declared::of(&[AbstractValue::List]) };
    (name == "keys").then(|| if called { keys } else { Declared::of(&[AbstractValue::Callable]) })
}

/// What a method of this name gives by convention: moments write themselves as texts.
pub(crate) fn of_name(name: &str) -> Option<Declared> {
    matches!(name, "strftime" | "isoformat").then(|| Declared::of(&[AbstractValue::Str]))
}

/// The decision for a path.
enum Resolved {
    /// This version already has the value.
    Known(Py<PyAny>),
    Decided(Decision),
    /// Nothing runs, or a module is being evaluated.
    Outside,
}

/// The value of a path for the running version, or the exception that was decided.
pub(crate) fn value(py: Python<'_>, path: AccessPath<'_>, request: &ValueRequest<'_>) -> PyResult<Py<PyAny>> {
    match optional(py, path, request)? {
        Some(value) => Ok(value),
        None => Ok(py.None()),
    }
}

/// Like [`value`]. `None` if a parameter's default applies.
pub(crate) fn optional(
    py: Python<'_>,
    path: AccessPath<'_>,
    request: &ValueRequest<'_>,
) -> PyResult<Option<Py<PyAny>>> {
    let resolved = state::with(|execution| {
        if let Some(value) = execution.run.values.get(path.as_str()) {
            return Resolved::Known(value.clone_ref(py));
        }
        if execution.loading {
            return Resolved::Outside;
        }
        Resolved::Decided(decide(execution, path, request))
    })
    .unwrap_or(Resolved::Outside);
    match resolved {
        Resolved::Known(value) => Ok(Some(value)),
        Resolved::Outside => {
            let value = Py::new(py, MockObject::new(path))?.into_any();
            remember(py, path, &value);
            Ok(Some(value))
        }
        Resolved::Decided(Decision::Value(recipe)) => {
            let value = build(py, &recipe, path)?;
            if !is_told_apart(&recipe)
                && let Some(site) = request.site
            {
                state::with(|execution| {
                    let written = execution.index.path(execution.version, site).to_owned();
                    execution.run.shared.insert(written.to_string(), path.to_buf());
                });
            }
            Ok(Some(value))
        }
        Resolved::Decided(Decision::Same(other)) => same(py, path, &other).map(Some),
        Resolved::Decided(Decision::Default) => Ok(None),
        Resolved::Decided(Decision::Fail) => Err(failure(py, path, request)),
        Resolved::Decided(Decision::Raise(name)) => Err(raise(py, &name)),
    }
}

/// The object under another path, even if that is asked for only later.
fn same(py: Python<'_>, path: AccessPath<'_>, other: &str) -> PyResult<Py<PyAny>> {
    let known = state::with(|execution| execution.run.values.get(other).map(|value| value.clone_ref(py))).flatten();
    let value = match known.or_else(|| stand_in(py, other.into())) {
        Some(value) => value,
        None => build(py, &Recipe::Mock(AbstractValue::Object), other.into())?,
    };
    remember(py, path, &value);
    Ok(value)
}

fn decide(execution: &mut Execution, path: AccessPath<'_>, request: &ValueRequest<'_>) -> Decision {
    let index = execution.index.clone();
    let site = request.site.map(|number| (execution.version, number));
    let knowledge = index.knowledge(path, request.callee, site, request.kind, request.identifier);
    let hinted = request.hint.map(|hint| {
        let mut hinted = knowledge.clone();
        hint.apply(&mut hinted.distribution, &mut hinted.uses);
        hinted
    });
    let knowledge = hinted.as_ref().unwrap_or(knowledge);
    let of_no_use = request.discarded && !knowledge.uses.awaited;
    let distribution = match (of_no_use, request.is_line) {
        (true, _) => only(AbstractValue::None),
        (_, true) => only(AbstractValue::Str),
        _ => knowledge.distribution,
    };
    let described =
        request.site.and_then(|number| index.versions[execution.version].version.sites.sites.get(number as usize));
    let raises = raised(knowledge, request);
    let may_fail = request.failure.is_some_and(|failure| knowledge.catches.iter().any(|name| covers(name, failure)));
    let is_variable = environment_key(path).is_some();
    let class = request.class.or((is_variable || request.is_line).then_some(AbstractValue::Str));
    let declared = request.declared.clone().or_else(|| class.map(|class| Declared::of(&[class])));
    let of_class = declared
        .filter(|_| request.is_line || knowledge.uses.declared.is_none())
        .map(|declared| Uses { declared: Some(declared), ..knowledge.uses.clone() });
    let supplied = index.supplied(path).filter(|supplied| match &supplied.value {
        Recipe::Given(given) => execution.given.get(given.index as usize).is_some_and(Option::is_some),
        _ => true,
    });
    let ask = Ask {
        path: path.as_str(),
        distribution: &distribution,
        uses: of_class.as_ref().unwrap_or(&knowledge.uses),
        raises: &raises,
        raise_share: if request.kind == SiteKind::Call { 1.0 } else { LOOK_UP_SHARE },
        may_fail,
        may_default: request.may_default,
        supply: supplied.map(Supplied::supply),
        is_line: request.is_line,
    };
    let (decision, fresh) = if path == environment::ENVIRONMENT.into() {
        let object = Recipe::Mock(AbstractValue::Object);
        let (value, fresh) =
            execution.draw.among(path.as_str(), std::slice::from_ref(&object), &|value| *value == object);
        (Decision::Value(value), fresh)
    } else if is_variable && !may_fail {
        let values = environment::values(&index.texts, request.kind);
        let (value, fresh) =
            execution.draw.among(path.as_str(), &values, &|value| environment::is_possible(value, request.kind));
        (Decision::Value(value), fresh)
    } else {
        execution.draw.value(&index.pools, &*index, &ask)
    };
    if fresh
        && let Decision::Value(recipe) = &decision
        && !request.discarded
    {
        let class = recipe.abstract_value();
        execution.injections.push(Injection {
            path: path.to_buf(),
            value: recipe.clone(),
            kind: (!request.parameter).then_some(request.kind),
            version: execution.version as u8,
            line: described.map_or(execution.run.line, |site| site.line),
            probability: if supplied.is_some() { 1.0 } else { distribution[class as usize] },
            classes: match (execution.explain, supplied) {
                (false, _) => vec![],
                (true, Some(_)) => only(class).to_vec(),
                (true, None) => class_probabilities(&distribution, &knowledge.uses).to_vec(),
            },
            written: None,
        });
    }
    decision
}

/// The exceptions that may be raised instead of giving a value.
fn raised<'a>(knowledge: &'a Knowledge, request: &ValueRequest<'_>) -> Cow<'a, [String]> {
    match (request.raises, request.kind) {
        (false, _) => Cow::Borrowed(&[]),
        (true, SiteKind::Call) if knowledge.unwinds => {
            let mut raised = knowledge.catches.clone();
            if !raised.iter().any(|name| name == UNNAMED) {
                raised.push(UNNAMED.to_owned());
            }
            Cow::Owned(raised)
        }
        // An attribute is there or not; a missing item is no failure of reading it.
        (true, SiteKind::Attribute) if knowledge.catches.iter().any(|name| is_of_items(name)) => {
            Cow::Owned(knowledge.catches.iter().filter(|name| !is_of_items(name)).cloned().collect())
        }
        (true, _) => Cow::Borrowed(&knowledge.catches),
    }
}

/// Whether only a look-up of an item raises this exception.
fn is_of_items(name: &str) -> bool {
    matches!(name, "KeyError" | "IndexError" | "LookupError")
}

fn only(class: AbstractValue) -> twincell_values::predictor::Distribution {
    let mut distribution = [0.0; AbstractValue::COUNT];
    distribution[class as usize] = 1.0;
    distribution
}

/// Whether any version catches the failure of this look-up. If Python itself fails, the look-up fails, too.
pub(crate) fn is_caught(path: AccessPath<'_>, request: &ValueRequest<'_>) -> bool {
    let caught = state::with(|execution| {
        let site = request.site.map(|number| (execution.version, number));
        let knowledge = execution.index.knowledge(path, request.callee, site, request.kind, request.identifier);
        request.failure.is_some_and(|failure| knowledge.catches.iter().any(|name| covers(name, failure)))
    });
    caught.unwrap_or(false)
}

/// Whether an `except` clause for `name` is meant for this failure of a look-up.
fn covers(name: &str, failure: &str) -> bool {
    name == failure || (name == "LookupError" || name == "IndexError") && failure == "KeyError"
}

fn failure(py: Python<'_>, path: AccessPath<'_>, request: &ValueRequest<'_>) -> PyErr {
    let catches_index = state::with(|execution| {
        let site = request.site?;
        let catches = execution.index.catches(execution.version, site);
        Some(catches.iter().any(|name| name == "IndexError") && !catches.iter().any(|name| name == "KeyError"))
    })
    .flatten()
    .unwrap_or(false);
    let error = match request.kind {
        SiteKind::Attribute => PyAttributeError::new_err(path.to_string()),
        SiteKind::Subscript if catches_index => PyIndexError::new_err(path.to_string()),
        SiteKind::Subscript => PyKeyError::new_err(path.to_string()),
        _ => PyNameError::new_err(path.to_string()),
    };
    exceptions::mark_intended(error.value(py).as_any());
    error
}

/// The exception that a decision names, as the running code sees the name.
pub(crate) fn raise(py: Python<'_>, name: &str) -> PyErr {
    let made = (|| -> PyResult<Bound<'_, PyAny>> {
        let class = exceptions::catchable(&written(py, name)?.into_bound(py))?;
        class
            .call1((INJECTED_MESSAGE,))
            .or_else(|_| class.call0())
            .or_else(|_| class.call_method1("__new__", (&class,)))
    })();
    match made {
        Ok(exception) => {
            exceptions::mark_intended(&exception);
            PyErr::from_value(exception)
        }
        Err(error) => error,
    }
}

/// Something from a missing module that code knows by another name: an object, or again a module.
pub(crate) fn imported(py: Python<'_>, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    if let Some(known) =
        state::with(|execution| execution.run.values.get(path.as_str()).map(|value| value.clone_ref(py))).flatten()
    {
        return Ok(known);
    }
    let value = Py::new(py, MockObject::module(path, false))?.into_any();
    remember(py, path, &value);
    watch(py, path, &value);
    Ok(value)
}

/// Something from a missing module that a module binds when it is evaluated: always an object.
pub(crate) fn bound(py: Python<'_>, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    let known =
        state::with(|execution| execution.run.values.get(path.as_str()).map(|value| value.clone_ref(py))).flatten();
    if let Some(known) = known {
        return Ok(known);
    }
    let value = Py::new(py, MockObject::new(path))?.into_any();
    remember(py, path, &value);
    watch(py, path, &value);
    Ok(value)
}

/// Assignments of code to this object are observed.
pub(crate) fn watch(py: Python<'_>, path: AccessPath<'_>, value: &Py<PyAny>) {
    let watched = value.clone_ref(py);
    state::with(|execution| {
        execution.run.injected.push((path.to_buf(), watched, Recipe::Mock(AbstractValue::Object)));
    });
}

/// Keeps a value under its path for the running version.
pub(crate) fn remember(py: Python<'_>, path: AccessPath<'_>, value: &Py<PyAny>) {
    let kept = value.clone_ref(py);
    state::with(|execution| execution.run.values.insert(path.to_buf(), kept));
}

/// Builds the Python value of a recipe and keeps it, and its content, under its path.
pub(crate) fn build(py: Python<'_>, recipe: &Recipe, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    if matches!(recipe, Recipe::Mock(_))
        && let Some(known) =
            state::with(|execution| execution.run.values.get(path.as_str()).map(|value| value.clone_ref(py))).flatten()
        && known.bind(py).is_instance_of::<MockObject>()
    {
        // Another path already stands for it.
        return Ok(known);
    }
    let value = make(py, recipe, path)?;
    let identity = value.as_ptr() as usize;
    let kept = value.clone_ref(py);
    let container = matches!(recipe, Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) | Recipe::Tuple(_))
        || is_changeable(recipe);
    let unique = is_told_apart(recipe);
    let original = match recipe {
        Recipe::Made(call) if library::is_model(&call.class) => Some(observe::value(value.bind(py))),
        Recipe::Provided(_) => Some(observe::value(value.bind(py))),
        Recipe::Given(given) => {
            note_written(path, value.bind(py));
            given::as_made(given, value.bind(py))
        }
        _ => None,
    };
    let observed = container || matches!(recipe, Recipe::Mock(_));
    let watched = observed.then(|| value.clone_ref(py));
    state::with(|execution| {
        execution.run.values.insert(path.to_buf(), kept);
        execution.run.originals.extend(original.map(|original| (path.to_buf(), original)));
        if unique {
            execution.run.identities.insert(identity, path.to_buf());
        }
        if let Some(watched) = watched {
            execution.run.injected.push((path.to_buf(), watched, recipe.clone()));
        }
    });
    Ok(value)
}

/// Whether the value is a separate object. Python shares other plain values among all that are equal.
fn is_told_apart(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Int(value) => !(-5..=256).contains(value),
        Recipe::Str(text) => text.chars().nth(1).is_some(),
        Recipe::Bytes(bytes) => bytes.len() > 1,
        Recipe::Float(_) | Recipe::List(_) | Recipe::Dict(_) | Recipe::Set(_) => true,
        Recipe::Tuple(items) => !items.is_empty(),
        recipe => is_changeable(recipe),
    }
}

/// Whether it is an object of a library that code can change.
fn is_changeable(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Made(call) => library::is_changeable(&call.class),
        Recipe::Given(_) | Recipe::Provided(_) => true,
        _ => false,
    }
}

/// Notes what else makes a given object, if the request asks for it.
fn note_written(path: AccessPath<'_>, value: &Bound<'_, PyAny>) {
    let asks = |execution: &mut Execution| {
        let mut injections = execution.injections.iter();
        execution.explain && injections.any(|injection| injection.path == path && injection.written.is_none())
    };
    if state::with(asks) == Some(true) {
        let written = given::written(value);
        state::with(|execution| {
            if let Some(injection) = execution.injections.iter_mut().find(|injection| injection.path == path) {
                injection.written = written;
            }
        });
    }
}

fn make(py: Python<'_>, recipe: &Recipe, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    let items = |items: &[Recipe]| -> PyResult<Vec<Py<PyAny>>> {
        items.iter().enumerate().map(|(index, item)| build_item(py, item, || path.item(index))).collect()
    };
    Ok(match recipe {
        Recipe::None => py.None(),
        Recipe::Bool(value) => pyo3::types::PyBool::new(py, *value).to_owned().into_any().unbind(),
        Recipe::Int(value) => PyInt::new(py, *value).into_any().unbind(),
        Recipe::Float(value) => PyFloat::new(py, *value).into_any().unbind(),
        Recipe::Str(text) => PyString::new(py, text).into_any().unbind(),
        Recipe::Bytes(bytes) => PyBytes::new(py, bytes).into_any().unbind(),
        Recipe::List(list) => PyList::new(py, items(list)?)?.into_any().unbind(),
        Recipe::Tuple(list) => PyTuple::new(py, items(list)?)?.into_any().unbind(),
        Recipe::Set(list) => PySet::new(py, items(list)?)?.into_any().unbind(),
        Recipe::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                let key_value = make(py, key, path)?;
                let value = build_item(py, value, || path.item(key.display()))?;
                dict.set_item(key_value, value)?;
            }
            dict.into_any().unbind()
        }
        Recipe::Mock(_) => mock(py, path)?,
        Recipe::Named(name) => named(py, name)?,
        // A class that only one of the versions has is missing in all.
        Recipe::Made(call) if is_uneven(&call.class) => Py::new(py, MockObject::new(path))?.into_any(),
        // What cannot be made here is missing here.
        Recipe::Made(call) => match templates::value(py, recipe, || made(py, recipe, path)) {
            Ok(value) => value,
            // A class of the code may refuse values. Then there is no such call.
            Err(error) if library::is_model(&call.class) => return Err(error),
            Err(_) => Py::new(py, MockObject::new(path))?.into_any(),
        },
        Recipe::Given(given) => match given::make(py, given)? {
            Some(value) => value,
            None => Py::new(py, MockObject::new(path))?.into_any(),
        },
        // An expression could be made when the program was loaded, and a function with one seed. Where it fails with
        // another, there is no such value in this version, and nothing stands in for it.
        Recipe::Provided(provided) if provided::is_in_reach(py, provided)? => provided::make(py, provided)?,
        // Without its module.
        Recipe::Provided(_) => Py::new(py, MockObject::new(path))?.into_any(),
    })
}

/// An object that stands for one of the class of the project that the code names for it, if it names one.
fn mock(py: Python<'_>, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    let named = state::with(|execution| execution.index.known(path)?.1.named.clone()).flatten();
    let real = named.and_then(|name| concrete_class(py, &name));
    Ok(Py::new(py, MockObject { real, ..MockObject::new(path) })?.into_any())
}

/// The class of the program that the running version has under a dotted name, unless others have to define its methods.
fn concrete_class(py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
    let globals = state::with(|execution| Some(execution.globals.as_ref()?.clone_ref(py))).flatten()?;
    let mut parts = name.split('.');
    let mut value = globals.bind(py).get_item(parts.next()?).ok()??;
    for part in parts {
        value = value.cast::<PyModule>().ok()?.dict().get_item(part).ok()??;
    }
    code::program_name(&value)?;
    let members = namespaces::class_members(value.cast::<PyType>().ok()?).ok()?;
    let is_set = |flag: &str| members.get_item(flag).ok().flatten().is_some_and(|own| own.is_truthy().unwrap_or(true));
    let is_open = is_set("_is_protocol") || is_set("__abstractmethods__");
    (!is_open).then(|| value.unbind())
}

/// Whether a name is one of the code's own that only some versions have.
fn is_uneven(class: &str) -> bool {
    let is_own = library::is_model(class) && within_module(class).0.is_none();
    let uneven = |execution: &mut Execution| {
        execution.uneven.contains(AccessPath::new(class).split_root().0)
            && execution.index.written_import(execution.version, class).is_none()
    };
    is_own && state::with(uneven) == Some(true)
}

/// A value of a recipe that is part of no execution.
pub(crate) fn apart(py: Python<'_>, recipe: &Recipe) -> PyResult<Py<PyAny>> {
    content(py, recipe, "".into())
}

/// Calls something in a library.
fn made(py: Python<'_>, recipe: &Recipe, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    let Recipe::Made(call) = recipe else { return content(py, recipe, path) };
    let ConstructorCall { class, arguments, keywords } = &**call;
    if let [items] = arguments.as_slice()
        && let Some(maker) = observe::streams::maker(class)
    {
        return Ok(maker.over(content(py, items, path)?.bind(py))?.unbind());
    }
    let callee = match class.rsplit_once('.') {
        Some((module, name)) if !library::is_model(class) => py.import(module)?.getattr(name)?,
        _ => written(py, class)?.into_bound(py),
    };
    let arguments = PyTuple::new(py, contents(py, arguments, path)?)?;
    if keywords.is_empty() {
        return Ok(callee.call1(arguments)?.unbind());
    }
    if library::is_filled(class) {
        let made = callee.call0()?;
        for (name, value) in keywords {
            made.setattr(name, content(py, value, path)?)?;
        }
        return Ok(made.unbind());
    }
    let named = PyDict::new(py);
    for (name, value) in keywords {
        named.set_item(name, content(py, value, path.attribute(name).as_path())?)?;
    }
    Ok(callee.call(arguments, Some(&named))?.unbind())
}

/// A part of an object that is made: it is no value of its own, so only objects in it have a path.
fn content(py: Python<'_>, recipe: &Recipe, path: AccessPath<'_>) -> PyResult<Py<PyAny>> {
    Ok(match recipe {
        Recipe::List(items) => PyList::new(py, contents(py, items, path)?)?.into_any().unbind(),
        Recipe::Tuple(items) => PyTuple::new(py, contents(py, items, path)?)?.into_any().unbind(),
        Recipe::Set(items) => PySet::new(py, contents(py, items, path)?)?.into_any().unbind(),
        Recipe::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                let value = content(py, value, path.item(key.display()).as_path())?;
                dict.set_item(content(py, key, path)?, value)?;
            }
            dict.into_any().unbind()
        }
        Recipe::Made(_) => made(py, recipe, path)?,
        Recipe::Mock(_) => build(py, recipe, path)?,
        other => make(py, other, path)?,
    })
}

fn contents(py: Python<'_>, items: &[Recipe], path: AccessPath<'_>) -> PyResult<Vec<Py<PyAny>>> {
    let one = |(index, item): (usize, &Recipe)| match item {
        Recipe::Mock(_) => content(py, item, path.item(index).as_path()),
        item => content(py, item, path),
    };
    items.iter().enumerate().map(one).collect()
}

/// What the value of a recipe was like when it was made.
pub(crate) fn as_made(py: Python<'_>, recipe: &Recipe) -> PyResult<Observed> {
    templates::observed(py, recipe, || make(py, recipe, "".into()))
}

/// The stand-in that the module of the running version binds for a path: `MISSING` after `from a.b import MISSING`.
fn stand_in(py: Python<'_>, path: AccessPath<'_>) -> Option<Py<PyAny>> {
    let written = state::with(|execution| {
        let written =
            execution.index.written_import(execution.version, path.as_str()).unwrap_or(path.as_str()).to_owned();
        Some((execution.globals.as_ref()?.clone_ref(py), written))
    });
    let (globals, written) = written.flatten()?;
    let mut parts = written.split('.');
    let mut value = globals.bind(py).get_item(parts.next()?).ok()??;
    for part in parts {
        value = value.cast_exact::<MockObject>().ok()?.getattr(part).ok()?;
    }
    let is_it = value.cast_exact::<MockObject>().is_ok_and(|stand_in| stand_in.get().path() == path);
    is_it.then(|| value.unbind())
}

/// What a dotted name of any version stands for in the running one.
fn written(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    let (module, name) = within_module(name);
    if let Some(module) = module
        && let Ok(found) = project::in_project(py, module, name)
        && !found.is_instance_of::<MockObject>()
    {
        return Ok(found.unbind());
    }
    let own = state::with(|execution| execution.index.written_import(execution.version, name).map(str::to_owned));
    let name = own.flatten().unwrap_or_else(|| name.to_owned());
    let mut parts = name.split('.');
    let mut value = names::global(py, parts.next().unwrap_or(&name))?.into_bound(py);
    for part in parts {
        value = value.getattr(part)?;
    }
    Ok(value.unbind())
}

/// The object of a dotted name in the running version. A name that only one of the versions has is a mock object
/// in all, and so is one that stands for itself, directly or through others.
pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    let own = (std::thread::current().id(), name.to_owned());
    let is_there = state::with(|execution| {
        let first = AccessPath::new(name).split_root().0;
        let uneven =
            execution.uneven.contains(first) && execution.index.written_import(execution.version, name).is_none();
        !uneven && !execution.run.looked_up.contains(&own)
    });
    let found = if is_there == Some(false) {
        None
    } else {
        state::with(|execution| execution.run.looked_up.push(own.clone()));
        let found = written(py, name).ok();
        state::with(|execution| execution.run.looked_up.retain(|known| *known != own));
        found
    };
    match found {
        Some(value) => Ok(value),
        None => build(py, &Recipe::Mock(AbstractValue::Object), name.into()),
    }
}

/// Items that can be changed or queried have their own path. Plain ones need none.
fn build_item(py: Python<'_>, recipe: &Recipe, path: impl FnOnce() -> AccessPathBuf) -> PyResult<Py<PyAny>> {
    match recipe {
        recipe if is_changeable(recipe) => build(py, recipe, path().as_path()),
        Recipe::List(_) | Recipe::Tuple(_) | Recipe::Dict(_) | Recipe::Set(_) | Recipe::Mock(_) => {
            build(py, recipe, path().as_path())
        }
        _ => make(py, recipe, "".into()),
    }
}
