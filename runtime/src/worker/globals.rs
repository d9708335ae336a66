//! Plain globals of the module that are injected for one execution and restored after it.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use twincell_engine::observed::Observed;
use twincell_syntax::scopes::declared_globals;
use twincell_syntax::site::SiteKind;
use twincell_values::value::AbstractValue;

use crate::execution::prediction_index::PredictionIndex;
use crate::inject::replacement::{Origin, is_injected, is_possible};
use crate::inject::resolve::{self, ValueRequest};
use crate::observe;

/// A global that is injected in this run.
pub(crate) struct Replaced<'py> {
    name: String,
    injected: Bound<'py, PyAny>,
    real: Bound<'py, PyAny>,
}

/// The globals of the module that can be injected: plain values that the running program may replace, that are the same
/// in every version, and that every version reads.
pub(crate) fn plain(index: &PredictionIndex, modules: &[Bound<'_, PyDict>]) -> Vec<String> {
    let read = |version: usize, name: &str| {
        let version = &index.versions[version].version;
        !version.parameters.iter().any(|parameter| parameter.name == name)
            && !version.locals.names.iter().any(|local| local == name)
            && version.sites.sites.iter().any(|site| site.kind == SiteKind::Name && site.identifier == name)
    };
    // The names that functions declare as global.
    let rebound: LazyCell<BTreeSet<String>, _> =
        LazyCell::new(|| index.versions.iter().flat_map(|version| declared_globals(&version.version.module)).collect());
    let plain = |module: &Bound<'_, PyDict>, name: &str| {
        let value = module.get_item(name).ok().flatten()?;
        let observed = observe::value(&value);
        let varies = is_set_later(&observed) || class_of(&observed).is_some() && rebound.contains(name);
        (varies && !name.starts_with("__")).then_some(observed)
    };
    let Some(first) = index.versions.first() else { return vec![] };
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

/// A switch, or a value that the program fills in. Numbers, texts and tables are constants, which the code could also
/// have written out.
fn is_set_later(value: &Observed) -> bool {
    match value {
        Observed::None | Observed::Bool(_) => true,
        Observed::List(items) | Observed::Set(items) => items.is_empty(),
        Observed::Dict(entries) => entries.is_empty(),
        _ => false,
    }
}

/// The class of a plain value, which the injected value also has. None if it may be set later.
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

/// Replaces plain globals with injected values. `replaced` receives them with the original values, also if one fails.
pub(crate) fn replace<'py>(
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
        let request =
            ValueRequest { kind: SiteKind::Name, identifier: name, class, parameter: true, ..ValueRequest::default() };
        let injected = resolve::value(py, name, &request)?.into_bound(py);
        globals.set_item(name, &injected)?;
        replaced.push(Replaced { name: name.clone(), injected, real });
    }
    Ok(())
}

/// Restores globals that the code has left as they were injected. The others are restored with the version's globals.
pub(crate) fn put_back(globals: &Bound<'_, PyDict>, replaced: Vec<Replaced<'_>>) {
    for Replaced { name, injected, real } in replaced {
        if globals.get_item(&name).ok().flatten().is_some_and(|now| now.is(&injected)) {
            let _ = globals.set_item(&name, real);
        }
    }
}
