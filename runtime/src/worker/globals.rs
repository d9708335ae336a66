//! Globals and class attributes of the module that are injected: plain ones for one execution, after which they are
//! restored, and classes and functions that only some version's module has.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple, PyType};

use twincell_engine::observed::Observed;
use twincell_syntax::scopes::{assigned_attributes, declared_globals};
use twincell_syntax::site::SiteKind;
use twincell_values::path::{AccessPath, AccessPathBuf};
use twincell_values::value::AbstractValue;

use crate::execution::code::MODULE_NAME;
use crate::execution::object::MockObject;
use crate::execution::prediction_index::PredictionIndex;
use crate::inject::replacement::{Origin, is_injected, is_possible};
use crate::inject::resolve::{self, ValueRequest};
use crate::observe;
use crate::worker::module;
use crate::worker::version::LoadedVersion;

/// The holder of a plain value: a class of one version's module, or its globals.
enum Holder {
    Globals,
    Class(Py<PyType>),
}

/// A plain value that can be injected.
pub(crate) struct Plain {
    /// How the code reads it: `DEBUG`, `self.items`.
    path: AccessPathBuf,
    name: String,
    origin: Origin,
    /// One for each version.
    holders: Vec<Holder>,
}

/// A value that is injected in this run.
pub(crate) struct Replaced<'py> {
    name: String,
    class: Option<Bound<'py, PyType>>,
    injected: Bound<'py, PyAny>,
    real: Bound<'py, PyAny>,
}

/// The plain values that can be injected: globals and attributes of the module's classes that the running program may
/// replace, that are the same in every version, and that every version reads.
pub(crate) fn plain(index: &PredictionIndex, modules: &[Bound<'_, PyDict>]) -> Vec<Plain> {
    let Some(first) = index.versions.first() else { return vec![] };
    let mut sites: Vec<(SiteKind, &str, AccessPath<'_>)> = (first.version.sites.sites.iter().zip(0..))
        .filter(|(site, _)| matches!(site.kind, SiteKind::Name | SiteKind::Attribute))
        .map(|(site, number)| (site.kind, site.identifier.as_str(), index.path(0, number)))
        .collect();
    sites.sort_unstable();
    sites.dedup();
    let mut found: Vec<Plain> = Vec::new();
    let texts = Texts { index, declared: LazyCell::new(|| of_all(index, declared_globals)) };
    let assigned: LazyCell<BTreeSet<String>, _> = LazyCell::new(|| of_all(index, assigned_attributes));
    for (kind, name, path) in sites {
        let plain = match kind {
            SiteKind::Name => global(&texts, modules, name),
            _ => attribute(index, modules, name, path, &|name| assigned.contains(name)),
        };
        let Some(plain) = plain else { continue };
        // What `self` and the class itself reach is one value.
        let is_same = |known: &Plain| {
            known.name == plain.name
                && known.holders.iter().zip(&plain.holders).all(|pair| match pair {
                    (Holder::Globals, Holder::Globals) => true,
                    (Holder::Class(one), Holder::Class(other)) => one.is(other),
                    _ => false,
                })
        };
        if !found.iter().any(is_same) {
            found.push(plain);
        }
    }
    found
}

struct Texts<'a, F: FnOnce() -> BTreeSet<String>> {
    index: &'a PredictionIndex,
    /// The names that functions declare as global.
    declared: LazyCell<BTreeSet<String>, F>,
}

/// What the modules of all versions hold.
fn of_all(index: &PredictionIndex, read: impl Fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
    index.versions.iter().flat_map(|version| read(&version.version.module)).collect()
}

fn global<F: FnOnce() -> BTreeSet<String>>(
    texts: &Texts<'_, F>,
    modules: &[Bound<'_, PyDict>],
    name: &str,
) -> Option<Plain> {
    let is_read = |version: usize| {
        let version = &texts.index.versions[version].version;
        !version.parameters.iter().any(|parameter| parameter.name == name)
            && !version.locals.names.iter().any(|local| local == name)
            && version.sites.sites.iter().any(|site| site.kind == SiteKind::Name && site.identifier == name)
    };
    if name.starts_with("__") || !(0..modules.len()).all(is_read) {
        return None;
    }
    let value = |module: &Bound<'_, PyDict>| {
        let observed = observe::value(&module.get_item(name).ok().flatten()?);
        let varies = is_set_later(&observed) || class_of(&observed).is_some() && texts.declared.contains(name);
        varies.then_some(observed)
    };
    let values: Vec<_> = modules.iter().map(value).collect();
    let is_same = values.iter().all(|value| value.is_some() && *value == values[0]);
    is_same.then(|| Plain {
        path: name.into(),
        name: name.to_owned(),
        origin: Origin::Own,
        holders: modules.iter().map(|_| Holder::Globals).collect(),
    })
}

/// An attribute of a class of the module, read from the methods' own object, their class, or a class by its name.
/// Objects set some for themselves, and subclasses set others.
fn attribute(
    index: &PredictionIndex,
    modules: &[Bound<'_, PyDict>],
    name: &str,
    path: AccessPath<'_>,
    is_assigned: &dyn Fn(&str) -> bool,
) -> Option<Plain> {
    if name.starts_with("__") || !index.is_read_by_all(name) {
        return None;
    }
    let (holder, _) = path.split_attribute()?;
    let mut holders = Vec::new();
    let mut values = Vec::new();
    for (number, module) in modules.iter().enumerate() {
        let version = &index.versions[number].version;
        let own = version.parameters.first().filter(|_| version.class_name.is_some());
        let class = match own {
            Some(own) if own.name == holder.as_str() => module::enclosing_class(module, &version.qualname)?,
            _ => module.get_item(holder.as_str()).ok().flatten()?,
        };
        let (class, value) = of_class(&class, name)?;
        let observed = observe::value(&value);
        let is_field = class.getattr("__dict__").and_then(|own| own.get_item("__dataclass_fields__"));
        let is_field = is_field.and_then(|fields| fields.contains(name)).unwrap_or(false);
        let is_constant = name.chars().all(|c| !c.is_lowercase());
        let origin = if is_set_later(&observed) || is_field || is_assigned(name) {
            Origin::Own
        } else if !is_constant {
            // A subclass may have another.
            Origin::Imported
        } else {
            return None;
        };
        class_of(&observed).map(|_| ()).or_else(|| is_set_later(&observed).then_some(()))?;
        holders.push(Holder::Class(class.unbind()));
        values.push((observed, origin));
    }
    let (_, origin) = values.first().filter(|first| values.iter().all(|value| value == *first))?;
    Some(Plain { path: path.to_buf(), name: name.to_owned(), origin: *origin, holders })
}

/// The class of the module that has an attribute, along the bases of another, and the attribute.
fn of_class<'py>(class: &Bound<'py, PyAny>, name: &str) -> Option<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
    let class = class.cast::<PyType>().ok()?;
    for base in class.getattr("__mro__").ok()?.cast::<PyTuple>().ok()?.iter() {
        let namespace = base.getattr("__dict__").ok()?;
        if namespace.contains(name).unwrap_or(false) {
            let module: String = base.getattr("__module__").ok()?.extract().ok()?;
            let value = namespace.get_item(name).ok()?;
            return (module == MODULE_NAME).then(|| Some((base.cast_into::<PyType>().ok()?, value)))?;
        }
    }
    None
}

/// Injects classes and functions in all versions if one version imports them from where they are missing, and another
/// defines them itself or imports them from where they are. Their code is no part of the change, as far as one can see.
/// What only the version uses that has it stays: the other does without it.
pub(crate) fn inject_alike(
    py: Python<'_>,
    index: &PredictionIndex,
    versions: &[LoadedVersion],
    shared: &HashSet<String>,
) -> PyResult<()> {
    let is_used = |version: usize, name: &str| {
        let sites = &index.versions[version].version.sites.sites;
        sites.iter().any(|site| AccessPath::new(&site.path).split_root().0 == name)
    };
    for name in shared {
        let values: Vec<Option<Bound<'_, PyAny>>> =
            versions.iter().map(|version| version.before.bind(py).get_item(name).ok().flatten()).collect();
        let stand_in = values.iter().flatten().find_map(|value| {
            let stand_in = value.cast_exact::<MockObject>().ok()?.get();
            (!stand_in.module && stand_in.path().last_name() == name).then(|| stand_in.path().to_buf())
        });
        let Some(path) = stand_in else { continue };
        let is_there = |value: &Option<Bound<'_, PyAny>>| {
            value.as_ref().is_some_and(|value| !value.is_instance_of::<MockObject>())
        };
        let used = |wanted: bool| {
            let there = (0..).zip(&values).filter(|(_, value)| is_there(value) == wanted);
            there.map(|(version, _)| version).any(|version| is_used(version, name))
        };
        if used(true) && !used(false) {
            continue;
        }
        let is_real =
            |value: &Bound<'_, PyAny>| value.is_instance_of::<PyType>() || value.is_exact_instance_of::<PyFunction>();
        for (version, value) in versions.iter().zip(values) {
            if value.is_some_and(|value| is_real(&value)) {
                let injected = Py::new(py, MockObject::new(path.as_path()))?;
                version.before.bind(py).set_item(name, &injected)?;
                version.globals.bind(py).set_item(name, injected)?;
            }
        }
    }
    Ok(())
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

/// Replaces plain values of a version with injected ones. `replaced` receives them with the original values, also if
/// one fails.
pub(crate) fn replace<'py>(
    globals: &Bound<'py, PyDict>,
    version: usize,
    plain: &[Plain],
    replaced: &mut Vec<Replaced<'py>>,
) -> PyResult<()> {
    let py = globals.py();
    if plain.is_empty() || !is_possible() {
        return Ok(());
    }
    for Plain { path, name, origin, holders } in plain {
        let class = match holders.get(version) {
            Some(Holder::Globals) => None,
            Some(Holder::Class(class)) => Some(class.bind(py).clone()),
            None => continue,
        };
        let real = match &class {
            None => globals.get_item(name)?,
            Some(class) => Some(class.getattr("__dict__")?.get_item(name)?),
        };
        let Some(real) = real.filter(|_| is_injected(path.as_str(), *origin)) else { continue };
        let (kind, class_of) = match class {
            None => (SiteKind::Name, class_of(&observe::value(&real))),
            Some(_) => (SiteKind::Attribute, class_of(&observe::value(&real))),
        };
        let request =
            ValueRequest { kind, identifier: name, class: class_of, parameter: true, ..ValueRequest::default() };
        let injected = resolve::value(py, path.into(), &request)?.into_bound(py);
        set(globals, class.as_ref(), name, &injected)?;
        replaced.push(Replaced { name: name.clone(), class, injected, real });
    }
    Ok(())
}

/// Sets a global, or an attribute of a class without running code of its metaclass.
fn set(
    globals: &Bound<'_, PyDict>,
    class: Option<&Bound<'_, PyType>>,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    match class {
        None => globals.set_item(name, value),
        Some(class) => {
            let py = globals.py();
            py.get_type::<PyType>().call_method1("__setattr__", (class, name, value)).map(|_| ())
        }
    }
}

/// Restores values that the code has left as they were injected. The others are restored with the version's globals.
pub(crate) fn put_back(globals: &Bound<'_, PyDict>, replaced: Vec<Replaced<'_>>) {
    for Replaced { name, class, injected, real } in replaced {
        let now = match &class {
            None => globals.get_item(&name).ok().flatten(),
            Some(class) => class.getattr("__dict__").and_then(|own| own.get_item(&name)).ok(),
        };
        if now.is_some_and(|now| now.is(&injected)) {
            let _ = set(globals, class.as_ref(), &name, &real);
        }
    }
}
