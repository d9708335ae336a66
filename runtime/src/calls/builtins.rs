//! Builtins that must know about injected values: `isinstance`, `type`, `hasattr`, `getattr` with a default, `id`,
//! and those that reach outside the process. `supers.rs` has `super`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt};
use twincell_values::path::Question;

use crate::calls::{SiteCall, supers};
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::reflection;
use crate::inject::texts::{self, TextKind};
use crate::inject::{builtins, failures, members, questions};
use crate::outside;

/// The replacement of a builtin's result. `None` if the call is made for real.
type Answer = fn(&SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>>;

/// Builtins that must know about injected values.
const ANSWERS: [(&str, Answer); 12] = [
    ("isinstance", is_instance),
    ("issubclass", is_instance),
    ("hasattr", has_attribute),
    ("getattr", attribute),
    ("str", |call| text(call, TextKind::Text)),
    ("repr", |call| text(call, TextKind::Representation)),
    ("id", identity),
    ("super", supers::answer),
    ("type", class),
    // These reach outside the process. They are treated as missing.
    ("open", file),
    ("input", outside),
    ("breakpoint", outside),
];

static BUILTINS: PyOnceLock<Vec<(Py<PyAny>, Answer)>> = PyOnceLock::new();

/// The answer of a builtin that must know about injected values. `None` for every other callee.
pub(super) fn answer(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let builtins = BUILTINS.get_or_try_init(call.py(), || {
        let module = call.py().import("builtins")?;
        let known = |(name, answer)| Ok::<_, PyErr>((module.getattr(name)?.unbind(), answer));
        let asked = (builtins::plain_builtin(call.py(), "isinstance")?.unbind(), is_instance as Answer);
        ANSWERS.into_iter().map(known).chain([Ok(asked)]).collect::<PyResult<Vec<_>>>()
    })?;
    match builtins.iter().find(|(builtin, _)| call.callee.is(builtin)) {
        Some((_, answer)) => answer(call),
        None => kind(call),
    }
}

fn truth(py: Python<'_>, truth: bool) -> PyResult<Option<Py<PyAny>>> {
    Ok(Some(PyBool::new(py, truth).to_owned().into_any().unbind()))
}

/// `isinstance(x, class)` and `issubclass(x, class)` of an injected object.
fn is_instance(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() == 2
        && let Ok(value) = call.arguments.get_item(0)?.cast::<MockObject>()
    {
        return truth(call.py(), reflection::is_instance(value, &call.arguments.get_item(1)?)?);
    }
    Ok(None)
}

/// The injected object and the attribute that `hasattr` or `getattr` asks for.
fn asked<'py>(call: &SiteCall<'_, 'py>) -> PyResult<Option<(Bound<'py, MockObject>, String)>> {
    let Ok(object) = call.arguments.get_item(0)?.cast_into::<MockObject>() else { return Ok(None) };
    let name = call.arguments.get_item(1)?.extract::<String>();
    Ok(name.ok().map(|name| (object, name)))
}

fn is_present(object: &MockObject, name: &str) -> bool {
    // The last assignment counts, which may be a deletion.
    let assigned = object.assigned.lock().ok().and_then(|assigned| {
        let own = assigned.attributes.iter().rev().find(|(own, _)| own == name);
        own.map(|(_, value)| value.is_some())
    });
    assigned.unwrap_or_else(|| reflection::has_attribute(object.attribute_path(name).as_path()))
}

fn has_attribute(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() < 2 {
        return Ok(None);
    }
    match asked(call)? {
        Some((object, name)) => truth(call.py(), is_present(object.get(), &name)),
        None => Ok(None),
    }
}

/// `getattr(x, name, default)`.
fn attribute(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() != 3 {
        return Ok(None);
    }
    let Some((object, name)) = asked(call)? else { return Ok(None) };
    if !is_present(object.get(), &name) {
        return Ok(Some(call.arguments.get_item(2)?.unbind()));
    }
    members::attribute(&object, &name, None).map(Some)
}

/// `str(x)` and `repr(x)`.
fn text(call: &SiteCall<'_, '_>, kind: TextKind) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() != 1 || call.has_keywords() {
        return Ok(None);
    }
    let value = call.arguments.get_item(0)?;
    let Ok(value) = value.cast::<MockObject>() else { return Ok(None) };
    let path = value.get().path();
    failures::may_by(call.py(), || Question::Text(path).to_string(), failures::of_text)?;
    Ok(Some(texts::of(call.py(), kind, path, Some(call.site))?.into_any().unbind()))
}

/// `type(x)` of an object that stands for one of a real class.
fn class(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() != 1 || call.has_keywords() {
        return Ok(None);
    }
    let value = call.arguments.get_item(0)?;
    let Ok(value) = value.cast::<MockObject>() else { return Ok(None) };
    Ok(value.get().real.as_ref().map(|real| real.clone_ref(call.py())))
}

/// `open(x)`. The lines of a file that is read as text are texts.
fn file(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if outside::answers(call.callee, call.arguments) {
        return Ok(None);
    }
    let opened = outside(call)?;
    let file = opened.as_ref().and_then(|file| file.bind(call.py()).cast_exact::<MockObject>().ok());
    if let Some(file) = file.filter(|_| reads_text(call)) {
        let path = file.get().path().to_owned();
        state::with(|execution| execution.run.text_files.insert(path.into()));
    }
    Ok(opened)
}

/// Whether the mode in which a file is opened is known, and text is read in it.
fn reads_text(call: &SiteCall<'_, '_>) -> bool {
    let named = || call.keywords.and_then(|keywords| keywords.get_item("mode").ok().flatten());
    match call.arguments.get_item(1).ok().or_else(named) {
        None => true,
        Some(mode) => mode.extract::<String>().is_ok_and(|mode| mode.contains(['r', '+']) && !mode.contains('b')),
    }
}

fn outside(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let name = call.callee.getattr("__name__")?.to_string();
    call.of_missing(name.as_str().into()).answer().map(Some)
}

/// A number for an object, in the order in which the numbers are first asked for, independent of its address. When a
/// version is repeated the numbers fall instead of rising, so that a dependence on their order shows as nondeterminism.
fn identity(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    const FIRST: i64 = 0x7f00_0000_0000;
    const STEP: i64 = 64;
    if call.arguments.len() != 1 {
        return Ok(None);
    }
    let object = call.arguments.get_item(0)?;
    let address = object.as_ptr() as usize;
    let kept = object.unbind();
    let number = state::with(|execution| {
        let run = &mut execution.run;
        let next = run.ids.len() as i64;
        // The object is kept, so that no other takes its address while the version runs.
        let (number, _) = run.ids.entry(address).or_insert((next, kept));
        if run.repeated { FIRST - STEP * *number } else { FIRST + STEP * *number }
    })
    .unwrap_or(address as i64);
    Ok(Some(PyInt::new(call.py(), number).into_any().unbind()))
}

/// `inspect.isfunction(x)` and the like.
fn kind(call: &SiteCall<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    if call.arguments.len() != 1 {
        return Ok(None);
    }
    let value = call.arguments.get_item(0)?;
    let Ok(value) = value.cast::<MockObject>() else { return Ok(None) };
    match questions::kind(call.callee, value) {
        Some(answer) => truth(call.py(), answer),
        None => Ok(None),
    }
}
