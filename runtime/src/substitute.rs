//! What is there and is injected all the same: functions, properties and plain globals, where a request asks for it.
//!
//! Real results keep executions on the way that real results lead. A decision `injected(name)` takes a helper's or a
//! global's place for one execution, in both versions. What changed itself runs as a companion and is never replaced, and
//! neither is what only one version calls.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple, PyType};
use twincell_core::behavior::Observed;
use twincell_core::engine::protocol::Substitute;
use twincell_core::site::SiteKind;
use twincell_core::stdlib::{OF_THE_MACHINE, is_pure_import};
use twincell_core::value::{AbstractValue, SUBSTITUTED};

use crate::call::missing;
use crate::imports::MODULE_NAME;
use crate::kinds::{self, Kind};
use crate::module::FILE_NAME;
use crate::observe;
use crate::prepared::Prepared;
use crate::real_call::{bound_arguments, callee_path};
use crate::resolve::{self, Request};
use crate::state;
use crate::versatile::Versatile;

/// A global that is injected in this run.
pub(crate) struct Replaced<'py> {
    name: String,
    injected: Bound<'py, PyAny>,
    real: Bound<'py, PyAny>,
}

/// Where a real thing comes from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// The module of the code under comparison.
    Own,
    /// An installed package, or a part of the standard library that answers as the machine is.
    Imported,
}

/// Is the thing of this name injected in this execution?
fn is_injected(name: &str, origin: Origin) -> bool {
    state::with(|execution| {
        if execution.loading || !execution.substitutes {
            return false;
        }
        let probability = match (execution.substitute, origin) {
            (Substitute::Helpers, Origin::Own) => 0.6,
            (Substitute::Most, _) => 0.85,
            _ => 0.0,
        };
        execution.draw.whether(&format!("{SUBSTITUTED}{name})"), probability)
    })
    .unwrap_or(false)
}

fn is_possible() -> bool {
    state::with(|execution| execution.substitutes && !execution.loading) == Some(true)
}

/// A call in instrumented code of what is there, answered as if it were not.
pub(crate) fn call(
    py: Python<'_>,
    site: u32,
    callee: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    if !is_possible() {
        return Ok(None);
    }
    let Some(origin) = origin(callee) else { return Ok(None) };
    if state::with(|execution| execution.prepared.is_called_by_all(execution.version, site)) != Some(true) {
        return Ok(None);
    }
    let path = callee_path(callee, site);
    if !is_injected(&path, origin) {
        return Ok(None);
    }
    match bound_arguments(callee, arguments, keywords) {
        Some((arguments, keywords)) => missing(py, &path, Some(site), &arguments, Some(&keywords)),
        None => missing(py, &path, Some(site), arguments, keywords),
    }
    .map(Some)
}

/// Where a callee comes from that may be replaced.
fn origin(callee: &Bound<'_, PyAny>) -> Option<Origin> {
    if !tells_plainly(callee) {
        return None;
    }
    let function = match callee.getattr("__func__") {
        Ok(function) => {
            let owner = callee.getattr("__self__").ok()?;
            // Methods of real objects belong to these.
            if !owner.is_instance_of::<Versatile>() && !owner.is_instance_of::<PyType>() {
                return None;
            }
            function
        }
        Err(_) => callee.clone(),
    };
    if function.is_exact_instance_of::<PyFunction>() {
        let file: String = function.getattr("__code__").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        if file == FILE_NAME {
            return Some(Origin::Own);
        }
    }
    let module: String = function.getattr("__module__").ok()?.extract().ok()?;
    let package = module.split('.').next().unwrap_or(&module);
    let is_known = module == MODULE_NAME
        || is_pure_import(&module)
        || is_standard(callee.py(), package) && !OF_THE_MACHINE.contains(&package);
    let raised = function.cast::<PyType>().is_ok_and(|class| {
        class.is_subclass_of::<PyBaseException>().unwrap_or(true) || class.is_subclass_of::<PyType>().unwrap_or(true)
    });
    (!is_known && !raised).then_some(Origin::Imported)
}

/// Is asking it for an attribute sure to run no code of the program: a function or method, a class, a cached function?
fn tells_plainly(callee: &Bound<'_, PyAny>) -> bool {
    let of_functools = || {
        let module = callee.get_type().getattr("__module__").and_then(|name| name.extract::<String>());
        module.is_ok_and(|name| name == "functools")
    };
    kinds::of(callee) == Some(Kind::Function) || callee.is_instance_of::<PyType>() || of_functools()
}

/// Is it a package of the standard library? What that does is known, and code is written for it.
fn is_standard(py: Python<'_>, package: &str) -> bool {
    let names = py.import("sys").and_then(|sys| sys.getattr("stdlib_module_names"));
    names.and_then(|names| names.contains(package)).unwrap_or(true)
}

/// Is a property of the methods' own object injected instead of calculated? `getter` is what would calculate it.
pub(crate) fn property(path: &str, name: &str, getter: &Bound<'_, PyAny>) -> bool {
    let by_all = || state::with(|execution| execution.prepared.is_read_by_all(name)) == Some(true);
    is_possible() && by_all() && origin(getter).is_some_and(|origin| is_injected(path, origin))
}

/// Globals of the module that can be injected: plain values that the running program may exchange, the same in every
/// version, that every version reads.
pub(crate) fn plain_globals(prepared: &Prepared, modules: &[Bound<'_, PyDict>]) -> Vec<String> {
    let read = |version: usize, name: &str| {
        let version = &prepared.versions[version].version;
        !version.parameters.iter().any(|parameter| parameter.name == name)
            && !version.locals.names.iter().any(|local| local == name)
            && version.sites.sites.iter().any(|site| site.kind == SiteKind::Name && site.identifier == name)
    };
    let plain = |module: &Bound<'_, PyDict>, name: &str| {
        let value = module.get_item(name).ok().flatten()?;
        let observed = observe::value(&value);
        let varies = is_set_later(&observed)
            || class_of(&observed).is_some()
                && prepared.versions.iter().any(|version| is_rebound(&version.version.module, name));
        (varies && !name.starts_with("__")).then_some(observed)
    };
    let Some(first) = prepared.versions.first() else { return vec![] };
    let mut names: Vec<String> = first
        .version
        .sites
        .sites
        .iter()
        .filter(|site| site.kind == SiteKind::Name)
        .map(|site| site.identifier.clone())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let values: Vec<_> = modules.iter().map(|module| plain(module, name)).collect();
        (0..modules.len()).all(|version| read(version, name))
            && values.iter().all(|value| value.is_some() && *value == values[0])
    });
    names
}

/// A switch, or what the program fills. Numbers, texts and tables are constants: code may as well have them written out.
fn is_set_later(value: &Observed) -> bool {
    match value {
        Observed::None | Observed::Bool(_) => true,
        Observed::List(items) | Observed::Set(items) => items.is_empty(),
        Observed::Dict(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Does some function of the module declare the name as a global that it assigns?
fn is_rebound(module: &str, name: &str) -> bool {
    let declared = |line: &str| {
        let names = line.trim_start().strip_prefix("global ")?;
        Some(names.split(',').any(|declared| declared.split('#').next().unwrap_or_default().trim() == name))
    };
    module.lines().any(|line| declared(line) == Some(true))
}

/// The class that a plain value has, and that what is injected for it has; none where it may be set later.
fn class_of(value: &Observed) -> Option<AbstractValue> {
    Some(match value {
        Observed::Bool(_) => AbstractValue::Bool,
        Observed::Int(_) => AbstractValue::Int,
        Observed::Float(_) => AbstractValue::Float,
        Observed::Str(_) => AbstractValue::Str,
        Observed::List(_) => AbstractValue::List,
        Observed::Tuple(_) => AbstractValue::Tuple,
        Observed::Dict(_) => AbstractValue::Dict,
        Observed::Set(_) => AbstractValue::Set,
        _ => return None,
    })
}

/// Puts injected values in the place of plain globals; `replaced` gets them with what stood there, also where one fails.
pub(crate) fn globals<'py>(
    globals: &Bound<'py, PyDict>,
    names: &[String],
    replaced: &mut Vec<Replaced<'py>>,
) -> PyResult<()> {
    let py = globals.py();
    if names.is_empty() || !is_possible() {
        return Ok(());
    }
    for name in names {
        let Some(real) = globals.get_item(name)? else { continue };
        if !is_injected(name, Origin::Own) {
            continue;
        }
        let class = class_of(&observe::value(&real));
        let request = Request { kind: SiteKind::Name, identifier: name, class, parameter: true, ..Request::default() };
        let injected = resolve::value(py, name, &request)?.into_bound(py);
        globals.set_item(name, &injected)?;
        replaced.push(Replaced { name: name.clone(), injected, real });
    }
    Ok(())
}

/// Puts globals back that the code has left as they were injected. What cannot be put back here is when the version's
/// globals are.
pub(crate) fn put_back(globals: &Bound<'_, PyDict>, replaced: Vec<Replaced<'_>>) {
    for Replaced { name, injected, real } in replaced {
        if globals.get_item(&name).ok().flatten().is_some_and(|now| now.is(&injected)) {
            let _ = globals.set_item(&name, real);
        }
    }
}
