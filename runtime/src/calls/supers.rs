//! `super()`: what a class inherits, looked up behind it as Python does.
//!
//! Instrumented functions stand outside their class, so Python itself could not tell which one that is. Functions of
//! bases run for real, with an injected object as well. Methods of builtin classes need an instance of theirs: called on
//! an injected object they are missing code, under one path, however the code reaches them (`super().update(x)`,
//! `super(Config, self).update(x)`, `dict.update(self, x)`).

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use twincell_values::path::AccessPath;
use twincell_values::value::{AbstractValue, Recipe};

use crate::calls::{MissingCall, SiteCall};
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::members;
use crate::inject::resolve::{self, ValueRequest};

/// Methods that the classes of C make for themselves, as a class has them and as an object does.
const OF_BUILTIN_CLASSES: [&str; 2] = ["wrapper_descriptor", "method_descriptor"];
/// What CPython says of an object that is no instance, and where it is refused: `.0` is what a comprehension iterates
/// over, which Python before 3.12 takes for the object.
const NO_INSTANCE: &str = "super(type, obj): obj must be an instance or subtype of type";

static SUPER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn class_of_supers(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let class = SUPER.get_or_try_init(py, || py.import("builtins")?.getattr("super").map(Bound::unbind))?;
    Ok(class.bind(py))
}

/// The class behind which `super` looks, and the object for which it does.
struct SuperCall<'py> {
    class: Bound<'py, PyAny>,
    object: Bound<'py, PyAny>,
}

/// The value of `super()` and `super(C, self)`.
pub(super) fn answer(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let py = call.py();
    let place = match call.arguments.len() {
        0 => of_running_code(py)?,
        2 => Some(SuperCall { class: call.arguments.get_item(0)?, object: call.arguments.get_item(1)? }),
        _ => return Ok(None),
    };
    let Some(SuperCall { class, object }) = place.filter(|place| place.class.is_instance_of::<PyType>()) else {
        return stand_in(py).map(Some);
    };
    let is_missing = object.cast::<MockObject>().is_ok_and(|object| object.get().real.is_none());
    if is_missing || has_only_missing_bases(&class)? {
        return stand_in(py).map(Some);
    }
    match call.callee.call1((&class, &object)) {
        Ok(made) => Ok(Some(made.unbind())),
        Err(error) if call.arguments.is_empty() => Err(error),
        Err(_) => stand_in(py).map(Some),
    }
}

/// What `super()` without arguments means in the frame that calls, or Python's error. `None` if nobody knows the class.
fn of_running_code(py: Python<'_>) -> PyResult<Option<SuperCall<'_>>> {
    let frame = py.import("sys")?.getattr("_getframe")?.call0()?;
    let code = frame.getattr("f_code")?;
    if code.getattr("co_argcount")?.extract::<usize>()? == 0 {
        return Err(PyRuntimeError::new_err("super(): no arguments"));
    }
    let first = code.getattr("co_varnames")?.get_item(0)?.cast_into::<PyString>()?;
    if first == ".0" {
        return Err(PyTypeError::new_err(NO_INSTANCE));
    }
    let locals = frame.getattr("f_locals")?;
    let Ok(object) = locals.get_item(first) else {
        return Err(PyRuntimeError::new_err("super(): arg[0] deleted"));
    };
    let class = match locals.get_item("__class__") {
        Ok(class) => Some(class),
        Err(_) => {
            let known = state::with(|execution| execution.receiver.as_ref().map(|class| class.clone_ref(py)));
            known.flatten().map(|class| class.into_bound(py))
        }
    };
    Ok(class.map(|class| SuperCall { class, object }))
}

/// `super()` of an object whose class, or whose base, is missing.
fn stand_in(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let value = resolve::value(py, "super()".into(), &ValueRequest { identifier: "super", ..ValueRequest::default() })?;
    if value.bind(py).is_instance_of::<MockObject>() {
        return Ok(value);
    }
    resolve::build(py, &Recipe::Mock(AbstractValue::Object), "super()".into())
}

fn mro<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    Ok(class.getattr("__mro__")?.cast_into::<PyTuple>()?)
}

fn is_object(class: &Bound<'_, PyAny>) -> bool {
    class.is(class.py().get_type::<pyo3::PyAny>())
}

/// Whether a class has a base that is missing.
fn lacks_a_base(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let namespace = class.getattr("__dict__")?;
    if !namespace.contains("__orig_bases__")? {
        return Ok(false);
    }
    let written = namespace.get_item("__orig_bases__")?;
    let Ok(written) = written.cast::<PyTuple>() else { return Ok(false) };
    Ok(written.iter().any(|base| base.is_instance_of::<MockObject>()))
}

fn has_only_missing_bases(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let others = mro(class)?.iter().filter(|base| !base.is(class) && !is_object(base)).count();
    Ok(others == 0 && lacks_a_base(class)?)
}

/// An attribute of what `super()` gave, where Python's own look-up does not do. `None` if it does.
pub(crate) fn attribute(object: &Bound<'_, PyAny>, name: &str, site: u32) -> PyResult<Option<Py<PyAny>>> {
    let py = object.py();
    if !object.get_type().is(class_of_supers(py)?) || name == "__class__" {
        return Ok(None);
    }
    let (class, own) = (object.getattr("__thisclass__")?, object.getattr("__self__")?);
    let start = object.getattr("__self_class__")?;
    if start.is_none() {
        // `super(C)` is bound to no object.
        return Ok(None);
    }
    let all = mro(&start)?;
    let mut lacks = false;
    let mut found = None;
    for base in all.iter().skip_while(|base| !base.is(&class)) {
        let is_behind = !base.is(&class);
        if is_behind && (!is_object(&base) || !lacks) {
            let namespace = base.getattr("__dict__")?;
            if namespace.contains(name)? {
                found = Some((base, namespace.get_item(name)?));
                break;
            }
        }
        lacks |= lacks_a_base(&base)?;
    }
    let Some((base, found)) = found else {
        // Of an injected object, as in a class that others inherit from beside the one that has it.
        if !lacks && !own.is_instance_of::<MockObject>() {
            return Ok(None);
        }
        return of_missing(py, name, site);
    };
    let Ok(mock) = own.cast::<MockObject>() else { return Ok(None) };
    let kind = found.get_type().name()?.to_string();
    if OF_BUILTIN_CLASSES.iter().any(|of| kind == *of) {
        let method = if is_object(&base) { own.get_type().getattr(name)? } else { found };
        return Ok(Some(bound(&method, &own)?.unbind()));
    }
    if name == "__new__" && kind == "builtin_function_or_method" {
        return of_missing(py, name, site);
    }
    if matches!(kind.as_str(), "getset_descriptor" | "member_descriptor") {
        return members::attribute(mock, name, Some(site)).map(Some);
    }
    Ok(None)
}

fn of_missing(py: Python<'_>, name: &str, site: u32) -> PyResult<Option<Py<PyAny>>> {
    let missing = stand_in(py)?.into_bound(py);
    match missing.cast::<MockObject>() {
        Ok(missing) => members::attribute(missing, name, Some(site)).map(Some),
        Err(_) => Ok(None),
    }
}

fn bound<'py>(method: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    method.py().import("types")?.getattr("MethodType")?.call1((method, object))
}

/// A call of a builtin class's method for an injected object of a class that inherits it.
pub(super) fn inherited(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let py = call.py();
    let kind = call.callee.get_type().name()?.to_string();
    let (method, arguments) = match kind.as_str() {
        "method" => {
            let method = call.callee.getattr("__func__")?;
            if !is_of_builtin_class(&method)? {
                return Ok(None);
            }
            let object = call.callee.getattr("__self__")?;
            let all = std::iter::once(object).chain(call.arguments.iter());
            (method, PyTuple::new(py, all.collect::<Vec<_>>())?)
        }
        kind if OF_BUILTIN_CLASSES.contains(&kind) => (call.callee.clone(), call.arguments.clone()),
        _ => return Ok(None),
    };
    let Some(object) = arguments.iter().next() else { return Ok(None) };
    let Ok(mock) = object.cast::<MockObject>() else { return Ok(None) };
    let class = method.getattr("__objclass__")?;
    let has_more = arguments.len() > 1 || call.has_keywords();
    if is_object(&class) && has_more && method.getattr("__name__")?.eq("__init__")? {
        // `object` takes none: another class stands behind this one.
        let arguments = arguments.get_slice(1, arguments.len());
        let call = MissingCall {
            callee: "super().__init__".into(),
            site: Some(call.site),
            arguments: &arguments,
            keywords: call.keywords,
            recorded: true,
            declared: None,
        };
        return call.answer().map(Some);
    }
    if class.is(py.get_type::<MockObject>()) {
        return method.call(&arguments, call.keywords).map(|value| Some(value.unbind()));
    }
    let Some(real) = &mock.get().real else { return Ok(None) };
    if !real.bind(py).cast::<PyType>()?.is_subclass(&class)? {
        return Ok(None);
    }
    if is_object(&class) {
        // Its own way to do it, since it is no plain object.
        let own = object.get_type().getattr(method.getattr("__name__")?.cast_into::<PyString>()?)?;
        return own.call(&arguments, call.keywords).map(|value| Some(value.unbind()));
    }
    let class: String = class.getattr("__qualname__")?.extract()?;
    let name: String = method.getattr("__name__")?.extract()?;
    let path = AccessPath::from(&class).attribute(&name);
    let keywords = call.keywords;
    MissingCall {
        callee: path.as_path(),
        site: Some(call.site),
        arguments: &arguments,
        keywords,
        recorded: true,
        declared: None,
    }
    .answer()
    .map(Some)
}

fn is_of_builtin_class(method: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind = method.get_type().name()?.to_string();
    Ok(OF_BUILTIN_CLASSES.contains(&kind.as_str()))
}
