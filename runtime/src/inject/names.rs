//! Names that the code does not define itself: globals, builtins and imports.

use pyo3::exceptions::{PyImportError, PyKeyError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple, PyType};

use twincell_engine::protocol::Context;
use twincell_syntax::python::{PURE_MODULES, PURE_NAMES, is_always_real, is_pure_import};
use twincell_syntax::site::SiteKind;

use crate::execution::code::MODULE_NAME;
use crate::execution::object::MockObject;
use crate::execution::state::{self, Execution};
use crate::inject::builtins::plain_builtins;
use crate::inject::classes;
use crate::inject::questions;
use crate::inject::resolve::{self, ValueRequest};

/// Looked up last, if neither the code nor the builtins define a name.
const NEVER_INJECTED: [&str; 3] = ["__annotations__", "__classdict__", "__path__"];

/// Libraries look up there what annotations mean, since these are texts while a module is evaluated.
const MODULE: &std::ffi::CStr = cr"
import types

own = types.ModuleType.__dict__['__dict__']

class Compared(types.ModuleType):
    @property
    def __dict__(self):
        names = evaluated()
        return own.__get__(self) if names is None else names
";

/// Gives the code under comparison a place in `sys.modules`, where `dataclass` and others look up their class's module.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    questions::prepare(py)?;
    let maker = PyModule::from_code(py, MODULE, c"twincell_compared.py", c"twincell_compared")?;
    maker.setattr("evaluated", wrap_pyfunction!(evaluated, &maker)?)?;
    let module = maker.getattr("Compared")?.call1((MODULE_NAME,))?;
    py.import("sys")?.getattr("modules")?.set_item(MODULE_NAME, module)
}

/// The names of the module that is being evaluated, if one is.
#[pyfunction]
fn evaluated(py: Python<'_>) -> Option<Py<PyDict>> {
    let of_loading = |execution: &mut Execution| {
        let globals = execution.globals.as_ref().filter(|_| execution.loading);
        globals.map(|globals| globals.clone_ref(py))
    };
    state::with(of_loading).flatten()
}

/// New globals: a dictionary whose missing names are injected. CPython asks `__missing__` because the class is a
/// subclass.
pub(crate) fn new_globals<'py>(py: Python<'py>, context: Context) -> PyResult<Bound<'py, PyDict>> {
    // Each has its own class, since code can reach and change it.
    let namespace = PyDict::new(py);
    namespace.set_item("__missing__", wrap_pyfunction!(missing_name, py)?)?;
    namespace.set_item("__slots__", PyTuple::empty(py))?;
    let bases = PyTuple::new(py, [py.get_type::<PyDict>()])?;
    let class = py.get_type::<PyType>().call1(("Globals", bases, namespace))?;
    let globals = class.call0()?.cast_into::<PyDict>()?;
    let builtins = plain_builtins(py)?.copy()?;
    match context {
        Context::Function => builtins.set_item("__import__", wrap_pyfunction!(import_nothing, py)?)?,
        Context::Module => builtins.set_item("__import__", wrap_pyfunction!(import_if_there, py)?)?,
    }
    builtins.set_item("__build_class__", wrap_pyfunction!(classes::build_class, py)?)?;
    globals.set_item("__builtins__", builtins)?;
    globals.set_item("__name__", MODULE_NAME)?;
    globals.set_item("__doc__", py.None())?;
    globals.set_item("__file__", "<twincell>")?;
    globals.set_item("__package__", py.None())?;
    globals.set_item("__spec__", py.None())?;
    Ok(globals)
}

static HOOKS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// The hooks under the names that instrumented code uses. `fill` fills the table once for each process.
pub(crate) fn hooks<'py>(
    py: Python<'py>,
    fill: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<&'py Bound<'py, PyDict>> {
    let hooks = HOOKS.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
        let hooks = PyDict::new(py);
        fill(&hooks)?;
        Ok(hooks.unbind())
    })?;
    Ok(hooks.bind(py))
}

/// The hook with a name, for code that lost it from its globals.
fn hook(py: Python<'_>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    match HOOKS.get(py) {
        Some(hooks) if name.starts_with("_tc_") => Ok(hooks.bind(py).get_item(name)?.map(Bound::unbind)),
        _ => Ok(None),
    }
}

/// A name as the running version sees it.
pub(crate) fn global(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    let globals = state::with(|execution| execution.globals.as_ref().map(|globals| globals.clone_ref(py))).flatten();
    if let Some(globals) = globals
        && let Some(value) = globals.bind(py).get_item(name)?
    {
        return Ok(value.unbind());
    }
    supply(py, name)
}

/// `Globals.__missing__`.
#[pyfunction]
fn missing_name(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    supply(py, name)
}

fn supply(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    if let Some(value) = plain_builtins(py)?.get_item(name)? {
        return Ok(value.unbind());
    }
    if let Some(hook) = hook(py, name)? {
        return Ok(hook);
    }
    if NEVER_INJECTED.contains(&name) {
        return Err(PyKeyError::new_err(name.to_string()));
    }
    if state::with(|execution| execution.alone) == Some(true) {
        if PURE_MODULES.contains(&name) {
            return py.import(name).map(|module| module.into_any().unbind());
        }
        if let Some((_, module)) = PURE_NAMES.iter().find(|(known, _)| *known == name) {
            return py.import(*module)?.getattr(name).map(Bound::unbind);
        }
    }
    if let Some(module) = imported(py, name)? {
        return Ok(module);
    }
    let path = state::with(|execution| {
        let (index, version) = (&execution.index, execution.version);
        let imported = index.imported_as(version, name).map(|import| import.canonical.clone());
        imported.unwrap_or_else(|| index.canonical(version, name).to_string())
    });
    let path = path.unwrap_or_else(|| name.to_string());
    resolve::value(
        py,
        path.as_str().into(),
        &ValueRequest { kind: SiteKind::Name, identifier: name, ..ValueRequest::default() },
    )
}

/// What a name stands for that imports bind which do not run, if the versions import in different ways: a module, or
/// something of a module that only computes.
fn imported(py: Python<'_>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let found = state::with(|execution| {
        let (index, version) = (&execution.index, execution.version);
        let part = index.imported_as(version, name).map(|import| import.target.clone());
        (part, index.imported_module(version, name).map(str::to_owned))
    });
    Ok(match found {
        Some((Some(target), _)) => pure(py, &target),
        Some((None, Some(module))) => match pure(py, &module) {
            Some(real) => Some(real),
            None => Some(Py::new(py, MockObject::module(module, false))?.into_any()),
        },
        _ => None,
    })
}

/// The module or the part of a module with this dotted path, if the module only computes.
pub(crate) fn pure(py: Python<'_>, target: &str) -> Option<Py<PyAny>> {
    if !is_pure_import(target) {
        return None;
    }
    if let Ok(module) = py.import(target) {
        return Some(module.into_any().unbind());
    }
    let (module, part) = target.rsplit_once('.')?;
    Some(py.import(module).ok()?.getattr(part).ok()?.unbind())
}

fn stand_in(py: Python<'_>, name: &str, fromlist: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let from = fromlist.is_some_and(|list| list.is_truthy().unwrap_or(false));
    let module = if from {
        MockObject::module(name, true)
    } else {
        MockObject::module(name.split('.').next().unwrap_or(name), false)
    };
    Ok(Py::new(py, module)?.into_any())
}

/// [`import_if_there`] as code calls it.
pub(crate) fn importer(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(wrap_pyfunction!(import_if_there, py)?.into_any())
}

/// What an import gives that cannot be made, as a function of the error, the dotted name, and the names that are wanted
/// of it.
pub(crate) fn failed_import(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(wrap_pyfunction!(stand_in_for, py)?.into_any())
}

#[pyfunction]
fn stand_in_for(error: &Bound<'_, PyAny>, name: &str, fromlist: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    match state::with(|execution| execution.imports_may_fail) {
        Some(true) => Err(PyErr::from_value(error.clone())),
        _ => stand_in(error.py(), name, fromlist),
    }
}

/// `__import__` in function context: every module is missing except the pure ones, and those that are always real if the
/// comparison has the module as well.
#[pyfunction]
#[pyo3(signature = (name, globals = None, locals = None, fromlist = None, level = 0))]
fn import_nothing(
    py: Python<'_>,
    name: &str,
    globals: Option<&Bound<'_, PyAny>>,
    locals: Option<&Bound<'_, PyAny>>,
    fromlist: Option<&Bound<'_, PyAny>>,
    level: i64,
) -> PyResult<Py<PyAny>> {
    let within = || state::with(|execution| execution.index.context) == Some(Context::Module);
    if level == 0 && (is_pure_import(name) || is_always_real(name) && within()) {
        return import_if_there(py, name, globals, locals, fromlist, level);
    }
    stand_in(py, name, fromlist)
}

/// `__import__` in module context: installed modules are imported, and the others are missing.
#[pyfunction]
#[pyo3(signature = (name, globals = None, locals = None, fromlist = None, level = 0))]
fn import_if_there(
    py: Python<'_>,
    name: &str,
    globals: Option<&Bound<'_, PyAny>>,
    locals: Option<&Bound<'_, PyAny>>,
    fromlist: Option<&Bound<'_, PyAny>>,
    level: i64,
) -> PyResult<Py<PyAny>> {
    if level > 0 {
        return stand_in(py, name, fromlist);
    }
    let import = plain_builtins(py)?.get_item("__import__")?;
    let Some(import) = import else { return stand_in(py, name, fromlist) };
    let module = match import.call1((name, globals, locals, fromlist, level)) {
        Ok(module) => module,
        Err(error)
            if error.is_instance_of::<PyImportError>(py)
                && state::with(|execution| execution.imports_may_fail) == Some(true) =>
        {
            return Err(error);
        }
        Err(error) if error.is_instance_of::<PyImportError>(py) => return stand_in(py, name, fromlist),
        // A package that breaks during its import here counts as missing.
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyException>(py) => return stand_in(py, name, fromlist),
        Err(error) => return Err(error),
    };
    // `from module import name` with a name that this version of the module does not have.
    if let Some(names) = fromlist.filter(|list| list.is_truthy().unwrap_or(false)) {
        for wanted in names.try_iter()? {
            let wanted = wanted?.extract::<String>()?;
            if wanted != "*" && module.getattr(wanted.as_str()).is_err() {
                return stand_in(py, name, fromlist);
            }
        }
    }
    Ok(module.unbind())
}
