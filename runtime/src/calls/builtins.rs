//! Builtins that must know about injected values: `isinstance`, `hasattr`, `getattr` with a default, `super`, `id`, and
//! those that reach outside the process.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use twincell_values::value::Recipe;

use crate::calls::missing;
use crate::execution::object::Versatile;
use crate::execution::state;
use crate::inject::resolve::{self, Request};
use crate::inject::{failures, members, reflection, texts};

/// Builtins that must know about injected values.
struct Builtins {
    isinstance: Py<PyAny>,
    issubclass: Py<PyAny>,
    getattr: Py<PyAny>,
    hasattr: Py<PyAny>,
    superclass: Py<PyAny>,
    string: Py<PyAny>,
    repr: Py<PyAny>,
    id: Py<PyAny>,
    /// Builtins that reach outside the process. They are treated as missing.
    outside: Vec<Py<PyAny>>,
}

static BUILTINS: pyo3::sync::PyOnceLock<Builtins> = pyo3::sync::PyOnceLock::new();

fn builtins(py: Python<'_>) -> PyResult<&Builtins> {
    BUILTINS.get_or_try_init(py, || {
        let module = py.import("builtins")?;
        let get = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Builtins {
            isinstance: get("isinstance")?,
            issubclass: get("issubclass")?,
            getattr: get("getattr")?,
            hasattr: get("hasattr")?,
            superclass: get("super")?,
            string: get("str")?,
            repr: get("repr")?,
            id: get("id")?,
            outside: ["open", "input", "breakpoint"].iter().map(|name| get(name)).collect::<PyResult<_>>()?,
        })
    })
}

/// A number for an object, in the order in which the numbers are first asked for, independent of its address. When a
/// version is repeated the numbers fall instead of rising, so that a dependence on their order shows as nondeterminism.
fn identity(object: Bound<'_, PyAny>) -> i64 {
    const FIRST: i64 = 0x7f00_0000_0000;
    const STEP: i64 = 64;
    let address = object.as_ptr() as usize;
    let kept = object.unbind();
    state::with(|execution| {
        let side = &mut execution.side;
        let next = side.ids.len() as i64;
        // The object is kept, so that no other takes its address while the version runs.
        let (number, _) = side.ids.entry(address).or_insert((next, kept));
        if side.repeated { FIRST - STEP * *number } else { FIRST + STEP * *number }
    })
    .unwrap_or(address as i64)
}

/// The name of a function that asks for the kind of its argument (`inspect.isfunction`). Real ones know only real
/// things, while an injected object may stand for anything.
fn kind_question(callee: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = callee.getattr("__name__").ok()?.extract().ok()?;
    let module: String = callee.getattr("__module__").ok()?.extract().ok()?;
    let asks =
        name.starts_with("is") && matches!(module.as_str(), "inspect" | "asyncio.coroutines" | "asyncio.futures");
    asks.then(|| format!("{module}.{name}"))
}

/// The answer of a builtin that must know about injected values. `None` for every other callee.
pub(crate) fn answer(
    py: Python<'_>,
    site: u32,
    callee: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let known = builtins(py)?;
    let count = arguments.len();
    if callee.is(&known.isinstance) || callee.is(&known.issubclass) {
        if count == 2
            && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
        {
            let answer = reflection::is_instance(value, &arguments.get_item(1)?)?;
            return Ok(Some(pyo3::types::PyBool::new(py, answer).to_owned().into_any().unbind()));
        }
    } else if callee.is(&known.hasattr) || callee.is(&known.getattr) && count == 3 {
        if count >= 2
            && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
            && let Ok(name) = arguments.get_item(1)?.extract::<String>()
        {
            let path = value.get().attribute_path(&name);
            let assigned = value
                .get()
                .assigned
                .lock()
                .is_ok_and(|assigned| assigned.attributes.iter().any(|(own, _)| *own == name));
            let present = assigned || reflection::has_attribute(&path);
            if callee.is(&known.hasattr) {
                return Ok(Some(pyo3::types::PyBool::new(py, present).to_owned().into_any().unbind()));
            }
            if !present {
                return Ok(Some(arguments.get_item(2)?.unbind()));
            }
            return members::attribute(value, &name, None).map(Some);
        }
    } else if (callee.is(&known.string) || callee.is(&known.repr))
        && count == 1
        && keywords.is_none_or(|keywords| keywords.is_empty())
        && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
    {
        failures::may(py, || format!("str({})", value.get().path()))?;
        let form = if callee.is(&known.repr) { "repr" } else { "str" };
        return Ok(Some(texts::of(py, form, value.get().path(), Some(site))?.into_any().unbind()));
    } else if callee.is(&known.id) && count == 1 {
        let number = identity(arguments.get_item(0)?);
        return Ok(Some(pyo3::types::PyInt::new(py, number).into_any().unbind()));
    } else if callee.is(&known.superclass) {
        return resolve::value(py, "super()", &Request { identifier: "super", ..Request::default() })
            .and_then(|value| {
                if value.bind(py).is_instance_of::<Versatile>() {
                    Ok(value)
                } else {
                    resolve::build(py, &Recipe::Versatile(twincell_values::value::AbstractValue::Object), "super()")
                }
            })
            .map(Some);
    } else if count == 1
        && let Ok(value) = arguments.get_item(0)?.cast::<Versatile>()
        && let Some(question) = kind_question(callee)
    {
        let path = format!("{question}({})", value.get().path());
        let answer =
            state::with(|execution| execution.loading || execution.draw.truth(&path, reflection::PRESENT_PROBABILITY));
        return Ok(Some(pyo3::types::PyBool::new(py, answer.unwrap_or(false)).to_owned().into_any().unbind()));
    } else if known.outside.iter().any(|outside| callee.is(outside)) {
        let name = callee.getattr("__name__")?.to_string();
        return missing::call(py, &name, Some(site), arguments, keywords).map(Some);
    }
    Ok(None)
}
