//! Existing functions, properties and plain globals that are replaced with injected values if a request asks for it.
//!
//! Real results keep executions on the paths to which they lead. A decision `injected(name)` replaces a helper or a
//! global for one execution, in both versions. Code that itself changed runs as a companion and is never replaced.
//! Neither is code of the program where one version alone uses it (`execution/own_uses.rs`).

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};

use twincell_engine::protocol::ReplacementScope;
use twincell_syntax::python::{OF_THE_MACHINE, is_always_real, is_pure_import};
use twincell_values::path::{AccessPath, Question};

use crate::execution::code::{self, FILE_NAME, MODULE_NAME};
use crate::execution::object::MockObject;
use crate::execution::state;
use crate::observe::kinds::{self, Kind};

/// The origin of a real object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Origin {
    /// The module of the code under comparison.
    Own,
    /// An installed package, or a part of the standard library whose answers depend on the machine.
    Imported,
}

/// Whether the object with this name is injected in this execution.
pub(crate) fn is_injected(name: &str, origin: Origin) -> bool {
    state::with(|execution| {
        if execution.loading || !execution.may_replace {
            return false;
        }
        let probability = match (execution.replace, origin) {
            (ReplacementScope::Helpers, Origin::Own) => 0.6,
            (ReplacementScope::Most, _) => 0.85,
            _ => 0.0,
        };
        execution.draw.whether(&Question::Injected(name).to_string(), probability)
    })
    .unwrap_or(false)
}

/// Whether every version makes this call. For code of the program, each needs a counterpart of its own.
pub(crate) fn is_called_by_all(callee: &Bound<'_, PyAny>, site: u32) -> bool {
    let is_of_program = code::is_of_program(callee);
    let by_all = state::with(|execution| match is_of_program {
        true => execution.own_uses.is_called_by_all(execution.version, site),
        false => execution.index.is_called_by_all(execution.version, site),
    });
    by_all == Some(true)
}

pub(crate) fn is_possible() -> bool {
    state::with(|execution| execution.may_replace && !execution.loading) == Some(true)
}

/// The origin of a callee that may be replaced.
pub(crate) fn origin(callee: &Bound<'_, PyAny>) -> Option<Origin> {
    if !tells_plainly(callee) {
        return None;
    }
    let function = match callee.getattr("__func__") {
        Ok(function) => {
            let owner = callee.getattr("__self__").ok()?;
            // Methods of real objects belong to these objects.
            if !owner.is_instance_of::<MockObject>() && !owner.is_instance_of::<PyType>() {
                return None;
            }
            function
        }
        Err(_) => callee.clone(),
    };
    if is_special(&function) || is_uneven(&function) {
        return None;
    }
    if function.is_exact_instance_of::<PyFunction>() {
        let file: String = function.getattr("__code__").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        if file == FILE_NAME {
            // Other modules of the project are as they are in each version.
            return is_of_own_module(&function).then_some(Origin::Own);
        }
    }
    let module: String = function.getattr("__module__").ok()?.extract().ok()?;
    let package = module.split('.').next().unwrap_or(&module);
    let is_known = module == MODULE_NAME
        || code::is_of_project(callee.py(), &module)
        || is_pure_import(&module)
        || is_always_real(&module)
        || is_pure_class(&module, &function)
        || is_standard(callee.py(), package) && !OF_THE_MACHINE.contains(&package);
    let raised = function.cast::<PyType>().is_ok_and(|class| {
        class.is_subclass_of::<PyBaseException>().unwrap_or(true) || class.is_subclass_of::<PyType>().unwrap_or(true)
    });
    (!is_known && !raised).then_some(Origin::Imported)
}

/// Whether it is a method that Python calls by itself, or that changes its object as a whole, such as `__init__`.
fn is_special(function: &Bound<'_, PyAny>) -> bool {
    let name = function.getattr("__name__").and_then(|name| name.extract::<String>());
    let is_method = || function.is_exact_instance_of::<PyFunction>();
    name.is_ok_and(|name| name.starts_with("__") && name.ends_with("__")) && is_method()
}

/// Whether it is a method that only some versions define: the others inherit one that no request replaces.
fn is_uneven(function: &Bound<'_, PyAny>) -> bool {
    let name = function.getattr("__qualname__").and_then(|name| name.extract::<String>());
    let Ok(name) = name else { return false };
    name.contains('.') && state::with(|execution| execution.uneven.contains(&name)) == Some(true)
}

/// Whether a function is of the module under comparison, and not of another one of its project.
fn is_of_own_module(function: &Bound<'_, PyAny>) -> bool {
    let Ok(globals) = function.getattr("__globals__") else { return false };
    state::with(|execution| execution.globals.as_ref().is_none_or(|own| own.as_ptr() == globals.as_ptr()))
        != Some(false)
}

/// Whether it is a class of a module of the machine that only calculates: paths without files, time zones by name.
fn is_pure_class(module: &str, function: &Bound<'_, PyAny>) -> bool {
    let name = || function.getattr("__qualname__").and_then(|name| name.extract::<String>()).unwrap_or_default();
    let package = module.split('.').next().unwrap_or(module);
    match package {
        "pathlib" => name().starts_with("Pure"),
        "zoneinfo" => true,
        _ => false,
    }
}

/// Whether looking up an attribute certainly runs no code of the program: for a function or method, a class, a cached
/// function.
fn tells_plainly(callee: &Bound<'_, PyAny>) -> bool {
    let of_functools = || {
        let module = callee.get_type().getattr("__module__").and_then(|name| name.extract::<String>());
        module.is_ok_and(|name| name == "functools")
    };
    kinds::of(callee) == Some(Kind::Function) || callee.is_instance_of::<PyType>() || of_functools()
}

/// Whether it is a package of the standard library, whose behavior is known and for which code is written.
fn is_standard(py: Python<'_>, package: &str) -> bool {
    let names = py.import("sys").and_then(|sys| sys.getattr("stdlib_module_names"));
    names.and_then(|names| names.contains(package)).unwrap_or(true)
}

/// Whether a property of the methods' own object is injected instead of calculated by `getter`.
pub(crate) fn property(path: AccessPath<'_>, name: &str, getter: &Bound<'_, PyAny>) -> bool {
    let Some(function) = code::program_name(getter).filter(|_| is_possible()) else { return false };
    let by_all = state::with(|execution| execution.own_uses.is_read_by_all(path.as_str(), name, &function));
    by_all == Some(true) && origin(getter).is_some_and(|origin| is_injected(path.as_str(), origin))
}
