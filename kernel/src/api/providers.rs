//! `twincell.register`: values of classes, for the comparisons of this process; and what installed libraries bring.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyModule, PyString, PyTuple, PyType};
use twincell_driver::providers;
use twincell_values::value::{Makes, Provider};

use super::errors::raised;

/// Declares values of a class, for the comparisons of this process.
///
/// `cls` is a class or its dotted name. `values` is a list of Python expressions, the simplest first, with names of the
/// module of the class: `["Money(0, 'EUR')", "Money(995, 'USD')"]`. Or it is a function, or its name with its module,
/// `"tests.factories:make_money"`, that is called with a seeded `random.Random`. `None` takes back what was declared. The
/// values are made only in the sandbox.
#[pyfunction]
#[pyo3(signature = (cls, values))]
pub fn register(cls: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = match cls.cast::<PyString>() {
        Ok(name) => name.extract()?,
        Err(_) if cls.is_instance_of::<PyType>() => of_module(cls, ".")?,
        Err(_) => return Err(raised("cls must be a class or its dotted name, e.g. \"shop.money.Money\"")),
    };
    if values.is_none() {
        if providers::unregister(&class) {
            return Ok(());
        }
        return Err(raised(format!("nothing is registered for {class}: give values")));
    }
    let provider = Provider::new(&class, makes(values)?).map_err(raised)?;
    providers::register(provider);
    Ok(())
}

/// Reads what installed libraries bring, once in this process. Returns what is wrong with it, a line each.
pub fn of_libraries(py: Python<'_>) -> PyResult<&'static [String]> {
    static PROBLEMS: PyOnceLock<Vec<String>> = PyOnceLock::new();
    let read = || -> PyResult<Vec<String>> {
        let found = py.import("twincell._providers")?.call_method0("of_libraries")?;
        let (tables, mut problems): (Vec<(String, Bound<'_, PyAny>)>, Vec<String>) = found.extract()?;
        let mut providers = Vec::new();
        for (class, values) in tables {
            let made = makes(&values).map_err(|error| error.value(py).to_string());
            match made.and_then(|makes| Provider::new(&class, makes)) {
                Ok(provider) => providers.push(provider),
                Err(error) => problems.push(format!("the values that a library brings are not used: {error}")),
            }
        }
        providers::set_of_libraries(providers);
        Ok(problems)
    };
    PROBLEMS.get_or_try_init(py, read).map(Vec::as_slice)
}

fn makes(values: &Bound<'_, PyAny>) -> PyResult<Makes> {
    if let Ok(name) = values.extract::<String>() {
        return Ok(Makes::Function(name));
    }
    if values.is_callable() {
        return Ok(Makes::Function(of_module(values, ":")?));
    }
    let is_list = values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>();
    let texts = is_list.then(|| values.extract::<Vec<String>>().ok()).flatten();
    texts.map(Makes::Expressions).ok_or_else(|| {
        raised(
            "values must be a list of expressions in quotes, e.g. [\"Money(0, 'EUR')\"], or a function that makes one",
        )
    })
}

/// The name of a class or a function, after that of its module.
fn of_module(object: &Bound<'_, PyAny>, separator: &str) -> PyResult<String> {
    let module: String = object.getattr("__module__")?.extract()?;
    let named = object.getattr("__qualname__").and_then(|name| name.extract::<String>());
    let is_bound =
        object.getattr("__self__").is_ok_and(|owner| !owner.is_none() && !owner.is_instance_of::<PyModule>());
    let Some(name) = named.ok().filter(|_| !is_bound) else {
        return Err(raised("what makes values must be a function at the top level of a module"));
    };
    if name.contains('<') {
        return Err(raised(format!("{name} has no name in its module: define it at the top level")));
    }
    Ok(format!("{module}{separator}{name}"))
}
