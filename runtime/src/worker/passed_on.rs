//! Keywords that the code hands on to something else: `def f(**options): return Page(**options)` takes what `Page` takes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;
use twincell_engine::protocol::Version;
use twincell_syntax::ParameterKind;
use twincell_syntax::site::SiteKind;
use twincell_values::path::{self, AccessPath};

use crate::execution::object::MockObject;
use crate::execution::prediction_index::PredictionIndex;
use crate::worker::module::{self, helpers};

/// Names of keywords, by the path of the parameter that collects them.
pub(super) type PassedOn = FxHashMap<String, Vec<String>>;

/// The keywords that every version hands on to something real. Callers of one version do not know those of another.
pub(super) fn passed_on(index: &PredictionIndex, modules: &[Bound<'_, PyDict>]) -> PassedOn {
    let mut all = PassedOn::default();
    for (number, module) in modules.iter().enumerate() {
        let version = &index.versions[number].version;
        let mut own = PassedOn::default();
        for parameter in version.parameters.iter().filter(|one| one.kind == ParameterKind::VarKeyword) {
            let path = index.canonical(number, &parameter.name).to_owned();
            own.insert(path, of_version(version, module, &parameter.name));
        }
        if number == 0 {
            all = own;
        } else {
            all.retain(|path, names| {
                let others = own.get(path).map_or(&[] as &[String], Vec::as_slice);
                names.retain(|name| others.contains(name));
                !names.is_empty()
            });
        }
    }
    // What one version takes as a parameter of its own, the other could only hand on.
    let is_free = |name: &String| {
        let mut parameters = index.versions.iter().flat_map(|version| &version.version.parameters);
        parameters.all(|parameter| parameter.name != *name)
    };
    all.values_mut().for_each(|names| names.retain(is_free));
    all
}

fn of_version(version: &Version, module: &Bound<'_, PyDict>, parameter: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for site in version.sites.sites.iter().filter(|site| site.kind == SiteKind::Call) {
        let Some((callee, written)) = AccessPath::new(&site.path).split_call() else { continue };
        let written: Vec<&str> = path::arguments(written).map(str::trim).collect();
        if !written.iter().any(|one| one.strip_prefix("**").is_some_and(|name| name.trim() == parameter)) {
            continue;
        }
        let positional = written.iter().filter(|one| !one.starts_with('*') && path::keyword_of(one).is_none()).count();
        let keywords: Vec<&str> = written.iter().filter_map(|one| path::keyword_of(one)).collect();
        let taken = real(version, module, callee.as_str()).map(|callee| taken(&callee, positional)).unwrap_or_default();
        for name in taken {
            if !keywords.contains(&name.as_str()) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// What a dotted name stands for in a module, if it is real.
fn real<'py>(version: &Version, module: &Bound<'py, PyDict>, name: &str) -> Option<Bound<'py, PyAny>> {
    let mut parts = name.split('.');
    let first = parts.next()?;
    let own = version.parameters.first().filter(|own| version.class_name.is_some() && own.name == first);
    let mut found = match own {
        Some(_) => module::enclosing_class(module, &version.qualname)?,
        None => module.get_item(first).ok()??,
    };
    for part in parts {
        if found.is_instance_of::<MockObject>() {
            return None;
        }
        found = found.getattr(part).ok()?;
    }
    (!found.is_instance_of::<MockObject>()).then_some(found)
}

/// The optional parameters behind so many positional ones that can be named.
fn taken(callee: &Bound<'_, PyAny>, positional: usize) -> Vec<String> {
    let signature = || -> PyResult<Vec<(String, u8, bool)>> {
        helpers(callee.py())?.getattr("parameters")?.call1((callee,))?.extract()
    };
    let all = signature().unwrap_or_default().into_iter().enumerate();
    let optional =
        all.filter(|(at, (_, kind, has_default))| *has_default && (*kind == 1 && *at >= positional || *kind == 3));
    optional.map(|(_, (name, ..))| name).collect()
}
