//! The functions that instrumented code calls (`twincell_syntax::instrument` has the table of hooks), and the mock
//! object as that code meets it.

mod mock_object;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyNameError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyModule, PySet, PyString, PyTuple};
use twincell_syntax::python::{is_always_real, is_pure_import};
use twincell_syntax::site::{BranchKind, Comparator, SiteKind};
use twincell_values::path::{AccessPath, AccessPathBuf, Segment};

use crate::calls::{SiteCall, real, supers};
use crate::execution::code::callers_globals;
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::execution::steps::{self, StopExecution};
use crate::inject::constants;
use crate::inject::exceptions;
use crate::inject::failures;
use crate::inject::items;
use crate::inject::machine;
use crate::inject::members;
use crate::inject::names;
use crate::inject::resolve::{self, ValueRequest};
use crate::observe;
use crate::observe::comparisons;

/// Runs before each simple statement.
#[pyfunction]
fn line(number: u32) -> PyResult<()> {
    let over = state::with(|execution| {
        let run = &mut execution.run;
        run.line = number;
        if let Some(hits) = run.lines.get_mut(number as usize) {
            *hits += 1;
        }
        run.steps += 1;
        run.steps > execution.step_budget
    });
    if over == Some(true) { Err(StopExecution::new_err("the execution used up its steps")) } else { Ok(()) }
}

/// Runs at the beginning of each function of the module around the compared one.
#[pyfunction]
fn around() -> PyResult<()> {
    steps::step_around()
}

/// The same, for a value that the code goes on with.
#[pyfunction]
fn around_value<'py>(value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    steps::step_around().map(|()| value)
}

/// Conditions.
#[pyfunction]
fn branch<'py>(py: Python<'py>, number: u32, condition: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBool>> {
    let over = state::with(|execution| {
        let version = &execution.index.versions[execution.version].version;
        let run = &mut execution.run;
        if let Some(branch) = version.sites.branches.get(number as usize) {
            run.line = branch.line;
            if let Some(hits) = run.lines.get_mut(branch.line as usize) {
                *hits += 1;
            }
        }
        run.steps += 1;
        run.steps > execution.step_budget
    });
    if over == Some(true) {
        return Err(StopExecution::new_err("the execution used up its steps"));
    }
    let truth = condition.is_truthy()?;
    state::with(|execution| {
        let kind = execution.index.versions[execution.version]
            .version
            .sites
            .branches
            .get(number as usize)
            .map(|branch| branch.kind);
        let run = &mut execution.run;
        run.assertion_failed = kind == Some(BranchKind::Assert) && !truth;
        if let Some(counts) = run.branches.get_mut(number as usize) {
            if truth { counts.0 += 1 } else { counts.1 += 1 }
        }
    });
    Ok(PyBool::new(py, truth).to_owned())
}

/// Attribute loads.
#[pyfunction]
fn attribute(py: Python<'_>, site: u32, object: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let name = state::with(|execution| {
        execution.index.versions[execution.version].names.get(site as usize).map(|name| name.clone_ref(py))
    });
    let name = match name.flatten() {
        Some(name) => name.into_bound(py),
        None => identifier(py, site)?,
    };
    let name = &name;
    if let Ok(mock) = object.cast_exact::<MockObject>() {
        return members::attribute(mock, name.to_str()?, Some(site));
    }
    if let Some(inherited) = supers::attribute(object, name.to_str()?, site)? {
        return Ok(inherited);
    }
    let (error, is_lacking) = match object.getattr(name) {
        Ok(value) => {
            failures::may_lack(py, object, site)?;
            if let Some(platform) = machine::platform(object, name.to_str()?)? {
                return Ok(platform.unbind());
            }
            return Ok(value.unbind());
        }
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => (error, true),
        Err(error) => (real::failed_attribute(py, error, name.to_str()?, site)?, false),
    };
    if is_running() != Some(true) {
        return Err(error);
    }
    let name = name.to_str()?;
    let of_other = |execution: &mut state::Execution| {
        execution.index.wrapped_attribute(execution.version, None, name).map(str::to_owned)
    };
    let known = state::with(of_other).flatten();
    let holder = container_path(object, site);
    let path = holder.as_path().attribute(known.as_deref().unwrap_or(name)).bounded();
    let request = ValueRequest {
        site: Some(site),
        kind: SiteKind::Attribute,
        identifier: name,
        failure: is_lacking.then_some("AttributeError"),
        ..ValueRequest::default()
    };
    if is_lacking && resolve::is_caught(path.as_path(), &request) {
        exceptions::mark_intended(error.value(py).as_any());
        return Err(error);
    }
    // What a table lacks, nobody knows. Nor does anybody know what a library lacks that is installed. An item of a
    // container goes by its value.
    let is_none = || {
        items::is_allowed_none(object, holder.as_path())
            || holder.as_str() == observe::short(object) && items::may_be_none(object)
    };
    let is_of_library = observe::kinds::is_around_tables(object) || of_library(object).is_some();
    if is_of_library || constants::is_one(object) || is_none() {
        return Err(error);
    }
    failures::synthesized(object, path.as_path(), error)?;
    resolve::value(py, path.as_path(), &request)
}

/// The name of a module that is real wherever it is installed, if the object is one.
pub(crate) fn of_library(object: &Bound<'_, PyAny>) -> Option<String> {
    let module = object.cast::<PyModule>().ok()?.name().ok()?.to_string();
    is_always_real(&module).then_some(module)
}

/// Subscript loads.
#[pyfunction]
fn subscript(py: Python<'_>, site: u32, object: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if let Ok(mock) = object.cast_exact::<MockObject>() {
        return members::item(mock, key, Some(site));
    }
    let error = match object.get_item(key) {
        Ok(value) => return Ok(value.unbind()),
        Err(error) => error,
    };
    let missing = error.is_instance_of::<PyKeyError>(py)
        || error.is_instance_of::<PyIndexError>(py)
        || error.is_instance_of::<PyTypeError>(py) && !object.hasattr("__getitem__")?;
    if !missing || is_running() != Some(true) {
        return Err(error);
    }
    let holder = container_path(object, site);
    let path = holder.as_path().item(observe::short(key)).bounded();
    let is_constant = constants::is_one(object) || items::is_allowed_none(object, holder.as_path());
    // An object without items itself, a set, may nevertheless hold the key. Then the item exists, too.
    let holds = object.is_exact_instance_of::<PySet>() && object.contains(key).unwrap_or(false);
    let request = ValueRequest {
        site: Some(site),
        kind: SiteKind::Subscript,
        identifier: "",
        failure: (!holds).then_some("KeyError"),
        ..ValueRequest::default()
    };
    if is_constant || !error.is_instance_of::<PyTypeError>(py) {
        if resolve::is_caught(path.as_path(), &request) {
            exceptions::mark_intended(error.value(py).as_any());
            return Err(error);
        }
        if is_constant || is_made_by_the_code(object, site) || observe::kinds::is_around_tables(object) {
            return Err(error);
        }
    }
    if is_computed(site) {
        return Err(error);
    }
    failures::synthesized(object, path.as_path(), error)?;
    resolve::value(py, path.as_path(), &request)
}

/// Whether the object in which an item is looked up is what a function of a module gave that only computes.
fn is_computed(site: u32) -> bool {
    let computed = state::with(|execution| {
        let path = execution.index.container_path(execution.version, site);
        let module = path.as_path().callee().and_then(AccessPath::split_attribute).map(|(module, _)| module);
        module.is_some_and(|module| is_pure_import(module.as_str()))
    });
    computed == Some(true)
}

/// Whether the code under comparison made a container itself. What such a container lacks, it lacks in each version.
fn is_made_by_the_code(object: &Bound<'_, PyAny>, site: u32) -> bool {
    let is_container = object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyTuple>()
        || object.is_exact_instance_of::<PyDict>();
    let identity = object.as_ptr() as usize;
    let is_own = |execution: &mut state::Execution| {
        execution.index.is_local(execution.version, site) && !execution.run.identities.contains_key(&identity)
    };
    is_container && state::with(is_own) == Some(true)
}

/// The names of the sites of instrumented code, for hooks outside an execution: on a thread that outlived its own, or
/// where code runs for itself. The code that has it among its globals cannot look inside.
#[pyclass(frozen, module = "twincell")]
struct Identifiers(Vec<Py<PyString>>);

/// The name of the [`Identifiers`] among the globals of instrumented code.
const IDENTIFIERS: &str = "_tc_identifiers";

/// The identifier of a site of the calling code.
fn identifier(py: Python<'_>, site: u32) -> PyResult<Bound<'_, PyString>> {
    let kept = callers_globals(py).and_then(|globals| globals.get_item(IDENTIFIERS).ok()?);
    let kept = kept.and_then(|kept| kept.cast_into::<Identifiers>().ok());
    let identifier = kept.and_then(|kept| kept.get().0.get(site as usize).map(|name| name.clone_ref(py)));
    match identifier {
        Some(identifier) => Ok(identifier.into_bound(py)),
        None => Err(PyRuntimeError::new_err("instrumented code lost what its sites are called")),
    }
}

fn is_running() -> Option<bool> {
    state::with(|execution| !execution.loading)
}

/// The access path of the object in which an attribute or item is looked up: as injected, or else as written in the
/// code. For an object that only a local names, and for plain data that was not injected or is an item, it is the value
/// itself, since versions may reach it in other ways.
fn container_path(object: &Bound<'_, PyAny>, site: u32) -> AccessPathBuf {
    let identity = object.as_ptr() as usize;
    let path = state::with(|execution| {
        if let Some(path) = execution.run.identities.get(&identity) {
            return Some(path.clone());
        }
        let (index, version) = (&execution.index, execution.version);
        let given = execution.run.shared.get(index.container_path(version, site).as_str());
        let is_it =
            |path: &&AccessPathBuf| execution.run.values.get(path.as_str()).is_some_and(|value| value.is(object));
        // Other versions may get an item by unpacking.
        let is_item = |path: &&AccessPathBuf| ends_in_subscript(path.as_path()) && is_plain(object);
        if let Some(path) = given.filter(is_it).filter(|path| !is_item(path)) {
            return Some(path.clone());
        }
        let path = (!index.is_local(version, site)).then(|| index.container_path(version, site))?;
        (is_it(&&path) && !ends_in_subscript(path.as_path()) || !is_plain(object)).then_some(path)
    });
    path.flatten().unwrap_or_else(|| observe::short(object).into())
}

fn ends_in_subscript(path: AccessPath<'_>) -> bool {
    matches!(path.segments().last(), Some(Segment::Subscript(_)))
}

/// A value of a builtin class that only holds data.
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyTuple>()
        || object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyDict>()
}

/// Calls.
#[pyfunction]
#[pyo3(signature = (site, callee, /, *arguments, **keywords))]
fn call(
    site: u32,
    callee: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    SiteCall { site, callee, arguments, keywords }.answer()
}

/// Slices in subscripts.
#[pyfunction]
#[pyo3(signature = (start, stop, step = None))]
fn slice<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    step: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<pyo3::types::PySlice>().call1((start, stop, step))
}

/// Names in class bodies.
#[pyfunction]
fn name(py: Python<'_>, site: u32) -> PyResult<Py<PyAny>> {
    let name = state::with(|execution| {
        execution.index.versions[execution.version]
            .version
            .sites
            .sites
            .get(site as usize)
            .map(|site| site.identifier.clone())
    });
    match name.flatten() {
        Some(name) => names::global(py, &name),
        None => outside(py, &identifier(py, site)?),
    }
}

/// A name in a class body where nothing is injected.
pub(crate) fn outside(py: Python<'_>, name: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
    if let Some(globals) = callers_globals(py)
        && let Some(value) = globals.get_item(name)?
    {
        return Ok(value.unbind());
    }
    match py.import("builtins")?.getattr(name) {
        Ok(value) => Ok(value.unbind()),
        Err(_) => Err(PyNameError::new_err(format!("name '{name}' is not defined"))),
    }
}

/// The hook of `raise`.
#[pyfunction]
fn raising<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    exceptions::raisable(value)
}

/// The hook of `except`.
#[pyfunction]
fn catching<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    exceptions::catchable(value)
}

/// Comparisons that are not chains.
#[pyfunction]
fn compare<'py>(
    py: Python<'py>,
    number: u32,
    comparator: usize,
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let flag = |truth: bool| PyBool::new(py, truth).to_owned().into_any();
    let result = match Comparator::ALL.get(comparator) {
        Some(Comparator::Eq) => left.rich_compare(right, CompareOp::Eq)?,
        Some(Comparator::NotEq) => left.rich_compare(right, CompareOp::Ne)?,
        Some(Comparator::Lt) => left.rich_compare(right, CompareOp::Lt)?,
        Some(Comparator::LtE) => left.rich_compare(right, CompareOp::Le)?,
        Some(Comparator::Gt) => left.rich_compare(right, CompareOp::Gt)?,
        Some(Comparator::GtE) => left.rich_compare(right, CompareOp::Ge)?,
        Some(Comparator::In) => flag(right.contains(left)?),
        Some(Comparator::NotIn) => flag(!right.contains(left)?),
        Some(Comparator::Is) => flag(left.is(right)),
        Some(Comparator::IsNot) => flag(!left.is(right)),
        None => return Err(PyTypeError::new_err("no such comparison")),
    };
    if let Ok(truth) = result.cast_exact::<PyBool>() {
        comparisons::comparison(number, left, right, truth.is_true());
    }
    Ok(result)
}

/// The hooks under the names that instrumented code uses.
fn all(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    names::hooks(py, |hooks| {
        hooks.set_item("_tc_l", wrap_pyfunction!(line, py)?)?;
        hooks.set_item("_tc_t", wrap_pyfunction!(around, py)?)?;
        hooks.set_item("_tc_w", wrap_pyfunction!(around_value, py)?)?;
        hooks.set_item("_tc_b", wrap_pyfunction!(branch, py)?)?;
        hooks.set_item("_tc_a", wrap_pyfunction!(attribute, py)?)?;
        hooks.set_item("_tc_s", wrap_pyfunction!(subscript, py)?)?;
        hooks.set_item("_tc_c", wrap_pyfunction!(call, py)?)?;
        hooks.set_item("_tc_k", wrap_pyfunction!(slice, py)?)?;
        hooks.set_item("_tc_n", wrap_pyfunction!(name, py)?)?;
        hooks.set_item("_tc_q", wrap_pyfunction!(compare, py)?)?;
        hooks.set_item("_tc_r", wrap_pyfunction!(raising, py)?)?;
        hooks.set_item("_tc_e", wrap_pyfunction!(catching, py)?)
    })
}

/// Puts the hooks into the globals of instrumented code, with the identifiers of its sites.
pub fn install(globals: &Bound<'_, PyDict>, identifiers: Vec<Py<PyString>>) -> PyResult<()> {
    globals.update(all(globals.py())?.as_mapping())?;
    globals.set_item(IDENTIFIERS, Identifiers(identifiers).into_pyobject(globals.py())?)
}
